/* What the rules share. A rule is a function: it looks at a case, the sites of one line and what
 * they do, and either fills a finding and returns true, or returns false. Private to rules*.c. */
#ifndef SEEP_LIBPROF_JUDGE_PATTERN_RULES_H
#define SEEP_LIBPROF_JUDGE_PATTERN_RULES_H

#include "libprof/judge/diagnosis.h"

enum {
    SEEP_RULE_ITEMS = 8,                     /* blocks that make "one per item" a pattern */
    SEEP_RULE_STEPS = 10,                    /* fewer steps show nothing */
    SEEP_RULE_SLICES = 30,                   /* of time, where steps are not known */
    SEEP_RULE_SHOWN_BYTES = 64 * 1024,       /* growth below is CPython's own housekeeping */
    SEEP_RULE_CACHE_BYTES = 256 * 1024,      /* a cache below is nobody's trouble */
    SEEP_RULE_PEAK_BYTES = 1024 * 1024,      /* the same of what only raises the peak */
    SEEP_RULE_LARGE_BYTES = 16 * 1024 * 1024 /* worth a word whatever its share */
};

/* Kept for good (rules_kept.c). */
bool seep_rule_worker_multiplication(const struct seep_case *c, struct seep_finding *f);
bool seep_rule_eager_retention(const struct seep_case *c, struct seep_finding *f);
bool seep_rule_cache(const struct seep_case *c, struct seep_finding *f);

/* Growing (rules_growth.c, rules_graph.c). */
bool seep_rule_legitimate_growth(const struct seep_case *c, struct seep_finding *f);
bool seep_rule_reference_cycle(const struct seep_case *c, struct seep_finding *f);
bool seep_rule_graph_retention(const struct seep_case *c, struct seep_finding *f);
bool seep_rule_unbounded_growth(const struct seep_case *c, struct seep_finding *f);
bool seep_rule_undetermined(const struct seep_case *c, struct seep_finding *f);

/* Raising the peak only (rules_peak.c). */
bool seep_rule_collective_buffer(const struct seep_case *c, struct seep_finding *f);
bool seep_rule_size_spike(const struct seep_case *c, struct seep_finding *f);

/* Of the device and its neighbours (rules_device.c). */
bool seep_rule_wrong_device(const struct seep_case *c, struct seep_finding *f);
bool seep_rule_pinned_pool(const struct seep_case *c, struct seep_finding *f);

/* Of the job, not of a line: the case has no sites (rules_allocator.c, rules_job.c). */
bool seep_rule_allocator_cache(struct seep_case *c, struct seep_finding *f);
bool seep_rule_cow_growth(struct seep_case *c, struct seep_finding *f);
bool seep_rule_carry_over(struct seep_case *c, struct seep_finding *f);

/* What a level does that rises and falls back (rules_sawtooth.c). All zeros where it never falls
 * back by more than half of its range. */
struct seep_sawtooth {
    unsigned falls;       /* back by more than half of the range */
    unsigned epoch_falls; /* those of them where an epoch begins */
    int32_t last_fall;
    double rise;     /* median bytes a step between falls */
    double top;      /* median bytes reached before a fall */
    double base;     /* median bytes after it */
    double height;   /* median of what a fall freed: between two points the level rose on, too */
    unsigned rising; /* steps between falls that rose, of … */
    unsigned steps;  /* … so many with a change */
};

struct seep_sawtooth seep_sawtooth_find(const struct seep_case *c);

/* Whether the case's largest site is of the data's side: dataset, loader or camera. */
bool seep_rule_is_data(const struct seep_case *c);

/* Whether its stack passes through the network's side (model, backward, optimizer, checkpoint,
 * collective), and is not the data's all the same. */
bool seep_rule_is_network(const struct seep_case *c);

bool seep_rule_is_timed(const struct seep_case *c);
bool seep_rule_has_enough_steps(const struct seep_case *c);
const struct seep_space_name *seep_rule_space(const struct seep_case *c);

/* What a site holds at the end of `step`. */
uint64_t seep_rule_live_at(const struct seep_case *c, uint32_t site, int32_t step,
                           uint64_t *blocks);

/* The same at the end of the judged steps; or, where processes ended before, at its most. */
uint64_t seep_rule_kept_by(const struct seep_case *c, uint32_t site, uint64_t *blocks);

/* Whether a site holds the same kind of thing as the line's main one: the objects around the data
 * (headers, storages) are not what is counted, an item made by way of another function is. */
bool seep_rule_is_alike(uint64_t bytes, uint64_t blocks, uint64_t main_bytes, uint64_t main_blocks);

/* Adds a site and what it holds to the finding. */
void seep_rule_keep_site(struct seep_finding *f, uint32_t site, uint64_t bytes, uint64_t blocks);

/* Adds those sites that hold what was kept on the way to now. */
void seep_rule_keep_retaining_sites(const struct seep_case *c, struct seep_finding *f);

/* Frees of a site whose blocks never outlived the step after their own. */
uint64_t seep_rule_short_frees(const struct seep_case *c, const struct seep_model_site *site);

/* Whether each epoch adds clearly less than the one before: items picked at random by each of
 * several workers, or with replacement, or the caches of a library. An endless leak adds as much.
 * *first and *last: bytes that the first and the last whole epoch added. */
bool seep_rule_fades(const struct seep_case *c, int64_t *first, int64_t *last);

/* What the pattern, the severity and the confidence are. */
void seep_rule_verdict(struct seep_finding *f, enum seep_pattern pattern,
                       enum seep_severity severity, double confidence);

/* Takes over the slope, and says it. */
void seep_rule_note_growth(const struct seep_case *c, struct seep_finding *f);

#endif
