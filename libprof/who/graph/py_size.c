#include "libprof/who/graph/py_size.h"

#include "libprof/who/graph/graph.h"

#include <string.h>

/* More of anything is no size. */
#define MOST (UINT64_C(1) << 40)

static uint64_t word_at(struct seep_heap *heap, uint64_t address)
{
    return seep_memory_word(heap->memory, address);
}

/* 0 where the product cannot be one. */
static uint64_t times(uint64_t n, uint64_t each)
{
    return n < MOST && each < MOST && (!each || n <= MOST / each) ? n * each : 0;
}

static uint32_t text_state(struct seep_heap *heap, uint64_t object)
{
    return seep_memory_u32(heap->memory, object + SEEP_PY_TEXT_STATE);
}

/* With the character that ends them. */
static uint64_t characters_of(struct seep_heap *heap, uint64_t object)
{
    const uint32_t each = text_state(heap, object) >> SEEP_PY_TEXT_KIND_SHIFT & SEEP_PY_TEXT_KIND;

    return times(word_at(heap, object + SEEP_PY_TEXT_LENGTH) + 1, each);
}

static uint64_t text_bytes(struct seep_heap *heap, uint64_t object, const struct seep_pytype *type)
{
    const struct seep_python_layout *l = heap->python.layout;
    const uint32_t state = text_state(heap, object);

    if (!(state & SEEP_PY_TEXT_COMPACT))
        return (uint64_t)type->basic;
    return (state & SEEP_PY_TEXT_ASCII ? l->text_ascii : l->text_compact) +
           characters_of(heap, object);
}

/* How many items an object of a type with items has; those of generators and frames have no count
 * of them. */
static uint64_t items_of(struct seep_heap *heap, uint64_t object, const struct seep_pytype *type)
{
    enum { TAG_BITS = 3 };
    const int64_t n = (int64_t)word_at(heap, object + SEEP_PY_SIZE);

    if (type->item <= 0 || type->kind == SEEP_PYTYPE_GENERATOR || type->kind == SEEP_PYTYPE_FRAME)
        return 0;
    if (type->flags & SEEP_PY_IS_INT && heap->python.layout->minor >= 12)
        return (uint64_t)n >> TAG_BITS;
    return (uint64_t)(n < 0 ? -n : n);
}

/* 3.13: attributes behind the object, after a word with their number. */
static uint64_t inline_bytes(struct seep_heap *heap, uint64_t object,
                             const struct seep_pytype *type)
{
    if (heap->python.layout->dict_place != SEEP_DICT_INLINE ||
        !(type->flags & SEEP_PY_INLINE_VALUES))
        return 0;
    return 8 + 8 * (uint64_t)seep_memory_u8(heap->memory, object + (uint64_t)type->basic);
}

uint64_t seep_python_bytes(struct seep_heap *heap, uint64_t object, const struct seep_pytype *type)
{
    if (type->kind == SEEP_PYTYPE_TEXT)
        return text_bytes(heap, object, type);
    return (uint64_t)type->basic +
           times(items_of(heap, object, type), (uint64_t)(type->item < 0 ? 0 : type->item)) +
           inline_bytes(heap, object, type);
}

/* The longest axis of an array that has no gaps: its stride times its length. */
static uint64_t elements_bytes(struct seep_heap *heap, uint64_t array)
{
    enum { N_AXES = 24, AXES = 32, STRIDES = 40, FLAGS = 64, OWNS_DATA = 4, MAX_AXES = 64 };
    const uint32_t n = seep_memory_u32(heap->memory, array + N_AXES);
    const uint64_t axes = word_at(heap, array + AXES), strides = word_at(heap, array + STRIDES);
    uint64_t most = 0;

    if (n > MAX_AXES || !(seep_memory_u32(heap->memory, array + FLAGS) & OWNS_DATA))
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t bytes = times(word_at(heap, axes + 8 * i), word_at(heap, strides + 8 * i));
        most = bytes > most ? bytes : most;
    }
    return most;
}

uint64_t seep_python_memory_of(struct seep_heap *heap, uint64_t object,
                               const struct seep_pytype *type)
{
    enum { LIST_ROOM = 32, SET_ENTRY = 16 };

    switch (type->kind) {
    case SEEP_PYTYPE_LIST:
        return times(word_at(heap, object + LIST_ROOM), 8);
    case SEEP_PYTYPE_SET:
        return times(word_at(heap, object + SEEP_PY_SET_MASK) + 1, SET_ENTRY);
    case SEEP_PYTYPE_ARRAY:
        return elements_bytes(heap, object);
    case SEEP_PYTYPE_TEXT:
        return characters_of(heap, object);
    default:
        return 0;
    }
}

uint64_t seep_python_bytes_at(struct seep_heap *heap, uint64_t object,
                              const struct seep_pytype *type, int64_t offset)
{
    enum {
        BYTES_ROOM = 24, /* bytearray: of which the next word has the address */
        BYTES_AT = 32,
        ITEMS_AT = 24, /* array.array: items, how many there is room for, their description */
        ITEMS_ROOM = 32,
        ITEMS_KIND = 40,
        ITEM_BYTES = 4,
    };

    if (strcmp(type->name, "bytearray") == 0 && offset == BYTES_AT)
        return times(word_at(heap, object + BYTES_ROOM), 1);
    if (strcmp(type->name, "array.array") == 0 && offset == ITEMS_AT)
        return times(
            word_at(heap, object + ITEMS_ROOM),
            seep_memory_u32(heap->memory, word_at(heap, object + ITEMS_KIND) + ITEM_BYTES));
    return 0;
}
