#include "libprof/who/ways/roots.h"

#include <string.h>

#include "libprof/arch/arch.h"
#include "libprof/who/graph/py_text.h"
#include "libprof/who/graph/py_walk.h"
#include "libprof/words/python_file.h"

/* Roots inside the interpreter. */

/* Distances: the user's own functions and modules come first. */
enum {
    OWN_FRAME = 1,
    OWN_MODULE = 2,
    THREAD_LOCALS = 4,
    LIBRARY_FRAME = 8,
    LIBRARY_MODULE = 12,
    ALL_MODULES = 200,
};

enum {
    MAX_INTERPRETERS = 64,
    MAX_DEPTH = 4000,
    MAX_STEPS = 200000, /* threads and frames in all: who made them up may let them go in circles */
    TEXT = 512
};

static uint64_t word_at(struct seep_heap *heap, uint64_t address)
{
    return seep_memory_word(heap->memory, address);
}

/* What all roots of an interpreter need. */
struct walk {
    seep_root_taker *begin;
    uint32_t subinterpreter; /* as of a root */
    size_t *left;
};

/* The outermost first: arguments of a function belong to its caller. */
static void walk_frames(struct seep_heap *heap, uint64_t thread, const struct walk *walk)
{
    const struct seep_python_layout *l = heap->python.layout;
    uint64_t frame = word_at(heap, thread + l->thread_frame), frames[MAX_DEPTH];
    size_t n = 0;
    char file[TEXT];

    if (frame && l->chain == SEEP_PYTHON_CHAIN_CFRAME)
        frame = word_at(heap, frame + l->cframe_frame);
    for (; frame && n < MAX_DEPTH && *walk->left; frame = word_at(heap, frame + l->frame_back)) {
        frames[n++] = frame;
        --*walk->left;
    }
    while (n--) {
        frame = frames[n];
        if (l->minor >= 12 &&
            seep_memory_u8(heap->memory, frame + l->frame_owner) >= SEEP_PY_OWNER_SHIM)
            continue;
        const struct seep_root root = {.kind = SEEP_ROOT_FRAME,
                                       .at = seep_python_frame_code(heap, frame),
                                       .subinterpreter = walk->subinterpreter};
        (void)seep_python_text(heap, word_at(heap, root.at + l->code_file), file, sizeof file);
        walk->begin(heap, &root, seep_python_file_is_library(file) ? LIBRARY_FRAME : OWN_FRAME);
        seep_python_walk_frame(heap, frame, 0, true);
    }
}

struct finding {
    const char *wanted;
    char text[TEXT];
};

static void find_text(struct seep_heap *heap, uint64_t key, uint64_t value, void *context)
{
    struct finding *finding = context;

    if (seep_python_text_is(heap, key, finding->wanted))
        (void)seep_python_text(heap, value, finding->text, sizeof finding->text);
}

/* Decided by its file; a module without one is built in. */
static bool is_library(struct seep_heap *heap, const char *name, uint64_t module)
{
    struct finding file = {.wanted = "__file__"};
    const struct seep_pytype *type = seep_python_object(heap, module, 1 << 20);

    if (strcmp(name, "__main__") == 0 || strcmp(name, "__mp_main__") == 0)
        return false;
    if (type && type->kind == SEEP_PYTYPE_MODULE)
        seep_python_dict_each(heap, word_at(heap, module + SEEP_PY_MODULE_DICT), find_text, &file);
    return !file.text[0] || seep_python_file_is_library(file.text);
}

static void walk_module(struct seep_heap *heap, uint64_t key, uint64_t module, void *context)
{
    const struct walk *walk = context;
    const struct seep_root root = {
        .kind = SEEP_ROOT_MODULE, .at = key, .subinterpreter = walk->subinterpreter};
    char name[TEXT];

    if (!module || !seep_python_text(heap, key, name, sizeof name))
        return;
    walk->begin(heap, &root, is_library(heap, name, module) ? LIBRARY_MODULE : OWN_MODULE);
    seep_edge_exact(heap, module, seep_label_of(SEEP_LABEL_MODULE, key), 0);
}

