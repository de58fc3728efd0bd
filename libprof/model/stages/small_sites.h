/* A job's profiles may have more sites than fit into memory. Near a bound, those that never held
 * much have no place of their own in the model: they count together, as what is beyond a profile's
 * own bound does. */
#ifndef SEEP_LIBPROF_MODEL_STAGES_SMALL_SITES_H
#define SEEP_LIBPROF_MODEL_STAGES_SMALL_SITES_H

#include "libprof/model/model.h"

/* Of a model's parts. With it a report of 1,000,000 different stacks took 177 MiB in all, a page of
 * two such runs 313 (docs/benchmarks.md). */
#define SEEP_MODEL_MOST_BYTES (UINT64_C(80) << 20)

enum { SEEP_PEAK_SIZES = 64 * 8 }; /* eight to each power of two */

struct seep_small_sites {
    uint64_t most_bytes;
    uint64_t chunks, chunks_done; /* of sites and all that they refer to, in all profiles */
    uint64_t seen[SEEP_PEAK_SIZES], n_seen, n_kept;
    unsigned least; /* size from which on a site has a place */
};

/* Of a model whose profiles are open, and none is merged. */
struct seep_small_sites seep_small_sites_of(const struct seep_model *m);

/* Whether the next site has, by the most that it ever held. */
bool seep_small_sites_have_place(struct seep_small_sites *s, const struct seep_model *m,
                                 uint64_t peak_bytes);

/* The most that one without a place may have held. */
uint64_t seep_small_sites_below(const struct seep_small_sites *s);

#endif
