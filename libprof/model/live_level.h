/* Levels: the live memory of some sites as a step function, summed over threads and processes. */
#ifndef SEEP_LIBPROF_MODEL_LIVE_LEVEL_H
#define SEEP_LIBPROF_MODEL_LIVE_LEVEL_H

#include "libprof/format/profile_format.h"
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

/* The same as it is resident: what malloc takes for small blocks (below),
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

/* What is resident of blocks.
 *
 * Of small ones it is what malloc takes: the chunk, which has a header, and is rounded up to 16
 * bytes; for the smallest that is as much again. Of glibc on 64-bit machines (its malloc.c,
 * request2size). Of large ones it is the pages that were touched. */

/* Bytes of the chunk that a block of so many bytes lies in. */
static inline uint64_t seep_chunk_bytes(uint64_t block)
{
    enum { HEADER = 8, ALIGN = 16, LEAST = 32 };
    const uint64_t bytes = (block + HEADER + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);

    return bytes < LEAST ? LEAST : bytes;
}

/* The same of `blocks` blocks with `bytes` bytes together, by their mean size; `bytes` itself where
 * a chunk is less than a tenth larger than its block: what is said of blocks of a KiB or a MiB is
 * what was requested, to the byte. */
static inline uint64_t seep_chunks_bytes(uint64_t bytes, uint64_t blocks)
{
    const uint64_t mean = blocks ? bytes / blocks : 0, beyond = seep_chunk_bytes(mean) - mean;

    return blocks && beyond * 10 >= mean && bytes >> 48 == 0 ? bytes + blocks * beyond : bytes;
}

/* Of the bytes of a site's large blocks, in 256ths: in pages that were never touched. Less than a
 * tenth is 0: a block's ends may lie in pages of others. */
static inline uint8_t seep_untouched_256ths(const struct seep_detail *its)
{
    if (its->untouched_bytes > its->looked_bytes || its->looked_bytes >> 56 ||
        its->untouched_bytes * 10 < its->looked_bytes || !its->looked_bytes)
        return 0;
    const uint64_t share = its->untouched_bytes * 256 / its->looked_bytes;
    return share < UINT8_MAX ? (uint8_t)share : UINT8_MAX;
}

#endif
