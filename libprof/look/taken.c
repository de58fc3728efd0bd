#include "libprof/look/taken.h"

#include "libprof/look/python_runtime.h"
#include "libprof/look/typed_blocks.h"
#include "libprof/who/blocks/glibc_free.h"
#include "libprof/who/blocks/live_places.h"
#include "libprof/who/find/reading_need.h"
#include "libprof/who/graph/pymalloc.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BLOCKS = 5 * 1000 * 1000, MOST_IN_POOL = 16384 / 16 };

static size_t read_window(void *remote, uint64_t address, void *to, size_t n)
{
    const struct seep_memory_piece piece = {address, to, n};

    return ((struct seep_remote *)remote)->gather(remote, &piece, 1);
}

static int own_pages(void *remote, uint64_t start, uint64_t end,
                     int (*take)(void *arg, uint64_t start, uint64_t end), void *arg)
{
    return ((struct seep_remote *)remote)->own_pages(remote, start, end, false, take, arg);
}

/* A copy has yet to touch them: the process that was copied has. */
static int shared_pages(void *remote, uint64_t start, uint64_t end,
                        int (*take)(void *arg, uint64_t start, uint64_t end), void *arg)
{
    return ((struct seep_remote *)remote)->own_pages(remote, start, end, true, take, arg);
}

static void find_python(struct seep_taken *t, const struct seep_maps *maps,
                        struct seep_remote *remote)
{
    struct seep_python_runtime runtime;

    if (!seep_python_runtime_find(&runtime, maps, remote))
        return;
    t->python_version = runtime.version;
    t->no_gil = runtime.no_gil;
    t->python = (struct seep_python){
        .layout = runtime.no_gil ? NULL : seep_python_layout_find(runtime.version),
        .runtime = runtime.address};
}

static bool is_own(const struct seep_live_set *live, const struct seep_snapshot_block *block)
{
    for (size_t i = 0; i < live->n_own; i++)
        if (block->start >= live->own[i].start && block->start < live->own[i].end)
            return true;
    return false;
}

/* What seep has mapped for itself is not the process's. */
static void leave_out_own(struct seep_taken *t)
{
    size_t n = 0;

    for (size_t i = 0; i < t->blocks.n; i++)
        if (t->blocks.list[i].site != SEEP_BLOCK_MAP || !is_own(&t->live, &t->blocks.list[i]))
            t->blocks.list[n++] = t->blocks.list[i];
    t->blocks.n = n;
}

static int find_places(struct seep_taken *t, const struct seep_maps *maps,
                       const struct seep_maps *shared, struct seep_remote *remote,
                       struct seep_remote *whole)
{
    struct seep_window window = {0};
    int rc = seep_window_init(&window, read_window, remote);
    const bool other = !rc && seep_other_malloc(maps, &window, whole->files, t->allocator);
    const struct seep_live_question question = {.maps = maps,
                                                .shared = shared,
                                                .python = t->python.layout,
                                                .other_malloc = other,
                                                .window = &window,
                                                .own_pages = own_pages,
                                                .context = remote,
                                                .shared_pages = shared_pages,
                                                .shared_context = whole};

    if (!rc)
        rc = seep_live_places(&question, &t->blocks);
    seep_window_fini(&window);
    leave_out_own(t);
    return rc;
}

static int take_parts(struct seep_taken *t, struct seep_remote *remote, struct seep_remote *whole,
                      struct seep_maps *maps, struct seep_maps *shared)
{
    int rc = remote->read_maps(remote, maps);

    if (!rc)
        rc = whole->read_maps(whole, shared);
    if (rc)
        return rc;
    find_python(t, maps, remote);
    seep_process_profile_find(&t->profile, shared, whole->files);
    rc = seep_live_set_read(&t->live, t->profile.live, remote);
    return rc ? rc : find_places(t, maps, shared, remote, whole);
}

/* Another malloc's heap is kept whole, for any page of it may have an object. If there is no room
 * for that, it is taken in large pieces, of which those without an address are left out: numbers.
 */
static bool must_leave_out(struct seep_taken *t, uint64_t max_bytes)
{
    enum { LARGE_PIECE = 1 << 20, ROOM_SHARE = 2 };
    uint64_t unknown = 0;

    for (size_t i = 0; i < t->blocks.n; i++)
        unknown += t->blocks.list[i].site == SEEP_BLOCK_MAP ? t->blocks.list[i].bytes : 0;
    if (!t->allocator[0] || unknown <= max_bytes / ROOM_SHARE)
        return false;
    seep_blocks_join(&t->blocks, SEEP_BLOCK_MAP, LARGE_PIECE);
    return true;
}

