#include "libprof/model/live_level.h"

#include <stdlib.h>

void seep_level_fini(struct seep_level *level)
{
    free(level->points);
    *level = (struct seep_level){0};
}

static int push(struct seep_level *level, int32_t step, int64_t bytes, int64_t blocks)
{
    if (seep_grow(&level->points, &level->capacity, level->n + 1, sizeof *level->points))
        return -SEEP_ENOMEM;
    level->points[level->n++] = (struct seep_level_point){step, bytes, blocks};
    return 0;
}

/* Levels of an untrusted file may be anything, and there may be any number of parts. */
static int64_t bounded(uint64_t bytes)
{
    return bytes < (UINT64_C(1) << 48) ? (int64_t)bytes : INT64_C(1) << 48;
}

static int64_t bounded_sum(int64_t a, int64_t b)
{
    const int64_t most = INT64_C(1) << 62;
    int64_t sum;

    if (__builtin_add_overflow(a, b, &sum))
        return a < 0 ? -most : most;
    return sum > most ? most : sum < -most ? -most : sum;
}

/* What malloc takes for small blocks, and of large ones' pages those that were touched. */
static uint64_t resident_of(const struct seep_model_slot *part, const struct seep_model_point *p)
{
    const uint64_t bytes = part->of_malloc ? seep_chunks_bytes(p->bytes, p->blocks) : p->bytes;

    return bytes - bytes / 256 * part->untouched;
}

/* Adds a part as differences; they are sorted and summed at the end. */
static int add_part(const struct seep_model *m, const struct seep_model_slot *part,
                    bool as_resident, struct seep_level *level)
{
    int32_t end_step = m->processes[part->process].end_step;
    int64_t bytes = 0, blocks = 0;
    int32_t step = 0;

    for (uint32_t i = 0; i < part->n_points; i++) {
        const struct seep_model_point *p = &m->points[part->points_at + i];
        const int64_t here = bounded(as_resident ? resident_of(part, p) : p->bytes);
        step = p->step;
        if (push(level, step, here - bytes, (int64_t)p->blocks - blocks))
            return -SEEP_ENOMEM;
        bytes = here;
        blocks = p->blocks;
    }
    if (end_step == INT32_MAX || (!bytes && !blocks))
        return 0;
    return push(level, end_step > step ? end_step : step, -bytes, -blocks);
}

static int by_step(const void *a, const void *b)
{
    const struct seep_level_point *p = a, *q = b;

    return (p->step > q->step) - (p->step < q->step);
}

/* Merges changes of one step and orders them by step: with a table over the steps if they are
 * dense, as in sums over many processes, else by sorting. */
static int gather(struct seep_level *level)
{
    enum { FEW = 32 };
    int32_t low = INT32_MAX, high = INT32_MIN;
    size_t kept = 0;

    for (size_t i = 0; i < level->n; i++) {
        low = level->points[i].step < low ? level->points[i].step : low;
        high = level->points[i].step > high ? level->points[i].step : high;
    }
    size_t range = level->n ? (size_t)((int64_t)high - low) + 1 : 0;
    if (level->n < FEW || range > level->n) {
        if (level->n > 1)
            qsort(level->points, level->n, sizeof *level->points, by_step);
        return 0;
    }
    struct seep_level_point *table = calloc(range, sizeof *table);
    if (!table)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < level->n; i++) {
        const struct seep_level_point *p = &level->points[i];
        struct seep_level_point *sum = &table[(int64_t)p->step - low];
        sum->step = p->step;
        sum->bytes = bounded_sum(sum->bytes, p->bytes);
        sum->blocks = bounded_sum(sum->blocks, p->blocks);
    }
    for (size_t i = 0; i < range; i++) {
        if (table[i].bytes || table[i].blocks)
            level->points[kept++] = table[i];
    }
    level->n = kept;
    free(table);
    return 0;
}

static int add_up(struct seep_level *level)
{
    int64_t bytes = 0, blocks = 0;
    size_t kept = 0;

    if (gather(level))
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < level->n; i++) {
        bytes = bounded_sum(bytes, level->points[i].bytes);
        blocks = bounded_sum(blocks, level->points[i].blocks);
        if (i + 1 < level->n && level->points[i + 1].step == level->points[i].step)
            continue;
        level->points[kept++] = (struct seep_level_point){level->points[i].step, bytes, blocks};
    }
    level->n = kept;
    return 0;
}

/* Sums over a whole job have many more changes than steps: merge them along the way. */
static int gather_if_many(struct seep_level *level, size_t *many)
{
    enum { MANY = 64 * 1024 };

    if (level->n < *many || level->n < MANY)
        return 0;
    int rc = gather(level);
    *many = 2 * level->n;
    return rc;
}

