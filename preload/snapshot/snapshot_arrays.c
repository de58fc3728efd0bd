#include "preload/snapshot/snapshot_copy_parts.h"

#include "libprof/format/address_bits.h"
#include "libprof/runtime/store/live_walk.h"
#include "libprof/runtime/store/range_map.h"
#include "libprof/runtime/store/site_table.h"
#include "preload/cost/sampling.h"
#include "preload/python/pyframe.h"
#include "preload/record/tick.h"

enum { MAX_BLOCKS = 5 * 1000 * 1000 };

struct list {
    struct seep_snapshot_block *at;
    uint64_t n, capacity;
};

static bool list_make(struct list *list, uint64_t capacity)
{
    *list = (struct list){.capacity = capacity};
    list->at = seep_os_pages((capacity + 1) * sizeof(*list->at));
    return list->at != NULL;
}

static void list_add(struct list *list, uintptr_t start, uint64_t bytes, uint32_t site,
                     uint32_t stands_for)
{
    if (list->n < list->capacity)
        list->at[list->n++] = (struct seep_snapshot_block){
            .start = start, .bytes = bytes, .site = site, .stands_for = stands_for};
}

/* Addresses above belong to announced blocks, mostly of devices. */
static bool is_memory(uintptr_t address)
{
    return seep_is_address(address);
}

static void count(uintptr_t address, const struct seep_block *block, void *n)
{
    (void)block;
    *(uint64_t *)n += is_memory(address);
}

static uint32_t stands_for(uintptr_t address, const struct seep_block *block)
{
    const unsigned coarseness = seep_site_coarseness(block);
    return coarseness
               ? (uint32_t)seep_sample_weight(address, block->bytes,
                                              seep_sample_gap(seep_sampling.gap_bytes, coarseness))
               : 0;
}

static void add(uintptr_t address, const struct seep_block *block, void *list)
{
    if (is_memory(address))
        list_add(list, address, block->bytes, block->site, stands_for(address, block));
}

static int fill_blocks(struct seep_snapshot *s)
{
    struct list list;
    uint64_t n = 0;
    seep_live_each(count, &n);
    if (n > MAX_BLOCKS)
        return SEEP_REFUSED_TOO_MANY;
    if (!list_make(&list, n))
        return SEEP_REFUSED_NO_ROOM;
    seep_live_each(add, &list);
    s->blocks = (uintptr_t)list.at;
    s->block_room = list.capacity;
    s->n_blocks = list.n;
    return 0;
}

/* Of 1 GiB that a library reserves for its own allocator, most may never be touched. */
static uint32_t touched_pages(const struct seep_range *range)
{
    const uint64_t pages = range->counted / SEEP_TOUCHED_PAGE + 1;

    return range->state != SEEP_RANGE_BY_TOUCH ? 0
           : pages < UINT32_MAX                ? (uint32_t)pages
                                               : UINT32_MAX;
}

static int fill_maps(struct seep_snapshot *s)
{
    struct list list;
    struct seep_range range = {0};
    if (!list_make(&list, (uint64_t)seep_range_n(SEEP_RANGE_COMMITTED) +
                              seep_range_n(SEEP_RANGE_BY_TOUCH)))
        return SEEP_REFUSED_NO_ROOM;
    while (list.n < list.capacity && seep_range_find(range.end, SEEP_RANGES_OF_MEMORY, &range))
        list_add(&list, range.start, range.end - range.start, range.site, touched_pages(&range));
    s->maps = (uintptr_t)list.at;
    s->map_room = list.capacity;
    s->n_maps = list.n;
    return 0;
}

/* The library's own variables, as its linker names them. */
extern const char __bss_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

/* Call it last: it includes the other lists. */
static int fill_own(struct seep_snapshot *s)
{
    struct seep_snapshot_range *list = seep_os_pages((SEEP_OWN_RANGES + 1) * sizeof(*list));
    struct seep_own_range piece;
    uint32_t at = 0;
    if (!list)
        return SEEP_REFUSED_NO_ROOM;
    list[s->n_own++] = (struct seep_snapshot_range){(uintptr_t)__bss_start, (uintptr_t)_end};
    while (s->n_own <= SEEP_OWN_RANGES && seep_own_next(&at, 0, UINTPTR_MAX, &piece))
        list[s->n_own++] = (struct seep_snapshot_range){piece.start, piece.end};
    s->own = (uintptr_t)list;
    return 0;
}

void seep_snapshot_unlock_all(void)
{
    seep_live_after_fork();
    seep_range_after_fork();
}

int seep_snapshot_fill(struct seep_snapshot *s)
{
    s->version = SEEP_SNAPSHOT_VERSION;
    s->python_version = seep_python_version;
    s->python_runtime = seep_python_runtime();
    s->sampled = seep_sampling.has_begun;
    s->most_bytes = seep_overhead_room_bytes(&seep_overhead);
    int refusal = fill_blocks(s);
    if (!refusal)
        refusal = fill_maps(s);
    return refusal ? refusal : fill_own(s);
}

static void unmap(uint64_t at, uint64_t n, size_t one)
{
    if (at)
        seep_os_unmap((void *)(uintptr_t)at, (n + 1) * one);
}

void seep_snapshot_forget(struct seep_snapshot *s)
{
    unmap(s->blocks, s->block_room, sizeof(struct seep_snapshot_block));
    unmap(s->maps, s->map_room, sizeof(struct seep_snapshot_block));
    unmap(s->own, SEEP_OWN_RANGES, sizeof(struct seep_snapshot_range));
}
