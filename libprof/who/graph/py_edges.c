#include <string.h>

#include "libprof/who/graph/edges.h"
#include "libprof/who/graph/graph.h"
#include "libprof/who/graph/py_fields.h"
#include "libprof/who/graph/py_size.h"
#include "libprof/who/graph/py_text.h"
#include "libprof/who/graph/py_walk.h"

enum { MAX_LENGTH = 1 << 27, MAX_SCANNED = 1 << 20 };

static uint64_t word_at(struct seep_heap *heap, uint64_t address)
{
    return seep_memory_word(heap->memory, address);
}

static seep_label named(enum seep_label_word word)
{
    return seep_label_of(SEEP_LABEL_WORD, word);
}

/* What items refer to lies far apart: some of it is fetched at the same time. */
static void walk_items(struct seep_heap *heap, uint64_t items, int64_t n)
{
    enum { AT_ONCE = 16 };
    uint64_t words[AT_ONCE];
    uint32_t nodes[AT_ONCE];
    int64_t i = 0, most = AT_ONCE;

    for (int64_t first = 0; first < n && most == AT_ONCE; first += AT_ONCE) {
        for (i = 0; i < AT_ONCE && first + i < n; i++) {
            if (!seep_memory_read_word(heap->memory, items + (uint64_t)(first + i) * 8, &words[i]))
                break;
            (void)seep_heap_expect(heap, words[i]);
        }
        most = i;
        for (i = 0; i < most; i++)
            seep_heap_expect_node(heap, words[i]);
        for (i = 0; i < most; i++)
            nodes[i] = seep_heap_find(heap, words[i]);
        for (i = 0; i < most; i++)
            seep_edge_to(heap, nodes[i], words[i],
                         seep_label_of(SEEP_LABEL_INDEX, (uint64_t)(first + i)), SEEP_COST_NAMED);
    }
}

static void walk_list(struct seep_heap *heap, uint64_t object, const struct seep_pytype *type)
{
    uint64_t items = word_at(heap, object + SEEP_PY_LIST_ITEMS);
    int64_t n = (int64_t)word_at(heap, object + SEEP_PY_SIZE);

    if (!items || n < 0 || n > MAX_LENGTH)
        return;
    seep_edge_raw(heap, items, seep_python_memory_of(heap, object, type));
    walk_items(heap, items, n);
}

static void walk_tuple(struct seep_heap *heap, const struct seep_node *node, uint64_t object)
{
    int64_t n = (int64_t)word_at(heap, object + SEEP_PY_SIZE);
    uint64_t items = object + heap->python.layout->tuple_items;

    if (node->bytes && n > (int64_t)((seep_node_end(node) - items) / 8))
        n = (int64_t)((seep_node_end(node) - items) / 8);
    walk_items(heap, items, n > MAX_LENGTH ? 0 : n);
}

static void walk_set(struct seep_heap *heap, uint64_t object, const struct seep_pytype *type)
{
    uint64_t table = word_at(heap, object + SEEP_PY_SET_TABLE);
    int64_t mask = (int64_t)word_at(heap, object + SEEP_PY_SET_MASK);

    if (!table || mask < 0 || mask > MAX_LENGTH)
        return;
    if (table != object + SEEP_PY_SET_SMALL)
        seep_edge_raw(heap, table, seep_python_memory_of(heap, object, type));
    for (int64_t i = 0; i <= mask; i++)
        seep_edge_exact(heap, word_at(heap, table + (uint64_t)i * 16), named(SEEP_WORD_ELEMENT),
                        SEEP_COST_NAMED);
}

