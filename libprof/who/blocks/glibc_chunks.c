#include "libprof/who/blocks/glibc_chunks.h"

enum {
    HEAD = 16, /* of a chunk, ahead of the address that malloc returns */
    SIZE_AT = 8,
    IN_USE_BEFORE = 1, /* flags in the size: the chunk before it is in use, */
    IS_MAPPED = 2,     /* it has a mapping of its own, */
    FLAGS = 7,
    LEAST = 32, /* bytes of a chunk */
    FENCE = 16, /* bytes of the chunk that ends a heap which was not extended */
    ALIGNMENT = 16,
    PAGE = 4096,
    MIN_MAPPED = 4096,
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
    uint64_t arena, size, heap_end;

    if (start % ARENA_HEAP || end - start < PAGE)
        return 0;
    arena = seep_window_word(window, start);
    size = seep_window_word(window, start + SIZE);
    if (arena % ARENA_HEAP >= ARENA_WITHIN || arena % ARENA_HEAP == 0 || arena < ARENA_HEAP ||
        size % PAGE || !size || size > end - start || size > ARENA_HEAP)
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
    uint64_t head[2];

    if (!seep_window_read(window, at + before, head, sizeof head))
        return false;
    const uint64_t size = head[1] & ~(uint64_t)FLAGS;
    const bool is_new = (before + size) % PAGE != 0;
    *out = (struct mapped){is_new, before + size + (is_new ? HEAD : 0),
                           size - (is_new ? SIZE_AT : HEAD)};
    return (head[1] & FLAGS) == IS_MAPPED &&
           (head[0] == before || (is_new && head[0] == before + 1)) && size >= LEAST &&
           out->bytes >= MIN_MAPPED && out->bytes <= end - at && out->bytes % PAGE == 0;
}

/* Up to 2.42 memalign() leaves the first head where it was. */
uint64_t seep_glibc_mapped(struct seep_block_list *blocks, struct seep_window *window, uint64_t at,
                           uint64_t end)
{
    struct mapped first, its;
    const bool has_first = read_mapped(window, at, 0, end, &first);

    for (uint64_t k = ALIGNMENT; k < PAGE; k = 2 * k + ALIGNMENT) {
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
