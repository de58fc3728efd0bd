/* Findings: which lines keep memory, in which pattern, and what to do about it. */
#ifndef SEEP_LIBPROF_JUDGE_DIAGNOSIS_H
#define SEEP_LIBPROF_JUDGE_DIAGNOSIS_H

#include "libprof/code/stack_lines.h"
#include "libprof/code/symbols.h"
#include "libprof/measure/growth.h"

enum seep_pattern {
    SEEP_PATTERN_EAGER_RETENTION,
    SEEP_PATTERN_FIRST_TOUCH_CACHE,
    SEEP_PATTERN_ALIASED_CACHE,
    SEEP_PATTERN_GRAPH_RETENTION,
    SEEP_PATTERN_CARRY_OVER,
    SEEP_PATTERN_ALLOCATOR_CACHE,
    SEEP_PATTERN_SIZE_SPIKE,
    SEEP_PATTERN_WORKER_MULTIPLICATION,
    SEEP_PATTERN_COW_GROWTH,
    SEEP_PATTERN_PINNED_POOL,
    SEEP_PATTERN_SHM_GROWTH,
    SEEP_PATTERN_COLLECTIVE_BUFFER,
    SEEP_PATTERN_WRONG_DEVICE,
    SEEP_PATTERN_REFERENCE_CYCLE,
    SEEP_PATTERN_LEGITIMATE_GROWTH,
    SEEP_PATTERN_UNBOUNDED_GROWTH,
    SEEP_PATTERN_UNDETERMINED,
    SEEP_N_PATTERNS
};

enum seep_severity { SEEP_LEAK, SEEP_RETENTION, SEEP_PRESSURE, SEEP_INFO, SEEP_N_SEVERITIES };

enum { SEEP_MAX_EVIDENCE = 8, SEEP_MAX_FINDINGS = 32 };

struct seep_finding {
    enum seep_pattern pattern;
    enum seep_severity severity;
    double confidence; /* 0 … 1 */
    uint16_t space;
    enum seep_part part;
    uint32_t frame;  /* of the dictionary: the line to look at */
    uint32_t *sites; /* most bytes first */
    size_t n_sites;
    uint32_t *processes; /* indices */
    size_t n_processes;
    uint64_t live_bytes; /* at the end of the last step, before the job tears itself down */
    uint64_t peak_bytes;
    uint64_t count;           /* blocks live then */
    uint64_t saving_bytes;    /* what the peak may fall by once it is fixed; 0 not known */
    struct seep_slope growth; /* bytes per step */
    int32_t first_step;
    int32_t plateau_step;  /* 0: none */
    uint64_t limit_bytes;  /* 0: none known */
    bool returns;          /* each process gives it back when it ends */
    double steps_to_limit; /* < 0: not growing, or no limit */
    char *title, *advice;
    char *evidence[SEEP_MAX_EVIDENCE];
    size_t n_evidence;
};

struct seep_findings {
    struct seep_finding *list; /* most severe first */
    size_t n;
    size_t left_out[SEEP_N_SEVERITIES]; /* beyond SEEP_MAX_FINDINGS */
    struct seep_span span;
};

/* What a rule sees: sites that share a line, and what they do. */
struct seep_case {
    const struct seep_model *m;
    const struct seep_stack_lines *frames;
    const struct seep_span *span;
    const struct seep_growth *growth;
    struct seep_symbols *symbols;
    const uint32_t *sites;
    size_t n_sites;
    uint32_t frame;
    uint16_t space;
    enum seep_part part;
    uint16_t parts;      /* of the largest site's stack */
    bool has_workers;    /* loader workers are among the processes */
    bool exchanges;      /* what this line gains, other lines of its function lose */
    uint64_t space_peak; /* of the job */
};

/* Judges every line of the model that keeps enough. Returns 0 or -SEEP_ENOMEM.
 * Allocates: *out; free with seep_findings_fini(). */
SEEP_MUST_CHECK int seep_diagnose(const struct seep_model *m, const struct seep_stack_lines *frames,
                                  struct seep_symbols *symbols, struct seep_findings *out);
void seep_findings_fini(struct seep_findings *f);
void seep_finding_fini(struct seep_finding *f);

/* Whether two frames are lines of one Python function. */
bool seep_finding_same_function(const struct seep_model *m, uint32_t frame, uint32_t other);

/* Makes one finding of those that are one autograd graph: it shows on every line that had a part in
 * it; the line with most stands, the others are its evidence. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_findings_join(const struct seep_model *m, struct seep_findings *f);

/* Most severe first, without those of lines that only fill an allocator's cache. */
void seep_findings_sort(const struct seep_model *m, struct seep_findings *f);

/* Drops negligible findings beside a large one of the same function, and those beyond
 * SEEP_MAX_FINDINGS, which it counts. */
void seep_findings_cut(const struct seep_model *m, struct seep_findings *f);

/* The rules, in the order of preference: fills what is particular to the pattern (pattern,
 * severity, confidence, plateau_step, count and live_bytes of the sites it is about, evidence) and
 * returns true, or returns false. Rules may narrow finding->sites. */
bool seep_rules_judge(const struct seep_case *c, struct seep_finding *finding);

/* Findings that are not of one line's own blocks, one a rule. `c` has no sites; the rule chooses
 * frame, sites (finding->sites has room for all of the model), space and role. False where there is
 * none. */
enum { SEEP_JOB_RULES = 3 };
bool seep_rules_judge_job(struct seep_case *c, unsigned which, struct seep_finding *finding);

/* Title and advice, once the rest is known. */
void seep_wording_set(const struct seep_model *m, const struct seep_function_kinds *kinds,
                      const struct seep_symbols *symbols, struct seep_finding *finding);

/* Adds a line of evidence; silently none without memory or room. */
void seep_finding_note(struct seep_finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

const char *seep_pattern_name(enum seep_pattern pattern);
const char *seep_severity_name(enum seep_severity severity);

#endif
