#include "libprof/who/graph/py_types.h"

#include "libprof/base/hash_index.h"
#include "libprof/who/graph/graph.h"
#include "libprof/who/graph/py_fields.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_TYPES = 1 << 14,
    REFUSED = 1 << 14,
    RECENT = 1 << 12,
    MAX_BASES = 200,
    MAX_BASIC = 1 << 20
};

struct seep_python_types {
    struct seep_pytype *types[MAX_TYPES];
    uint32_t n;
    struct seep_hash_index by_address;
    const struct seep_pytype *recent[RECENT]; /* types met last, by address */
    uint64_t refused[REFUSED];                /* addresses met last that are not types */
};

static enum seep_pytype_kind kind_of_name(const char *name)
{
    static const struct {
        const char *name;
        enum seep_pytype_kind kind;
    } names[] = {
        {"module", SEEP_PYTYPE_MODULE},
        {"function", SEEP_PYTYPE_FUNCTION},
        {"set", SEEP_PYTYPE_SET},
        {"frozenset", SEEP_PYTYPE_SET},
        {"generator", SEEP_PYTYPE_GENERATOR},
        {"coroutine", SEEP_PYTYPE_GENERATOR},
        {"async_generator", SEEP_PYTYPE_GENERATOR},
        {"frame", SEEP_PYTYPE_FRAME},
        {"weakref", SEEP_PYTYPE_WEAK},
        {"weakref.ReferenceType", SEEP_PYTYPE_WEAK},
        {"weakproxy", SEEP_PYTYPE_WEAK},
        {"weakref.ProxyType", SEEP_PYTYPE_WEAK},
        {"cell", SEEP_PYTYPE_CELL},
        {"code", SEEP_PYTYPE_CODE},
        {"numpy.ndarray", SEEP_PYTYPE_ARRAY},
        {"collections.deque", SEEP_PYTYPE_DEQUE},
        {"mappingproxy", SEEP_PYTYPE_PROXY},
        {"functools._lru_cache_wrapper", SEEP_PYTYPE_LRU},
        {"functools._lru_list_elem", SEEP_PYTYPE_LINK},
        {"_thread._local", SEEP_PYTYPE_LOCAL},
        {"ContextVar", SEEP_PYTYPE_VARIABLE},
        {"_contextvars.ContextVar", SEEP_PYTYPE_VARIABLE},
        {"int", SEEP_PYTYPE_LEAF},
        {"bool", SEEP_PYTYPE_LEAF},
        {"float", SEEP_PYTYPE_LEAF},
        {"complex", SEEP_PYTYPE_LEAF},
        {"NoneType", SEEP_PYTYPE_LEAF},
        {"ellipsis", SEEP_PYTYPE_LEAF},
        {"NotImplementedType", SEEP_PYTYPE_LEAF},
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i].name) == 0)
            return names[i].kind;
    return SEEP_PYTYPE_OTHER;
}

/* By its flags, else by the name of its nearest known base. */
static enum seep_pytype_kind kind_of(struct seep_heap *heap, const struct seep_pytype *type)
{
    static const struct {
        uint32_t flag;
        enum seep_pytype_kind kind;
    } flags[] = {
        {SEEP_PY_IS_TYPE, SEEP_PYTYPE_TYPE},   {SEEP_PY_IS_DICT, SEEP_PYTYPE_DICT},
        {SEEP_PY_IS_TEXT, SEEP_PYTYPE_TEXT},   {SEEP_PY_IS_BYTES, SEEP_PYTYPE_BYTES},
        {SEEP_PY_IS_TUPLE, SEEP_PYTYPE_TUPLE}, {SEEP_PY_IS_LIST, SEEP_PYTYPE_LIST},
    };
    uint64_t base = type->address;

    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (type->flags & flags[i].flag)
            return flags[i].kind;
    for (int depth = 0; base && depth < MAX_BASES; depth++) {
        char name[SEEP_PYTYPE_NAME];
        uint64_t text = seep_memory_word(heap->memory, base + SEEP_PY_TYPE_NAME);
        (void)seep_memory_text(heap->memory, text, name, sizeof name);
        enum seep_pytype_kind kind = kind_of_name(name);
        if (kind != SEEP_PYTYPE_OTHER)
            return kind;
        base = seep_memory_word(heap->memory, base + SEEP_PY_TYPE_BASE);
    }
    return SEEP_PYTYPE_OTHER;
}

