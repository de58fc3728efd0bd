#include "preload/record/map_resident.h"

#include <errno.h>

#include "preload/job/job.h"
#include "preload/record/thread.h"

void seep_map_count_gone(const struct seep_range *piece, unsigned n)
{
    struct seep_block block = {.site = piece->site, .birth = piece->birth, .bytes = piece->counted};
    seep_site_freed(&seep_tls.thread->sites, &block, n, block.bytes, *seep_period);
}

uint64_t seep_map_overlap(uintptr_t start, uintptr_t end)
{
    return seep_range_overlap(start, end, SEEP_RANGES_OF_MEMORY);
}

bool seep_map_any_by_touch(void)
{
    return seep_range_n(SEEP_RANGE_BY_TOUCH) != 0;
}

/* Only one thread writes a site. If another thread corrects it, the map moves to that thread's site
 * with the same stack. Inherited maps were counted by the parent. */
static void correct(const struct seep_range *range, uint64_t resident)
{
    struct seep_sites *sites = &seep_tls.thread->sites;
    uint32_t period = *seep_period, site = range->site;
    uint64_t old;
    if (site < seep_sites_first_own)
        return;
    const struct seep_site *theirs = seep_site_at(site);
    if (theirs->slot_plus_1 != sites->slot + 1 && !seep_site_is_shared(theirs))
        site = seep_site_find(sites, theirs->stack, theirs->space);
    if (!site || !seep_range_correct(range, site, resident, &old))
        return;
    struct seep_range gone = *range;
    bool moves = site != range->site;
    gone.counted = moves ? old : old > resident ? old - resident : 0;
    if (moves || gone.counted)
        seep_map_count_gone(&gone, moves);
    if (moves || resident > old)
        seep_site_allocated(sites, seep_site_at(site), moves, moves ? resident : resident - old,
                            range->end - range->start, period);
}

/* Instead of a number of bytes. */
enum {
    UNKNOWN = -1, /* too many to count, or the kernel does not say */
    CHANGED = -2, /* something is mapped no longer: another thread went on meanwhile */
};

/* Resident pages of [start, end), in bytes; or one of these. */
static int64_t count_pages(uintptr_t start, uintptr_t end)
{
    enum { AT_ONCE = 1024 };
    const uintptr_t page = seep_os_page_bytes(), most = AT_ONCE * page;
    unsigned char pages[AT_ONCE];
    int64_t n_resident = 0;
    for (uintptr_t at = seep_os_page_down(start); at < end; at += most) {
        const uintptr_t bytes = end - at < most ? end - at : most;
        const long rc = seep_os_call3(SYS_mincore, (long)at, (long)bytes, (long)pages);
        if (rc < 0)
            return rc == -ENOMEM ? CHANGED : UNKNOWN;
        for (uintptr_t i = 0; i * page < bytes; i++)
            n_resident += pages[i] & 1;
    }
    return n_resident * (int64_t)page;
}

/* A mapping in the kernel's sense, which joins neighbours. */
struct mapping {
    uintptr_t start, end;
    uint64_t resident, by_touch, committed; /* bytes of it */
    bool is_file;
};

/* Resident pages of [from, to), a part of the mapping, in bytes: those in it, or all but those
 * beside it; or one of these. A file's pages others may have read. */
static int64_t count_part(const struct mapping *mapping, uintptr_t from, uintptr_t to)
{
    enum { MAX_MIB = 256 };
    if (mapping->is_file)
        return UNKNOWN;
    if ((to - from) >> 20 < MAX_MIB)
        return count_pages(from, to);
    if ((mapping->end - mapping->start - (to - from)) >> 20 >= MAX_MIB)
        return UNKNOWN;
    const int64_t below = count_pages(mapping->start, from), above = count_pages(to, mapping->end);
    if (below < 0 || above < 0)
        return below < above ? below : above;
    const uint64_t beside = (uint64_t)(below + above);
    return beside < mapping->resident ? (int64_t)(mapping->resident - beside) : 0;
}

/* Computes how much of [from, to) is resident; CHANGED: what was said of the mapping is no longer
 * true. If the mapping also contains other things, the pages are counted; if there are very many,
 * or of a file, the part gets its share of what is resident and not committed. */
static int64_t resident_of(const struct mapping *mapping, uintptr_t from, uintptr_t to)
{
    if (from == mapping->start && to == mapping->end)
        return (int64_t)mapping->resident;
    if (!mapping->resident)
        return 0;
    const int64_t counted = count_part(mapping, from, to);
    if (counted != UNKNOWN)
        return counted;
    if (mapping->resident <= mapping->committed)
        return 0;
    __extension__ typedef unsigned __int128 wide;
    uint64_t rest = mapping->resident - mapping->committed;
    uint64_t share = (uint64_t)((wide)rest * (to - from) / mapping->by_touch);
    return (int64_t)(share < to - from ? share : to - from);
}

/* One map may be several mappings, if parts differ in protection. It is corrected after the last
 * one; and not at all, until the next look, if one of them has changed since. */
void seep_map_resident(uintptr_t start, uintptr_t end, uint64_t resident_bytes, bool is_file)
{
    static uint32_t origin;
    static uintptr_t origin_start;
    static uint64_t sum;
    static bool has_changed;
    enum { BY_TOUCH = 1 << SEEP_RANGE_BY_TOUCH };
    struct seep_range range;
    struct mapping mapping = {
        .start = start, .end = end, .resident = resident_bytes, .is_file = is_file};
    if (!seep_map_any_by_touch() || !(mapping.by_touch = seep_range_overlap(start, end, BY_TOUCH)))
        return;
    mapping.committed = seep_range_overlap(start, end, 1u << SEEP_RANGE_COMMITTED);
    for (uintptr_t at = start; at < end && seep_range_find(at, BY_TOUCH, &range); at = range.end) {
        if (range.start >= end)
            break;
        uintptr_t from = range.start > start ? range.start : start;
        uintptr_t to = range.end < end ? range.end : end;
        if (range.start >= start || range.origin != origin || range.start != origin_start)
            sum = has_changed = 0;
        origin = range.origin;
        origin_start = range.start;
        const int64_t part = resident_of(&mapping, from, to);
        has_changed |= part == CHANGED;
        sum += part == CHANGED ? 0 : (uint64_t)part;
        if (to == range.end && !has_changed)
            correct(&range, sum);
    }
}