/* Blocks of 64 items between two links. */
static void walk_deque(struct seep_heap *heap, uint64_t object)
{
    enum { LEFT = 24, LEFT_INDEX = 40, ITEMS = 64, NEXT = 8 + ITEMS * 8 };
    int64_t n = (int64_t)word_at(heap, object + SEEP_PY_SIZE);
    uint64_t block = word_at(heap, object + LEFT), at = word_at(heap, object + LEFT_INDEX);

    if (n < 0 || n > MAX_LENGTH || at >= ITEMS)
        return;
    seep_edge_raw(heap, block, NEXT + 8);
    for (int64_t i = 0; i < n && seep_memory_has(heap->memory, block, NEXT + 8); i++) {
        seep_edge_exact(heap, word_at(heap, block + 8 + at * 8),
                        seep_label_of(SEEP_LABEL_INDEX, (uint64_t)i), SEEP_COST_NAMED);
        if (++at == ITEMS) {
            at = 0;
            block = word_at(heap, block + NEXT);
            seep_edge_raw(heap, block, NEXT + 8);
        }
    }
}

static void walk_type(struct seep_heap *heap, const struct seep_node *node, uint64_t object)
{
    uint32_t flags = seep_memory_u32(heap->memory, object + SEEP_PY_TYPE_FLAGS);

    seep_edge_exact(heap, word_at(heap, object + SEEP_PY_TYPE_DICT),
                    seep_label_of(SEEP_LABEL_HIDDEN, 0), 1);
    seep_edge_exact(heap, word_at(heap, object + SEEP_PY_TYPE_BASES), named(SEEP_WORD_BASES),
                    SEEP_COST_TYPE);
    seep_edge_exact(heap, word_at(heap, object + SEEP_PY_TYPE_MRO), named(SEEP_WORD_BASES),
                    SEEP_COST_TYPE);
    seep_edge_maybe(heap, word_at(heap, object + SEEP_PY_TYPE_SUBCLASSES),
                    seep_label_of(SEEP_LABEL_OFFSET, SEEP_PY_TYPE_SUBCLASSES), SEEP_COST_TYPE,
                    SEEP_COST_TYPE);
    if (!(flags & SEEP_PY_HEAP_TYPE) || !node->bytes)
        return;
    const uint64_t keys = word_at(heap, object + heap->python.layout->type_keys);
    seep_edge_raw(heap, keys, seep_python_keys_bytes(heap, keys));
    seep_heap_scan(heap, object + SEEP_PY_TYPE_BYTES, seep_node_end(node), object, SEEP_COST_TYPE,
                   SEEP_COST_TYPE);
}

static bool is_member(const struct seep_pytype *type, int64_t at, seep_label *label)
{
    for (size_t i = 0; i < type->n_members; i++)
        if (type->members[i].offset == at) {
            *label = type->members[i].label;
            return true;
        }
    return false;
}

/* CDataObject: it owns the memory at b_ptr if b_needsfree says so; it owns no other word. */
static bool is_borrowed(struct seep_heap *heap, uint64_t object, int64_t offset, uint64_t word)
{
    enum { B_PTR = 16, B_NEEDSFREE = 24 };
    uint32_t n = seep_heap_find(heap, word);

    return n != SEEP_NODE_NONE && heap->nodes[n].kind != SEEP_NODE_PYTHON &&
           !(offset == B_PTR && seep_memory_u32(heap->memory, object + B_NEEDSFREE));
}

/* Types whose blocks are bytes: files, arrays of numbers, maps. */
static bool holds_bytes(const struct seep_pytype *type)
{
    return strncmp(type->name, "_io.", 4) == 0 || strcmp(type->name, "bytearray") == 0 ||
           strcmp(type->name, "array.array") == 0;
}

static void walk_field(struct seep_heap *heap, uint64_t object, const struct seep_pytype *type,
                       int64_t offset, uint64_t word)
{
    if (type->borrows && is_borrowed(heap, object, offset, word))
        heap->marks |= SEEP_EDGE_BORROWED;
    seep_edge_maybe(heap, word, seep_label_of(SEEP_LABEL_OFFSET, (uint64_t)offset), 1,
                    SEEP_COST_UNNAMED);
    heap->marks &= (uint8_t)~SEEP_EDGE_BORROWED;
}

