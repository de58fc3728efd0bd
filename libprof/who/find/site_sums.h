/* What is live of each site: how many blocks, and bytes. */
#ifndef SEEP_LIBPROF_WHO_FIND_SITE_SUMS_H
#define SEEP_LIBPROF_WHO_FIND_SITE_SUMS_H

#include "libprof/base/hash_index.h"

struct seep_site_sum {
    uint32_t site; /* as in a block of a snapshot */
    uint64_t blocks, bytes;
};

/* Zero-initialised is empty. */
struct seep_site_sums {
    struct seep_site_sum *list; /* [n] each site once */
    size_t n, capacity;
    struct seep_hash_index by_site;
};

/* Adds blocks of so many bytes each. Returns 0 or -SEEP_ENOMEM. Allocates. */
SEEP_MUST_CHECK int seep_site_sums_add(struct seep_site_sums *sums, uint32_t site, uint64_t bytes,
                                       uint32_t n);

/* The place of a site in the list; `n` if it is not there. */
size_t seep_site_sums_find(const struct seep_site_sums *sums, uint32_t site);
void seep_site_sums_fini(struct seep_site_sums *sums);

#endif
