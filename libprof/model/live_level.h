/* Levels: the live memory of some sites as a step function, summed over threads and processes. */
#ifndef SEEP_LIBPROF_MODEL_LIVE_LEVEL_H
#define SEEP_LIBPROF_MODEL_LIVE_LEVEL_H

#include "libprof/model/model.h"

struct seep_level_point {
    int32_t step; /* from the end of this step on … */
    int64_t bytes;
    int64_t blocks;
};

/* All zero is the level that is always zero. */
struct seep_level {
    struct seep_level_point *points; /* steps rise strictly */
    size_t n, capacity;
};

#define SEEP_LEVEL_ALL UINT32_MAX

/* What was requested: the sum over sites[0, n) of the model, for one process or SEEP_LEVEL_ALL. A
 * process that was gone before the job ended counts until then. *level may hold an older level,
 * whose storage is reused. Returns 0 or -SEEP_ENOMEM. Allocates: level->points; free with
 * seep_level_fini(). */
SEEP_MUST_CHECK int seep_level_sum(const struct seep_model *m, const uint32_t *sites, size_t n,
                                   uint32_t process, struct seep_level *level);

/* The same as it is resident: what malloc takes for small blocks (libprof/model/resident_blocks.h),
 * and of large ones the pages that were touched. Findings are judged and told by it, sites by what
 * was requested. */
SEEP_MUST_CHECK int seep_level_resident(const struct seep_model *m, const uint32_t *sites, size_t n,
                                        uint32_t process, struct seep_level *level);

/* Both over parts[0, n): indices in m->slots. */
SEEP_MUST_CHECK int seep_level_sum_slots(const struct seep_model *m, const uint32_t *parts,
                                         size_t n, struct seep_level *level);
SEEP_MUST_CHECK int seep_level_resident_slots(const struct seep_model *m, const uint32_t *parts,
                                              size_t n, struct seep_level *level);
void seep_level_fini(struct seep_level *level);

/* The level at the end of `step`; zeros before its first point. */
struct seep_level_point seep_level_at(const struct seep_level *level, int32_t step);

/* The first of the highest points; zeros if it is never above 0. */
struct seep_level_point seep_level_highest(const struct seep_level *level);

/* Bytes at the ends of n steps spread evenly over [from, to], the last one being `to`. n ≥ 1.
 * Between points that are closer than a 64th of the range it rises or falls evenly. */
void seep_level_sample(const struct seep_level *level, int32_t from, int32_t to, size_t n,
                       double *bytes);

/* Peaks of sites that several threads or processes share: the largest sum over the ends of steps,
 * but at least any one part's own peak and what was live at once as the job ended. For sites too
 * small for a report, only the latter applies. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_level_raise_peaks(struct seep_model *m, bool all_sites);

#endif
