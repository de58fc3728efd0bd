#include "libprof/measure/common_caller.h"

#include "libprof/thresholds/thresholds.h"

#include <stdlib.h>

int seep_common_caller_find(const struct seep_model *m, const uint32_t *sites, const double *bytes,
                            size_t n, struct seep_common_caller *out)
{
    const struct seep_dict_stack *stacks = m->dict.stacks;
    double *below = calloc(m->dict.n_stacks + 1, sizeof *below);
    uint32_t *heaviest = calloc(m->dict.n_stacks + 1, sizeof *heaviest);
    int rc = below && heaviest ? 0 : -SEEP_ENOMEM;

    *out = (struct seep_common_caller){0};
    for (size_t i = 0; i < n && !rc; i++)
        below[m->sites[sites[i]].stack] += bytes[i];
    /* Parents have smaller ids than their children, so totals are complete when we get here. */
    for (size_t i = rc ? 0 : m->dict.n_stacks; i-- > 1;) {
        const uint32_t parent = stacks[i].parent;
        below[parent] += below[i];
        if (!heaviest[parent] || below[i] > below[heaviest[parent]])
            heaviest[parent] = (uint32_t)i;
    }
    for (uint32_t at = rc ? 0 : heaviest[0];
         at && below[at] > 0 && below[at] >= SEEP_T_HALF * below[0]; at = heaviest[at])
        *out = (struct seep_common_caller){at, below[at]};
    free(below);
    free(heaviest);
    return rc;
}
