#include "libprof/who/graph/py_walk.h"

#include "libprof/who/graph/edges.h"
#include "libprof/who/graph/py_size.h"
#include "libprof/who/graph/py_text.h"

enum { MAX_ENTRIES = 1 << 27, OLD_HEAD = 40, NEW_HEAD = 32, GENERAL = 24, TEXT_KEYS = 16 };

/* PyDictKeysObject: where its entries are. */
struct keys {
    uint64_t entries;
    int64_t n, room; /* entries that were ever used, and that there is room for */
    unsigned each;   /* bytes of an entry: hash, key, value; or key and value alone */
};

static bool old_keys(struct seep_heap *heap, uint64_t at, struct keys *keys)
{
    int64_t size = (int64_t)seep_memory_word(heap->memory, at + 8);

    if (size < 0 || size > MAX_ENTRIES)
        return false;
    keys->each = GENERAL;
    keys->n = (int64_t)seep_memory_word(heap->memory, at + 32);
    keys->room = keys->n + (int64_t)seep_memory_word(heap->memory, at + 24);
    keys->entries = at + OLD_HEAD + (uint64_t)size * (size <= 0xff ? 1 : size <= 0xffff ? 2 : 4);
    return true;
}

static bool new_keys(struct seep_heap *heap, uint64_t at, struct keys *keys)
{
    uint8_t log2_index_bytes = seep_memory_u8(heap->memory, at + 9);

    if (log2_index_bytes > 32)
        return false;
    keys->each = seep_memory_u8(heap->memory, at + 10) ? TEXT_KEYS : GENERAL;
    keys->n = (int64_t)seep_memory_word(heap->memory, at + 24);
    keys->room = keys->n + (int64_t)seep_memory_word(heap->memory, at + 16);
    keys->entries = at + NEW_HEAD + (UINT64_C(1) << log2_index_bytes);
    return true;
}

static bool read_keys(struct seep_heap *heap, uint64_t at, struct keys *keys)
{
    bool good = at % 8 == 0 && seep_memory_has(heap->memory, at, NEW_HEAD) &&
                (heap->python.layout->new_keys ? new_keys : old_keys)(heap, at, keys);

    return good && keys->n >= 0 && keys->n <= MAX_ENTRIES;
}

uint64_t seep_python_keys_bytes(struct seep_heap *heap, uint64_t at)
{
    struct keys keys;

    if (!at || !read_keys(heap, at, &keys) || keys.room < keys.n || keys.room > MAX_ENTRIES)
        return 0;
    return keys.entries - at + (uint64_t)keys.room * keys.each;
}

/* At least: they may have room for more. */
static uint64_t values_bytes(struct seep_heap *heap, uint64_t keys_at)
{
    struct keys keys;

    return keys_at && read_keys(heap, keys_at, &keys)
               ? heap->python.layout->values + (uint64_t)keys.n * 8
               : 0;
}

/* If `values` is not 0, the values are there and not beside the keys: instances share the table of
 * keys. */
static void each_entry(struct seep_heap *heap, uint64_t keys_at, uint64_t values,
                       seep_dict_taker *take, void *context)
{
    struct keys keys;

    if (!read_keys(heap, keys_at, &keys))
        return;
    for (int64_t i = 0; i < keys.n; i++) {
        const uint64_t at = keys.entries + (uint64_t)i * keys.each;
        uint64_t entry[2];
        if (!seep_memory_has(heap->memory, at, keys.each))
            return;
        (void)seep_memory_read_pair(heap->memory, keys.each == GENERAL ? at + 8 : at, entry);
        take(heap, entry[0],
             values ? seep_memory_word(heap->memory, values + (uint64_t)i * 8) : entry[1], context);
    }
}

static uint64_t values_of(const struct seep_heap *heap, uint64_t values)
{
    return values ? values + heap->python.layout->values : 0;
}

void seep_python_dict_each(struct seep_heap *heap, uint64_t dict, seep_dict_taker *take,
                           void *context)
{
    each_entry(heap, seep_memory_word(heap->memory, dict + SEEP_PY_DICT_KEYS),
               values_of(heap, seep_memory_word(heap->memory, dict + SEEP_PY_DICT_VALUES)), take,
               context);
}

unsigned seep_python_cost(struct seep_heap *heap, uint64_t object)
{
    const struct seep_pytype *type = seep_python_object(heap, object, 1 << 20);

    return type && type->kind == SEEP_PYTYPE_MODULE ? SEEP_COST_MODULE : SEEP_COST_NAMED;
}

/* What an object in the heap is, if a node knows it. */
static enum seep_node_type type_at(const struct seep_heap *heap, uint32_t n, uint64_t object)
{
    return n != SEEP_NODE_NONE && heap->nodes[n].kind == SEEP_NODE_PYTHON &&
                   object == seep_node_object(&heap->nodes[n])
               ? (enum seep_node_type)heap->nodes[n].type
               : SEEP_NODE_OF_ANY;
}

static unsigned cost_at(struct seep_heap *heap, uint32_t n, uint64_t object)
{
    const enum seep_node_type type = type_at(heap, n, object);

    if (type == SEEP_NODE_OF_ANY)
        return seep_python_cost(heap, object);
    return type == SEEP_NODE_MODULE ? SEEP_COST_MODULE : SEEP_COST_NAMED;
}

