#include "libprof/who/find/dump.h"

#include "libprof/base/hash_index.h"
#include "libprof/who/find/page_states.h"

#include <stdlib.h>
#include <string.h>

enum {
    LARGE = 1 << 20,     /* bytes of a block that is worth a look at what it is, */
    LARGE_MAP = 2 << 20, /* or of a map: arenas of small objects are smaller */
    HEAD = 16 << 10,     /* of a large one that is taken in any case: an object, the first items */
    SAMPLES = 128, /* words of a large one: where none looks like an address, it is no table of
                    * them; hash tables are mostly empty, and words of pictures are no addresses */
    MOST_OWN = 1 << 16,
};

struct taking {
    struct seep_dump *dump;
    struct seep_copy_memory *from;
    struct seep_memory_range *holes; /* what is left out, by address */
    size_t n_holes, hole_capacity;
    struct seep_memory_range *ranges; /* what is taken */
    size_t n_ranges, range_capacity;
    uint64_t lowest, highest; /* where blocks lie */
    struct seep_page_states *pages;
};

static int read_own(struct taking *t, const struct seep_snapshot *head)
{
    struct seep_dump *dump = t->dump;
    const size_t n = head->n_own < MOST_OWN ? (size_t)head->n_own : 0;

    dump->own = calloc(n + 1, sizeof *dump->own);
    if (!dump->own)
        return -SEEP_ENOMEM;
    if (!seep_copy_memory_read(t->from, head->own, dump->own, n * sizeof *dump->own))
        dump->n_own = n;
    return 0;
}

static int add(struct seep_memory_range **list, size_t *n, size_t *capacity, uint64_t start,
               uint64_t end)
{
    if (start >= end)
        return 0;
    if (*n && (*list)[*n - 1].end == start) {
        (*list)[*n - 1].end = end;
        return 0;
    }
    if (seep_grow(list, capacity, *n + 1, sizeof **list))
        return -SEEP_ENOMEM;
    (*list)[(*n)++] = (struct seep_memory_range){start, end};
    return 0;
}

/* ---- what is left out ------------------------------------------------------------------------ */

static int by_start(const void *a, const void *b)
{
    const struct seep_memory_range *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

/* Whether a large block is a table of addresses, by words all over it. */
static bool has_addresses(struct taking *t, const struct seep_snapshot_block *block)
{
    struct seep_memory_piece pieces[SAMPLES];
    uint64_t words[SAMPLES] = {0};
    int n = 0;

    for (size_t i = 0; i < SAMPLES; i++)
        pieces[i] = (struct seep_memory_piece){(block->start + block->bytes / SAMPLES * i + 7) &
                                                   ~UINT64_C(7),
                                               (uint8_t *)&words[i], sizeof words[i]};
    (void)seep_copy_memory_gather(t->from, pieces, SAMPLES);
    for (size_t i = 0; i < SAMPLES; i++)
        n += words[i] % 8 == 0 && words[i] >= t->lowest && words[i] < t->highest;
    return n > 0;
}

static void find_extent(struct taking *t, const struct seep_snapshot_block *blocks, size_t n)
{
    t->lowest = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        if (blocks[i].bytes >> 46 || blocks[i].start >> 47)
            continue;
        t->lowest = blocks[i].start < t->lowest ? blocks[i].start : t->lowest;
        uint64_t end = blocks[i].start + blocks[i].bytes;
        t->highest = end > t->highest ? end : t->highest;
    }
}

static bool is_large(const struct seep_snapshot *head, const struct seep_snapshot_block *block,
                     size_t i)
{
    return block->bytes >= (i < head->n_blocks ? LARGE : LARGE_MAP) && !(block->bytes >> 46) &&
           !(block->start >> 47);
}

static int count_bytes(void *sum, uint64_t start, uint64_t end)
{
    *(uint64_t *)sum += end - start;
    return 0;
}

/* Of a table that is nearly empty samples see nothing, but then few of its pages were ever used. */
static bool is_used(struct taking *t, const struct seep_snapshot_block *block)
{
    const uint64_t page = SEEP_MEMORY_PAGE;
    const uint64_t start = (block->start + page - 1) & ~(page - 1);
    const uint64_t end = (block->start + block->bytes) & ~(page - 1);
    uint64_t used = 0;

    return seep_page_states_each(t->pages, start, end, false, count_bytes, &used) == 0 &&
           used >= LARGE / 2;
}

