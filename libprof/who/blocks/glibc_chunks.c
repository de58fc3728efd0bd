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
    LEAST_MAPPED = 4096,
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
    enum { SIZE = 16, FIRST_CHUNK = 32, MOST_BEFORE = 4096, ARENA_WITHIN = 4096 };
    uint64_t arena, size, heap_end;

    if (start % ARENA_HEAP || end - start < PAGE)
        return 0;
    arena = seep_window_word(window, start);
    size = seep_window_word(window, start + SIZE);
    if (arena % ARENA_HEAP >= ARENA_WITHIN || arena % ARENA_HEAP == 0 || arena < ARENA_HEAP ||
        size % PAGE || !size || size > end - start || size > ARENA_HEAP)
        return 0;
    heap_end = start + size;
    for (uint64_t at = start + FIRST_CHUNK; at < start + MOST_BEFORE; at += ALIGNMENT)
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

static bool is_mapped(const uint64_t head[2], uint64_t at, uint64_t end)
{
    const uint64_t before = head[0], bytes = head[1] & ~(uint64_t)FLAGS;

    return (head[1] & FLAGS) == IS_MAPPED && bytes >= LEAST_MAPPED && bytes <= end - at &&
           before < PAGE && before % ALIGNMENT == 0 && (bytes + before) % PAGE == 0;
}

/* memalign() leaves the head where it was and writes a second one ahead of the address that it
 * returns; that head has the distance from the mapping's start. */
uint64_t seep_glibc_mapped(struct seep_block_list *blocks, struct seep_window *window, uint64_t at,
                           uint64_t end)
{
    uint64_t head[2], behind[2], skipped = 0;

    if (!seep_window_read(window, at, head, sizeof head) || head[0] || !is_mapped(head, at, end))
        return 0;
    const uint64_t bytes = head[1] & ~(uint64_t)FLAGS;
    for (uint64_t k = ALIGNMENT; k < PAGE && !skipped; k = 2 * k + ALIGNMENT)
        if (seep_window_read(window, at + k, behind, sizeof behind) && behind[0] == k &&
            behind[1] == head[1] - k)
            skipped = k;
    seep_block_add(blocks, SEEP_BLOCK_CHUNK, at + skipped + HEAD, bytes - skipped - HEAD);
    return bytes;
}
