/* Levels: what is live of some sites as a step function, summed over threads and processes. */
#ifndef SEEP_LIBPROF_MODEL_LIVE_LEVEL_H
#define SEEP_LIBPROF_MODEL_LIVE_LEVEL_H

#include "libprof/model/model.h"

struct seep_level_point {
    int32_t step; /* from the end of this step on … */
    int64_t bytes;
    int64_t blocks;
};

/* Zero-initialised is the level that is always zero. */
struct seep_level {
    struct seep_level_point *points; /* steps rise strictly */
    size_t n, capacity;
};

#define SEEP_LEVEL_ALL UINT32_MAX

/* The sum over sites[0, n) of the model, of one process or of SEEP_LEVEL_ALL. A process that
 * was gone before the job ended counts until then. *level may hold an older one, whose storage is
 * used. Returns 0 or -SEEP_ENOMEM. Allocates: level->points; free with seep_level_fini(). */
SEEP_MUST_CHECK int seep_level_sum(const struct seep_model *m, const uint32_t *sites, size_t n,
                                   uint32_t process, struct seep_level *level);

/* The same over parts[0, n): indices in m->slots. */
SEEP_MUST_CHECK int seep_level_sum_slots(const struct seep_model *m, const uint32_t *parts,
                                         size_t n, struct seep_level *level);
void seep_level_fini(struct seep_level *level);

/* The level at the end of `step`; zeros before its first point. */
struct seep_level_point seep_level_at(const struct seep_level *level, int32_t step);

/* Where it is highest, the first of such; zeros where it is nowhere above 0. */
struct seep_level_point seep_level_highest(const struct seep_level *level);

/* Bytes at the ends of n steps spread evenly over [from, to], the last one being `to`. n ≥ 1.
 * Between points that are closer than a 64th of the range it rises or falls evenly. */
void seep_level_sample(const struct seep_level *level, int32_t from, int32_t to, size_t n,
                       double *bytes);

/* Peaks of sites that several threads or processes share: the largest sum over the ends of steps,
 * no less than any one part's own peak and than what was live together as the job ended. Sites too
 * small for a report are only held to the latter. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_level_raise_peaks(struct seep_model *m, bool all_sites);

#endif
