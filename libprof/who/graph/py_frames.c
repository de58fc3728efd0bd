#include "libprof/who/graph/py_walk.h"

#include "libprof/who/graph/edges.h"
#include "libprof/who/graph/py_text.h"

enum { MAX_VARIABLES = 10000, MAX_STACK = 100000, TAGS = 3, A_NUMBER = 3, NOT_COUNTED = 1 };

static uint64_t word_at(struct seep_heap *heap, uint64_t address)
{
    return seep_memory_word(heap->memory, address);
}

static int64_t length_of(struct seep_heap *heap, uint64_t tuple)
{
    int64_t n = tuple ? (int64_t)word_at(heap, tuple + SEEP_PY_SIZE) : 0;

    return n < 0 || n > MAX_VARIABLES ? 0 : n;
}

/* Where a frame's variables end, and their names: in one tuple, or up to 3.10 in three consecutive
 * ones. */
struct variables {
    uint64_t names[3];
    int64_t n[3], all;
};

static struct variables variables_of(struct seep_heap *heap, uint64_t code)
{
    const struct seep_python_layout *l = heap->python.layout;
    struct variables v = {.names = {word_at(heap, code + l->code_names)}};

    v.n[0] = (int32_t)seep_memory_u32(heap->memory, code + l->code_n_locals);
    if (v.n[0] < 0 || v.n[0] > MAX_VARIABLES)
        v.n[0] = 0;
    if (l->code_cells) {
        v.names[1] = word_at(heap, code + l->code_cells);
        v.names[2] = word_at(heap, code + l->code_frees);
        v.n[1] = length_of(heap, v.names[1]);
        v.n[2] = length_of(heap, v.names[2]);
    }
    v.all = v.n[0] + v.n[1] + v.n[2];
    return v;
}

static uint64_t name_of(struct seep_heap *heap, const struct variables *v, int64_t i)
{
    int which = 0;

    for (; which < 2 && i >= v->n[which]; which++)
        i -= v->n[which];
    return i < length_of(heap, v->names[which])
               ? word_at(heap, v->names[which] + heap->python.layout->tuple_items + (uint64_t)i * 8)
               : 0;
}

/* How many values are on the frame's stack, after its variables. */
static int64_t stack_of(struct seep_heap *heap, uint64_t frame, int64_t n_variables)
{
    const struct seep_python_layout *l = heap->python.layout;

    if (!l->frame_top || l->minor < 10 || l->minor >= 14) {
        uint64_t top = l->frame_top ? word_at(heap, frame + l->frame_top) : 0;
        uint64_t first = frame + l->frame_locals + (uint64_t)n_variables * 8;
        return top > first ? (int64_t)((top - first) / 8) : 0;
    }
    int64_t top = (int32_t)seep_memory_u32(heap->memory, frame + l->frame_top);
    return top > n_variables ? top - n_variables : 0;
}

/* The object in a frame's slot; 0: no counted reference. */
static uint64_t value_at(struct seep_heap *heap, uint64_t place)
{
    uint64_t value = word_at(heap, place);

    if (!heap->python.layout->tagged)
        return value;
    return (value & TAGS) == A_NUMBER ? 0 : value & ~(uint64_t)NOT_COUNTED;
}

static void walk_variable(struct seep_heap *heap, uint64_t value, uint64_t name, unsigned cost)
{
    seep_edge_exact(heap, value, seep_label_of(SEEP_LABEL_LOCAL, name),
                    cost + seep_python_cost(heap, value) - SEEP_COST_NAMED);
}

uint64_t seep_python_frame_code(struct seep_heap *heap, uint64_t frame)
{
    return word_at(heap, frame + heap->python.layout->frame_code) & ~(uint64_t)TAGS;
}

/* Whose call it is: the function may have no other owner. Up to 3.10 the frame owns its function's
 * globals itself, with the builtins before them. */
static void walk_callee(struct seep_heap *heap, uint64_t frame, uint64_t code, unsigned cost)
{
    enum { COST_CODE = 20 };
    const struct seep_python_layout *l = heap->python.layout;

    seep_edge_exact(heap, code, seep_label_of(SEEP_LABEL_WORD, SEEP_WORD_CODE), cost + COST_CODE);
    if (l->minor >= 11) {
        seep_edge_exact(heap, word_at(heap, frame + l->frame_function) & ~(uint64_t)TAGS,
                        seep_label_of(SEEP_LABEL_WORD, SEEP_WORD_FUNCTION), cost + SEEP_COST_TYPE);
        return;
    }
    seep_edge_exact(heap, word_at(heap, frame + l->frame_globals),
                    seep_label_of(SEEP_LABEL_WORD, SEEP_WORD_GLOBALS), cost + SEEP_COST_GLOBALS);
    seep_edge_exact(heap, word_at(heap, frame + l->frame_globals - 8),
                    seep_label_of(SEEP_LABEL_WORD, SEEP_WORD_BUILTINS), cost + SEEP_COST_GLOBALS);
}

void seep_python_walk_frame(struct seep_heap *heap, uint64_t frame, unsigned cost, bool running)
{
    const struct seep_python_layout *l = heap->python.layout;
    uint64_t code = seep_python_frame_code(heap, frame);
    const struct seep_pytype *type = seep_python_object(heap, code, 1 << 20);

    if (!type || type->kind != SEEP_PYTYPE_CODE)
        return;
    struct variables v = variables_of(heap, code);
    int64_t deepest = (int32_t)seep_memory_u32(heap->memory, code + l->code_stack);
    int64_t n_stack = running ? deepest : stack_of(heap, frame, v.all);
    if (n_stack < 0 || deepest < 0 || n_stack > deepest || n_stack > MAX_STACK)
        n_stack = 0;
    for (int64_t i = 0; i < v.all + n_stack; i++) {
        uint64_t value = value_at(heap, frame + l->frame_locals + (uint64_t)i * 8);
        if (i < v.all)
            walk_variable(heap, value, name_of(heap, &v, i), cost);
        else if (running) /* values beyond its top are stale */
            seep_edge_maybe(heap, value, seep_label_of(SEEP_LABEL_TEMPORARY, 0), SEEP_COST_NEVER,
                            cost + SEEP_COST_STALE);
        else
            seep_edge_exact(heap, value, seep_label_of(SEEP_LABEL_TEMPORARY, 0), cost + 4);
    }
    walk_callee(heap, frame, code, cost);
    uint64_t dict = word_at(heap, frame + l->frame_dict);
    if (dict !=
        word_at(heap,
                frame +
                    l->frame_globals)) /* else it is a module's frame, and the module holds it */
        seep_edge_exact(heap, dict, seep_label_of(SEEP_LABEL_HIDDEN, 0), cost + 1);
}
