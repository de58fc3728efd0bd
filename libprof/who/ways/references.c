#include "libprof/who/ways/reach_passes.h"

#include "libprof/who/graph/py_types.h"

enum {
    CONTAINER = 0, /* a container says more about the place than its contents, */
    OTHER = 20,    /* so the path begins at the container */
};

int seep_references_find(struct seep_reach *reach)
{
    struct seep_heap *heap = reach->heap;

    if (!heap->python.layout)
        return 0;
    if (seep_reach_settle(reach))
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < heap->n_nodes; i++) {
        if (reach->distance[i] != SEEP_UNREACHED || !heap->nodes[i].is_overcounted ||
            !heap->nodes[i].bytes)
            continue;
        const struct seep_pytype *type = seep_node_type(heap, i);
        if (type)
            seep_reach_add(reach, SEEP_ROOT_REFERENCE, i,
                           type->flags & SEEP_PY_GC ? CONTAINER : OTHER);
    }
    heap->owners_only = true;
    const int rc = seep_reach_go_on(reach);
    heap->owners_only = false;
    seep_reach_unsettle(reach);
    return rc;
}
