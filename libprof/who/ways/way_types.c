#include "libprof/who/ways/way_types.h"

#include "libprof/who/graph/py_walk.h"

const struct seep_pytype *seep_way_type(struct seep_heap *heap, uint32_t n)
{
    const struct seep_node *node = &heap->nodes[n];

    return node->kind == SEEP_NODE_PYTHON
               ? seep_python_type(
                     heap, seep_memory_word(heap->memory, seep_node_object(node) + SEEP_PY_TYPE))
               : NULL;
}

int64_t seep_way_length(struct seep_heap *heap, uint32_t n)
{
    const struct seep_pytype *type = seep_way_type(heap, n);

    return type ? seep_python_length(heap, seep_node_object(&heap->nodes[n]), type) : -1;
}

int64_t seep_way_bound(struct seep_reach *reach, uint32_t node)
{
    struct seep_heap *heap = reach->heap;
    const struct seep_pytype *type = seep_way_type(heap, node);
    const uint32_t owner = reach->parent[node];
    const int64_t bound =
        type ? seep_python_bound(heap, seep_node_object(&heap->nodes[node]), type) : -1;

    if (bound >= 0 || owner & SEEP_REACH_ROOT)
        return bound;
    type = seep_way_type(heap, owner);
    return type && type->kind == SEEP_PYTYPE_LRU
               ? seep_python_bound(heap, seep_node_object(&heap->nodes[owner]), type)
               : -1;
}

bool seep_way_has_name(enum seep_label_kind kind)
{
    return kind == SEEP_LABEL_ATTRIBUTE || kind == SEEP_LABEL_MEMBER || kind == SEEP_LABEL_KNOWN ||
           kind == SEEP_LABEL_LOCAL || kind == SEEP_LABEL_MODULE || kind == SEEP_LABEL_WORD;
}

bool seep_way_repeats(struct seep_reach *reach, uint32_t node)
{
    const uint32_t from = reach->parent[node];
    const struct seep_pytype *type = seep_way_type(reach->heap, node);
    enum seep_label_kind kind = seep_label_kind(reach->label[node]);

    return !(from & SEEP_REACH_ROOT) && type &&
           (kind == SEEP_LABEL_ATTRIBUTE || kind == SEEP_LABEL_MEMBER) &&
           reach->label[from] == reach->label[node] && seep_way_type(reach->heap, from) == type;
}
