#include "kernels/lab/scenarios/depth_sampler.h"

#include "kernels/compute/chance.h"

#include <stdlib.h>

int seep_depth_sampler_init(struct seep_depth_sampler *s, size_t n, unsigned ranks, uint64_t seed,
                            bool sets_epoch)
{
    *s = (struct seep_depth_sampler){.n = n,
                                     .ranks = ranks,
                                     .seed = seed,
                                     .sets_epoch = sets_epoch,
                                     .order = calloc(n, sizeof *s->order)};
    if (!s->order)
        return -SEEP_ENOMEM;
    seep_depth_sampler_begin(s, 0);
    return 0;
}

void seep_depth_sampler_fini(struct seep_depth_sampler *s)
{
    free(s->order);
    s->order = NULL;
}

void seep_depth_sampler_begin(struct seep_depth_sampler *s, unsigned epoch)
{
    struct seep_chance chance = seep_chance_of(s->seed, s->sets_epoch ? epoch : 0);

    seep_chance_shuffle(&chance, s->order, s->n);
}
