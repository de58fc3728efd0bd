#include "libprof/verdict/lines.h"

#include "libprof/thresholds/thresholds.h"

#include <stdlib.h>

/* To the user of a line, host and mmap are one memory. */
uint16_t seep_space_of_line(const struct seep_model *m, uint16_t space)
{
    return m->spaces[space].name.host_like ? m->host : space;
}

static int add_site(const struct seep_code *code, uint32_t id, struct seep_lines *g,
                    struct seep_hash_index *index)
{
    const struct seep_model *m = code->model;
    const struct seep_model_site *site = &m->sites[id];
    uint32_t frame = code->lines->shown[site->stack];
    uint16_t space = seep_space_of_line(m, site->space);
    bool loop = seep_dictionary_in_worker_loop(&m->dict, site->stack);
    uint64_t hash = seep_hash_two(frame, space * 2u + loop);
    uint32_t at = seep_hash_begin(index, hash), k;

    if (code->lines->importing[site->stack] || m->dict.frames[frame].pseudo)
        return 0;
    while ((k = seep_hash_next(index, hash, &at)) != SEEP_HASH_NONE) {
        if (g->list[k].frame == frame && g->list[k].space == space &&
            g->list[k].in_worker_loop == loop)
            break;
    }
    if (k == SEEP_HASH_NONE) {
        k = (uint32_t)g->n;
        if (seep_grow(&g->list, &g->capacity, g->n + 1, sizeof *g->list) ||
            seep_hash_add(index, hash, k))
            return -SEEP_ENOMEM;
        g->list[g->n++] =
            (struct seep_line){.frame = frame, .space = space, .in_worker_loop = loop};
    }
    g->of_site[id] = k + 1;
    g->list[k].n++;
    uint64_t peak = site->totals.peak_bytes;
    g->list[k].peak_bytes +=
        (peak < SEEP_T_SHOWN_BYTES ? peak : SEEP_T_SHOWN_BYTES) * site->n_slots;
    return 0;
}

int seep_lines_find(const struct seep_code *code, struct seep_lines *g)
{
    const struct seep_model *m = code->model;
    struct seep_hash_index index = {0};
    size_t at = 0;
    int rc = 0;

    g->of_site = calloc(m->n_sites + 1, sizeof *g->of_site);
    g->sites = calloc(m->n_sites + 1, sizeof *g->sites);
    if (!g->of_site || !g->sites)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < m->n_sites && !rc; i++)
        rc = add_site(code, i, g, &index);
    seep_hash_fini(&index);
    for (size_t i = 0; i < g->n; i++) {
        g->list[i].first = at;
        at += g->list[i].n;
        g->list[i].n = 0;
    }
    for (uint32_t i = 0; i < m->n_sites && !rc; i++) {
        if (g->of_site[i]) {
            struct seep_line *line = &g->list[g->of_site[i] - 1];
            g->sites[line->first + line->n++] = i;
        }
    }
    return rc;
}

void seep_lines_fini(struct seep_lines *g)
{
    free(g->list);
    free(g->of_site);
    free(g->sites);
}
