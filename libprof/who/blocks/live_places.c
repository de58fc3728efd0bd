#include "libprof/who/blocks/live_places.h"

#include "libprof/who/blocks/glibc_chunks.h"
#include "libprof/who/graph/pymalloc.h"

#include <string.h>

enum {
    PAGE = SEEP_WINDOW_PAGE,
    POOLS_AT_ONCE =
        512 << 10, /* bytes of pools that form one place: a larger one may be taken for raw data */
    TOP_OF_STACK =
        64 << 10, /* bytes in which glibc has what it knows of a thread, after its variables */
};

/* A map that is walked page by page; pages that are neither chunks nor pools are collected. */
struct walk {
    const struct seep_live_question *question;
    struct seep_block_list *blocks;
    uint64_t end;     /* of the map */
    uint64_t next;    /* everything below belongs to something that was added */
    uint64_t unknown; /* start of the current run of unknown pages; 0: none */
    uint64_t unknown_end;
    uint64_t pools, pools_end; /* the same for pools */
    uint32_t pool_bytes;       /* 0: there is no Python */
    bool known_only;           /* what is neither a chunk nor a pool is a program's data */
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

static bool read_head(const struct walk *w, uint64_t at, uint8_t head[SEEP_POOL_HEAD])
{
    return w->pool_bytes && at % w->pool_bytes == 0 && w->end - at >= w->pool_bytes &&
           seep_window_read(w->question->window, at, head, SEEP_POOL_HEAD);
}

static void take_pool(struct walk *w, uint64_t at)
{
    if (w->pools && (w->pools_end != at || at - w->pools >= POOLS_AT_ONCE))
        end_pools(w);
    if (!w->pools)
        w->pools = at;
    w->pools_end = w->next = at + w->pool_bytes;
}

/* Bytes of glibc's memory at `at`: an arena's heap, or a chunk with a mapping of its own. */
static uint64_t take_glibc(struct walk *w, uint64_t at)
{
    struct seep_window *window = w->question->window;

    if (w->question->other_malloc || at % window->page_bytes)
        return 0;
    window->sparse = false;
    const uint64_t end = seep_glibc_arena(w->blocks, window, at, w->end);
    window->sparse = true;
    return end ? end - at : seep_glibc_mapped(w->blocks, window, at, w->end);
}

/* Objects may be anywhere in another malloc's heap. */
static bool is_whole_heap_piece(const struct walk *w, uint64_t at)
{
    return w->question->other_malloc && at - w->unknown >= POOLS_AT_ONCE;
}

static void take_page(struct walk *w, uint64_t at)
{
    uint8_t head[SEEP_POOL_HEAD];
    const bool has_head = read_head(w, at, head);

    if (has_head && seep_pymalloc_is_pool(head, at, w->pool_bytes)) {
        end_unknown(w);
        take_pool(w, at);
        return;
    }
    if (has_head && seep_pymalloc_is_free_pool(head, w->pool_bytes)) {
        end_unknown(w);
        w->next = at + w->pool_bytes;
        return;
    }
    const uint64_t bytes = take_glibc(w, at);
    if (bytes) {
        end_unknown(w);
        w->next = at + bytes;
        return;
    }
    if (w->unknown && (w->unknown_end != at || is_whole_heap_piece(w, at)))
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

/* glibc's first heap is at the break; whoever else moved the break owns the rest. */
static int walk_break(const struct seep_live_question *question, struct seep_block_list *blocks,
                      const struct seep_map *map)
{
    const uint64_t stop = question->other_malloc
                              ? map->start
                              : seep_glibc_chunks(blocks, question->window, map->start, map->end);
    const uint64_t page = question->window->page_bytes, rest = (stop + page - 1) / page * page;

    return rest < map->end ? walk_map(question, blocks, rest, map->end, false) : 0;
}

/* glibc's struct pthread, which has its own address in its first and its third word. */
static bool has_thread(struct seep_window *window, const struct seep_map *map)
{
    enum { EACH = 16, OWN = 16 };
    const uint64_t low =
        map->end - map->start > TOP_OF_STACK ? map->end - TOP_OF_STACK : map->start;

    for (uint64_t at = map->end - 2 * (uint64_t)EACH; at >= low; at -= EACH)
        if (seep_window_word(window, at) == at && seep_window_word(window, at + OWN) == at)
            return true;
    return false;
}

/* A thread's stack has inaccessible memory below it, and nothing of what a heap has. */
static void leave_out_stack(const struct seep_live_question *question, const struct seep_map *map,
                            struct seep_block_list *blocks, size_t before)
{
    if (map->guarded && question->other_malloc && !has_thread(question->window, map))
        return;
    for (size_t i = before; i < blocks->n; i++)
        if (blocks->list[i].site != SEEP_BLOCK_MAP)
            return;
    if (map->guarded)
        blocks->n = before;
}

/* Memory that only looks like a file: what Python's mmap, PyTorch and multiprocessing share. */
static bool is_shared_memory(const struct seep_maps *maps, const struct seep_map *map)
{
    static const char *const names[] = {"/dev/zero", "/dev/shm/", "/memfd:", "/SYSV"};
    const char *file = map->kind == SEEP_MAP_FILE ? seep_maps_file(maps, map) : NULL;

    for (size_t i = 0; file && i < sizeof names / sizeof *names; i++)
        if (strncmp(file, names[i], strlen(names[i])) == 0)
            return true;
    return !file && !map->inode;
}

static int note_end(void *end, uint64_t from, uint64_t to)
{
    (void)from;
    *(uint64_t *)end = to;
    return 0;
}

/* It is one, for it is known by its start, up to its last page that was touched. */
static int take_shared(const struct seep_live_question *question, struct seep_block_list *blocks,
                       const struct seep_map *map)
{
    uint64_t end = map->start;

    if (!map->shared || !map->readable || !is_shared_memory(question->shared, map))
        return 0;
    int rc = question->shared_pages(question->shared_context, map->start, map->end, note_end, &end);
    if (!rc && end > map->start)
        seep_block_add(blocks, SEEP_BLOCK_SHARED, map->start, end - map->start);
    return rc;
}

static int walk_one(const struct seep_live_question *question, struct seep_block_list *blocks,
                    const struct seep_map *map)
{
    const size_t before = blocks->n;

    if (map->shared || !map->readable || !map->writable || map->kind == SEEP_MAP_FILE ||
        map->kind == SEEP_MAP_STACK)
        return 0;
    if (map->kind == SEEP_MAP_BREAK)
        return walk_break(question, blocks, map);
    const bool is_data = map->kind == SEEP_MAP_BSS && !question->other_malloc;
    int rc = walk_map(question, blocks, map->start, map->end, is_data);
    leave_out_stack(question, map, blocks, before);
    return rc;
}

int seep_live_places(const struct seep_live_question *question, struct seep_block_list *blocks)
{
    int rc = 0;

    for (size_t i = 0; i < question->maps->n && !rc;) {
        struct seep_map map;
        i = seep_maps_join(question->maps, i, &map);
        rc = walk_one(question, blocks, &map);
    }
    for (size_t i = 0; i < question->shared->n && !rc; i++)
        rc = take_shared(question, blocks, &question->shared->list[i]);
    seep_block_sort(blocks);
    return rc ? rc : blocks->no_memory ? -SEEP_ENOMEM : 0;
}