/* A pointer of ctypes is recognized by its metaclass. */
static bool is_of_ctypes(struct seep_heap *heap, uint64_t address)
{
    uint64_t meta = seep_memory_word(heap->memory, address + SEEP_PY_TYPE);
    char name[SEEP_PYTYPE_NAME];

    (void)seep_memory_text(heap->memory, seep_memory_word(heap->memory, meta + SEEP_PY_TYPE_NAME),
                           name, sizeof name);
    return strncmp(name, "_ctypes.", 8) == 0;
}

static void add_member(struct seep_pytype *type, int64_t offset, seep_label label)
{
    for (size_t i = 0; i < type->n_members; i++)
        if (type->members[i].offset == offset)
            return;
    if (type->n_members < SEEP_PYTYPE_MEMBERS)
        type->members[type->n_members++] = (struct seep_pymember){offset, label};
}

static void add_known_fields(struct seep_heap *heap, struct seep_pytype *type, uint64_t base)
{
    uint64_t text = seep_memory_word(heap->memory, base + SEEP_PY_TYPE_NAME);
    char name[SEEP_PYTYPE_NAME];
    int64_t offset;
    size_t index;

    (void)seep_memory_text(heap->memory, text, name, sizeof name);
    for (size_t i = 0; seep_pyfield_of(name, heap->python.layout->minor, i, &offset, &index); i++)
        add_member(
            type, offset,
            seep_label_of(*seep_pyfield_name(index) ? SEEP_LABEL_KNOWN : SEEP_LABEL_HIDDEN, index));
}

/* PyMemberDef: name, type (6 and 16 are objects), offset, flags, doc. */
static void read_members(struct seep_heap *heap, struct seep_pytype *type)
{
    enum { EACH = 40, T_OBJECT = 6, T_OBJECT_EX = 16, MOST = 500 };
    uint64_t base = type->address;

    for (int depth = 0; base && depth < MAX_BASES; depth++) {
        uint64_t at = seep_memory_word(heap->memory, base + SEEP_PY_TYPE_MEMBERS), name;
        for (int i = 0; at && i < MOST && (name = seep_memory_word(heap->memory, at)); i++) {
            uint32_t what = seep_memory_u32(heap->memory, at + 8);
            int64_t offset = (int64_t)seep_memory_word(heap->memory, at + 16);
            if ((what == T_OBJECT || what == T_OBJECT_EX) && seep_memory_has(heap->memory, name, 1))
                add_member(type, offset, seep_label_of(SEEP_LABEL_MEMBER, name));
            at += EACH;
        }
        add_known_fields(heap, type, base);
        base = seep_memory_word(heap->memory, base + SEEP_PY_TYPE_BASE);
    }
}

/* Up to 3.9 types of functools (an element of lru_cache's list, the key of cmp_to_key()) are used
 * without having been made ready. */
static bool is_ready(struct seep_heap *heap, uint64_t address)
{
    char name[SEEP_PYTYPE_NAME];

    if (seep_memory_u32(heap->memory, address + SEEP_PY_TYPE_FLAGS) & SEEP_PY_READY)
        return true;
    if (heap->python.layout->minor > 9)
        return false;
    (void)seep_memory_text(heap->memory,
                           seep_memory_word(heap->memory, address + SEEP_PY_TYPE_NAME), name,
                           sizeof name);
    return strncmp(name, "functools.", 10) == 0;
}

