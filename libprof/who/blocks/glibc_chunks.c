#include "libprof/who/blocks/glibc_chunks.h"

#include <stdlib.h>
#include <string.h>

enum {
    HEAD = 16,         /* of a chunk, ahead of the address that malloc returns */
    SIZE_AT = 8,       /* so much smaller than its chunk is a block */
    IN_USE_BEFORE = 1, /* flags in the size: the chunk before it is in use, */
    IS_MAPPED = 2,     /* it has a mapping of its own, */
    FLAGS = 7,
    LEAST = 32, /* bytes of a chunk */
    FENCE = 16, /* bytes of the chunk that ends a heap which was not extended */
    ALIGNMENT = 16,
};
/* Arenas' heaps are aligned to this, and at most this long. */
#define ARENA_HEAP (UINT64_C(64) << 20)

/* A chunk, by whether the one behind it says that it is in use. */
static void take(struct seep_block_list *blocks, struct seep_window *window, uint64_t at,
                 uint64_t bytes)
{
    if (seep_window_word(window, at + bytes + SIZE_AT) & IN_USE_BEFORE)
        seep_block_add(blocks, SEEP_BLOCK_CHUNK, at + HEAD, bytes - SIZE_AT);
    else
        blocks->free_bytes += bytes;
}

uint64_t seep_glibc_chunks(struct seep_block_list *blocks, struct seep_window *window,
                           uint64_t start, uint64_t end)
{
    uint64_t at = start;

    while (at + HEAD <= end) {
        const uint64_t size = seep_window_word(window, at + SIZE_AT);
        const uint64_t bytes = size & ~(uint64_t)FLAGS;
        if (bytes == FENCE && end - at <= 2 * FENCE)
            return end;
        if (bytes < LEAST || bytes % ALIGNMENT || bytes > end - at || size & IS_MAPPED)
            return at;
        if (blocks && bytes < end - at)
            take(blocks, window, at, bytes);
        else if (blocks)
            blocks->free_bytes += bytes; /* the top chunk */
        at += bytes;
    }
    return at;
}

/* struct heap_info: the arena, the previous heap, the size. In the first heap the arena follows
 * it. */
uint64_t seep_glibc_arena(struct seep_block_list *blocks, struct seep_window *window,
                          uint64_t start, uint64_t end)
{
    enum { SIZE = 16, FIRST_CHUNK = 32, MAX_BEFORE = 4096, ARENA_WITHIN = 4096 };
    const uint64_t page = window->page_bytes;
    uint64_t arena, size, heap_end;

    if (start % ARENA_HEAP || end - start < page)
        return 0;
    arena = seep_window_word(window, start);
    size = seep_window_word(window, start + SIZE);
    if (arena % ARENA_HEAP >= ARENA_WITHIN || arena % ARENA_HEAP == 0 || arena < ARENA_HEAP ||
        size % page || !size || size > end - start || size > ARENA_HEAP)
        return 0;
    heap_end = start + size;
    for (uint64_t at = start + FIRST_CHUNK; at < start + MAX_BEFORE; at += ALIGNMENT)
        if (seep_glibc_chunks(NULL, window, at, heap_end) == heap_end)
            return seep_glibc_chunks(blocks, window, at, heap_end);
    return 0;
}

void seep_glibc_heaps(struct seep_block_list *blocks, struct seep_window *window,
                      const struct seep_maps *maps)
{
    for (size_t i = 0; i < maps->n;) {
        struct seep_map map;
        i = seep_maps_join(maps, i, &map);
        if (map.shared || !map.readable || !map.writable)
            continue;
        if (map.kind == SEEP_MAP_BREAK)
            (void)seep_glibc_chunks(blocks, window, map.start, map.end);
        uint64_t at = (map.start + ARENA_HEAP - 1) / ARENA_HEAP * ARENA_HEAP;
        for (; map.kind == SEEP_MAP_OTHER && at < map.end; at += ARENA_HEAP)
            (void)seep_glibc_arena(blocks, window, at, map.end);
    }
    seep_block_sort(blocks);
}

/* ---- with a mapping of its own --------------------------------------------------------------- */

/* A head has the distance from the mapping's start, and the size: up to 2.42 of all that lies
 * behind it, since 2.43 (mmap_set_chunk) less 16 bytes; a bit of the distance is then a flag. */
struct mapped {
    bool is_new;
    uint64_t bytes, usable; /* of the mapping, of the block in it */
};

/* What a head that far from the mapping's start says. */
static bool read_mapped(struct seep_window *window, uint64_t at, uint64_t before, uint64_t end,
                        struct mapped *out)
{
    const uint64_t page = window->page_bytes;
    uint64_t head[2];

    if (!seep_window_read(window, at + before, head, sizeof head))
        return false;
    const uint64_t size = head[1] & ~(uint64_t)FLAGS;
    const bool is_new = (before + size) % page != 0;
    *out = (struct mapped){is_new, before + size + (is_new ? HEAD : 0),
                           size - (is_new ? SIZE_AT : HEAD)};
    return (head[1] & FLAGS) == IS_MAPPED &&
           (head[0] == before || (is_new && head[0] == before + 1)) && size >= LEAST &&
           out->bytes >= page && out->bytes <= end - at && out->bytes % page == 0;
}

