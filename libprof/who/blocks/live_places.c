#include "libprof/who/blocks/live_places.h"

#include "libprof/who/blocks/glibc_chunks.h"
#include "libprof/who/graph/pymalloc.h"

#include <string.h>

enum {
    PAGE = SEEP_WINDOW_PAGE,
    POOLS_AT_ONCE =
        512 << 10, /* bytes of pools that are one place: what is larger may be taken for raw */
};

/* A map that is walked page by page: what is neither a chunk nor a pool is collected. */
struct walk {
    const struct seep_live_question *question;
    struct seep_block_list *blocks;
    uint64_t end;  /* of the map */
    uint64_t next; /* what comes before it belongs to something that was added */
    uint64_t
        unknown; /* where the run of pages begins of which nothing is known, 0: there is none */
    uint64_t unknown_end;
    uint64_t pools, pools_end; /* the same for pools */
    uint32_t pool_bytes;       /* 0: there is no Python */
    bool known_only;           /* what is neither chunk nor pool is data of a program */
};

static void end_unknown(struct walk *w)
{
    if (w->unknown && !w->known_only)
        seep_block_add(w->blocks, SEEP_BLOCK_MAP, w->unknown, w->unknown_end - w->unknown);
    w->unknown = 0;
}

static void end_pools(struct walk *w)
{
    if (w->pools)
        seep_block_add(w->blocks, SEEP_BLOCK_POOLS, w->pools, w->pools_end - w->pools);
    w->pools = 0;
}

static bool is_pool(const struct walk *w, uint64_t at)
{
    uint8_t head[SEEP_POOL_HEAD];

    return w->pool_bytes && at % w->pool_bytes == 0 && w->end - at >= w->pool_bytes &&
           seep_window_read(w->question->window, at, head, sizeof head) &&
           seep_pymalloc_is_pool(head, at, w->pool_bytes);
}

static void take_pool(struct walk *w, uint64_t at)
{
    if (w->pools && (w->pools_end != at || at - w->pools >= POOLS_AT_ONCE))
        end_pools(w);
    if (!w->pools)
        w->pools = at;
    w->pools_end = w->next = at + w->pool_bytes;
}

/* Bytes of what glibc has at `at`: a heap of an arena's, or a chunk with a mapping of its own. */
static uint64_t take_glibc(struct walk *w, uint64_t at)
{
    struct seep_window *window = w->question->window;

    window->sparse = false;
    const uint64_t end = seep_glibc_arena(w->blocks, window, at, w->end);
    window->sparse = true;
    return end ? end - at : seep_glibc_mapped(w->blocks, window, at, w->end);
}

static void take_page(struct walk *w, uint64_t at)
{
    if (is_pool(w, at)) {
        end_unknown(w);
        take_pool(w, at);
        return;
    }
    const uint64_t bytes = take_glibc(w, at);
    if (bytes) {
        end_unknown(w);
        w->next = at + bytes;
        return;
    }
    if (w->unknown && w->unknown_end != at)
        end_unknown(w);
    if (!w->unknown)
        w->unknown = at;
    w->unknown_end = w->next = at + PAGE;
}

static int take_pages(void *walk, uint64_t start, uint64_t end)
{
    struct walk *w = walk;

    for (uint64_t at = start > w->next ? start : w->next; at < end; at = w->next)
        take_page(w, at);
    return w->blocks->no_memory ? -SEEP_ENOMEM : 0;
}

/* Pages that were never touched hold nothing. */
static int walk_map(const struct seep_live_question *question, struct seep_block_list *blocks,
                    uint64_t start, uint64_t end, bool known_only)
{
    struct walk w = {.question = question,
                     .blocks = blocks,
                     .end = end,
                     .pool_bytes = question->python ? question->python->pool_bytes : 0,
                     .known_only = known_only};

    question->window->sparse = true;
    int rc = question->own_pages(question->context, start, end, take_pages, &w);
    question->window->sparse = false;
    end_unknown(&w);
    end_pools(&w);
    return rc;
}

/* Where the break is, glibc has its first heap; who else moved it has the rest. */
static int walk_break(const struct seep_live_question *question, struct seep_block_list *blocks,
                      const struct seep_map *map)
{
    const uint64_t stop = seep_glibc_chunks(blocks, question->window, map->start, map->end);
    const uint64_t page = (stop + PAGE - 1) & ~(uint64_t)(PAGE - 1);

    return page < map->end ? walk_map(question, blocks, page, map->end, false) : 0;
}

/* A thread's stack has inaccessible memory below it, and nothing that a heap has. */
static void leave_out_stack(const struct seep_map *map, struct seep_block_list *blocks,
                            size_t before)
{
    for (size_t i = before; i < blocks->n; i++)
        if (blocks->list[i].site != SEEP_BLOCK_MAP)
            return;
    if (map->guarded)
        blocks->n = before;
}

static int walk_one(const struct seep_live_question *question, struct seep_block_list *blocks,
                    const struct seep_map *map)
{
    const size_t before = blocks->n;

    if (map->shared) {
        if (!map->inode && map->kind != SEEP_MAP_FILE)
            seep_block_add(blocks, SEEP_BLOCK_SHARED, map->start, map->end - map->start);
        return 0;
    }
    if (!map->writable || map->kind == SEEP_MAP_FILE || map->kind == SEEP_MAP_STACK)
        return 0;
    if (map->kind == SEEP_MAP_BREAK)
        return walk_break(question, blocks, map);
    int rc = walk_map(question, blocks, map->start, map->end, map->kind == SEEP_MAP_BSS);
    leave_out_stack(map, blocks, before);
    return rc;
}

int seep_live_places(const struct seep_live_question *question, struct seep_block_list *blocks)
{
    int rc = 0;

    for (size_t i = 0; i < question->maps->n && !rc; i++)
        if (question->maps->list[i].readable)
            rc = walk_one(question, blocks, &question->maps->list[i]);
    seep_block_sort(blocks);
    return rc ? rc : blocks->no_memory ? -SEEP_ENOMEM : 0;
}
