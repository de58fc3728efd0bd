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

/* ---- which line ------------------------------------------------------------------------------ */

/* What each site gained, by site; and the line whose blocks became most. */
static int find_line(const struct seep_code *code, const struct seep_span *span, uint32_t process,
                     struct seep_level *level, struct seep_level_point *gained,
                     struct seep_heap_pins *most)
{
    const struct seep_model *m = code->model;
    struct seep_heap_pins *lines = calloc(m->dict.n_frames + (size_t)1, sizeof *lines);
    int rc = lines ? 0 : -SEEP_ENOMEM;

    for (uint32_t i = 0; i < m->n_sites && !rc; i++) {
        struct seep_heap_pins *line = &lines[code->lines->shown[m->sites[i].stack]];
        rc = gained_of(code, span, i, process, level, &gained[i]);
        line->frame = code->lines->shown[m->sites[i].stack];
        line->part = (enum seep_part)code->lines->part[m->sites[i].stack];
        line->blocks += gained[i].blocks;
        line->bytes += gained[i].bytes;
        if (line->blocks > most->blocks)
            *most = *line;
    }
    free(lines);
    return rc;
}

static int list_pins(const struct seep_code *code, const struct seep_level_point *gained,
                     struct seep_heap_pins *pins)
{
    const struct seep_model *m = code->model;

    pins->sites = calloc(m->n_sites + (size_t)1, sizeof *pins->sites);
    pins->gained = calloc(m->n_sites + (size_t)1, sizeof *pins->gained);
    if (!pins->sites || !pins->gained)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < m->n_sites; i++) {
        if (code->lines->shown[m->sites[i].stack] != pins->frame || !gained[i].blocks)
            continue;
        pins->sites[pins->n] = i;
        pins->gained[pins->n++] = gained[i];
    }
    return 0;
}

/* ---- do they keep coming --------------------------------------------------------------------- */

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

int seep_heap_pins_find(const struct seep_code *code, const struct seep_span *span,
                        uint32_t process, struct seep_heap_pins *pins)
{
    struct seep_level_point *gained = calloc(code->model->n_sites + (size_t)1, sizeof *gained);
    struct seep_level level = {0};
    int rc = gained ? 0 : -SEEP_ENOMEM;

    *pins = (struct seep_heap_pins){0};
    if (!rc)
        rc = find_line(code, span, process, &level, gained, pins);
    if (!rc)
        rc = list_pins(code, gained, pins);
    if (!rc)
        rc = seep_level_sum(code->model, pins->sites, pins->n, process, &level);
    /* A model that grew for a while has left holes as well: their pins have stopped coming. */
    pins->keep_coming = !rc && pins->blocks >= SEEP_T_MANY && rises(span, &level);
    seep_level_fini(&level);
    free(gained);
    return rc;
}

void seep_heap_pins_fini(struct seep_heap_pins *pins)
{
    free(pins->sites);
    free(pins->gained);
}
