#include "kernels/lab/scenarios/sparse_sampler.h"

#include "kernels/compute/chance.h"

#include <stdlib.h>

size_t seep_sparse_sampler_share(const struct seep_sparse_sampler *sampler)
{
    return (sampler->n + sampler->ranks - 1) / sampler->ranks;
}

int seep_sparse_sampler_fill(const struct seep_sparse_sampler *sampler, uint64_t epoch,
                             uint32_t *ids)
{
    struct seep_chance chance = seep_chance_of(sampler->seed, epoch);
    uint32_t *order = malloc((sampler->n + 1) * sizeof *order);

    if (!order)
        return -SEEP_ENOMEM;
    if (sampler->shuffles) {
        seep_chance_shuffle(&chance, order, sampler->n);
    } else {
        for (size_t i = 0; i < sampler->n; i++)
            order[i] = (uint32_t)i;
    }
    for (size_t i = 0; i < seep_sparse_sampler_share(sampler); i++)
        ids[i] = sampler->first + order[(i * sampler->ranks + sampler->rank) % sampler->n];
    free(order);
    return 0;
}
