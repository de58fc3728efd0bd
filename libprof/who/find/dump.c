#include "libprof/who/find/dump.h"

#include "libprof/arch/arch.h"
#include "libprof/base/hash_index.h"
#include "libprof/format/address_bits.h"
#include "libprof/format/content_samples.h"

#include <stdlib.h>
#include <string.h>

enum {
    LARGE_MAP = 2 << 20, /* a smaller map is not checked for its contents: arenas of small objects
                          * are smaller */
};

_Static_assert((int)SEEP_CONTENT_SAMPLES <= (int)SEEP_MEMORY_PIECES, "one call reads all samples");

struct taking {
    struct seep_dump *dump;
    struct seep_remote *remote;
    const struct seep_dump_request *request;
    struct seep_memory_range *holes; /* what is left out, by address */
    size_t n_holes, hole_capacity;
    struct seep_memory_range *ranges; /* what is taken */
    size_t n_ranges, range_capacity;
    uint64_t lowest, highest; /* where blocks lie */
    struct seep_memory_range
        *insides; /* pages of large blocks behind their beginning, by address */
    size_t n_insides, inside_capacity;
    uint64_t *mapped; /* [MAPPED_WORDS] a bit for each region of the address space in which anything
                       * lies */
    struct seep_memory_range *unmapped; /* blocks that lie in no map, by address */
    size_t n_unmapped, unmapped_capacity;
};

/* Of the address space. Nearly all regions are empty, so that few numbers and characters
 * need a search. */
enum {
    REGION_BITS = 26,
    REGIONS = 1 << (SEEP_ADDRESS_BITS - REGION_BITS),
    MAPPED_WORDS = REGIONS / 64
};

