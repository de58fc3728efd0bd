#include "libprof/look/taken.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/code/data_symbols.h"
#include "libprof/code/elf_file.h"
#include "libprof/format/python_layout.h"
#include "libprof/look/typed_blocks.h"
#include "libprof/who/blocks/glibc_chunks.h"
#include "libprof/who/blocks/live_places.h"
#include "libprof/who/find/examine.h"
#include "libprof/who/process/file_pages.h"

/* Its first heap, at the break: chunks, one after the other. */
static bool has_glibc_heap(const struct seep_maps *maps, struct seep_window *window)
{
    for (size_t i = 0; i < maps->n; i++) {
        const struct seep_map *map = &maps->list[i];
        if (map->kind == SEEP_MAP_BREAK)
            return seep_glibc_chunks(NULL, window, map->start, map->end) - map->start >=
                   SEEP_WINDOW_PAGE;
    }
    return false;
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool is_well_known(const char *file, char name[SEEP_MALLOC_NAME])
{
    static const char *const names[] = {"libjemalloc", "libtcmalloc", "libmimalloc"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (begins_with(file, names[i])) {
            snprintf(name, SEEP_MALLOC_NAME, "%s", names[i] + strlen("lib"));
            return true;
        }
    return false;
}

/* The loader's serves until libc's is there; seep's own passes on what it is asked. */
static bool is_of_glibc(const char *file)
{
    return seep_elf_file_is_glibc(file) || begins_with(file, "ld-") ||
           begins_with(file, "libseep.so");
}

static bool is_malloc(const struct seep_maps *maps, const struct seep_map *map, const char *file,
                      pid_t pid, char name[SEEP_MALLOC_NAME])
{
    char path[SEEP_MAPPED_PATH];
    uint64_t address;

    if (is_well_known(file, name))
        return true;
    if (is_of_glibc(file) || !seep_mapped_file(pid, seep_maps_file(maps, map), map->inode, path) ||
        !seep_data_address(path, map->start, "malloc", &address))
        return false;
    snprintf(name, SEEP_MALLOC_NAME, "%s", file);
    return true;
}

bool seep_other_malloc(const struct seep_maps *maps, struct seep_window *window, pid_t pid,
                       char name[SEEP_MALLOC_NAME])
{
    name[0] = '\0';
    if (has_glibc_heap(maps, window))
        return false;
    for (size_t i = 0; i < maps->n; i++) {
        const struct seep_map *map = &maps->list[i];
        const char *slash = strrchr(seep_maps_file(maps, map), '/');
        if (slash && map->kind == SEEP_MAP_FILE && seep_maps_first(maps, map) == map &&
            is_malloc(maps, map, slash + 1, pid, name))
            return true;
    }
    return false;
}

/* "python3.10", "libpython3.10.so.1.0" */
static uint32_t version_of_name(const char *name)
{
    const char *major = strstr(name, "python3.");

    return major ? UINT32_C(3) << 24 | (uint32_t)(strtoul(major + 8, NULL, 10) & 0xff) << 16 : 0;
}

static bool has_no_gil(uint64_t runtime, struct seep_remote *remote)
{
    struct seep_python_offsets_head head;

    return seep_remote_read(remote, runtime, &head, sizeof head) && seep_python_has_no_gil(&head);
}

static bool has_mimalloc(const struct seep_python_runtime *runtime, struct seep_remote *remote)
{
    const struct seep_python_layout *layout = seep_python_layout_find(runtime->version);
    uint32_t allocator;

    return layout && layout->runtime_allocator &&
           seep_remote_read(remote, runtime->address + layout->runtime_allocator, &allocator,
                            sizeof allocator) &&
           seep_python_is_mimalloc(allocator);
}

static uint64_t word_at(struct seep_remote *remote, uint64_t address)
{
    uint64_t word = 0;

    return seep_remote_read(remote, address, &word, sizeof word) ? word : 0;
}

static void read_phase(struct seep_python_runtime *runtime, struct seep_remote *remote)
{
    const struct seep_python_layout *l = seep_python_layout_find(runtime->version);

    if (!l || runtime->no_gil)
        return;
    runtime->starts = !(uint32_t)word_at(remote, runtime->address + l->runtime_initialized);
    runtime->ends = word_at(remote, runtime->address + l->runtime_finalizing);
}

static bool find_in(struct seep_python_runtime *runtime, const char *path, const char *name,
                    uint64_t base, struct seep_remote *remote)
{
    uint64_t at;

    if (!seep_data_address(path, base, "_PyRuntime", &runtime->address))
        return false;
    runtime->version = 0;
    if (!seep_data_address(path, base, "Py_Version", &at) ||
        !seep_remote_read(remote, at, &runtime->version, sizeof runtime->version))
        runtime->version = version_of_name(name);
    runtime->no_gil = has_no_gil(runtime->address, remote);
    runtime->mimalloc = has_mimalloc(runtime, remote);
    read_phase(runtime, remote);
    return runtime->version != 0;
}

bool seep_python_runtime_find(struct seep_python_runtime *runtime, const struct seep_maps *maps,
                              struct seep_remote *remote)
{
    char path[SEEP_MAPPED_PATH];

    for (size_t i = 0; i < maps->n; i++) {
        const struct seep_map *map = &maps->list[i];
        const char *file = seep_maps_file(maps, map), *slash = strrchr(file, '/');
        if (!slash || map->kind != SEEP_MAP_FILE || !map->inode ||
            seep_maps_first(maps, map) != map || !strstr(slash, "python"))
            continue;
        if (seep_mapped_file(remote->files, file, map->inode, path) &&
            find_in(runtime, path, slash, map->start, remote))
            return true;
    }
    return false;
}

enum { MAX_BLOCKS = 5 * 1000 * 1000 };

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
    t->starts = runtime.starts && !runtime.ends;
    t->ends = runtime.ends;
    if (runtime.mimalloc) /* some of its memory is glibc's, but no object */
        snprintf(t->allocator, sizeof t->allocator, "mimalloc");
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
    int rc = seep_window_init(&window, remote->page_bytes, read_window, remote);
    const bool other =
        !rc && (t->allocator[0] || seep_other_malloc(maps, &window, whole->files, t->allocator));
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
    t->thread_pointer = seep_remote_thread_pointer(remote);
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

struct admission {
    const struct seep_taken *taken;
    const struct seep_take_limits *limits;
};

static bool admits(void *admission, uint64_t kept_bytes)
{
    const struct admission *a = admission;

    return !a->limits->admits ||
           a->limits->admits(a->limits->arg, seep_reading_need(a->taken->blocks.n, kept_bytes));
}

int seep_take(struct seep_taken *t, struct seep_remote *remote, struct seep_remote *whole,
              const struct seep_take_limits *limits)
{
    struct seep_maps maps = {0}, shared = {0};
    struct admission admission = {t, limits};

    *t = (struct seep_taken){.blocks = {.most = MAX_BLOCKS}};
    int rc = take_parts(t, remote, whole, &maps, &shared);
    const bool leaves_out = !rc && must_leave_out(t, limits->max_bytes);
    if (!rc) {
        const struct seep_dump_request request = {.blocks = t->blocks.list,
                                                  .n_blocks = t->blocks.n,
                                                  .n_all = t->blocks.n,
                                                  .own = t->live.own,
                                                  .n_own = t->live.n_own,
                                                  .passes_by =
                                                      limits->passes_by && !t->allocator[0],
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

/* What lies in pools is read by the survey, which gives a node to what needs one of its own. */
static int take_pools(struct seep_taken *t)
{
    struct seep_block_list *blocks = &t->blocks;
    size_t n = 0;
    int rc = 0;

    t->lowest = blocks->n ? blocks->list[0].start : 0;
    for (size_t i = 0; i < blocks->n && !rc; i++) {
        const struct seep_snapshot_block *b = &blocks->list[i];
        if (b->site == SEEP_BLOCK_POOLS)
            rc = seep_cells_add(&t->cells, b->start, b->bytes);
        else
            blocks->list[n++] = *b;
    }
    blocks->n = n;
    return rc;
}

int seep_taken_settle(struct seep_taken *t)
{
    const bool other = t->allocator[0];
    int rc = other ? 0 : seep_glibc_leave_out_free(&t->blocks, &t->dump.memory, &t->dump.maps);

    if (!rc)
        rc = take_pools(t);
    if (!rc && other)
        rc = seep_typed_blocks_find(&t->blocks, &t->cells, &t->dump, &t->python);
    t->cells.most_nodes = (uint32_t)(t->blocks.most - t->blocks.n);
    t->is_cut = t->is_cut || t->blocks.full;
    return rc;
}

static int make_heap(struct seep_taken *t)
{
    t->heap = (struct seep_heap){.own = t->dump.own,
                                 .n_own = t->dump.n_own,
                                 .python = t->python,
                                 .cells = &t->cells,
                                 .cells_site = SEEP_BLOCK_OBJECT,
                                 .least_address = t->lowest};
    const int rc =
        seep_heap_init(&t->heap, &t->dump.memory, &t->dump.maps, t->blocks.list, t->blocks.n);
    t->is_cut = t->is_cut || t->cells.full;
    t->free_bytes = t->blocks.free_bytes;
    seep_block_list_fini(&t->blocks);
    return rc;
}

int seep_taken_survey(struct seep_taken *t, const struct seep_take_limits *limits, bool keys)
{
    const struct seep_root_places places = {.thread_pointer = t->thread_pointer};
    int rc = make_heap(t);

    if (!rc && limits->admits &&
        !limits->admits(limits->arg, seep_reading_need(t->heap.n_nodes, 0)))
        rc = -SEEP_ENOMEM;
    if (!rc)
        rc = seep_reach_init(&t->reach, &t->heap, &places, keys);
    seep_graph_forget_index(&t->heap);
    t->heap.cells = NULL;
    seep_cells_fini(&t->cells);
    seep_dump_let_go(&t->dump);
    seep_memory_fini(&t->dump.memory);
    t->is_surveyed = true;
    return rc;
}

void seep_taken_fini(struct seep_taken *t)
{
    seep_reach_fini(&t->reach);
    seep_heap_fini(&t->heap);
    seep_cells_fini(&t->cells);
    seep_dump_fini(&t->dump);
    seep_block_list_fini(&t->blocks);
    seep_live_set_fini(&t->live);
    *t = (struct seep_taken){0};
}