/* Walks the words of an object in these bytes of it: its type's members by their names, others if
 * they look like addresses. */
static void python_walk_words(struct seep_heap *heap, uint64_t object,
                              const struct seep_pytype *type, uint64_t from, uint64_t to)
{
    bool bytes = holds_bytes(type);
    seep_label label;

    for (uint64_t at = from; at + 8 <= to; at += 8) {
        int64_t offset = (int64_t)at;
        uint64_t word = word_at(heap, object + at);
        if (!word || (type->weak_offset && offset == type->weak_offset) ||
            (type->dict_offset > 0 && offset == type->dict_offset))
            continue;
        if (bytes)
            seep_edge_spare(heap, word, seep_python_bytes_at(heap, object, type, offset));
        if (is_member(type, offset, &label))
            seep_edge_exact(heap, word, label, SEEP_COST_NAMED);
        else
            walk_field(heap, object, type, offset, word);
    }
}

/* The fields of an object from an offset on, up to its end. */
static void walk_fields(struct seep_heap *heap, const struct seep_node *node, uint64_t object,
                        const struct seep_pytype *type, uint64_t from)
{
    uint64_t to = (uint64_t)type->basic;

    if (node->bytes && (type->item || object + to > seep_node_end(node)))
        to = seep_node_end(node) - object;
    python_walk_words(heap, object, type, from, to < MAX_SCANNED ? to : MAX_SCANNED);
}

static void walk_members(struct seep_heap *heap, uint64_t object, const struct seep_pytype *type)
{
    for (size_t i = 0; i < type->n_members; i++)
        seep_edge_exact(heap, word_at(heap, object + (uint64_t)type->members[i].offset),
                        type->members[i].label, SEEP_COST_NAMED);
}

/* A link of a cache's list: only its own key and result, since the cache's dict holds all links. */
static void walk_link(struct seep_heap *heap, uint64_t object)
{
    enum { KEY = 40, RESULT = 48 };

    seep_edge_exact(heap, word_at(heap, object + KEY), named(SEEP_WORD_KEY), SEEP_COST_NAMED + 2);
    seep_edge_exact(heap, word_at(heap, object + RESULT), seep_label_of(SEEP_LABEL_HIDDEN, 0), 0);
}

/* The attributes for one thread are the values of a dict that has an entry per thread. */
static void take_thread(struct seep_heap *heap, uint64_t key, uint64_t value, void *context)
{
    (void)key;
    (void)context;
    seep_edge_exact(heap, value, seep_label_of(SEEP_LABEL_HIDDEN, 0), 0);
}

static void walk_local(struct seep_heap *heap, uint64_t object)
{
    /* a key (up to 3.12), arguments, keywords, weak references, dicts */
    const uint64_t first = heap->python.layout->minor < 13 ? 24 : 16, place = first + 24;
    uint64_t dicts = word_at(heap, object + place);
    const struct seep_pytype *type = seep_python_object(heap, dicts, 1 << 20);

    for (uint64_t at = first; at <= first + 8; at += 8)
        seep_edge_exact(heap, word_at(heap, object + at), seep_label_of(SEEP_LABEL_OFFSET, at),
                        SEEP_COST_UNNAMED);
    if (type && type->kind == SEEP_PYTYPE_DICT)
        seep_python_dict_each(heap, dicts, take_thread, NULL);
    seep_edge_exact(heap, dicts, seep_label_of(SEEP_LABEL_OFFSET, place), SEEP_COST_UNNAMED);
}

static void walk_class(struct seep_heap *heap, const struct seep_pytype *type)
{
    if (type->flags & SEEP_PY_HEAP_TYPE)
        seep_edge_exact(heap, type->address, named(SEEP_WORD_CLASS), SEEP_COST_TYPE);
}