/* Most words that are tried for a type need not even be read: where all blocks are known, a type is
 * the object of one, or lies in the data of a program or library. */
static bool may_be_type(const struct seep_heap *heap, uint64_t address)
{
    enum { LONGEST_HEAD = 32 };
    const uint32_t n = seep_heap_find(heap, address);

    if (heap->meet || !heap->regions) /* not all blocks are known, or not yet */
        return true;
    if (n != SEEP_NODE_NONE)
        return address - heap->nodes[n].start <= LONGEST_HEAD &&
               address + SEEP_PY_TYPE_BYTES <= seep_node_end(&heap->nodes[n]);
    const struct seep_map *map = seep_maps_at(heap->maps, address);
    return map && map->writable && (map->kind == SEEP_MAP_FILE || map->kind == SEEP_MAP_BSS);
}

/* The type of types or one derived from it: whose type, in the end, is its own. */
static bool is_type_of_types(const struct seep_heap *heap, uint64_t address)
{
    enum { MOST = 16 };

    for (int i = 0; i < MOST && address && address % 8 == 0; i++) {
        const uint64_t type = seep_memory_word(heap->memory, address + SEEP_PY_TYPE);
        if (!(seep_memory_u32(heap->memory, address + SEEP_PY_TYPE_FLAGS) & SEEP_PY_IS_TYPE))
            return false;
        if (type == address)
            return true;
        address = type;
    }
    return false;
}

static bool looks_like_type(struct seep_heap *heap, uint64_t address)
{
    struct seep_memory *memory = heap->memory;

    if (!may_be_type(heap, address))
        return false;
    uint64_t meta = seep_memory_word(memory, address + SEEP_PY_TYPE);
    int64_t basic = (int64_t)seep_memory_word(memory, address + SEEP_PY_TYPE_BASIC);

    return is_type_of_types(heap, meta) && basic >= 16 && basic <= MAX_BASIC &&
           seep_memory_has(memory, address, SEEP_PY_TYPE_BYTES) && is_ready(heap, address) &&
           seep_memory_has(memory, seep_memory_word(memory, address + SEEP_PY_TYPE_NAME), 1);
}

static struct seep_pytype *read_type(struct seep_heap *heap, uint64_t address)
{
    struct seep_memory *memory = heap->memory;
    const size_t most =
        sizeof(struct seep_pytype) + SEEP_PYTYPE_MEMBERS * sizeof(struct seep_pymember);
    struct seep_pytype *type = calloc(1, most);

    if (!type)
        return NULL;
    type->address = address;
    type->flags = seep_memory_u32(memory, address + SEEP_PY_TYPE_FLAGS);
    type->basic = (int64_t)seep_memory_word(memory, address + SEEP_PY_TYPE_BASIC);
    type->item = (int64_t)seep_memory_word(memory, address + SEEP_PY_TYPE_ITEM);
    type->dict_offset = (int64_t)seep_memory_word(memory, address + SEEP_PY_TYPE_DICTOFFSET);
    type->weak_offset = (int64_t)seep_memory_word(memory, address + SEEP_PY_TYPE_WEAKS);
    (void)seep_memory_text(memory, seep_memory_word(memory, address + SEEP_PY_TYPE_NAME),
                           type->name, sizeof type->name);
    type->kind = kind_of(heap, type);
    type->borrows = is_of_ctypes(heap, address);
    read_members(heap, type);
    struct seep_pytype *shorter =
        realloc(type, sizeof *type + type->n_members * sizeof *type->members);
    return shorter ? shorter : type;
}