static bool is_text_at(struct seep_heap *heap, uint32_t n, uint64_t object)
{
    const enum seep_node_type type = type_at(heap, n, object);

    return type == SEEP_NODE_OF_ANY ? seep_python_is_text(heap, object) : type == SEEP_NODE_TEXT;
}

/* How the entries of a dict are told. */
struct telling {
    bool as_attributes;
    bool shows_keys; /* texts of its keys may be shown */
};

/* Names of attributes are interned; keys of a large set of data are not, and nobody needs them. */
static bool is_interned(struct seep_heap *heap, uint64_t text)
{
    return seep_memory_u32(heap->memory, text + SEEP_PY_TEXT_STATE) & SEEP_PY_TEXT_INTERNED;
}

static seep_label label_of(struct seep_heap *heap, const struct telling *telling, uint32_t key_node,
                           uint64_t key)
{
    const bool text = is_text_at(heap, key_node, key);

    if (text && telling->as_attributes)
        return seep_label_of(SEEP_LABEL_ATTRIBUTE, key);
    if (text && (telling->shows_keys || is_interned(heap, key)))
        return seep_label_of(SEEP_LABEL_ENTRY, key);
    return seep_label_of(SEEP_LABEL_KEY, telling->shows_keys ? key : 0);
}

static void take_entry(struct seep_heap *heap, uint64_t key, uint64_t value, void *context)
{
    const uint32_t key_node = seep_heap_find(heap, key);

    if (value) {
        const uint32_t node = seep_heap_find(heap, value);
        seep_edge_to(heap, node, value, label_of(heap, context, key_node, key),
                     cost_at(heap, node, value));
    }
    if (key)
        seep_edge_to(heap, key_node, key, seep_label_of(SEEP_LABEL_WORD, SEEP_WORD_KEY),
                     SEEP_COST_NAMED + 2);
}

void seep_python_walk_dict(struct seep_heap *heap, uint64_t dict, bool as_attributes)
{
    const uint64_t keys = seep_memory_word(heap->memory, dict + SEEP_PY_DICT_KEYS);
    struct telling telling = {.as_attributes = as_attributes,
                              .shows_keys = heap->shows_keys &&
                                            seep_memory_word(heap->memory, dict + SEEP_PY_SIZE) <=
                                                SEEP_DICT_FEW};

    seep_edge_raw(heap, keys, seep_python_keys_bytes(heap, keys));
    seep_edge_raw(heap, seep_memory_word(heap->memory, dict + SEEP_PY_DICT_VALUES),
                  values_bytes(heap, keys));
    seep_python_dict_each(heap, dict, take_entry, &telling);
}

static void walk_values(struct seep_heap *heap, const struct seep_pytype *type, uint64_t values)
{
    struct telling telling = {.as_attributes = true};

    if (type->flags & SEEP_PY_HEAP_TYPE)
        each_entry(heap,
                   seep_memory_word(heap->memory, type->address + heap->python.layout->type_keys),
                   values_of(heap, values), take_entry, &telling);
}

static void walk_managed(struct seep_heap *heap, const struct seep_node *node,
                         const struct seep_pytype *type)
{
    const seep_label hidden = seep_label_of(SEEP_LABEL_HIDDEN, 0);
    uint64_t object = seep_node_object(node);
    uint64_t dict = seep_memory_word(heap->memory, object - 24), values = 0;

    switch (heap->python.layout->dict_place) {
    case SEEP_DICT_VALUES_FIRST:
        values = seep_memory_word(heap->memory, object - 32);
        break;
    case SEEP_DICT_TAGGED: /* values are stored minus one */
        values = dict & 1 ? dict + 1 : 0;
        dict = dict & 1 ? 0 : dict;
        break;
    default:
        if (type->flags & SEEP_PY_INLINE_VALUES &&
            seep_memory_u8(heap->memory, object + (uint64_t)type->basic + 3))
            walk_values(heap, type, object + (uint64_t)type->basic);
        break;
    }
    if (dict) {
        seep_edge_exact(heap, dict, hidden, 0);
    } else if (values) {
        seep_edge_raw(
            heap, values - heap->python.layout->values,
            values_bytes(heap, seep_memory_word(heap->memory,
                                                type->address + heap->python.layout->type_keys)));
        walk_values(heap, type, values);
    }
}

void seep_python_walk_attributes(struct seep_heap *heap, uint32_t n, const struct seep_pytype *type)
{
    const struct seep_node *node = &heap->nodes[n];
    uint64_t object = seep_node_object(node);
    int64_t at = type->dict_offset;

    if (type->flags & SEEP_PY_MANAGED_DICT && heap->python.layout->minor >= 11) {
        if (node->bytes)
            walk_managed(heap, node, type);
        return;
    }
    if (at < 0) { /* counted from the end if objects differ in size */
        int64_t items = (int64_t)seep_memory_word(heap->memory, object + SEEP_PY_SIZE);
        if (items > MAX_ENTRIES || items < -MAX_ENTRIES)
            return;
        at += (type->basic + (items < 0 ? -items : items) * type->item + 7) & ~INT64_C(7);
    }
    if (at > 0 && (!node->bytes || object + (uint64_t)at + 8 <= seep_node_end(node)))
        seep_edge_exact(heap, seep_memory_word(heap->memory, object + (uint64_t)at),
                        seep_label_of(SEEP_LABEL_HIDDEN, 0), 0);
}
