#include "libprof/judge/heap_pins.h"

#include "libprof/measure/trend.h"
#include "libprof/thresholds/thresholds.h"

#include <stdlib.h>

/* What one site of malloc's gained; zeros where its blocks are large, which leave nothing between
 * them. */
static int gained_of(const struct seep_code *code, const struct seep_span *span, uint32_t site,
                     uint32_t process, struct seep_level *level, struct seep_level_point *gained)
{
    const struct seep_model *m = code->model;
    const struct seep_model_site *its = &m->sites[site];

    *gained = (struct seep_level_point){0};
    if (m->spaces[its->space].name.class != SEEP_CLASS_HOST ||
        its->totals.allocations < SEEP_T_MANY)
        return 0;
    if (seep_level_sum(m, &site, 1, process, level))
        return -SEEP_ENOMEM;
    const struct seep_level_point first = seep_level_at(level, span->judge);
    const struct seep_level_point last = seep_level_at(level, span->last);
    if (last.blocks > first.blocks &&
        last.bytes - first.bytes < (last.blocks - first.blocks) * SEEP_T_SMALL_BYTES)
        *gained = (struct seep_level_point){last.step, last.bytes - first.bytes,
                                            last.blocks - first.blocks};
    return 0;
}

/* ---- do they keep coming --------------------------------------------------------------------- */

/* The sites of a line that gained. */
static int list_sites(const struct seep_code *code, const struct seep_span *span, uint32_t process,
                      uint32_t frame, struct seep_level *level, uint32_t *sites, size_t *n)
{
    const struct seep_model *m = code->model;
    struct seep_level_point gained;

    *n = 0;
    for (uint32_t i = 0; i < m->n_sites; i++) {
        if (code->lines->shown[m->sites[i].stack] != frame)
            continue;
        if (gained_of(code, span, i, process, level, &gained))
            return -SEEP_ENOMEM;
        if (gained.blocks)
            sites[(*n)++] = i;
    }
    return 0;
}

static bool rises(const struct seep_span *span, const struct seep_level *level)
{
    const int32_t steps = span->last - span->judge;
    const size_t n = steps < SEEP_STATISTICS_MAX ? (size_t)steps + 1 : SEEP_STATISTICS_MAX;
    double y[SEEP_STATISTICS_MAX];
    struct seep_trend trend;

    if (steps < SEEP_STATISTICS_MIN)
        return false;
    seep_level_sample(level, span->judge, span->last, n, y);
    return seep_trend_measure(y, n, steps / (double)(n - 1), &trend) &&
           seep_trend_grows(&trend, steps, 0, SEEP_T_RISING);
}

/* A model that grew for a while has left holes as well: their pins have stopped coming. */
static int judge_pace(const struct seep_code *code, const struct seep_span *span, uint32_t process,
                      struct seep_level *level, struct seep_heap_pins *pins)
{
    uint32_t *sites = calloc(code->model->n_sites + (size_t)1, sizeof *sites);
    size_t n;
    int rc = sites ? 0 : -SEEP_ENOMEM;

    if (!rc)
        rc = list_sites(code, span, process, pins->frame, level, sites, &n);
    if (!rc)
        rc = seep_level_sum(code->model, sites, n, process, level);
    pins->keep_coming = !rc && pins->blocks >= SEEP_T_MANY && rises(span, level);
    free(sites);
    return rc;
}

/* ---- which line ------------------------------------------------------------------------------ */

int seep_heap_pins_find(const struct seep_code *code, const struct seep_span *span,
                        uint32_t process, struct seep_heap_pins *most)
{
    const struct seep_model *m = code->model;
    struct seep_heap_pins *lines = calloc(m->dict.n_frames + (size_t)1, sizeof *lines);
    struct seep_level level = {0};
    int rc = lines ? 0 : -SEEP_ENOMEM;

    *most = (struct seep_heap_pins){0};
    for (uint32_t i = 0; i < m->n_sites && !rc; i++) {
        struct seep_level_point gained;
        struct seep_heap_pins *line = &lines[code->lines->shown[m->sites[i].stack]];
        rc = gained_of(code, span, i, process, &level, &gained);
        line->frame = code->lines->shown[m->sites[i].stack];
        line->part = (enum seep_part)code->lines->part[m->sites[i].stack];
        line->blocks += gained.blocks;
        line->bytes += gained.bytes;
        if (line->blocks > most->blocks)
            *most = *line;
    }
    if (!rc)
        rc = judge_pace(code, span, process, &level, most);
    seep_level_fini(&level);
    free(lines);
    return rc;
}

int seep_heap_pins_keep(const struct seep_code *code, const struct seep_span *span,
                        uint32_t process, struct seep_finding *f)
{
    const struct seep_model *m = code->model;
    struct seep_level level = {0};
    int rc = 0;

    for (uint32_t i = 0; i < m->n_sites && !rc; i++) {
        struct seep_level_point gained;
        if (code->lines->shown[m->sites[i].stack] != f->frame)
            continue;
        rc = gained_of(code, span, i, process, &level, &gained);
        if (!rc && gained.blocks)
            seep_finding_keep(f, i, (uint64_t)gained.bytes, (uint64_t)gained.blocks);
    }
    seep_level_fini(&level);
    return rc;
}
