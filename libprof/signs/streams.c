#include "libprof/signs/sign_parts.h"

#include "libprof/code/function_kinds.h"
#include "libprof/thresholds/thresholds.h"

#include <stdlib.h>

static bool is_streamed(const struct seep_case *c)
{
    const struct seep_dictionary *d = &c->m->dict;

    for (size_t i = 0; i < c->n_sites; i++) {
        for (uint32_t s = c->m->sites[c->sites[i]].stack; s; s = d->stacks[s].parent) {
            if (seep_function_kinds_is(c->code->lines->kinds, d->stacks[s].frame,
                                       SEEP_FUNCTION_STREAM))
                return true;
        }
    }
    return false;
}

/* The sum of the processes' own peaks. */
static int sum_of_heights(const struct seep_model *m, const uint32_t *sites, size_t n, double *sum)
{
    struct seep_level level = {0};
    int rc = 0;

    *sum = 0;
    for (uint32_t p = 0; p < m->n_processes && !rc; p++) {
        rc = seep_level_sum(m, sites, n, p, &level);
        *sum += rc ? 0 : (double)seep_level_highest(&level).bytes;
    }
    seep_level_fini(&level);
    return rc;
}

/* Sites that keep a notable amount: kept[0, n). */
static size_t find_keeping(const struct seep_case *c, const struct seep_site_signs *sites,
                           uint32_t *kept)
{
    uint64_t most = 0;
    size_t n = 0;

    for (size_t i = 0; i < c->n_sites; i++)
        most = sites[i].kept.bytes > most ? sites[i].kept.bytes : most;
    for (size_t i = 0; i < c->n_sites; i++) {
        if (sites[i].kept.bytes * SEEP_T_ALIKE_SHARE >= most)
            kept[n++] = c->sites[i];
    }
    return n;
}

int seep_stream_is_kept(const struct seep_case *c, const struct seep_site_signs *sites,
                        bool *is_kept)
{
    double made = 0, held = 0;

    *is_kept = false;
    if (!is_streamed(c))
        return 0;
    uint32_t *keeping = malloc((c->n_sites + 1) * sizeof *keeping);
    if (!keeping)
        return -SEEP_ENOMEM;
    const size_t n = find_keeping(c, sites, keeping);
    int rc = sum_of_heights(c->m, keeping, n, &held);
    for (size_t i = 0; i < n; i++)
        made += (double)c->m->sites[keeping[i]].totals.allocated_bytes;
    free(keeping);
    *is_kept = held > 0 && held >= SEEP_T_NEARLY_ALL * made;
    return rc;
}