static void walk_interpreter(struct seep_heap *heap, uint64_t interpreter, seep_root_taker *begin,
                             size_t *left)
{
    const struct seep_python_layout *l = heap->python.layout;
    struct walk walk = {begin, (uint32_t)word_at(heap, interpreter + l->interpreter_id), left};
    struct seep_root root = {.kind = SEEP_ROOT_LOCALS, .subinterpreter = walk.subinterpreter};
    uint64_t thread = word_at(heap, interpreter + l->interpreter_threads);
    uint64_t modules = word_at(heap, interpreter + l->interpreter_modules);
    const struct seep_pytype *type = seep_python_object(heap, modules, 1 << 20);

    for (; thread && *left; thread = word_at(heap, thread + SEEP_PY_THREAD_NEXT)) {
        --*left;
        walk_frames(heap, thread, &walk);
        begin(heap, &root, THREAD_LOCALS);
        seep_edge_exact(heap, word_at(heap, thread + l->thread_dict),
                        seep_label_of(SEEP_LABEL_WORD, SEEP_WORD_THREAD), 0);
    }
    if (!type || type->kind != SEEP_PYTYPE_DICT)
        return;
    seep_python_dict_each(heap, modules, walk_module, &walk);
    root.kind = SEEP_ROOT_MODULES;
    begin(heap, &root, ALL_MODULES);
    seep_edge_exact(heap, modules, seep_label_of(SEEP_LABEL_WORD, SEEP_WORD_MODULES), 0);
}

static void python_roots_walk(struct seep_heap *heap, seep_root_taker *begin)
{
    const struct seep_python_layout *l = heap->python.layout;

    if (!l || !heap->python.runtime)
        return;
    uint64_t interpreter = word_at(heap, heap->python.runtime + l->runtime_interpreters);
    size_t left = MAX_STEPS;
    for (int i = 0; interpreter && i < MAX_INTERPRETERS; i++) {
        walk_interpreter(heap, interpreter, begin, &left);
        interpreter = word_at(heap, interpreter + l->interpreter_next);
    }
}

enum { DATA = 25, DLOPENED = 40, THREAD = 50, INTERPRETER = 70, STACK = 120, OTHER_STACK = 130 };
enum {
    MIN_STACK = 64 * 1024,
    MAX_STACK = 8 << 20,     /* the most that is read, from its end on */
    LONGEST_STACK = 1 << 30, /* a longer mapping is not a stack, but reserved memory */
    MAX_DATA = 256 << 20,    /* of one mapping */
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
    scan(heap, map->start, end - map->start < MAX_DATA ? end : map->start + MAX_DATA);
    heap->in_types = false;
}

/* The kernel joins a thread's stack with what was mapped above it, such as an arena of Python's: a
 * stack ends where the first object lies, or that would hold its own objects. */
static uint64_t end_of_stack(const struct seep_heap *heap, const struct seep_map *map,
                             uint64_t from)
{
    size_t low = 0, high = heap->n_nodes;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (heap->nodes[middle].start < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low < heap->n_nodes && heap->nodes[low].start < map->end ? heap->nodes[low].start
                                                                    : map->end;
}

/* Memory below the stack pointer is stale; for other threads the pointer is unknown. */
static void walk_stack(struct seep_heap *heap, const struct seep_map *map, uint64_t from,
                       unsigned cost, seep_root_taker *begin)
{
    struct seep_root root = {
        .kind = SEEP_ROOT_STACK, .at = map->start, .map = map, .doubtful = true};
    const uint64_t end = end_of_stack(heap, map, from);

    begin(heap, &root, cost);
    scan(heap, end - from < MAX_STACK ? from : end - MAX_STACK, end);
}

/* For libraries loaded by dlopen(): glibc's table of a thread, {counter}{address, to free}… */
static void walk_dtv(struct seep_heap *heap, uint64_t thread_pointer, seep_root_taker *begin)
{
    uint64_t dtv = seep_memory_word(heap->memory, thread_pointer + SEEP_ARCH_DTV_AT);
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

/* Variables lie on one side of the thread pointer, and glibc's data about the thread on the other.
 */
static void walk_thread(struct seep_heap *heap, const struct seep_map *map, uint64_t at,
                        seep_root_taker *begin)
{
    begin(heap,
          &(struct seep_root){
              .kind = SEEP_ROOT_THREAD, .at = map->start, .map = map, .doubtful = true},
          THREAD);
    scan(heap, at - map->start > SEEP_ARCH_TLS_BELOW ? at - SEEP_ARCH_TLS_BELOW : map->start,
         map->end - at > SEEP_ARCH_TLS_ABOVE ? at + SEEP_ARCH_TLS_ABOVE : map->end);
}

static bool has(const struct seep_map *map, uint64_t address)
{
    return address >= map->start && address < map->end;
}

/* The stack of a thread other than the first; the system does not name these. */
static bool may_be_stack(const struct seep_heap *heap, const struct seep_map *map)
{
    const uint64_t bytes = map->end - map->start;

    return map->guarded && map->kind == SEEP_MAP_OTHER && bytes >= MIN_STACK &&
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
    python_roots_walk(heap, begin);
    walk_dtv(heap, places->thread_pointer, begin);
    for (size_t i = 0; i < heap->maps->n; i++) {
        const struct seep_map *map = &heap->maps->list[i];
        if (map->readable && map->writable && !map->shared && !is_own(heap, map))
            walk_map(heap, map, places, begin);
    }
}