const struct seep_pytype *seep_python_type(struct seep_heap *heap, uint64_t address)
{
    struct seep_python_types *types = heap->python.types;

    if (address % 8 || address < SEEP_MEMORY_PAGE || !heap->python.layout)
        return NULL;
    if (!types && !(types = heap->python.types = calloc(1, sizeof *types)))
        return NULL;
    const struct seep_pytype **recent = &types->recent[(address >> 4) % RECENT];
    uint64_t *refused = &types->refused[(address >> 4) % REFUSED];
    if (*recent && (*recent)->address == address)
        return *recent;
    if (*refused == address)
        return NULL;
    const uint64_t hash = seep_hash_two(address, 0);
    uint32_t at = seep_hash_begin(&types->by_address, hash), id;
    while ((id = seep_hash_next(&types->by_address, hash, &at)) != SEEP_HASH_NONE)
        if (types->types[id]->address == address)
            return *recent = types->types[id];
    struct seep_pytype *type = NULL;
    if (types->n < MAX_TYPES && looks_like_type(heap, address))
        type = read_type(heap, address);
    if (!type || seep_hash_add(&types->by_address, hash, types->n)) {
        free(type);
        *refused = address;
        return NULL;
    }
    types->types[types->n++] = type;
    type->number = types->n;
    return *recent = type;
}

const struct seep_pytype *seep_node_type(struct seep_heap *heap, uint32_t node)
{
    const struct seep_node *n = &heap->nodes[node];

    if (n->kind != SEEP_NODE_PYTHON)
        return NULL;
    if (n->class)
        return heap->python.types->types[n->class - 1];
    return heap->is_surveyed
               ? NULL
               : seep_python_type(
                     heap, seep_memory_word(heap->memory, seep_node_object(n) + SEEP_PY_TYPE));
}

/* A str whose characters follow its head is shorter than its type says; an ASCII head is shortest.
 */
static uint64_t least_bytes(const struct seep_python_layout *layout, const struct seep_pytype *type)
{
    return type->kind == SEEP_PYTYPE_TEXT ? (uint64_t)layout->text_ascii + 1
                                          : (uint64_t)type->basic;
}

const struct seep_pytype *seep_python_head(struct seep_heap *heap, const uint64_t words[2],
                                           uint64_t room)
{
    enum { FIRST_ADDRESS = 1 << 16 }; /* the kernel's least */
    uint64_t count = words[0];

    if (!count || !heap->python.layout)
        return NULL;
    if (heap->python.layout->minor >= 14) /* above are flags; an address is a free object's next */
        count &= UINT64_C(0xffffffffffff);
    if ((int64_t)count <= 0 || count >> (heap->python.layout->minor >= 14 ? 32 : 40))
        return NULL;
    const struct seep_pytype *type = seep_python_type(heap, words[1]);
    if (!type || least_bytes(heap->python.layout, type) > room)
        return NULL;
    /* A module's state begins with addresses of types; in a heap below 4 GiB they look like counts.
     */
    return count < FIRST_ADDRESS || !seep_python_type(heap, count) ? type : NULL;
}

const struct seep_pytype *seep_python_object(struct seep_heap *heap, uint64_t address,
                                             uint64_t room)
{
    uint64_t words[2];

    return room >= sizeof words && seep_memory_read_pair(heap->memory, address, words)
               ? seep_python_head(heap, words, room)
               : NULL;
}

uint64_t seep_python_before(const struct seep_python *python, const struct seep_pytype *type)
{
    bool managed = (python->layout->minor >= 11 && type->flags & SEEP_PY_MANAGED_DICT) ||
                   (python->layout->minor >= 12 && type->flags & SEEP_PY_MANAGED_WEAKREF);

    return (type->flags & SEEP_PY_GC ? 16u : 0u) + (managed ? 16u : 0u);
}

const char *seep_pytype_short(const struct seep_pytype *type)
{
    const char *dot = strrchr(type->name, '.');

    return dot ? dot + 1 : type->name;
}

void seep_python_types_fini(struct seep_python *python)
{
    if (!python->types)
        return;
    for (uint32_t i = 0; i < python->types->n; i++)
        free(python->types->types[i]);
    seep_hash_fini(&python->types->by_address);
    free(python->types);
    python->types = NULL;
}
