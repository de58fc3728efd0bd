#include "libprof/look/taken.h"

#include "libprof/look/python_runtime.h"
#include "libprof/who/blocks/glibc_free.h"
#include "libprof/who/blocks/live_places.h"
#include "libprof/who/find/page_states.h"
#include "libprof/who/graph/pymalloc.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BLOCKS = 5 * 1000 * 1000, MOST_IN_POOL = 16384 / 16 };

static size_t read_window(void *memory, uint64_t address, void *to, size_t n)
{
    const struct seep_memory_piece piece = {address, to, n};

    return seep_copy_memory_gather(memory, &piece, 1);
}

static int own_pages(void *states, uint64_t start, uint64_t end,
                     int (*take)(void *arg, uint64_t start, uint64_t end), void *arg)
{
    return seep_page_states_each(states, start, end, false, take, arg);
}

/* Libraries that bring a malloc whose blocks cannot be told from here. */
static const char *other_allocator(const struct seep_maps *maps)
{
    static const char *const names[] = {"libjemalloc", "libtcmalloc", "libmimalloc"};

    for (size_t i = 0; i < maps->n_files; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            const char *slash = strrchr(maps->files[i], '/');
            if (slash && strncmp(slash + 1, names[k], strlen(names[k])) == 0)
                return names[k] + 3;
        }
    return NULL;
}

static void find_python(struct seep_taken *t, const struct seep_maps *maps,
                        struct seep_copy_memory *memory, pid_t files)
{
    struct seep_python_runtime runtime;

    if (!seep_python_runtime_find(&runtime, maps, memory, files))
        return;
    t->python_version = runtime.version;
    t->python = (struct seep_python){.layout = seep_python_layout_find(runtime.version),
                                     .runtime = runtime.address};
}

static int find_places(struct seep_taken *t, const struct seep_maps *maps,
                       struct seep_copy_memory *memory)
{
    struct seep_page_states *states = malloc(sizeof *states);
    struct seep_window window = {0};
    int rc = states ? seep_window_init(&window, read_window, memory) : -SEEP_ENOMEM;

    if (!rc) {
        const struct seep_live_question question = {.maps = maps,
                                                    .python = t->python.layout,
                                                    .window = &window,
                                                    .own_pages = own_pages,
                                                    .context = states};
        seep_page_states_init(states, memory->pid);
        rc = seep_live_places(&question, &t->blocks);
        seep_page_states_fini(states);
    }
    seep_window_fini(&window);
    free(states);
    return rc;
}

int seep_take(struct seep_taken *t, pid_t pid, pid_t files, uint64_t max_bytes)
{
    struct seep_copy_memory memory;
    struct seep_maps maps = {0};
    int rc;

    *t = (struct seep_taken){.blocks = {.most = MOST_BLOCKS}};
    seep_copy_memory_init(&memory, pid);
    rc = seep_maps_read(&maps, pid);
    if (!rc) {
        t->allocator = other_allocator(&maps);
        find_python(t, &maps, &memory, files);
        rc = find_places(t, &maps, &memory);
    }
    if (!rc) {
        const struct seep_snapshot head = {.n_blocks = t->blocks.n};
        rc = seep_dump_take(&t->dump, &memory, &head, t->blocks.list, t->blocks.n, max_bytes);
    }
    t->is_cut = t->blocks.full || t->dump.memory.full;
    seep_maps_fini(&maps);
    seep_copy_memory_fini(&memory);
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
    t->is_cut = t->is_cut || blocks.full;
    return blocks.no_memory ? -SEEP_ENOMEM : 0;
}

int seep_taken_settle(struct seep_taken *t)
{
    int rc = seep_glibc_leave_out_free(&t->blocks, &t->dump.memory, &t->dump.maps);

    return rc ? rc : open_pools(t);
}

void seep_taken_fini(struct seep_taken *t)
{
    seep_dump_fini(&t->dump);
    seep_block_list_fini(&t->blocks);
    *t = (struct seep_taken){0};
}
