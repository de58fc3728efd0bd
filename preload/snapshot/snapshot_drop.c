#include "preload/snapshot/snapshot_copy_parts.h"

#include "libprof/arch/arch.h"
#include "libprof/format/address_bits.h"
#include "libprof/format/content_samples.h"
#include "libprof/format/page_format.h"
#include "libprof/runtime/store/os.h"
#include "preload/snapshot/snapshot_maps.h"

/* What a step of the job computes with, it writes to in each step: tensors, arrays, and what malloc
 * has of them between two steps. As long as the copy has these pages, too, the kernel copies each
 * one before it is written to. A reader looks for addresses, and there are none in them. */

enum {
    MAX_RANGES = 8192,
    MIN_PAGES = 4,             /* a smaller block has hardly a page of its own */
    MOST_LOOKED_AT = 64 << 20, /* bytes of smaller ones: 10 ms */
    REGION_BITS = 26,          /* most regions are empty: few numbers are taken for addresses */
    REGIONS = 1 << (SEEP_ADDRESS_BITS - REGION_BITS),
};

struct drop {
    struct seep_snapshot_range
        *maps; /* [n_maps] private memory of no file, by address; neighbours are one */
    size_t n_maps, last;
    struct seep_snapshot_range heap; /* of malloc's, that grows by brk() */
    uint64_t *taken;                 /* a bit for each of its pages: something may be read in it */
    uint64_t lowest, highest;        /* where all blocks lie, */
    uint64_t *regions;               /* and a bit for each region in which any does */
    size_t looked_at;
    size_t page; /* bytes of one */
};

static bool note_map(const struct seep_snapshot_map *map, void *arg)
{
    struct drop *d = arg;
    if (map->shared || map->of_file || !map->writable)
        return true;
    if (map->is_heap && map->end - map->start > d->heap.end - d->heap.start)
        d->heap = (struct seep_snapshot_range){map->start, map->end};
    if (d->n_maps && d->maps[d->n_maps - 1].end == map->start)
        d->maps[d->n_maps - 1].end = map->end;
    else if (d->n_maps < MAX_RANGES)
        d->maps[d->n_maps++] = (struct seep_snapshot_range){map->start, map->end};
    return true;
}

static void note_range(struct drop *d, uint64_t start, uint64_t end)
{
    d->lowest = start < d->lowest ? start : d->lowest;
    d->highest = end > d->highest ? end : d->highest;
    for (uint64_t r = start >> REGION_BITS; r <= end >> REGION_BITS && r < REGIONS; r++)
        d->regions[r / 64] |= UINT64_C(1) << r % 64;
}

static void note_extent(struct drop *d, const struct seep_snapshot_block *blocks, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        note_range(d, blocks[i].start, blocks[i].start + blocks[i].bytes);
}

/* Blocks come by address, mostly. */
static bool is_private(struct drop *d, uintptr_t start, uintptr_t end)
{
    size_t low = 0, high = d->n_maps;
    if (d->last < d->n_maps && d->maps[d->last].start <= start && end <= d->maps[d->last].end)
        return true;
    while (low < high) { /* the first that ends behind it */
        const size_t middle = low + (high - low) / 2;
        if (d->maps[middle].end <= start)
            low = middle + 1;
        else
            high = middle;
    }
    d->last = low;
    return low < d->n_maps && d->maps[low].start <= start && end <= d->maps[low].end;
}

static bool is_in_heap(const struct drop *d, uintptr_t address)
{
    return address >= d->heap.start && address < d->heap.end;
}

static void set_taken(struct drop *d, uintptr_t start, uintptr_t end, bool taken)
{
    const unsigned bits = seep_os_page_bits();
    const size_t last = (end - 1 - d->heap.start) >> bits;
    for (size_t i = (start - d->heap.start) >> bits; i <= last; i++) {
        const uint64_t bit = UINT64_C(1) << i % 64;
        d->taken[i / 64] = taken ? d->taken[i / 64] | bit : d->taken[i / 64] & ~bit;
    }
}

