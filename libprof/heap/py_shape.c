#include "libprof/heap/py_shape.h"

#include "libprof/heap/graph.h"

static int64_t size_at(struct seep_heap *heap, uint64_t address)
{
    int64_t n = (int64_t)seep_memory_word(heap->memory, address);

    return n < 0 || n >> 40 ? -1 : n;
}

int64_t seep_python_length(struct seep_heap *heap, uint64_t object, const struct seep_pytype *type)
{
    switch (type->kind) {
    case SEEP_PYTYPE_DICT:
    case SEEP_PYTYPE_LIST:
    case SEEP_PYTYPE_TUPLE:
    case SEEP_PYTYPE_DEQUE:
        return size_at(heap, object + SEEP_PY_SIZE);
    case SEEP_PYTYPE_SET:
        return size_at(heap, object + SEEP_PY_SET_USED);
    case SEEP_PYTYPE_LRU:
        return size_at(heap,
                       seep_memory_word(heap->memory, object + SEEP_PY_LRU_CACHE) + SEEP_PY_SIZE);
    default:
        return -1;
    }
}

int64_t seep_python_bound(struct seep_heap *heap, uint64_t object, const struct seep_pytype *type)
{
    if (type->kind == SEEP_PYTYPE_DEQUE)
        return size_at(heap, object + SEEP_PY_DEQUE_MOST);
    return type->kind == SEEP_PYTYPE_LRU ? size_at(heap, object + SEEP_PY_LRU_MOST) : -1;
}
