#include "libprof/judge/heap_pins.h"

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
