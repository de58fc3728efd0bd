#include "libprof/who/graph/py_walk.h"

#include "libprof/who/graph/edges.h"
#include "libprof/who/graph/py_fields.h"

enum { FIRST_FIELD = 16 };

static uint64_t word_at(struct seep_heap *heap, uint64_t address)
{
    return seep_memory_word(heap->memory, address);
}

void seep_python_walk_function(struct seep_heap *heap, uint64_t object,
                               const struct seep_pytype *type)
{
    const struct seep_python_layout *l = heap->python.layout;
    const struct {
        uint32_t at;
        unsigned cost;
        seep_label label;
    } named[] = {
        {l->function_closure, 1, seep_label_of(SEEP_LABEL_WORD, SEEP_WORD_CLOSURE)},
        {l->function_defaults, 1, seep_label_of(SEEP_LABEL_WORD, SEEP_WORD_DEFAULTS)},
        {l->function_kwdefaults, 1, seep_label_of(SEEP_LABEL_WORD, SEEP_WORD_KWDEFAULTS)},
        {l->function_dict, 1, seep_label_of(SEEP_LABEL_HIDDEN, 0)},
        {l->function_code, 20, seep_label_of(SEEP_LABEL_WORD, SEEP_WORD_CODE)},
        {l->function_globals, SEEP_COST_GLOBALS, seep_label_of(SEEP_LABEL_WORD, SEEP_WORD_GLOBALS)},
        {l->function_builtins, SEEP_COST_GLOBALS,
         seep_label_of(SEEP_LABEL_WORD, SEEP_WORD_BUILTINS)},
    };
    const size_t n = sizeof named / sizeof *named;

    for (uint32_t at = FIRST_FIELD; at + 8 <= type->basic; at += 8) {
        size_t i = 0;
        while (i < n && named[i].at != at)
            i++;
        if (i < n)
            seep_edge_exact(heap, word_at(heap, object + at), named[i].label, named[i].cost);
        else
            seep_python_walk_words(heap, object, type, at, at + 8);
    }
}

void seep_python_walk_generator(struct seep_heap *heap, uint64_t object,
                                const struct seep_pytype *type)
{
    const struct seep_python_layout *l = heap->python.layout;

    if (!l->generator_state) { /* its frame is an object, and its first field */
        seep_edge_exact(heap, word_at(heap, object + l->generator_frame),
                        seep_label_of(SEEP_LABEL_HIDDEN, 0), 1);
        seep_python_walk_words(heap, object, type, l->generator_frame + 8, (uint64_t)type->basic);
        return;
    }
    seep_python_walk_words(heap, object, type, FIRST_FIELD, l->generator_frame);
    const int state = (int8_t)seep_memory_u8(heap->memory, object + l->generator_state);
    const int runs = (int)l->generator_runs;
    if (state <= runs)
        seep_python_walk_frame(heap, object + l->generator_frame, SEEP_COST_NAMED, state == runs);
}

/* From 3.11 on the frame lies behind these fields, or elsewhere while its call lasts. A frame that
 * outlives its call also keeps its callers' frames, if those outlive their calls. */
void seep_python_walk_frame_object(struct seep_heap *heap, uint64_t object)
{
    const struct seep_python_layout *l = heap->python.layout;
    size_t index;
    int64_t offset;

    for (size_t i = 0; seep_pyfield_of("frame", l->minor, i, &offset, &index); i++)
        seep_edge_exact(heap, word_at(heap, object + (uint64_t)offset),
                        seep_label_of(SEEP_LABEL_KNOWN, index), SEEP_COST_NAMED);
    if (!l->frame_object_frame) {
        seep_python_walk_frame(heap, object, SEEP_COST_NAMED, false);
        return;
    }
    uint64_t frame = word_at(heap, object + l->frame_object_frame);
    if (frame && seep_memory_u8(heap->memory, frame + l->frame_owner) == SEEP_PY_OWNER_OBJECT)
        seep_python_walk_frame(heap, frame, SEEP_COST_NAMED, false);
}