/* Follows the type's own fields: a subclass's slots and attributes, its class. */
static void walk_rest(struct seep_heap *heap, uint32_t n, uint64_t object,
                      const struct seep_pytype *type)
{
    seep_python_walk_attributes(heap, n, type);
    switch (type->kind) {
    case SEEP_PYTYPE_OTHER:
        walk_fields(heap, &heap->nodes[n], object, type, 16);
        break;
    case SEEP_PYTYPE_ARRAY:
        walk_fields(heap, &heap->nodes[n], object, type, SEEP_PY_ARRAY_BASE);
        break;
    case SEEP_PYTYPE_LRU: /* skips the ends of its list before that: its cache holds the links */
        walk_fields(heap, &heap->nodes[n], object, type, SEEP_PY_LRU_WRAPPER);
        break;
    case SEEP_PYTYPE_WEAK: /* a subclass has more: a key, a name */
        walk_fields(heap, &heap->nodes[n], object, type, SEEP_PY_WEAK_BYTES);
        break;
    case SEEP_PYTYPE_DICT: /* OrderedDict, defaultdict */
        seep_heap_scan(heap, object + 48, object + (uint64_t)type->basic, object, 3,
                       SEEP_COST_UNNAMED);
        break;
    default:
        walk_members(heap, object, type);
        break;
    }
    walk_class(heap, type);
}

static void walk_text(struct seep_heap *heap, const struct seep_node *node, uint64_t object,
                      const struct seep_pytype *type)
{
    if (node->bytes &&
        !(seep_memory_u32(heap->memory, object + SEEP_PY_TEXT_STATE) & SEEP_PY_TEXT_COMPACT))
        seep_edge_raw(heap, word_at(heap, object + heap->python.layout->text_compact),
                      seep_python_memory_of(heap, object, type));
}

/* Its dict is where that of an instance would be. */
static void walk_module(struct seep_heap *heap, uint64_t object, const struct seep_pytype *type)
{
    if (!type->dict_offset)
        seep_edge_exact(heap, word_at(heap, object + SEEP_PY_MODULE_DICT),
                        seep_label_of(SEEP_LABEL_HIDDEN, 0), 0);
    seep_edge_maybe(heap, word_at(heap, object + heap->python.layout->module_state),
                    named(SEEP_WORD_STATE), 1, SEEP_COST_NEVER);
}

/* The same for objects that the standard library implements in C. */
static bool walk_of_library(struct seep_heap *heap, uint64_t object, const struct seep_pytype *type)
{
    if (type->kind == SEEP_PYTYPE_LINK)
        walk_link(heap, object);
    else if (type->kind == SEEP_PYTYPE_LOCAL)
        walk_local(heap, object);
    else if (type->kind == SEEP_PYTYPE_LRU)
        seep_edge_exact(heap, word_at(heap, object + SEEP_PY_LRU_CACHE), named(SEEP_WORD_CACHE), 0);
    else if (type->kind == SEEP_PYTYPE_WEAK)
        seep_edge_exact(heap, word_at(heap, object + SEEP_PY_WEAK_CALLBACK),
                        named(SEEP_WORD_CALLBACK), SEEP_COST_NAMED);
    return type->kind != SEEP_PYTYPE_LINK;
}

/* A handle: an int returned by a function of ctypes or cffi may be the only reference. Addresses
 * have one or two digits of 30 bits. One digit gives an address in a low heap, where any number may
 * look like one, so it is believed only if it is a block's start. */
static void walk_int(struct seep_heap *heap, uint64_t object)
{
    uint64_t value;

    if (seep_python_int(heap, object, &value))
        seep_edge_inner(heap, value, seep_label_of(SEEP_LABEL_HIDDEN, 0));
}

enum { FIRST_FIELD = 16 };

