#include "libprof/who/graph/py_walk.h"

#include "libprof/who/graph/graph.h"

static int64_t size_at(struct seep_heap *heap, uint64_t address)
{
    int64_t n = (int64_t)seep_memory_word(heap->memory, address);

    return n < 0 || n >> 40 ? -1 : n;
}

/* How many consecutive elements an array has; 0: they are not consecutive. */
static int64_t elements_of(struct seep_heap *heap, uint64_t array)
{
    enum { N_AXES = 24, AXES = 32, FLAGS = 64, IN_ORDER = 3, MOST_AXES = 64, MOST = 1 << 27 };
    uint32_t n = seep_memory_u32(heap->memory, array + N_AXES);
    uint64_t axes = seep_memory_word(heap->memory, array + AXES);
    int64_t all = 1;

    if (n > MOST_AXES || !(seep_memory_u32(heap->memory, array + FLAGS) & IN_ORDER))
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        int64_t length = size_at(heap, axes + (uint64_t)i * 8);
        if (length <= 0 || length > MOST || (all *= length) > MOST)
            return 0;
    }
    return all;
}

int64_t seep_python_array_objects(struct seep_heap *heap, uint64_t array)
{
    enum { DESCRIPTOR = 56, KIND = 24 };
    uint64_t descriptor = seep_memory_word(heap->memory, array + DESCRIPTOR);

    return seep_memory_u8(heap->memory, descriptor + KIND) == 'O' ? elements_of(heap, array) : -1;
}

int64_t seep_python_length(struct seep_heap *heap, uint64_t object, const struct seep_pytype *type)
{
    switch (type->kind) {
    case SEEP_PYTYPE_DICT:
    case SEEP_PYTYPE_LIST:
    case SEEP_PYTYPE_TUPLE:
    case SEEP_PYTYPE_DEQUE:
        return size_at(heap, object + SEEP_PY_SIZE);
    case SEEP_PYTYPE_ARRAY:
        return seep_python_array_objects(heap, object);
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

bool seep_python_int(struct seep_heap *heap, uint64_t object, uint64_t *value)
{
    enum { SIZE = 16, DIGITS = 24, DIGIT_BITS = 30, TAG_BITS = 3 };
    const uint64_t size = seep_memory_word(heap->memory, object + SIZE);
    const uint64_t n = heap->python.layout->minor >= 12 ? size >> TAG_BITS : size;

    if ((n != 1 && n != 2) || (n != size && n << TAG_BITS != size)) /* it is negative */
        return false;
    const uint64_t low = seep_memory_u32(heap->memory, object + DIGITS);
    const uint64_t high = n == 2 ? seep_memory_u32(heap->memory, object + DIGITS + 4) : 0;
    *value = high << DIGIT_BITS | low;
    return true;
}
