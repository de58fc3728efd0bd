/* A budget says what `seep check` allows a job; it comes from options and a TOML or JSON file. */
#ifndef SEEP_LIBPROF_GATE_BUDGET_H
#define SEEP_LIBPROF_GATE_BUDGET_H

#include "libprof/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum seep_budget_kind {
    SEEP_BUDGET_GROWTH,
    SEEP_BUDGET_PEAK,
    SEEP_BUDGET_FINDINGS,
    SEEP_BUDGET_HOLDER, /* how fast a container grows */
    SEEP_BUDGET_LOST,   /* bytes that nobody holds */
};

enum { SEEP_BUDGET_HOLDER_BYTES = 128 };

/* All that is resident, but for what is seep's. */
#define SEEP_BUDGET_RSS "rss"

struct seep_budget_line {
    enum seep_budget_kind kind;
    char space[24];      /* SEEP_BUDGET_RSS, or a space's; "" for findings */
    char process[16];    /* role of the processes, each judged by itself; "": all together */
    const char *counted; /* of findings: the severity or the pattern to count, else NULL */
    uint64_t limit;      /* allowed bytes per step, bytes or findings */
    char holder[SEEP_BUDGET_HOLDER_BYTES]; /* name of the container; "" for other kinds */
    double pace;                           /* of a container: allowed entries per step */
};

/* Findings that do not count. Fields that are NULL match any. */
struct seep_budget_ignore {
    char *pattern, *file, *function; /* a name; globs of the path or its end, and of the name */
    char *reason;                    /* never NULL */
};

struct seep_budget {
    struct seep_budget_line *lines;
    size_t n_lines, lines_capacity;
    struct seep_budget_ignore *ignores;
    size_t n_ignores;
    bool allow_incomplete;
    uint64_t min_steps; /* a job with fewer cannot be judged */
};

enum { SEEP_BUDGET_MAX_IGNORES = 1000 };

/* Adds a line, or changes the limit of an existing one for the same thing: the last one wins.
 * `text` is an option's value: SPACE=SIZE, or for findings SEVERITY=N or PATTERN=N. Returns 0;
 * -SEEP_EINVAL with the mistake and the correct form in *err; -SEEP_ENOMEM. *budget begins as
 * zeros. */
SEEP_MUST_CHECK int seep_budget_add(struct seep_budget *budget, enum seep_budget_kind kind,
                                    const char *text, struct seep_error *err);

/* Reads a file, TOML or JSON (what begins with a brace), into an empty budget:
 *
 *   allow_incomplete = false          # also judge jobs that were cut short or still run
 *   min_steps = 100
 *   lost = 0                          # bytes that native code has lost: nothing holds them
 *   [space.host]                      # all processes together
 *   growth = "4KiB"                   # a step; a size or a number of bytes
 *   peak = "2GiB"
 *   [space.rss]                       # all that is resident
 *   growth = "64KiB"
 *   [process.loader-worker.host]      # each process of this role
 *   peak = "300MiB"
 *   [holder."Annotations.by_name"]    # a container, by its name in reports
 *   growth = 0.5                      # entries a step
 *   [findings]                        # how many of a severity or of a pattern are allowed
 *   leak = 0
 *   out-of-memory = 1
 *   [[ignore]]                        # findings that do not count; pattern, file or function
 *   pattern = "first-touch-cache"
 *   file = "data/index.py"
 *   function = "Index.*"
 *   reason = "bounded by the number of shards"
 *
 * Unknown keys, spaces, roles and patterns are errors that name the known ones. Returns 0;
 * -SEEP_EIO; -SEEP_EINVAL; -SEEP_ENOMEM, with *err. */
SEEP_MUST_CHECK int seep_budget_read(struct seep_budget *budget, const char *file,
                                     struct seep_error *err);
void seep_budget_fini(struct seep_budget *budget);

/* The rule that makes a finding not count, or NULL. `file` and `function` may be NULL. Pure. */
const struct seep_budget_ignore *seep_budget_ignored(const struct seep_budget *budget,
                                                     const char *pattern, const char *file,
                                                     const char *function, const char *qualname);

#endif
