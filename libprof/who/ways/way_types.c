#include "libprof/who/ways/way_types.h"

#include "libprof/who/survey/survey.h"

int64_t seep_way_bound(const struct seep_reach *reach, uint32_t node)
{
    struct seep_heap *heap = reach->heap;
    const uint32_t owner = reach->parent[node];
    const int64_t bound = seep_node_bound(heap, node);

    if (bound >= 0 || owner & SEEP_REACH_ROOT)
        return bound;
    const struct seep_pytype *type = seep_node_type(heap, owner);
    return type && type->kind == SEEP_PYTYPE_LRU ? seep_node_bound(heap, owner) : -1;
}

bool seep_way_has_name(enum seep_label_kind kind)
{
    return kind == SEEP_LABEL_ATTRIBUTE || kind == SEEP_LABEL_MEMBER || kind == SEEP_LABEL_KNOWN ||
           kind == SEEP_LABEL_LOCAL || kind == SEEP_LABEL_MODULE || kind == SEEP_LABEL_WORD;
}

bool seep_way_repeats(const struct seep_reach *reach, uint32_t node)
{
    const uint32_t from = reach->parent[node];
    const struct seep_pytype *type = seep_node_type(reach->heap, node);
    const enum seep_label_kind kind = seep_label_kind(seep_reach_label(reach, node));

    return !(from & SEEP_REACH_ROOT) && type &&
           (kind == SEEP_LABEL_ATTRIBUTE || kind == SEEP_LABEL_MEMBER) &&
           seep_reach_label(reach, from) == seep_reach_label(reach, node) &&
           seep_node_type(reach->heap, from) == type;
}
