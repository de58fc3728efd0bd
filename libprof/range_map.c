#include "libprof/range_map.h"

#include <string.h>

static struct seep_range *ranges;
static size_t n_ranges, capacity_ranges;
static uint32_t last_origin;
static struct seep_lock lock;

static bool reserve(size_t more)
{
    if (n_ranges + more <= capacity_ranges)
        return true;
    size_t capacity = capacity_ranges ? capacity_ranges * 2 : 512;
    struct seep_range *fresh = seep_os_pages(capacity * sizeof(*fresh));
    if (!fresh)
        return false;
    if (n_ranges)
        memcpy(fresh, ranges, n_ranges * sizeof(*fresh));
    struct seep_range *old = ranges;
    size_t old_capacity = capacity_ranges;
    __atomic_store_n(&ranges, fresh, __ATOMIC_RELEASE); /* the larger one first */
    __atomic_store_n(&capacity_ranges, capacity, __ATOMIC_RELEASE);
    if (old)
        seep_os_unmap(old, old_capacity * sizeof(*old));
    return true;
}

/* Index of the first range that ends beyond `address`. */
static size_t first_after(uintptr_t address)
{
    size_t low = 0, high = n_ranges;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ranges[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert(size_t at, const struct seep_range *range)
{
    memmove(&ranges[at + 1], &ranges[at], (n_ranges - at) * sizeof(*ranges));
    ranges[at] = *range;
    n_ranges++;
}

static void erase(size_t at)
{
    n_ranges--;
    memmove(&ranges[at], &ranges[at + 1], (n_ranges - at) * sizeof(*ranges));
}

bool seep_range_put(const struct seep_range *range)
{
    if (!seep_os_lock(&lock))
        return false;
    bool ok = reserve(1);
    if (ok) {
        struct seep_range fresh = *range;
        if (!fresh.origin)
            fresh.origin = ++last_origin;
        insert(first_after(fresh.start), &fresh);
    }
    seep_os_unlock(&lock);
    return ok;
}

/* Pieces of one map lie near each other: others can only be in the holes between them. */
static bool any_piece_left(size_t around, uint32_t origin)
{
    enum { NEAR = 64 };
    size_t from = around > NEAR ? around - NEAR : 0;
    for (size_t i = from; i < n_ranges && i < around + NEAR; i++)
        if (ranges[i].origin == origin)
            return true;
    return false;
}

unsigned seep_range_take(uintptr_t start, uintptr_t end, struct seep_range *pieces,
                         unsigned capacity)
{
    unsigned n = 0;
    if (start >= end || !seep_os_lock(&lock))
        return 0;
    size_t at = first_after(start);
    while (at < n_ranges && ranges[at].start < end && n < capacity && reserve(1)) {
        struct seep_range *range = &ranges[at];
        struct seep_range *piece = &pieces[n++];
        *piece = *range;
        if (piece->start < start)
            piece->start = start;
        if (piece->end > end)
            piece->end = end;
        struct seep_range rest = *range;
        rest.start = piece->end;
        bool before = range->start < piece->start, after = rest.start < rest.end;
        if (before)
            range->end = piece->start;
        if (before && after)
            insert(at + 1, &rest);
        else if (after)
            *range = rest;
        else if (!before)
            erase(at);
        piece->last = !before && !after && !any_piece_left(at, piece->origin);
        at = first_after(piece->end);
    }
    seep_os_unlock(&lock);
    return n;
}

void seep_range_after_fork(void)
{
    lock.word = 0;
}

struct seep_lock *seep_range_lock(void)
{
    return &lock;
}
