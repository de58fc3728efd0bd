#include "libprof/read/site_counts.h"

#include <stdlib.h>
#include <string.h>

int seep_site_counts_add(struct seep_site_counts *counts, const struct seep_detail *detail,
                         uint64_t youngest)
{
    uint64_t all[SEEP_LIFETIME_BUCKETS + SEEP_SIZE_BUCKETS], ages = 0, sizes = 0;
    size_t n = 0;

    for (unsigned i = 0; i < SEEP_LIFETIME_BUCKETS; i++) {
        const uint64_t sum =
            seep_frees_of_age(counts, i) + detail->lifetimes[i] + (i ? 0 : youngest);
        if (sum)
            all[n++] = sum;
        ages |= (uint64_t)(sum != 0) << i;
    }
    for (unsigned i = 0; i < SEEP_SIZE_BUCKETS; i++) {
        const uint64_t sum = seep_allocations_of_size(counts, i) + detail->sizes[i];
        if (sum)
            all[n++] = sum;
        sizes |= (uint64_t)(sum != 0) << i;
    }
    if (ages != counts->ages || sizes != counts->sizes) {
        uint64_t *list = realloc(counts->list, n * sizeof *list);
        if (!list)
            return -SEEP_ENOMEM;
        counts->list = list;
    }
    counts->ages = ages;
    counts->sizes = sizes;
    if (n)
        memcpy(counts->list, all, n * sizeof *all);
    return 0;
}

void seep_site_counts_fini(struct seep_site_counts *counts)
{
    free(counts->list);
    *counts = (struct seep_site_counts){0};
}