/* Walks a function; a generator, coroutine or async generator; a frame that is an object. */
static void python_walk_function(struct seep_heap *heap, uint64_t object,
                                 const struct seep_pytype *type)
{
    const struct seep_python_layout *l = heap->python.layout;
    const struct {
        uint32_t at;
        unsigned cost;
        seep_label label;
    } named[] = {
        {l->function_closure, 1, seep_label_of(SEEP_LABEL_WORD, SEEP_WORD_CLOSURE)},
        {l->function_defaults, 1, seep_label_of(SEEP_LABEL_WORD, SEEP_WORD_DEFAULTS)},
        {l->function_kwdefaults, 1, seep_label_of(SEEP_LABEL_WORD, SEEP_WORD_KWDEFAULTS)},
        {l->function_dict, 1, seep_label_of(SEEP_LABEL_HIDDEN, 0)},
        {l->function_code, 20, seep_label_of(SEEP_LABEL_WORD, SEEP_WORD_CODE)},
        {l->function_globals, SEEP_COST_GLOBALS, seep_label_of(SEEP_LABEL_WORD, SEEP_WORD_GLOBALS)},
        {l->function_builtins, SEEP_COST_GLOBALS,
         seep_label_of(SEEP_LABEL_WORD, SEEP_WORD_BUILTINS)},
    };
    const size_t n = sizeof named / sizeof *named;

    for (uint32_t at = FIRST_FIELD; at + 8 <= type->basic; at += 8) {
        size_t i = 0;
        while (i < n && named[i].at != at)
            i++;
        if (i < n)
            seep_edge_exact(heap, word_at(heap, object + at), named[i].label, named[i].cost);
        else
            python_walk_words(heap, object, type, at, at + 8);
    }
}

static void python_walk_generator(struct seep_heap *heap, uint64_t object,
                                  const struct seep_pytype *type)
{
    const struct seep_python_layout *l = heap->python.layout;

    if (!l->generator_state) { /* its frame is an object, and its first field */
        seep_edge_exact(heap, word_at(heap, object + l->generator_frame),
                        seep_label_of(SEEP_LABEL_HIDDEN, 0), 1);
        python_walk_words(heap, object, type, l->generator_frame + 8, (uint64_t)type->basic);
        return;
    }
    python_walk_words(heap, object, type, FIRST_FIELD, l->generator_frame);
    const int state = (int8_t)seep_memory_u8(heap->memory, object + l->generator_state);
    const int runs = (int)l->generator_runs;
    if (state <= runs)
        seep_python_walk_frame(heap, object + l->generator_frame, SEEP_COST_NAMED, state == runs);
}

/* From 3.11 on the frame lies behind these fields, or elsewhere while its call lasts. A frame that
 * outlives its call also keeps its callers' frames, if those outlive their calls. */
static void python_walk_frame_object(struct seep_heap *heap, uint64_t object)
{
    const struct seep_python_layout *l = heap->python.layout;
    size_t index;
    int64_t offset;

    for (size_t i = 0; seep_pyfield_of("frame", l->minor, i, &offset, &index); i++)
        seep_edge_exact(heap, word_at(heap, object + (uint64_t)offset),
                        seep_label_of(SEEP_LABEL_KNOWN, index), SEEP_COST_NAMED);
    if (!l->frame_object_frame) {
        seep_python_walk_frame(heap, object, SEEP_COST_NAMED, false);
        return;
    }
    uint64_t frame = word_at(heap, object + l->frame_object_frame);
    if (frame && seep_memory_u8(heap->memory, frame + l->frame_owner) == SEEP_PY_OWNER_OBJECT)
        seep_python_walk_frame(heap, frame, SEEP_COST_NAMED, false);
}

static int64_t size_at(struct seep_heap *heap, uint64_t address)
{
    int64_t n = (int64_t)seep_memory_word(heap->memory, address);

    return n < 0 || n >> 40 ? -1 : n;
}

