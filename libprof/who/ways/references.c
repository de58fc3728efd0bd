#include "libprof/who/ways/reach_passes.h"

#include "libprof/who/graph/py_types.h"

enum {
    CONTAINER = 0,      /* a container says more about the place than its contents, */
    OTHER = 20,         /* so the path begins at the container */
    IMMORTAL = 1 << 28, /* from here on nobody counts the object's references */
};

static bool counts_too_many(const struct seep_reach *reach, uint32_t node)
{
    const struct seep_heap *heap = reach->heap;
    const uint64_t object = seep_node_object(&heap->nodes[node]);
    const uint32_t counted = seep_memory_u32(heap->memory, object);

    return counted && counted < IMMORTAL && reach->exact[node] < counted;
}

int seep_references_find(struct seep_reach *reach)
{
    struct seep_heap *heap = reach->heap;

    if (!heap->python.layout)
        return 0;
    if (seep_reach_settle(reach))
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < heap->n_blocks; i++) {
        if (reach->distance[i] != SEEP_UNREACHED || heap->nodes[i].kind != SEEP_NODE_PYTHON ||
            !counts_too_many(reach, i))
            continue;
        const uint64_t object = seep_node_object(&heap->nodes[i]);
        const struct seep_pytype *type =
            seep_python_type(heap, seep_memory_word(heap->memory, object + SEEP_PY_TYPE));
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