/* Up to 2.42 memalign() leaves the first head where it was. */
uint64_t seep_glibc_mapped(struct seep_block_list *blocks, struct seep_window *window, uint64_t at,
                           uint64_t end)
{
    struct mapped first, its;
    const bool has_first = read_mapped(window, at, 0, end, &first);

    for (uint64_t k = ALIGNMENT; k < window->page_bytes; k = 2 * k + ALIGNMENT) {
        if (!read_mapped(window, at, k, end, &its) || its.is_new == has_first ||
            (has_first && its.bytes != first.bytes))
            continue;
        seep_block_add(blocks, SEEP_BLOCK_CHUNK, at + k + HEAD, its.usable);
        return its.bytes;
    }
    if (has_first)
        seep_block_add(blocks, SEEP_BLOCK_CHUNK, at + HEAD, first.usable);
    return has_first ? first.bytes : 0;
}

/* ---- free ones that look as if they were in use ---------------------------------------------- */

enum {
    SMALL_BINS = 64,
    MAX_BINS = 76,
    MAX_CACHED =
        65535, /* of one size in a thread's cache: glibc.malloc.tcache_count; 127 up to 2.41 */
    FAST_BINS = 10,
    FAST_AT = 16, /* in struct malloc_state: fastbinsY, */
    TOP_AT = 96,  /* and the rest of its heap, the top chunk */
};

struct search {
    struct seep_block_list *blocks;
    struct seep_memory *memory;
    const struct seep_maps *maps;
    bool *is_free; /* [blocks->n] */
    size_t *found; /* [blocks->n] */
    size_t n_found;
};

/* struct tcache_perthread_struct, a chunk itself: a number for each bin, and then the bins. */
struct cache_layout {
    uint64_t bytes; /* of the chunk, as malloc_usable_size() says */
    size_t bins, number_bytes;
    bool has_room; /* the numbers are how many would still fit, not how many are there */
};

static const struct cache_layout layouts[] = {
    {SMALL_BINS * 9 + SIZE_AT, SMALL_BINS, 1, false},  /* 2.26 to 2.29 */
    {SMALL_BINS * 10 + SIZE_AT, SMALL_BINS, 2, false}, /* 2.30 to 2.41 */
    {MAX_BINS * 10, MAX_BINS, 2, true},                /* 2.43, 2.44 */
};

/* The block whose chunk is at `start` and has that many bytes, or SIZE_MAX. */
static size_t chunk_of(const struct search *s, uint64_t start, uint64_t chunk_bytes)
{
    const size_t i = seep_block_find(s->blocks->list, s->blocks->n, start);

    return i < s->blocks->n && s->blocks->list[i].site == SEEP_BLOCK_CHUNK &&
                   s->blocks->list[i].bytes == chunk_bytes - SIZE_AT
               ? i
               : SIZE_MAX;
}

/* Since 2.32 a link is XORed with its own address. */
static uint64_t link_of(struct search *s, uint64_t at, bool mixed)
{
    const uint64_t word = seep_memory_word(s->memory, at);

    return mixed ? word ^ at >> 12 : word;
}

/* A chunk that may be in the bin: of its size, or behind the small ones of any that is larger. */
static size_t chunk_in(const struct search *s, uint64_t start, size_t bin)
{
    const size_t i = seep_block_find(s->blocks->list, s->blocks->n, start);

    if (bin < SMALL_BINS)
        return chunk_of(s, start, LEAST + bin * ALIGNMENT);
    return i < s->blocks->n && s->blocks->list[i].site == SEEP_BLOCK_CHUNK &&
                   s->blocks->list[i].bytes >= LEAST + SMALL_BINS * ALIGNMENT - SIZE_AT
               ? i
               : SIZE_MAX;
}

/* Notes the entries of a cache's bin, up to `most`, and returns how many; SIZE_MAX: one is no chunk
 * of its size, or the list goes on. */
static size_t take_bin(struct search *s, uint64_t first, size_t most, size_t bin, bool mixed)
{
    uint64_t at = first;
    size_t n = 0;

    for (; at && n < most; n++) {
        const size_t i = chunk_in(s, at, bin);
        if (i == SIZE_MAX || s->n_found == s->blocks->n)
            return SIZE_MAX;
        s->found[s->n_found++] = i;
        at = link_of(s, at, mixed);
    }
    return at ? SIZE_MAX : n;
}

/* The numbers agree with the bins: each says how many are in it; or what there is and what would
 * still fit are as many in each. */