static void give_back(uintptr_t start, uintptr_t end)
{
    (void)seep_os_call3(SYS_madvise, (long)start, (long)(end - start), MADV_DONTNEED);
}

/* Whole pages of a block. Those of the heap go together with what lies beside them. */
static void give_up(struct drop *d, uintptr_t start, uintptr_t end)
{
    if (start >= end)
        return;
    if (is_in_heap(d, start) && is_in_heap(d, end - 1))
        set_taken(d, start, end, false);
    else
        give_back(start, end);
}

/* ---- contents -------------------------------------------------------------------------------- */

static bool is_in_region(const struct drop *d, uint64_t word)
{
    const uint64_t r = word >> REGION_BITS;
    return r < REGIONS && d->regions[r / 64] >> r % 64 & 1;
}

/* Most are done after the first loop, which takes eight words at once, for their number is fixed:
 * 4 KiB of a page. */
static bool any_addresses(const struct drop *d, uintptr_t at)
{
    const uint64_t *words = (const uint64_t *)at, span = d->highest - d->lowest;
    const size_t n = SEEP_LEAST_PAGE_BYTES / sizeof(*words);
    uint64_t within = 0;
    for (size_t i = 0; i < n; i++)
        within += seep_arch_untagged(words[i]) - d->lowest <= span;
    for (size_t i = 0; i < n && within; i++) {
        const uint64_t word = seep_arch_untagged(words[i]);
        if (word - d->lowest <= span && is_in_region(d, word))
            return true;
    }
    return false;
}

static bool has_addresses(const struct drop *d, uintptr_t page)
{
    bool any = false;
    for (uintptr_t at = page; at < page + d->page && !any; at += SEEP_LEAST_PAGE_BYTES)
        any = any_addresses(d, at);
    return any;
}

/* As the reader does: if none looks like an address, nobody looks at more than the head. */
static bool has_sampled_addresses(const struct drop *d, uintptr_t start, uint64_t bytes)
{
    bool any = false;
    for (size_t i = 0; i < SEEP_CONTENT_SAMPLES && !any; i++) {
        const uint64_t word =
            seep_arch_untagged(*(const uint64_t *)(uintptr_t)seep_content_sample(start, bytes, i));
        any = word % 8 == 0 && word >= d->lowest && word < d->highest;
    }
    return any;
}

/* Whether more than a few of these pages were ever used. */
static bool is_used(const struct drop *d, uintptr_t start, uintptr_t end)
{
    unsigned char is_there[4 * SEEP_CONTENT_FEW_PAGES];
    size_t n = 0;
    while (start < end && n <= SEEP_CONTENT_FEW_PAGES) {
        const size_t left = (end - start) / d->page;
        const size_t pages = left < sizeof is_there ? left : sizeof is_there;
        if (seep_os_call3(SYS_mincore, (long)start, (long)(pages * d->page), (long)is_there) < 0)
            return false;
        for (size_t i = 0; i < pages; i++)
            n += is_there[i] & 1;
        start += pages * d->page;
    }
    return n > SEEP_CONTENT_FEW_PAGES;
}

static void drop_pages(struct drop *d, uintptr_t start, uintptr_t end)
{
    uintptr_t first = start;
    for (uintptr_t at = start; at < end; at += d->page)
        if (has_addresses(d, at)) {
            give_up(d, first, at);
            first = at + d->page;
        }
    give_up(d, first, end);
    d->looked_at += end - start;
}

/* The first page is kept: a table of Python's begins with sizes that tell where its entries are. */
static void drop_contents(struct drop *d, const struct seep_snapshot_block *block)
{
    const uintptr_t first = seep_os_page_down(block->start) + d->page;
    const uintptr_t end = seep_os_page_down(block->start + block->bytes);
    if (block->bytes < MIN_PAGES * d->page || first >= end ||
        !is_private(d, block->start, block->start + block->bytes))
        return;
    if (block->bytes < SEEP_CONTENT_LARGE) {
        if (d->looked_at < MOST_LOOKED_AT)
            drop_pages(d, first, end);
        return;
    }
    const uintptr_t rest = first + seep_os_page_up(SEEP_CONTENT_HEAD);
    if (is_used(d, rest, end) && /* looking makes pages used, too */
        !has_sampled_addresses(d, block->start, block->bytes))
        give_up(d, rest, end);
}

