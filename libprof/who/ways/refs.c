#include "libprof/who/ways/refs.h"

#include "libprof/base/hash_index.h"

#include <stdlib.h>

int seep_refs_init(struct seep_refs *refs, uint32_t n_nodes)
{
    *refs = (struct seep_refs){.n_nodes = n_nodes};
    refs->first = calloc((size_t)n_nodes + 1, sizeof *refs->first);
    refs->count = calloc((size_t)n_nodes + 1, sizeof *refs->count);
    return refs->first && refs->count ? 0 : -SEEP_ENOMEM;
}

void seep_refs_fini(struct seep_refs *refs)
{
    free(refs->to);
    free(refs->first);
    free(refs->count);
    free(refs->from);
    free(refs->from_end);
    free(refs->roots);
    *refs = (struct seep_refs){0};
}

void seep_refs_begin(struct seep_refs *refs, uint32_t node)
{
    refs->first[node] = (uint32_t)refs->n;
    refs->count[node] = 0;
}

int seep_refs_add(struct seep_refs *refs, uint32_t from, uint32_t to)
{
    if (refs->n >= UINT32_MAX ||
        (refs->n == refs->capacity &&
         seep_grow(&refs->to, &refs->capacity, refs->n + 1, sizeof *refs->to)))
        return -SEEP_ENOMEM;
    refs->to[refs->n++] = to;
    refs->count[from]++;
    return 0;
}

int seep_refs_add_root(struct seep_refs *refs, struct seep_root_ref ref)
{
    if (seep_grow(&refs->roots, &refs->roots_capacity, refs->n_roots + 1, sizeof *refs->roots))
        return -SEEP_ENOMEM;
    refs->roots[refs->n_roots++] = ref;
    return 0;
}

int seep_refs_turn(struct seep_refs *refs)
{
    uint32_t sum = 0;

    free(refs->from);
    free(refs->from_end);
    refs->from = malloc((refs->n + 1) * sizeof *refs->from);
    refs->from_end = calloc((size_t)refs->n_nodes + 1, sizeof *refs->from_end);
    if (!refs->from || !refs->from_end)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < refs->n_nodes; i++)
        for (uint32_t k = 0; k < refs->count[i]; k++)
            refs->from_end[refs->to[refs->first[i] + k]]++;
    /* At first where each node's begin; once all are placed, where they end. */
    for (uint32_t i = 0; i < refs->n_nodes; i++) {
        uint32_t count = refs->from_end[i];
        refs->from_end[i] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < refs->n_nodes; i++)
        for (uint32_t k = 0; k < refs->count[i]; k++)
            refs->from[refs->from_end[refs->to[refs->first[i] + k]]++] = i;
    return 0;
}
