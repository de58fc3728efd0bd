/* Levels over the steps as courses. */
#include "libprof/digest/fill/fill_parts.h"

uint32_t seep_digest_shift_of(uint32_t n_steps)
{
    uint32_t shift = 0;

    while (n_steps && (n_steps - 1) >> shift >= SEEP_DIGEST_COURSE)
        shift++;
    return shift;
}

void seep_digest_area_add(const struct seep_digest_fill *f, struct seep_digest_area *area,
                          int64_t from, int64_t to, uint64_t bytes)
{
    const uint32_t shift = f->d->step_shift;
    const int64_t last = f->code->model->n_steps;

    from = from < 1 ? 1 : from;
    to = to > last ? last : to;
    while (bytes && from <= to) {
        const int64_t cell = (from - 1) >> shift, end = (cell + 1) << shift;
        const int64_t stop = end < to ? end : to;
        area->cells[cell] += (unsigned __int128)bytes * (uint64_t)(stop - from + 1);
        from = stop + 1;
    }
}

void seep_digest_area_course(const struct seep_digest_area *area,
                             uint64_t course[SEEP_DIGEST_COURSE])
{
    for (size_t i = 0; i < SEEP_DIGEST_COURSE; i++) {
        const unsigned __int128 kib = area->cells[i] >> 10;
        course[i] =
            seep_digest_course_sum(kib > SEEP_DIGEST_MOST ? SEEP_DIGEST_MOST : (uint64_t)kib, 0);
    }
}

void seep_digest_level_course(const struct seep_digest_fill *f, const struct seep_level *level,
                              uint64_t course[SEEP_DIGEST_COURSE])
{
    struct seep_digest_area area = {0};

    for (size_t i = 0; i < level->n; i++) {
        const struct seep_level_point *p = &level->points[i];
        const int64_t to = i + 1 < level->n ? (int64_t)level->points[i + 1].step - 1 : INT32_MAX;
        seep_digest_area_add(f, &area, p->step, to, p->bytes > 0 ? (uint64_t)p->bytes : 0);
    }
    seep_digest_area_course(&area, course);
}