/* How many consecutive elements an array has; 0: they are not consecutive. */
static int64_t elements_of(struct seep_heap *heap, uint64_t array)
{
    enum { N_AXES = 24, AXES = 32, FLAGS = 64, IN_ORDER = 3, MAX_AXES = 64, MOST = 1 << 27 };
    uint32_t n = seep_memory_u32(heap->memory, array + N_AXES);
    uint64_t axes = seep_memory_word(heap->memory, array + AXES);
    int64_t all = 1;

    if (n > MAX_AXES || !(seep_memory_u32(heap->memory, array + FLAGS) & IN_ORDER))
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        int64_t length = size_at(heap, axes + (uint64_t)i * 8);
        if (length <= 0 || length > MOST || (all *= length) > MOST)
            return 0;
    }
    return all;
}

/* How many consecutive objects a numpy array has as its elements; −1: its elements are not
 * objects. */
static int64_t python_array_objects(struct seep_heap *heap, uint64_t array)
{
    enum { DESCRIPTOR = 56, KIND = 24 };
    uint64_t descriptor = seep_memory_word(heap->memory, array + DESCRIPTOR);

    return seep_memory_u8(heap->memory, descriptor + KIND) == 'O' ? elements_of(heap, array) : -1;
}

/* An array's elements are not addresses, unless they are objects. */
static void walk_array(struct seep_heap *heap, uint64_t object, const struct seep_pytype *type)
{
    enum { DATA = 16, N_AXES = 24, AXES = 32, EACH_AXIS = 16 /* its length, its stride */ };
    uint64_t data = word_at(heap, object + DATA), axes = word_at(heap, object + AXES);
    int64_t n = python_array_objects(heap, object);
    const uint64_t bytes = seep_python_memory_of(heap, object, type);

    if (axes)
        seep_edge_raw(heap, axes,
                      (uint64_t)seep_memory_u32(heap->memory, object + N_AXES) * EACH_AXIS);
    if (n >= 0) {
        seep_edge_raw(heap, data, bytes);
        walk_items(heap, data, n);
        return;
    }
    seep_edge_spare(heap, data, bytes);
    seep_edge_maybe(heap, data, named(SEEP_WORD_DATA), 1, SEEP_COST_NEVER);
}

/* The references of well-known kinds of objects. False: there are no others. */
static bool walk_own(struct seep_heap *heap, uint32_t n, uint64_t object,
                     const struct seep_pytype *type)
{
    const seep_label hidden = seep_label_of(SEEP_LABEL_HIDDEN, 0);
    const struct seep_node *node = &heap->nodes[n];

    switch (type->kind) {
    case SEEP_PYTYPE_LEAF:
        if (type->flags & SEEP_PY_IS_INT)
            walk_int(heap, object);
        return type->flags & SEEP_PY_HEAP_TYPE;
    case SEEP_PYTYPE_BYTES:
        return type->flags & SEEP_PY_HEAP_TYPE;
    case SEEP_PYTYPE_TEXT:
        walk_text(heap, node, object, type);
        return type->flags & SEEP_PY_HEAP_TYPE;
    case SEEP_PYTYPE_LIST:
        walk_list(heap, object, type);
        return true;
    case SEEP_PYTYPE_TUPLE:
        walk_tuple(heap, node, object);
        return true;
    case SEEP_PYTYPE_SET:
        walk_set(heap, object, type);
        return true;
    case SEEP_PYTYPE_DEQUE:
        walk_deque(heap, object);
        return true;
    case SEEP_PYTYPE_ARRAY:
        walk_array(heap, object, type);
        return true;
    case SEEP_PYTYPE_TYPE:
        walk_type(heap, node, object);
        walk_class(heap, type);
        return false;
    case SEEP_PYTYPE_FUNCTION:
        python_walk_function(heap, object, type);
        return false;
    case SEEP_PYTYPE_CELL:
    case SEEP_PYTYPE_PROXY:
        seep_edge_exact(heap, word_at(heap, object + SEEP_PY_CELL_CONTENT), hidden, 0);
        return false;
    case SEEP_PYTYPE_MODULE:
        walk_module(heap, object, type);
        return true;
    case SEEP_PYTYPE_CODE:
        seep_heap_scan(heap, object + 16, object + (uint64_t)type->basic, object, 10, 10);
        return false;
    case SEEP_PYTYPE_GENERATOR:
        python_walk_generator(heap, object, type);
        return false;
    case SEEP_PYTYPE_FRAME:
        python_walk_frame_object(heap, object);
        return false;
    default:
        return walk_of_library(heap, object, type);
    }
}