static int find_holes(struct taking *t, const struct seep_snapshot *head,
                      const struct seep_snapshot_block *blocks, size_t n)
{
    int rc = 0;

    find_extent(t, blocks, n);
    for (size_t i = 0; i < t->dump->n_own && !rc; i++)
        rc = add(&t->holes, &t->n_holes, &t->hole_capacity, t->dump->own[i].start,
                 t->dump->own[i].end);
    for (size_t i = 0; i < n && !rc; i++)
        if (is_large(head, &blocks[i], i) && !has_addresses(t, &blocks[i]) &&
            is_used(t, &blocks[i]))
            rc = add(&t->holes, &t->n_holes, &t->hole_capacity, blocks[i].start + HEAD,
                     blocks[i].start + blocks[i].bytes);
    if (t->n_holes)
        qsort(t->holes, t->n_holes, sizeof *t->holes, by_start);
    return rc;
}

/* ---- what is taken --------------------------------------------------------------------------- */

static int take_range(void *taking, uint64_t start, uint64_t end)
{
    struct taking *t = taking;

    return add(&t->ranges, &t->n_ranges, &t->range_capacity, start, end);
}

/* Pages that a hole has only a part of are taken. */
static int take_between_holes(struct taking *t, const struct seep_map *map, bool files_too)
{
    const uint64_t page = SEEP_MEMORY_PAGE;
    uint64_t at = map->start;
    size_t low = 0, high = t->n_holes;
    int rc = 0;

    while (low < high) { /* the first hole that ends behind it */
        size_t middle = low + (high - low) / 2;
        if (t->holes[middle].end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    for (; !rc && low < t->n_holes && t->holes[low].start < map->end; low++) {
        uint64_t stop = (t->holes[low].start + page - 1) & ~(page - 1);
        uint64_t next = t->holes[low].end & ~(page - 1);
        if (stop > at)
            rc = seep_page_states_each(t->pages, at, stop < map->end ? stop : map->end, files_too,
                                       take_range, t);
        at = next > at ? next : at;
    }
    return rc || at >= map->end
               ? rc
               : seep_page_states_each(t->pages, at, map->end, files_too, take_range, t);
}

/* Of constants that a file can tell only what was changed is needed. */
static int find_ranges(struct taking *t)
{
    const struct seep_maps *maps = &t->dump->maps;
    int rc = 0;

    for (size_t i = 0; i < maps->n && !rc; i++) {
        const struct seep_map *map = &maps->list[i];
        if (map->readable && !map->shared && !(map->executable && !map->writable))
            rc = take_between_holes(
                t, map, map->kind == SEEP_MAP_FILE && !seep_file_pages_has(&t->dump->files, map));
    }
    return rc;
}

static size_t gather(void *from, const struct seep_memory_piece *pieces, size_t n)
{
    return seep_copy_memory_gather(from, pieces, n);
}

static int find(struct taking *t, const struct seep_snapshot *head,
                const struct seep_snapshot_block *blocks, size_t n_blocks)
{
    int rc = seep_maps_read(&t->dump->maps, t->from->pid);

    if (!rc)
        rc = seep_file_pages_init(&t->dump->files, &t->dump->maps, t->from->pid);
    if (!rc)
        rc = read_own(t, head);
    if (!rc)
        rc = find_holes(t, head, blocks, n_blocks);
    return rc ? rc : find_ranges(t);
}

int seep_dump_take(struct seep_dump *dump, struct seep_copy_memory *from,
                   const struct seep_snapshot *head, const struct seep_snapshot_block *blocks,
                   size_t n_blocks, uint64_t max_bytes)
{
    struct taking t = {.dump = dump, .from = from, .pages = malloc(sizeof *t.pages)};
    int rc = -SEEP_ENOMEM;

    *dump = (struct seep_dump){0};
    seep_memory_init(&dump->memory, NULL, NULL, max_bytes);
    if (t.pages) {
        seep_page_states_init(t.pages, from->pid);
        rc = find(&t, head, blocks, n_blocks);
        seep_page_states_fini(t.pages);
    }
    if (!rc) {
        seep_memory_load(&dump->memory, gather, from, t.ranges, t.n_ranges);
        dump->memory.full = dump->memory.full || !t.pages->most_pages;
        /* Where pages are missing, files would tell what they were before they were changed. */
        seep_memory_ask(&dump->memory, dump->memory.full ? NULL : seep_file_pages_read,
                        &dump->files);
    }
    free(t.pages);
    free(t.holes);
    free(t.ranges);
    return rc;
}

void seep_dump_fini(struct seep_dump *dump)
{
    seep_memory_fini(&dump->memory);
    seep_file_pages_fini(&dump->files);
    seep_maps_fini(&dump->maps);
    free(dump->own);
    *dump = (struct seep_dump){0};
}