/* The objects of pools, by the heads of these, and one for each other block. */
static int count_nodes(struct seep_taken *t, struct seep_remote *remote)
{
    struct seep_block_list runs = {.most = MOST_BLOCKS};
    struct seep_python_layout pools = {0};

    for (size_t i = 0; i < t->blocks.n; i++)
        if (t->blocks.list[i].site == SEEP_BLOCK_POOLS)
            seep_block_add(&runs, SEEP_BLOCK_POOLS, t->blocks.list[i].start,
                           t->blocks.list[i].bytes);
    if (runs.n) {
        pools = *t->python.layout;
        pools.arena_bytes = pools.pool_bytes; /* a run may begin and end with any */
    }
    t->n_nodes = t->blocks.n - runs.n +
                 seep_reading_count(remote, runs.n ? &pools : NULL, runs.list, runs.n);
    t->n_nodes = t->n_nodes < MOST_BLOCKS ? t->n_nodes : MOST_BLOCKS;
    const bool no_memory = runs.no_memory;
    seep_block_list_fini(&runs);
    return no_memory ? -SEEP_ENOMEM : 0;
}

struct admission {
    const struct seep_taken *taken;
    const struct seep_take_limits *limits;
};

static bool admits(void *admission, uint64_t kept_bytes)
{
    const struct admission *a = admission;

    return !a->limits->admits ||
           a->limits->admits(a->limits->arg, seep_reading_need(a->taken->n_nodes, kept_bytes));
}

int seep_take(struct seep_taken *t, struct seep_remote *remote, struct seep_remote *whole,
              const struct seep_take_limits *limits)
{
    struct seep_maps maps = {0}, shared = {0};
    struct admission admission = {t, limits};

    *t = (struct seep_taken){.blocks = {.most = MOST_BLOCKS}};
    int rc = take_parts(t, remote, whole, &maps, &shared);
    const bool leaves_out = !rc && must_leave_out(t, limits->max_bytes);
    if (!rc)
        rc = count_nodes(t, remote);
    if (!rc) {
        const struct seep_dump_request request = {.blocks = t->blocks.list,
                                                  .n_blocks = t->blocks.n,
                                                  .n_all = t->blocks.n,
                                                  .own = t->live.own,
                                                  .n_own = t->live.n_own,
                                                  .max_bytes = limits->max_bytes,
                                                  .admits = admits,
                                                  .arg = &admission};
        rc = seep_dump_take(&t->dump, remote, &request);
    }
    t->is_cut = leaves_out || t->blocks.full || t->dump.memory.full;
    seep_maps_fini(&maps);
    seep_maps_fini(&shared);
    return rc;
}

static void add_objects(struct seep_taken *t, struct seep_block_list *to,
                        const struct seep_snapshot_block *pools)
{
    const uint32_t pool = t->python.layout->pool_bytes;
    struct seep_snapshot_block objects[MOST_IN_POOL];

    for (uint64_t at = pools->start; at < pools->start + pools->bytes; at += pool) {
        const size_t n = seep_pymalloc_pool_objects(&t->dump.memory, at, pool, 0, objects);
        for (size_t i = 0; i < n; i++)
            seep_block_add(to, SEEP_BLOCK_OBJECT, objects[i].start, objects[i].bytes);
    }
}

static int open_pools(struct seep_taken *t)
{
    struct seep_block_list blocks = {.most = MOST_BLOCKS};

    for (size_t i = 0; i < t->blocks.n; i++) {
        const struct seep_snapshot_block *b = &t->blocks.list[i];
        if (b->site == SEEP_BLOCK_POOLS)
            add_objects(t, &blocks, b);
        else
            seep_block_add(&blocks, (enum seep_block_kind)b->site, b->start, b->bytes);
    }
    seep_block_list_fini(&t->blocks);
    t->blocks = blocks;
    return blocks.no_memory ? -SEEP_ENOMEM : 0;
}

int seep_taken_settle(struct seep_taken *t)
{
    const bool other = t->allocator[0];
    int rc = other ? 0 : seep_glibc_leave_out_free(&t->blocks, &t->dump.memory, &t->dump.maps);

    if (!rc)
        rc = open_pools(t);
    if (!rc && other)
        rc = seep_typed_blocks_find(&t->blocks, &t->dump, &t->python);
    t->is_cut = t->is_cut || t->blocks.full;
    return rc;
}

void seep_taken_fini(struct seep_taken *t)
{
    seep_dump_fini(&t->dump);
    seep_block_list_fini(&t->blocks);
    seep_live_set_fini(&t->live);
    *t = (struct seep_taken){0};
}
