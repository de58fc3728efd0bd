#include "libprof/who/graph/edges.h"

#include "libprof/who/graph/py_types.h"

enum {
    INTERIOR = 64,     /* bytes into a native block that an address of it may lie */
    SHORT_STRING = 16, /* of std::string: shorter ones lie in the string itself */
};

void seep_heap_classify(struct seep_heap *heap, uint32_t n)
{
    static const uint8_t places[] = {0, 2, 4}; /* behind nothing, a GC's head, a managed dict's */
    struct seep_node *node = &heap->nodes[n];

    for (size_t i = 0; i < sizeof places; i++) {
        uint64_t at = places[i] * 8u;
        if (node->bytes < at + 16)
            break;
        const struct seep_pytype *type =
            seep_python_object(heap, node->start + at, node->bytes - at);
        if (type && seep_python_before(&heap->python, type) == at) {
            node->kind = SEEP_NODE_PYTHON;
            node->object = places[i];
            return;
        }
    }
    node->kind = SEEP_NODE_NATIVE;
}

static bool becomes_object(struct seep_heap *heap, struct seep_node *node, uint64_t address)
{
    if (node->kind == SEEP_NODE_PYTHON)
        return address == seep_node_object(node);
    if (node->kind == SEEP_NODE_RAW || (address - node->start) / 8 > UINT8_MAX ||
        !seep_python_object(heap, address, seep_node_end(node) - address))
        return false;
    node->kind = SEEP_NODE_PYTHON;
    node->object = (uint8_t)((address - node->start) / 8);
    return true;
}

/* An object in the data of a program or a library; numbers and the like lead nowhere. */
static uint32_t find_outside(struct seep_heap *heap, uint64_t address)
{
    uint32_t node = seep_heap_outside(heap, address, false);
    const struct seep_map *map;
    const struct seep_pytype *type;

    if (node != SEEP_NODE_NONE)
        return node;
    map = seep_maps_at(heap->maps, address);
    if (!map || !map->writable || !map->file)
        return SEEP_NODE_NONE;
    type = seep_python_object(heap, address, 1 << 20);
    return type && type->kind != SEEP_PYTYPE_LEAF ? seep_heap_outside(heap, address, true)
                                                  : SEEP_NODE_NONE;
}

void seep_edge_exact(struct seep_heap *heap, uint64_t address, seep_label label, unsigned cost)
{
    if (address < SEEP_MEMORY_PAGE || address % 8)
        return;
    uint32_t n = seep_heap_find(heap, address);
    if (n == SEEP_NODE_NONE)
        n = find_outside(heap, address);
    else if (!becomes_object(heap, &heap->nodes[n], address))
        return;
    if (n != SEEP_NODE_NONE)
        heap->take(heap, n, label, cost, true);
}

void seep_edge_raw(struct seep_heap *heap, uint64_t address)
{
    uint32_t n = seep_heap_find(heap, address);

    if (n == SEEP_NODE_NONE)
        return;
    if (heap->nodes[n].kind != SEEP_NODE_PYTHON)
        heap->nodes[n].kind = SEEP_NODE_RAW;
    heap->take(heap, n, seep_label_of(SEEP_LABEL_HIDDEN, 0), 0, true);
}

/* A class is held by its module: a stale word that leads to one is no way that a user would name.
 */
static unsigned cost_of_class(struct seep_heap *heap, const struct seep_node *node)
{
    const struct seep_pytype *type = seep_python_type(
        heap, seep_memory_word(heap->memory, seep_node_object(node) + SEEP_PY_TYPE));

    return type && type->kind == SEEP_PYTYPE_TYPE ? SEEP_COST_TYPE : 0;
}

/* In a low heap numbers look like addresses, unless those are even, and all flags of types do (1 <<
 * 24 is that of int and what derives from it). */
static bool holds_inside(const struct seep_heap *heap, uint32_t n, uint64_t address)
{
    return heap->inner && heap->inner[n] & SEEP_INNER_HOLDS &&
           (!seep_heap_is_low(address) || (address % 8 == 0 && !heap->in_types));
}

