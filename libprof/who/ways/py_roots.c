#include "libprof/who/ways/py_roots.h"

#include "libprof/who/graph/py_text.h"
#include "libprof/who/graph/py_walk.h"
#include "libprof/words/python_file.h"

#include <string.h>

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

void seep_python_roots_walk(struct seep_heap *heap, seep_root_taker *begin)
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
