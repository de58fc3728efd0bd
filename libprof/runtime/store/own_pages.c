#include "libprof/runtime/store/own_pages.h"

#include "libprof/runtime/store/os_page.h"
#include "libprof/runtime/store/placement.h"

enum { BUSY = 1, MAX_TRIES = 16 }; /* of `start`: 0 free, 1 being filled in */

static SEEP_LARGE struct seep_own_range ranges[SEEP_OWN_RANGES];
static uint32_t n_used; /* entries beyond were never in use */

static bool swap(uintptr_t *word, uintptr_t from, uintptr_t to)
{
    return __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void raise_used(uint32_t n)
{
    uint32_t used = __atomic_load_n(&n_used, __ATOMIC_RELAXED);
    while (used < n && !__atomic_compare_exchange_n(&n_used, &used, n, false, __ATOMIC_RELEASE,
                                                    __ATOMIC_RELAXED))
        continue;
}

static void add(uintptr_t start, uintptr_t end)
{
    uint32_t used = __atomic_load_n(&n_used, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < used; i++)
        if (__atomic_load_n(&ranges[i].start, __ATOMIC_RELAXED) == end &&
            swap(&ranges[i].start, end, start))
            return;
    for (uint32_t i = 0; i < SEEP_OWN_RANGES; i++) {
        if (__atomic_load_n(&ranges[i].start, __ATOMIC_RELAXED) || !swap(&ranges[i].start, 0, BUSY))
            continue;
        ranges[i].end = end;
        __atomic_store_n(&ranges[i].start, start, __ATOMIC_RELEASE);
        raise_used(i + 1);
        return;
    }
}

void seep_own_add(const void *pages, size_t bytes)
{
    add((uintptr_t)pages, seep_os_page_up((uintptr_t)pages + bytes));
}

/* Takes [start, end) out of entry i. False: it is not in the entry, or another thread was
 * faster. */
static bool cut(uint32_t i, uintptr_t start, uintptr_t end)
{
    uintptr_t from = __atomic_load_n(&ranges[i].start, __ATOMIC_ACQUIRE);
    uintptr_t to = __atomic_load_n(&ranges[i].end, __ATOMIC_ACQUIRE);
    if (from <= BUSY || start < from || end > to)
        return false;
    if (start == from)
        return swap(&ranges[i].start, from, end == to ? 0 : end);
    if (!swap(&ranges[i].end, to, start))
        return false;
    if (end < to)
        add(end, to);
    return true;
}

void seep_own_drop(const void *pages, size_t bytes)
{
    uintptr_t start = (uintptr_t)pages, end = seep_os_page_up(start + bytes);
    for (int tries = 0; tries < MAX_TRIES; tries++)
        for (uint32_t i = 0; i < __atomic_load_n(&n_used, __ATOMIC_ACQUIRE); i++)
            if (cut(i, start, end))
                return;
}

bool seep_own_next(uint32_t *at, uintptr_t start, uintptr_t end, struct seep_own_range *piece)
{
    uint32_t used = __atomic_load_n(&n_used, __ATOMIC_ACQUIRE);
    while (*at < used) {
        const struct seep_own_range *range = &ranges[(*at)++];
        uintptr_t from = __atomic_load_n(&range->start, __ATOMIC_ACQUIRE);
        uintptr_t to = __atomic_load_n(&range->end, __ATOMIC_ACQUIRE);
        if (from <= BUSY || from >= end || to <= start)
            continue;
        piece->start = from > start ? from : start;
        piece->end = to < end ? to : end;
        return true;
    }
    return false;
}

const struct seep_own_range *seep_own_table(const uint32_t **n_used_at)
{
    *n_used_at = &n_used;
    return ranges;
}