static int sum(const struct seep_model *m, const uint32_t *sites, size_t n, uint32_t process,
               bool as_resident, struct seep_level *level)
{
    size_t many = 0;

    level->n = 0;
    for (size_t i = 0; i < n; i++) {
        for (uint32_t k = m->sites[sites[i]].slots; k; k = m->slots[k - 1].next) {
            const struct seep_model_slot *part = &m->slots[k - 1];
            if ((process == SEEP_LEVEL_ALL || part->process == process) &&
                add_part(m, part, as_resident, level))
                return -SEEP_ENOMEM;
        }
        if (gather_if_many(level, &many))
            return -SEEP_ENOMEM;
    }
    return add_up(level);
}

static int sum_slots(const struct seep_model *m, const uint32_t *parts, size_t n, bool as_resident,
                     struct seep_level *level)
{
    size_t many = 0;

    level->n = 0;
    for (size_t i = 0; i < n; i++) {
        if (add_part(m, &m->slots[parts[i]], as_resident, level) || gather_if_many(level, &many))
            return -SEEP_ENOMEM;
    }
    return add_up(level);
}

int seep_level_sum(const struct seep_model *m, const uint32_t *sites, size_t n, uint32_t process,
                   struct seep_level *level)
{
    return sum(m, sites, n, process, false, level);
}

int seep_level_resident(const struct seep_model *m, const uint32_t *sites, size_t n,
                        uint32_t process, struct seep_level *level)
{
    return sum(m, sites, n, process, true, level);
}

int seep_level_sum_slots(const struct seep_model *m, const uint32_t *parts, size_t n,
                         struct seep_level *level)
{
    return sum_slots(m, parts, n, false, level);
}

int seep_level_resident_slots(const struct seep_model *m, const uint32_t *parts, size_t n,
                              struct seep_level *level)
{
    return sum_slots(m, parts, n, true, level);
}

struct seep_level_point seep_level_highest(const struct seep_level *level)
{
    struct seep_level_point p = {0};

    for (size_t i = 0; i < level->n; i++) {
        if (level->points[i].bytes > p.bytes)
            p = level->points[i];
    }
    return p;
}

struct seep_level_point seep_level_at(const struct seep_level *level, int32_t step)
{
    size_t low = 0, high = level->n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (level->points[middle].step <= step)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return (struct seep_level_point){.step = step};
    return level->points[low - 1];
}

void seep_level_sample(const struct seep_level *level, int32_t from, int32_t to, size_t n,
                       double *bytes)
{
    enum { WINDOWS = 64 };
    int64_t span = (int64_t)to - from;
    size_t at = 0; /* points before it are done */

    for (size_t i = 0; i < n; i++) {
        int32_t step = n > 1 ? (int32_t)(from + span * (int64_t)i / (int64_t)(n - 1)) : to;
        while (at < level->n && level->points[at].step <= step)
            at++;
        const struct seep_level_point *p = at ? &level->points[at - 1] : NULL;
        const struct seep_level_point *next = at < level->n ? &level->points[at] : NULL;
        bytes[i] = p ? (double)p->bytes : 0;
        /* A long series has one point per window: between them the level rises or falls evenly. */
        if (p && next && next->step - p->step <= span / WINDOWS && next->step <= to)
            bytes[i] += (double)(next->bytes - p->bytes) * (double)(step - p->step) /
                        (double)(next->step - p->step);
    }
}

/* What the parts of a site held at once at the end of the job. */
static uint64_t live_at_end(const struct seep_model *m, const struct seep_model_site *site)
{
    uint64_t sum = 0;

    for (uint32_t k = site->slots; k; k = m->slots[k - 1].next) {
        const struct seep_model_slot *part = &m->slots[k - 1];
        if (!m->processes[part->process].gone && part->n_points)
            sum = seep_sum(sum, m->points[part->points_at + part->n_points - 1].bytes);
    }
    return sum;
}

int seep_level_raise_peaks(struct seep_model *m, bool all_sites)
{
    struct seep_level level = {0};
    int rc = 0;

    seep_model_begin(m, SEEP_MODEL_COMPLETE);
    for (uint32_t i = 0; i < m->n_sites && !rc; i++) {
        struct seep_totals *t = &m->sites[i].totals;
        double most = (double)t->peak_bytes * m->sites[i].n_slots;
        if (m->sites[i].n_slots < 2)
            continue;
        uint64_t live = live_at_end(m, &m->sites[i]);
        if (all_sites || most * 1000 >= (double)m->spaces[m->sites[i].space].totals.peak_bytes)
            rc = seep_level_sum(m, &i, 1, SEEP_LEVEL_ALL, &level);
        for (size_t k = 0; k < level.n && !rc; k++) {
            if (level.points[k].bytes > (int64_t)t->peak_bytes) {
                t->peak_bytes = (uint64_t)level.points[k].bytes;
                t->peak_step = level.points[k].step;
            }
        }
        level.n = 0;
        if (t->peak_bytes < live) {
            t->peak_bytes = live;
            t->peak_step = m->sites[i].last_step;
        }
    }
    seep_level_fini(&level);
    return rc;
}