/* ---- the heap -------------------------------------------------------------------------------- */

static size_t taken_bytes(const struct drop *d)
{
    return ((d->heap.end - d->heap.start) / d->page / 64 + 1) * sizeof(*d->taken);
}

static uintptr_t end_of(const struct seep_snapshot_block *block)
{
    return block->start + (block->bytes ? block->bytes : 1);
}

static void note_taken(struct drop *d, const struct seep_snapshot_block *blocks, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (is_in_heap(d, blocks[i].start) && is_in_heap(d, end_of(&blocks[i]) - 1))
            set_taken(d, blocks[i].start, end_of(&blocks[i]), true);
}

/* Where addresses are not random, the program's own data lies in front of the heap, in one map. */
static void begin_at_first_block(struct drop *d, const struct seep_snapshot_block *blocks,
                                 uint64_t n)
{
    uintptr_t first = d->heap.end;
    for (uint64_t i = 0; i < n; i++)
        if (is_in_heap(d, blocks[i].start) && blocks[i].start < first)
            first = blocks[i].start;
    d->heap.start = seep_os_page_down(first);
}

/* Blocks that nobody recorded may lie anywhere. */
static void note_unrecorded(struct drop *d)
{
    for (size_t i = 0; i < d->n_maps; i++)
        note_range(d, d->maps[i].start, d->maps[i].end);
    if (d->heap.end > d->heap.start)
        set_taken(d, d->heap.start, d->heap.end, true);
}

/* What lies in no block is malloc's own, or was a block. */
static void drop_free(const struct drop *d)
{
    const size_t n = (d->heap.end - d->heap.start) / d->page;
    size_t first = 0;
    for (size_t i = 0; i <= n; i++) {
        if (i < n && !(d->taken[i / 64] >> i % 64 & 1))
            continue;
        if (i > first)
            give_back(d->heap.start + first * d->page, d->heap.start + i * d->page);
        first = i + 1;
    }
}

static void drop(struct drop *d, const struct seep_snapshot *s)
{
    const struct seep_snapshot_block *blocks = (const void *)(uintptr_t)s->blocks;
    const struct seep_snapshot_block *maps = (const void *)(uintptr_t)s->maps;
    note_extent(d, blocks, s->n_blocks);
    note_extent(d, maps, s->n_maps);
    begin_at_first_block(d, blocks, s->n_blocks);
    d->taken = seep_os_pages(taken_bytes(d));
    if (!d->taken)
        return;
    note_taken(d, blocks, s->n_blocks);
    note_taken(d, maps, s->n_maps);
    if (s->sampled)
        note_unrecorded(d);
    for (uint64_t i = 0; i < s->n_blocks; i++)
        drop_contents(d, &blocks[i]);
    drop_free(d);
    seep_os_unmap(d->taken, taken_bytes(d));
}

static const size_t maps_bytes = MAX_RANGES * sizeof(struct seep_snapshot_range),
                    regions_bytes = REGIONS / 8;

void seep_snapshot_drop(const struct seep_snapshot *s)
{
    struct drop d = {.maps = seep_os_pages(maps_bytes),
                     .regions = seep_os_pages(regions_bytes),
                     .lowest = UINT64_MAX,
                     .page = seep_os_page_bytes()};
    if (d.maps && d.regions && seep_snapshot_maps_each(note_map, &d))
        drop(&d, s);
    if (d.maps)
        seep_os_unmap(d.maps, maps_bytes);
    if (d.regions)
        seep_os_unmap(d.regions, regions_bytes);
}