void seep_python_walk(struct seep_heap *heap, uint32_t n)
{
    uint64_t object = seep_node_object(&heap->nodes[n]);
    const struct seep_pytype *type = seep_python_type(heap, word_at(heap, object + SEEP_PY_TYPE));

    if (!type)
        return;
    if (type->kind == SEEP_PYTYPE_DICT) {
        seep_python_walk_dict(heap, object, heap->nodes[n].is_attributes);
        walk_rest(heap, n, object, type);
    } else if (walk_own(heap, n, object, type)) {
        walk_rest(heap, n, object, type);
    }
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
        return python_array_objects(heap, object);
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

/* ---- frames ---------------------------------------------------------------------------------- */

enum { MAX_VARIABLES = 10000, MAX_STACK = 100000, TAGS = 3, A_NUMBER = 3, NOT_COUNTED = 1 };

static int64_t length_of(struct seep_heap *heap, uint64_t tuple)
{
    int64_t n = tuple ? (int64_t)word_at(heap, tuple + SEEP_PY_SIZE) : 0;

    return n < 0 || n > MAX_VARIABLES ? 0 : n;
}

/* Where a frame's variables end, and their names: in one tuple, or up to 3.10 in three consecutive
 * ones. */
struct variables {
    uint64_t names[3];
    int64_t n[3], all;
};

static struct variables variables_of(struct seep_heap *heap, uint64_t code)
{
    const struct seep_python_layout *l = heap->python.layout;
    struct variables v = {.names = {word_at(heap, code + l->code_names)}};

    v.n[0] = (int32_t)seep_memory_u32(heap->memory, code + l->code_n_locals);
    if (v.n[0] < 0 || v.n[0] > MAX_VARIABLES)
        v.n[0] = 0;
    if (l->code_cells) {
        v.names[1] = word_at(heap, code + l->code_cells);
        v.names[2] = word_at(heap, code + l->code_frees);
        v.n[1] = length_of(heap, v.names[1]);
        v.n[2] = length_of(heap, v.names[2]);
    }
    v.all = v.n[0] + v.n[1] + v.n[2];
    return v;
}

static uint64_t name_of(struct seep_heap *heap, const struct variables *v, int64_t i)
{
    int which = 0;

    for (; which < 2 && i >= v->n[which]; which++)
        i -= v->n[which];
    return i < length_of(heap, v->names[which])
               ? word_at(heap, v->names[which] + heap->python.layout->tuple_items + (uint64_t)i * 8)
               : 0;
}

/* How many values are on the frame's stack, after its variables. */
static int64_t stack_of(struct seep_heap *heap, uint64_t frame, int64_t n_variables)
{
    const struct seep_python_layout *l = heap->python.layout;

    if (!l->frame_top || l->minor < 10 || l->minor >= 14) {
        uint64_t top = l->frame_top ? word_at(heap, frame + l->frame_top) : 0;
        uint64_t first = frame + l->frame_locals + (uint64_t)n_variables * 8;
        return top > first ? (int64_t)((top - first) / 8) : 0;
    }
    int64_t top = (int32_t)seep_memory_u32(heap->memory, frame + l->frame_top);
    return top > n_variables ? top - n_variables : 0;
}

/* The object in a frame's slot; 0: no counted reference. */
static uint64_t value_at(struct seep_heap *heap, uint64_t place)
{
    uint64_t value = word_at(heap, place);

    if (!heap->python.layout->tagged)
        return value;
    return (value & TAGS) == A_NUMBER ? 0 : value & ~(uint64_t)NOT_COUNTED;
}

static void walk_variable(struct seep_heap *heap, uint64_t value, uint64_t name, unsigned cost)
{
    seep_edge_exact(heap, value, seep_label_of(SEEP_LABEL_LOCAL, name),
                    cost + seep_python_cost(heap, value) - SEEP_COST_NAMED);
}

uint64_t seep_python_frame_code(struct seep_heap *heap, uint64_t frame)
{
    return word_at(heap, frame + heap->python.layout->frame_code) & ~(uint64_t)TAGS;
}

/* Whose call it is: the function may have no other owner. Up to 3.10 the frame owns its function's
 * globals itself, with the builtins before them. */
static void walk_callee(struct seep_heap *heap, uint64_t frame, uint64_t code, unsigned cost)
{
    enum { COST_CODE = 20 };
    const struct seep_python_layout *l = heap->python.layout;

    seep_edge_exact(heap, code, seep_label_of(SEEP_LABEL_WORD, SEEP_WORD_CODE), cost + COST_CODE);
    if (l->minor >= 11) {
        seep_edge_exact(heap, word_at(heap, frame + l->frame_function) & ~(uint64_t)TAGS,
                        seep_label_of(SEEP_LABEL_WORD, SEEP_WORD_FUNCTION), cost + SEEP_COST_TYPE);
        return;
    }
    seep_edge_exact(heap, word_at(heap, frame + l->frame_globals),
                    seep_label_of(SEEP_LABEL_WORD, SEEP_WORD_GLOBALS), cost + SEEP_COST_GLOBALS);
    seep_edge_exact(heap, word_at(heap, frame + l->frame_globals - 8),
                    seep_label_of(SEEP_LABEL_WORD, SEEP_WORD_BUILTINS), cost + SEEP_COST_GLOBALS);
}

void seep_python_walk_frame(struct seep_heap *heap, uint64_t frame, unsigned cost, bool running)
{
    const struct seep_python_layout *l = heap->python.layout;
    uint64_t code = seep_python_frame_code(heap, frame);
    const struct seep_pytype *type = seep_python_object(heap, code, 1 << 20);

    if (!type || type->kind != SEEP_PYTYPE_CODE)
        return;
    struct variables v = variables_of(heap, code);
    int64_t deepest = (int32_t)seep_memory_u32(heap->memory, code + l->code_stack);
    int64_t n_stack = running ? deepest : stack_of(heap, frame, v.all);
    if (n_stack < 0 || deepest < 0 || n_stack > deepest || n_stack > MAX_STACK)
        n_stack = 0;
    for (int64_t i = 0; i < v.all + n_stack; i++) {
        uint64_t value = value_at(heap, frame + l->frame_locals + (uint64_t)i * 8);
        if (i < v.all)
            walk_variable(heap, value, name_of(heap, &v, i), cost);
        else if (running) /* values beyond its top are stale */
            seep_edge_maybe(heap, value, seep_label_of(SEEP_LABEL_TEMPORARY, 0), SEEP_COST_NEVER,
                            cost + SEEP_COST_STALE);
        else
            seep_edge_exact(heap, value, seep_label_of(SEEP_LABEL_TEMPORARY, 0), cost + 4);
    }
    walk_callee(heap, frame, code, cost);
    uint64_t dict = word_at(heap, frame + l->frame_dict);
    if (dict !=
        word_at(heap,
                frame +
                    l->frame_globals)) /* else it is a module's frame, and the module holds it */
        seep_edge_exact(heap, dict, seep_label_of(SEEP_LABEL_HIDDEN, 0), cost + 1);
}