/* What an edge costs by what it leads to: the block of its own, an object, the inside of a block.
 */
struct costs {
    unsigned native, python, inner;
};

static void take_maybe(struct seep_heap *heap, uint32_t n, uint64_t address, seep_label label,
                       struct costs cost)
{
    const struct seep_node *node = &heap->nodes[n];

    if (node->kind == SEEP_NODE_UNKNOWN)
        seep_heap_classify(heap, n);
    if (node->kind == SEEP_NODE_PYTHON) {
        if (address == seep_node_object(node))
            heap->take(heap, n, label, cost.python + cost_of_class(heap, node), false);
    } else if (address - node->start <= INTERIOR && address % 8 == 0) {
        heap->take(heap, n, label, cost.native, false);
    } else if (holds_inside(heap, n, address)) {
        heap->inner_at = address;
        heap->take(heap, n, label, cost.native + cost.inner, false);
    }
}

void seep_edge_maybe(struct seep_heap *heap, uint64_t address, seep_label label, unsigned cost,
                     unsigned cost_python)
{
    uint32_t n = seep_heap_find(heap, address);

    if (n != SEEP_NODE_NONE)
        take_maybe(heap, n, address, label, (struct costs){cost, cost_python, SEEP_COST_INNER});
}

void seep_edge_inner(struct seep_heap *heap, uint64_t address, seep_label label)
{
    uint32_t n = seep_heap_find(heap, address);

    if (n == SEEP_NODE_NONE || !holds_inside(heap, n, address) ||
        (seep_heap_is_low(address) && address != heap->nodes[n].start))
        return;
    heap->inner_at = address;
    heap->take(heap, n, label, SEEP_COST_INNER, false);
}

/* What std::shared_ptr owns and knows so (enable_shared_from_this), as nodes of PyTorch's graphs
 * do, has behind its vtable its own address and that of its count. Whoever owns it has the same
 * two side by side; an address alone holds nothing, and is a stale one for the most part. The block
 * begins with the object, or with the count. */
static bool may_own(struct seep_heap *heap, const struct seep_node *to, uint64_t next)
{
    enum { OWN = 8, COUNT = 16, BEHIND_COUNT = 16 };

    for (uint64_t at = to->start; at <= to->start + BEHIND_COUNT; at += BEHIND_COUNT) {
        if (at + COUNT + 8 > seep_node_end(to) || seep_memory_word(heap->memory, at + OWN) != at)
            continue;
        uint64_t count = seep_memory_word(heap->memory, at + COUNT);
        const struct seep_map *map = seep_maps_at(heap->maps, seep_memory_word(heap->memory, at));
        if (map && map->kind == SEEP_MAP_FILE && seep_heap_find(heap, count) != SEEP_NODE_NONE)
            return next == count;
    }
    return true;
}

void seep_heap_scan(struct seep_heap *heap, uint64_t from, uint64_t to, uint64_t base,
                    unsigned cost, unsigned cost_python)
{
    for (uint64_t at = (from + 7) & ~UINT64_C(7); at + 8 <= to; at += 8) {
        uint64_t word = seep_memory_word(heap->memory, at);
        if (word == at + 16 && at + 32 <= to &&
            seep_memory_word(heap->memory, at + 8) < SHORT_STRING) {
            at += 24; /* a short std::string: what lies in it is stale */
            continue;
        }
        uint32_t n = seep_heap_find(heap, word);
        if (n == SEEP_NODE_NONE ||
            !may_own(heap, &heap->nodes[n], seep_memory_word(heap->memory, at + 8)))
            continue;
        take_maybe(heap, n, word,
                   base ? seep_label_of(SEEP_LABEL_OFFSET, at - base)
                        : seep_label_of(SEEP_LABEL_ADDRESS, at),
                   (struct costs){cost, cost_python, SEEP_COST_INNER + SEEP_COST_STALE});
    }
}
