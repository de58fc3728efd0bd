#include "libprof/who/find/site_sums.h"

#include <stdlib.h>

size_t seep_site_sums_find(const struct seep_site_sums *sums, uint32_t site)
{
    const uint64_t hash = seep_hash_two(site, 0);
    uint32_t at = seep_hash_begin(&sums->by_site, hash), id;

    while ((id = seep_hash_next(&sums->by_site, hash, &at)) != SEEP_HASH_NONE)
        if (sums->list[id].site == site)
            return id;
    return sums->n;
}

int seep_site_sums_add(struct seep_site_sums *sums, uint32_t site, uint64_t bytes, uint32_t n)
{
    const size_t i = seep_site_sums_find(sums, site);

    if (i == sums->n) {
        if (seep_grow(&sums->list, &sums->capacity, i + 1, sizeof *sums->list) ||
            seep_hash_add(&sums->by_site, seep_hash_two(site, 0), (uint32_t)i))
            return -SEEP_ENOMEM;
        sums->list[sums->n++] = (struct seep_site_sum){.site = site};
    }
    sums->list[i].blocks += n;
    sums->list[i].bytes += bytes < (INT64_MAX - sums->list[i].bytes) / n ? n * bytes : 0;
    return 0;
}

void seep_site_sums_fini(struct seep_site_sums *sums)
{
    free(sums->list);
    seep_hash_fini(&sums->by_site);
    *sums = (struct seep_site_sums){0};
}
