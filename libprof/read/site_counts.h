/* How often blocks of a site were freed by age, and allocated by size. Most of the classes are
 * empty, so only the others are kept. */
#ifndef SEEP_LIBPROF_READ_SITE_COUNTS_H
#define SEEP_LIBPROF_READ_SITE_COUNTS_H

#include "libprof/base/error.h"
#include "libprof/format/profile_format.h"

/* All zero: empty. */
struct seep_site_counts {
    uint64_t ages, sizes; /* bit sets of the classes that are there */
    uint64_t *list;       /* of the ages, then of the sizes; it has no more */
};
_Static_assert(SEEP_LIFETIME_BUCKETS <= 64 && SEEP_SIZE_BUCKETS <= 64, "a bit each");

/* Adds the counts of a detail, and `youngest` frees in the step of the allocation. Returns 0 or
 * -SEEP_ENOMEM. Allocates. */
SEEP_MUST_CHECK int seep_site_counts_add(struct seep_site_counts *counts,
                                         const struct seep_detail *detail, uint64_t youngest);
void seep_site_counts_fini(struct seep_site_counts *counts);

/* By class: seep_lifetime_bucket() and floor(log2(size)). */
static inline uint64_t seep_frees_of_age(const struct seep_site_counts *c, unsigned class)
{
    const uint64_t bit = UINT64_C(1) << class;

    return c->ages & bit ? c->list[__builtin_popcountll(c->ages & (bit - 1))] : 0;
}

static inline uint64_t seep_allocations_of_size(const struct seep_site_counts *c, unsigned class)
{
    const uint64_t bit = UINT64_C(1) << class;

    return c->sizes & bit
               ? c->list[__builtin_popcountll(c->ages) + __builtin_popcountll(c->sizes & (bit - 1))]
               : 0;
}

#endif
