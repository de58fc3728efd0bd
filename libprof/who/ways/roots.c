#include "libprof/who/ways/roots.h"

#include "libprof/who/ways/py_roots.h"

#include <string.h>

enum { DATA = 25, DLOPENED = 40, THREAD = 50, INTERPRETER = 70, STACK = 120, OTHER_STACK = 130 };
enum {
    THREAD_BELOW = 64 << 10,
    THREAD_ABOVE = 4 << 10,
    LEAST_STACK = 64 * 1024,
    MOST_STACK = 8 << 20,    /* the most that is read, from its end on */
    LONGEST_STACK = 1 << 30, /* a longer mapping is not a stack, but reserved memory */
    MOST_DATA = 256 << 20,   /* of one mapping */
    MAX_DTV = 4096,
};

static void scan(struct seep_heap *heap, uint64_t from, uint64_t to)
{
    seep_heap_scan(heap, from, to, 0, SEEP_COST_NATIVE, SEEP_COST_NATIVE_PYTHON);
}

static const char *file_name(const struct seep_heap *heap, const struct seep_map *map)
{
    const char *path = seep_maps_file(heap->maps, map), *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The own lists of the loader, of mallocs and of seep hold nothing for the job; nor does the block
 * that libstdc++ keeps for exceptions when there is no memory, in whose 72 KB, never written to,
 * lie words of those that had the memory before. */
static bool is_machinery(const char *file)
{
    static const char *const names[] = {"libc.so",     "libseep.so",  "ld-linux", "libjemalloc",
                                        "libtcmalloc", "libmimalloc", "libstdc++"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(file, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

uint64_t seep_roots_end_of_data(struct seep_heap *heap, const struct seep_map *map)
{
    enum { PHOFF = 32, PHNUM = 56, PH = 56, LOAD = 1, ADDRESS = 16, MEMORY = 40, MOST = 64 };
    const struct seep_map *first = seep_maps_first(heap->maps, map);
    uint64_t low = UINT64_MAX, high = 0;

    if (map->kind != SEEP_MAP_BSS)
        return map->end;
    uint32_t n = seep_memory_u32(heap->memory, first->start + PHNUM) & 0xffff;
    uint64_t at = first->start + seep_memory_word(heap->memory, first->start + PHOFF);
    for (uint32_t i = 0; i < n && i < MOST; i++, at += PH) {
        if (seep_memory_u32(heap->memory, at) != LOAD)
            continue;
        uint64_t start = seep_memory_word(heap->memory, at + ADDRESS);
        uint64_t end = start + seep_memory_word(heap->memory, at + MEMORY);
        low = start < low ? start & ~(uint64_t)(SEEP_MEMORY_PAGE - 1) : low;
        high = end > high ? end : high;
    }
    high = low == UINT64_MAX ? map->end : first->start - low + high;
    return high <= map->start ? map->start : high < map->end ? high : map->end;
}

static void walk_data(struct seep_heap *heap, const struct seep_map *map, seep_root_taker *begin)
{
    const char *file = file_name(heap, map);
    bool interpreter = strstr(file, "python");
    struct seep_root root = {
        .kind = SEEP_ROOT_STATIC, .at = map->start, .map = map, .doubtful = interpreter};

    if (is_machinery(file))
        return;
    begin(heap, &root, interpreter ? INTERPRETER : DATA);
    uint64_t end = seep_roots_end_of_data(heap, map);
    heap->in_types = interpreter;
    scan(heap, map->start, end - map->start < MOST_DATA ? end : map->start + MOST_DATA);
    heap->in_types = false;
}

/* Memory below the stack pointer is stale; for other threads the pointer is unknown. */
static void walk_stack(struct seep_heap *heap, const struct seep_map *map, uint64_t from,
                       unsigned cost, seep_root_taker *begin)
{
    struct seep_root root = {
        .kind = SEEP_ROOT_STACK, .at = map->start, .map = map, .doubtful = true};

    begin(heap, &root, cost);
    scan(heap, map->end - from < MOST_STACK ? from : map->end - MOST_STACK, map->end);
}

/* For libraries loaded by dlopen(): glibc's table of a thread, {counter}{address, to free}… */
static void walk_dtv(struct seep_heap *heap, uint64_t thread_pointer, seep_root_taker *begin)
{
    uint64_t dtv = seep_memory_word(heap->memory, thread_pointer + 8);
    uint64_t n = seep_memory_word(heap->memory, dtv - 16);
    struct seep_root root = {.kind = SEEP_ROOT_THREAD};

    if (!dtv || n > MAX_DTV)
        return;
    begin(heap, &root, DLOPENED);
    for (uint64_t i = 1; i <= n; i++)
        seep_edge_maybe(heap, seep_memory_word(heap->memory, dtv + 16 * i),
                        seep_label_of(SEEP_LABEL_ADDRESS, dtv + 16 * i), SEEP_COST_NATIVE,
                        SEEP_COST_NEVER);
}

/* Variables lie below the thread pointer, and glibc's data about the thread above it. */
static void walk_thread(struct seep_heap *heap, const struct seep_map *map, uint64_t at,
                        seep_root_taker *begin)
{
    begin(heap,
          &(struct seep_root){
              .kind = SEEP_ROOT_THREAD, .at = map->start, .map = map, .doubtful = true},
          THREAD);
    scan(heap, at - map->start > THREAD_BELOW ? at - THREAD_BELOW : map->start,
         map->end - at > THREAD_ABOVE ? at + THREAD_ABOVE : map->end);
}

static bool has(const struct seep_map *map, uint64_t address)
{
    return address >= map->start && address < map->end;
}

/* The stack of a thread other than the first; the system does not name these. */
static bool may_be_stack(const struct seep_heap *heap, const struct seep_map *map)
{
    const uint64_t bytes = map->end - map->start;

    return map->guarded && map->kind == SEEP_MAP_OTHER && bytes >= LEAST_STACK &&
           bytes <= LONGEST_STACK && seep_heap_find(heap, map->start + 64) == SEEP_NODE_NONE;
}

static void walk_map(struct seep_heap *heap, const struct seep_map *map,
                     const struct seep_root_places *places, seep_root_taker *begin)
{
    bool data = map->kind == SEEP_MAP_FILE || map->kind == SEEP_MAP_BSS;
    bool thread = has(map, places->thread_pointer);

    if (thread && !data)
        walk_thread(heap, map, places->thread_pointer, begin);
    if (data) {
        walk_data(heap, map, begin);
    } else if (has(map, places->stack_pointer)) {
        walk_stack(heap, map, places->stack_pointer, STACK, begin);
    } else if (map->kind == SEEP_MAP_STACK || (!thread && may_be_stack(heap, map))) {
        walk_stack(heap, map, map->start, OTHER_STACK, begin);
    }
}

static bool is_own(const struct seep_heap *heap, const struct seep_map *map)
{
    for (size_t i = 0; i < heap->n_own; i++)
        if (heap->own[i].start <= map->start && heap->own[i].end >= map->end)
            return true;
    return false;
}

void seep_roots_walk(struct seep_heap *heap, const struct seep_root_places *places,
                     seep_root_taker *begin)
{
    seep_python_roots_walk(heap, begin);
    walk_dtv(heap, places->thread_pointer, begin);
    for (size_t i = 0; i < heap->maps->n; i++) {
        const struct seep_map *map = &heap->maps->list[i];
        if (map->readable && map->writable && !map->shared && !is_own(heap, map))
            walk_map(heap, map, places, begin);
    }
}
