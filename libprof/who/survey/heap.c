#include "libprof/who/survey/heap.h"

#include "libprof/who/graph/native.h"
#include "libprof/who/graph/py_walk.h"
#include "libprof/who/survey/read_cells.h"

int seep_heap_init(struct seep_heap *heap, struct seep_memory *memory, const struct seep_maps *maps,
                   const struct seep_snapshot_block *blocks, size_t n)
{
    heap->memory = memory;
    heap->maps = maps;
    const int rc = heap->cells ? seep_cells_read(heap->cells, heap) : 0;
    return rc ? rc : seep_graph_init(heap, blocks, n);
}

void seep_heap_fini(struct seep_heap *heap)
{
    seep_graph_fini(heap);
    seep_python_types_fini(&heap->python);
    *heap = (struct seep_heap){0};
}

void seep_heap_read(struct seep_heap *heap, uint32_t node)
{
    if (heap->nodes[node].kind == SEEP_NODE_UNKNOWN)
        seep_heap_classify(heap, node);
    if (heap->nodes[node].kind == SEEP_NODE_PYTHON)
        seep_python_walk(heap, node);
    else if (heap->nodes[node].kind == SEEP_NODE_NATIVE)
        seep_native_walk(heap, node);
}
