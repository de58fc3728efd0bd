#include "libprof/runtime/store/site_series.h"

#include <string.h>

static struct seep_series *make_room(struct seep_detail *detail, const struct seep_series *old)
{
    uint32_t capacity = old ? SEEP_SERIES_LARGE : SEEP_SERIES_SMALL;
    if (seep_arena.full || !seep_os_lock(&seep_arena.lock))
        return NULL;
    uint32_t bytes =
        (uint32_t)sizeof(struct seep_series) + capacity * (uint32_t)sizeof(struct seep_point);
    uint32_t ref = seep_arena_take(SEEP_CHUNK_SERIES, bytes, 8);
    seep_os_unlock(&seep_arena.lock);
    if (!ref)
        return NULL;
    struct seep_series *series = seep_arena_at(ref);
    if (old) {
        memcpy(series->points, old->points, old->n * sizeof(struct seep_point));
        series->n = old->n;
        series->shift = old->shift;
    }
    series->detail = seep_arena_ref(detail);
    __atomic_store_n(&series->capacity, capacity, __ATOMIC_RELEASE);
    __atomic_store_n(&detail->series, seep_arena_ref(series), __ATOMIC_RELEASE);
    return series;
}

/* Doubles the window and keeps the latest point of each. Compacts in place, front to back, so at
 * every instant the points with rising periods are true ones. */
static void coarsen(struct seep_series *series)
{
    uint32_t shift = series->shift + 1;
    uint32_t kept = 0;
    series->shift = shift;
    for (uint32_t i = 0; i < series->n; i++) {
        if (i + 1 < series->n &&
            series->points[i].period >> shift == series->points[i + 1].period >> shift)
            continue;
        series->points[kept++] = series->points[i];
    }
    __atomic_store_n(&series->n, kept, __ATOMIC_RELEASE);
}

static bool is_worth_large(const struct seep_series *series, const struct seep_point *next)
{
    bool worth = next->live_bytes >= SEEP_WORTH_LARGE_BYTES;
    for (uint32_t i = 0; i < series->n && !worth; i++)
        worth = series->points[i].live_bytes >= SEEP_WORTH_LARGE_BYTES;
    return worth;
}

static void append(struct seep_detail *detail, const struct seep_point *point)
{
    struct seep_series *series =
        detail->series ? seep_arena_at(detail->series) : make_room(detail, NULL);
    if (!series)
        return;
    if (series->n) {
        struct seep_point *last = &series->points[series->n - 1];
        if (point->period <= last->period)
            return;
        if (point->period >> series->shift == last->period >> series->shift) {
            *last = *point;
            return;
        }
    }
    if (series->n >= series->capacity && series->capacity == SEEP_SERIES_SMALL &&
        is_worth_large(series, point)) {
        struct seep_series *larger = make_room(detail, series);
        if (larger)
            series = larger;
    }
    while (series->n >= series->capacity)
        coarsen(series);
    series->points[series->n] = *point;
    __atomic_store_n(&series->n, series->n + 1, __ATOMIC_RELEASE);
}

SEEP_EACH_EVENT void seep_series_note(struct seep_detail *detail, const struct seep_site *site,
                                      uint32_t period)
{
    uint64_t live = site->allocated_bytes - site->freed_bytes - detail->remote_freed_bytes;
    if (detail->series ? live == detail->noted_bytes : (int64_t)live < SEEP_WORTH_SERIES_BYTES)
        return;
    if (__atomic_exchange_n(&detail->lock, 1, __ATOMIC_ACQUIRE))
        return;
    uint64_t blocks = site->allocations - site->frees - detail->remote_frees;
    struct seep_point point = {
        .period = period,
        .live_blocks = blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX,
        .live_bytes = live,
    };
    append(detail, &point);
    detail->noted_bytes = live;
    __atomic_store_n(&detail->lock, 0, __ATOMIC_RELEASE);
}