static bool take_cache(struct search *s, uint64_t at, const struct cache_layout *its, bool mixed)
{
    const uint64_t entries = at + its->bins * its->number_bytes;
    size_t sum = 0;

    s->n_found = 0;
    for (size_t bin = 0; bin < its->bins; bin++) {
        const uint64_t place = at + bin * its->number_bytes;
        const uint32_t word = seep_memory_u32(s->memory, place & ~UINT64_C(3));
        const size_t number = word >> 8 * (place & 3) & (its->number_bytes == 1 ? 0xff : 0xffff);
        const size_t n = take_bin(s, seep_memory_word(s->memory, entries + 8 * bin),
                                  its->has_room ? MAX_CACHED : number, bin, mixed);
        if (n == SIZE_MAX || (!its->has_room && n != number) ||
            (its->has_room && bin && n + number != sum))
            return false;
        sum = n + number;
    }
    for (size_t k = 0; k < s->n_found; k++)
        s->is_free[s->found[k]] = true;
    return s->n_found > 0;
}

static void find_caches(struct search *s)
{
    for (size_t i = 0; i < s->blocks->n; i++) {
        const struct seep_snapshot_block *b = &s->blocks->list[i];
        for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++)
            if (b->site == SEEP_BLOCK_CHUNK && b->bytes == layouts[k].bytes)
                (void)(take_cache(s, b->start, &layouts[k], true) ||
                       take_cache(s, b->start, &layouts[k], false));
    }
}

static void take_fast_bin(struct search *s, uint64_t first, size_t bin, bool mixed)
{
    uint64_t at = first;

    for (size_t k = 0; at && k < s->blocks->n; k++) {
        const size_t i = chunk_of(s, at + HEAD, LEAST + bin * ALIGNMENT);
        if (i == SIZE_MAX || s->is_free[i])
            return;
        s->is_free[i] = true;
        at = link_of(s, at + HEAD, mixed);
    }
}

static void take_arena(struct search *s, uint64_t arena)
{
    for (size_t bin = 0; bin < FAST_BINS; bin++) {
        const uint64_t first = seep_memory_word(s->memory, arena + FAST_AT + 8 * bin);
        const uint64_t plain = first ? seep_memory_word(s->memory, first + HEAD) : 0;
        const bool mixed = plain && chunk_of(s, plain + HEAD, LEAST + bin * ALIGNMENT) == SIZE_MAX;
        take_fast_bin(s, first, bin, mixed);
    }
}

/* The first arena is a variable in libc: its top chunk is the rest of the heap that brk()
 * extends. */
static void find_first_arena(struct search *s, const struct seep_map *data,
                             const struct seep_map *heap)
{
    for (uint64_t at = data->start + TOP_AT; at + 8 <= data->end; at += 8) {
        const uint64_t top = seep_memory_word(s->memory, at);
        if (top <= heap->start || top >= heap->end || top % ALIGNMENT)
            continue;
        const uint64_t bytes = seep_memory_word(s->memory, top + SIZE_AT) & ~UINT64_C(7);
        if (bytes == heap->end - top)
            take_arena(s, at - TOP_AT);
    }
}

static bool is_libc(const struct seep_maps *maps, const struct seep_map *map)
{
    const char *path = seep_maps_file(maps, map), *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;

    return map->writable && (strncmp(file, "libc.so", 7) == 0 || strncmp(file, "libc-2.", 7) == 0);
}

static void find_arenas(struct search *s)
{
    const struct seep_map *heap = NULL;

    for (size_t i = 0; i < s->maps->n; i++)
        if (s->maps->list[i].kind == SEEP_MAP_BREAK)
            heap = &s->maps->list[i];
    for (size_t i = 0; i < s->maps->n; i++) {
        const struct seep_map *map = &s->maps->list[i];
        if (heap && is_libc(s->maps, map))
            find_first_arena(s, map, heap);
        for (uint64_t at = (map->start + ARENA_HEAP - 1) & ~(ARENA_HEAP - 1);
             map->kind == SEEP_MAP_OTHER && map->writable && at < map->end; at += ARENA_HEAP) {
            const uint64_t arena = seep_memory_word(s->memory, at); /* the heap's first word */
            if (arena > at && arena - at < 4096)
                take_arena(s, arena);
        }
    }
}

int seep_glibc_leave_out_free(struct seep_block_list *blocks, struct seep_memory *memory,
                              const struct seep_maps *maps)
{
    struct search *s = calloc(1, sizeof *s);
    size_t n = 0;

    if (!s || !(s->is_free = calloc(blocks->n + 1, sizeof *s->is_free)) ||
        !(s->found = calloc(blocks->n + 1, sizeof *s->found))) {
        free(s ? s->is_free : NULL);
        free(s);
        return -SEEP_ENOMEM;
    }
    s->blocks = blocks;
    s->memory = memory;
    s->maps = maps;
    find_caches(s);
    find_arenas(s);
    for (size_t i = 0; i < blocks->n; i++) {
        if (s->is_free[i])
            blocks->free_bytes += blocks->list[i].bytes;
        else
            blocks->list[n++] = blocks->list[i];
    }
    blocks->n = n;
    free(s->is_free);
    free(s->found);
    free(s);
    return 0;
}
