/* The edges of a surveyed heap, as far as they are believed. */
#include "libprof/who/survey/survey.h"

bool seep_heap_may_believe(const struct seep_heap *heap, const struct seep_edge *edge)
{
    if (edge->marks & SEEP_EDGE_EXACT)
        return true;
    const struct seep_node *to = &heap->nodes[edge->to];
    return !to->is_explained && (to->kind != SEEP_NODE_PYTHON || edge->marks & SEEP_EDGE_OBJECT);
}

bool seep_heap_believes(const struct seep_heap *heap, uint32_t from, const struct seep_edge *edge)
{
    enum { DEPENDS = SEEP_EDGE_BORROWED | SEEP_EDGE_DEEP | SEEP_EDGE_INNER };

    if (!(edge->marks & DEPENDS))
        return true;
    if (edge->marks & SEEP_EDGE_BORROWED && heap->owners_only &&
        heap->nodes[edge->to].kind != SEEP_NODE_PYTHON)
        return false;
    if (edge->marks & SEEP_EDGE_DEEP && !(heap->inner && heap->inner[from] & SEEP_INNER_WHOLE))
        return false;
    return !(edge->marks & SEEP_EDGE_INNER) ||
           (heap->inner && heap->inner[edge->to] & SEEP_INNER_HOLDS);
}

struct seep_edge_cursor seep_heap_edges(const struct seep_heap *heap, uint32_t node)
{
    const struct seep_survey *s = heap->survey;
    struct seep_edge_facts facts;

    return s->place[node] ? seep_edge_store_open(&s->edges, s->place[node], node, &facts)
                          : (struct seep_edge_cursor){0};
}

bool seep_heap_next(const struct seep_heap *heap, uint32_t node, struct seep_edge_cursor *cursor,
                    struct seep_edge *edge)
{
    while (cursor->at && seep_edge_store_next(&heap->survey->edges, cursor, edge))
        if (seep_heap_believes(heap, node, edge))
            return true;
    return false;
}