static int copy_own(struct taking *t)
{
    const struct seep_dump_request *r = t->request;

    t->dump->own = calloc(r->n_own + 1, sizeof *t->dump->own);
    if (!t->dump->own)
        return -SEEP_ENOMEM;
    if (r->n_own)
        memcpy(t->dump->own, r->own, r->n_own * sizeof *r->own);
    t->dump->n_own = r->n_own;
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

/* Whether a large block is a table of addresses, by a sample of its words: hash tables are mostly
 * empty, and words of pictures are not addresses. */
static bool has_addresses(struct taking *t, const struct seep_snapshot_block *block)
{
    struct seep_memory_piece pieces[SEEP_CONTENT_SAMPLES];
    uint64_t words[SEEP_CONTENT_SAMPLES] = {0};
    int n = 0;

    for (size_t i = 0; i < SEEP_CONTENT_SAMPLES; i++)
        pieces[i] = (struct seep_memory_piece){seep_content_sample(block->start, block->bytes, i),
                                               (uint8_t *)&words[i], sizeof words[i]};
    (void)t->remote->gather(t->remote, pieces, SEEP_CONTENT_SAMPLES);
    for (size_t i = 0; i < SEEP_CONTENT_SAMPLES; i++) {
        const uint64_t word = seep_arch_untagged(words[i]);
        n += word % 8 == 0 && word >= t->lowest && word < t->highest;
    }
    return n > 0;
}

static void find_extent(struct taking *t)
{
    const struct seep_snapshot_block *blocks = t->request->blocks;

    t->lowest = t->request->lowest;
    t->highest = t->request->highest;
    if (t->highest)
        return;
    t->lowest = UINT64_MAX;
    for (size_t i = 0; i < t->request->n_all; i++) {
        if (blocks[i].bytes >> 46 || !seep_is_address(blocks[i].start))
            continue;
        t->lowest = blocks[i].start < t->lowest ? blocks[i].start : t->lowest;
        uint64_t end = blocks[i].start + blocks[i].bytes;
        t->highest = end > t->highest ? end : t->highest;
    }
}

static bool is_large(const struct taking *t, size_t i)
{
    const struct seep_snapshot_block *block = &t->request->blocks[i];

    return block->bytes >= (i < t->request->n_blocks ? (int)SEEP_CONTENT_LARGE : (int)LARGE_MAP) &&
           !(block->bytes >> 46) && seep_is_address(block->start);
}

static int count_bytes(void *sum, uint64_t start, uint64_t end)
{
    *(uint64_t *)sum += end - start;
    return 0;
}

/* Shared maps are not copied: no page of theirs is taken, and they may be huge. */
static bool is_to_be_taken(const struct taking *t, const struct seep_snapshot_block *block)
{
    const struct seep_map *map = seep_maps_at(&t->dump->maps, block->start);

    return map && !map->shared;
}

/* Whether more than a few of its pages were ever used. */
static bool is_used(struct taking *t, const struct seep_snapshot_block *block)
{
    const uint64_t page = t->remote->page_bytes;
    const uint64_t start = (block->start + page - 1) & ~(page - 1);
    const uint64_t end = (block->start + block->bytes) & ~(page - 1);
    uint64_t used = 0;

    return t->remote->own_pages(t->remote, start, end, false, count_bytes, &used) == 0 &&
           used >= SEEP_CONTENT_FEW_PAGES * page;
}

static int find_holes(struct taking *t)
{
    const struct seep_snapshot_block *blocks = t->request->blocks;
    int rc = 0;

    find_extent(t);
    for (size_t i = 0; i < t->dump->n_own && !rc; i++)
        rc = add(&t->holes, &t->n_holes, &t->hole_capacity, t->dump->own[i].start,
                 t->dump->own[i].end);
    for (size_t i = 0; i < t->request->n_all && !rc; i++)
        if (is_large(t, i) && is_to_be_taken(t, &blocks[i]) && !has_addresses(t, &blocks[i]) &&
            is_used(t, &blocks[i]))
            rc = add(&t->holes, &t->n_holes, &t->hole_capacity, blocks[i].start + SEEP_CONTENT_HEAD,
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

/* Pages that lie only partly in a hole are taken. */
static int take_between_holes(struct taking *t, const struct seep_map *map, bool files_too)
{
    const uint64_t page = t->remote->page_bytes;
    uint64_t at = map->start;
    size_t i = seep_memory_ranges_after(t->holes, t->n_holes, at);
    int rc = 0;

    for (; !rc && i < t->n_holes && t->holes[i].start < map->end; i++) {
        uint64_t stop = (t->holes[i].start + page - 1) & ~(page - 1);
        uint64_t next = t->holes[i].end & ~(page - 1);
        if (stop > at)
            rc = t->remote->own_pages(t->remote, at, stop < map->end ? stop : map->end, files_too,
                                      take_range, t);
        at = next > at ? next : at;
    }
    return rc || at >= map->end
               ? rc
               : t->remote->own_pages(t->remote, at, map->end, files_too, take_range, t);
}

/* Constants come from a file, so only changed pages are needed. */
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

/* ---- which pages of it are kept -------------------------------------------------------------- */

/* Where tensors and pictures may be: in arenas of small objects, texts lie without addresses. */
static int find_insides(struct taking *t)
{
    const uint64_t page = SEEP_MEMORY_PAGE;
    int rc = 0;

    for (size_t i = 0; i < t->request->n_all && !rc; i++) {
        const struct seep_snapshot_block *block = &t->request->blocks[i];
        const uint64_t least = i < t->request->n_blocks ? SEEP_DUMP_LARGE : LARGE_MAP;
        if (block->bytes >= least && !(block->bytes >> 46) && seep_is_address(block->start))
            rc = add(&t->insides, &t->n_insides, &t->inside_capacity,
                     (block->start + page + page - 1) & ~(page - 1),
                     (block->start + block->bytes) & ~(page - 1));
    }
    if (t->n_insides)
        qsort(t->insides, t->n_insides, sizeof *t->insides, by_start);
    return rc;
}

/* Hostile ranges may overlap; `left` bounds how many regions are marked. */
static void mark_mapped(struct taking *t, uint64_t start, uint64_t end, size_t *left)
{
    if (!seep_is_address(start) || end <= start)
        return;
    const uint64_t last = (end - 1) >> REGION_BITS;
    for (uint64_t r = start >> REGION_BITS; r <= last && r < REGIONS && *left; r++, --*left)
        t->mapped[r / 64] |= UINT64_C(1) << r % 64;
}

/* Memory that a process shares with others is not mapped in its copy, but is among the blocks. */
static int find_unmapped(struct taking *t, size_t *left)
{
    const struct seep_snapshot_block *blocks = t->request->blocks;
    const struct seep_map *map = NULL;
    int rc = 0;

    for (size_t i = 0; i < t->request->n_all && !rc; i++) {
        const uint64_t start = blocks[i].start, end = start + blocks[i].bytes;
        if (blocks[i].bytes >> 46 || !seep_is_address(start))
            continue;
        if (!map || start < map->start || end > map->end)
            map = seep_maps_at(&t->dump->maps, start);
        if (map && end <= map->end)
            continue;
        mark_mapped(t, start, end, left);
        rc = add(&t->unmapped, &t->n_unmapped, &t->unmapped_capacity, start, end);
    }
    if (t->n_unmapped)
        qsort(t->unmapped, t->n_unmapped, sizeof *t->unmapped, by_start);
    return rc;
}

static int find_mapped(struct taking *t)
{
    const struct seep_maps *maps = &t->dump->maps;
    size_t left = 2 * (size_t)REGIONS + maps->n + t->request->n_all;

    t->mapped = calloc(MAPPED_WORDS, sizeof *t->mapped);
    if (!t->mapped)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < maps->n; i++)
        mark_mapped(t, maps->list[i].start, maps->list[i].end, &left);
    return find_unmapped(t, &left);
}

/* Blocks do not overlap, but for hostile ones. */
static bool is_in(const struct seep_memory_range *list, size_t n, uint64_t address)
{
    const size_t i = seep_memory_ranges_after(list, n, address);

    return i < n && list[i].start <= address;
}

static bool is_mapped(const struct taking *t, uint64_t address)
{
    const uint64_t region = address >> REGION_BITS;

    return region < REGIONS && t->mapped[region / 64] >> region % 64 & 1 &&
           (seep_maps_at(&t->dump->maps, address) || is_in(t->unmapped, t->n_unmapped, address));
}

/* Nobody looks at the inside of a large block that was asked for but for addresses. */
static bool keeps(void *taking, uint64_t address, const uint8_t *page)
{
    const struct taking *t = taking;
    bool any = false;

    if (!is_in(t->insides, t->n_insides, address))
        return true;
    for (size_t i = 0; i < SEEP_MEMORY_PAGE / sizeof(uint64_t) && !any; i++) {
        uint64_t word;
        memcpy(&word, page + i * sizeof word, sizeof word);
        any = is_mapped(t, word);
    }
    return any;
}

static size_t gather(void *taking, const struct seep_memory_piece *pieces, size_t n)
{
    struct seep_remote *remote = ((struct taking *)taking)->remote;

    return remote->gather(remote, pieces, n);
}

static size_t pass_by(void *remote_given, const struct seep_memory_piece *pieces, size_t n)
{
    struct seep_remote *remote = remote_given;

    return remote->gather(remote, pieces, n);
}

static int find(struct taking *t)
{
    int rc = t->remote->read_maps(t->remote, &t->dump->maps);

    if (!rc)
        rc = seep_file_pages_init(&t->dump->files, &t->dump->maps, t->remote->files);
    if (!rc)
        rc = copy_own(t);
    if (!rc)
        rc = find_holes(t);
    return rc ? rc : find_ranges(t);
}

/* Ranges are in the order of the mappings, which is that of addresses. */
static int stream(struct taking *t)
{
    struct seep_dump *dump = t->dump;

    dump->ranges = t->ranges;
    dump->n_ranges = t->n_ranges;
    t->ranges = NULL;
    return seep_memory_stream(&dump->memory, pass_by, t->remote, dump->ranges, t->n_ranges);
}

static int copy(struct taking *t)
{
    const bool recorded = t->request->recorded;
    int rc = find_mapped(t);

    if (!rc)
        rc = find_insides(t);
    if (rc)
        return rc;
    t->dump->memory.dense = !recorded;
    const struct seep_memory_load how = {gather, recorded ? keeps : NULL, t};
    seep_memory_load(&t->dump->memory, &how, t->ranges, t->n_ranges);
    return 0;
}

/* Chunks are kept whole. */
static uint64_t all_bytes(const struct taking *t)
{
    uint64_t bytes = 0, after = 0;

    for (size_t i = 0; i < t->n_ranges; i++) {
        uint64_t from = t->ranges[i].start >> SEEP_MEMORY_CHUNK_BITS;
        const uint64_t end = ((t->ranges[i].end - 1) >> SEEP_MEMORY_CHUNK_BITS) + 1;
        from = from < after ? after : from;
        bytes += end > from ? (end - from) << SEEP_MEMORY_CHUNK_BITS : 0;
        after = end > after ? end : after;
    }
    return bytes;
}

/* Of what passes by next to nothing is kept. */
static bool is_admitted(const struct taking *t, uint64_t bytes)
{
    const uint64_t most = t->request->passes_by ? 0 : t->request->max_bytes;

    return !t->request->admits || t->request->admits(t->request->arg, bytes < most ? bytes : most);
}

int seep_dump_take(struct seep_dump *dump, struct seep_remote *remote,
                   const struct seep_dump_request *request)
{
    struct taking t = {.dump = dump, .remote = remote, .request = request};

    *dump = (struct seep_dump){0};
    seep_memory_init(&dump->memory, NULL, NULL, request->max_bytes);
    int rc = find(&t);
    const uint64_t bytes = all_bytes(&t);
    if (!rc && !is_admitted(&t, bytes))
        rc = -SEEP_ENOMEM;
    if (!rc)
        rc = request->passes_by ? stream(&t) : copy(&t);
    if (!rc) {
        dump->memory.full = dump->memory.full || remote->cut;
        /* If pages are missing, the files would give their contents from before they were
         * changed. */
        seep_memory_ask(&dump->memory, dump->memory.full ? NULL : seep_file_pages_read,
                        &dump->files);
    }
    free(t.holes);
    free(t.insides);
    free(t.mapped);
    free(t.unmapped);
    free(t.ranges);
    return rc;
}

void seep_dump_let_go(struct seep_dump *dump)
{
    seep_memory_stream_end(&dump->memory);
    free(dump->ranges);
    dump->ranges = NULL;
}

void seep_dump_fini(struct seep_dump *dump)
{
    seep_dump_let_go(dump);
    seep_memory_fini(&dump->memory);
    seep_file_pages_fini(&dump->files);
    seep_maps_fini(&dump->maps);
    free(dump->own);
    *dump = (struct seep_dump){0};
}
