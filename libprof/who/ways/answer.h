/* Who holds what a line of code made: the ways to its blocks, put together, and what would be free
 * without the container they have in common. */
#ifndef SEEP_LIBPROF_WHO_WAYS_ANSWER_H
#define SEEP_LIBPROF_WHO_WAYS_ANSWER_H

#include "libprof/who/ways/path.h"

enum seep_hold_state {
    SEEP_HOLD_UNKNOWN,   /* no way explains enough */
    SEEP_HOLD_HELD,      /* by one container */
    SEEP_HOLD_SHARED,    /* by several: each alone keeps it */
    SEEP_HOLD_CYCLE,     /* by nobody but a cycle of references */
    SEEP_HOLD_LOST,      /* by nobody */
    SEEP_HOLD_REFERENCE, /* by nobody but objects that count a reference too many */
};

enum { SEEP_ANSWER_PATHS = 4 };

struct seep_answer_path {
    struct seep_path path;
    uint64_t blocks, bytes; /* of the line, that are reached this way */
    uint64_t sole_bytes;    /* of the line, that would be free without the holder, and those of the
                             * paths before, at least */
    bool sole_known;
    size_t
        holder_hop; /* the hop that leads out of the holder, or path.n: the last one leads to it */
    char holder_name[2 * SEEP_HOP_NAME];
    char holder_type[SEEP_HOP_TYPE];
    int64_t holder_length; /* −1: it is no container */
    int64_t holder_bound;  /* −1: none */
};

struct seep_answer {
    uint32_t line;
    uint64_t blocks, bytes, lost_bytes, cycle_bytes;
    uint64_t reference_bytes, small_bytes; /* held by references too many: of the line; of all small
                                            * objects, whosever they are */
    uint64_t graph_bytes;                  /* held by way of nodes of autograd graphs */
    enum seep_hold_state state;
    size_t n_paths;
    struct seep_answer_path paths[SEEP_ANSWER_PATHS];
};

struct seep_question {
    const uint32_t *line_of_site; /* [n_sites] the line that made it, 0: none */
    size_t n_sites;
    uint32_t n_lines;
    size_t most;      /* answers */
    uint64_t least;   /* bytes of a line that are worth one */
    size_t most_runs; /* what the searches for what would be free may cost: first searches */
    bool keys;        /* texts of dict keys may be shown */
};

/* Answers for the lines with most bytes, largest first, from a reach that has run; it stays as it
 * is but for what cycles hold, which is found here. Stores up to `most` answers and returns how
 * many, or -SEEP_ENOMEM. */
int seep_answer_lines(struct seep_reach *reach, const struct seep_question *question,
                      struct seep_answer *answers);

const char *seep_hold_state_word(enum seep_hold_state state);

#endif
