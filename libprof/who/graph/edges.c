#include "libprof/who/graph/edges.h"

#include "libprof/who/graph/py_types.h"

enum {
    INTERIOR = 64,     /* how far into a native block an address may point */
    SHORT_STRING = 16, /* of std::string: shorter ones lie in the string itself */
};

/* Up to CPython 3.10 a function's last frame is kept for its next call, with what was on its stack.
 */
static bool is_spare_frame(struct seep_heap *heap, const struct seep_node *node)
{
    enum { GC_HEAD = 16, LAST_MINOR = 10 };
    uint64_t words[2];

    if (!heap->python.layout || heap->python.layout->minor > LAST_MINOR ||
        node->bytes < GC_HEAD + sizeof words ||
        !seep_memory_read(heap->memory, node->start + GC_HEAD, words, sizeof words) || words[0])
        return false;
    const struct seep_pytype *type = seep_python_type(heap, words[1]);
    return type && type->kind == SEEP_PYTYPE_FRAME;
}

void seep_heap_classify(struct seep_heap *heap, uint32_t n)
{
    static const uint8_t places[] = {0, 2, 4}; /* where an object may begin: at the block's start,
                                                  after a GC head, after a managed dict's */
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
    node->kind = is_spare_frame(heap, node) ? SEEP_NODE_RAW : SEEP_NODE_NATIVE;
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

/* An object in the data of a program or library; numbers and the like refer to nothing. */
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

static bool meet(struct seep_heap *heap, uint64_t address, uint64_t bytes, enum seep_stranger what)
{
    return heap->meet && address >= SEEP_MEMORY_PAGE && heap->meet(heap, address, bytes, what);
}

void seep_edge_exact(struct seep_heap *heap, uint64_t address, seep_label label, unsigned cost)
{
    if (address < SEEP_MEMORY_PAGE || address % 8)
        return;
    uint32_t n = seep_heap_find(heap, address);
    if (n != SEEP_NODE_NONE && !becomes_object(heap, &heap->nodes[n], address))
        return;
    if (n == SEEP_NODE_NONE && !meet(heap, address, 0, SEEP_STRANGER_OBJECT))
        n = find_outside(heap, address);
    if (n != SEEP_NODE_NONE)
        heap->take(heap, n, label, cost, true);
}

void seep_edge_spare(struct seep_heap *heap, uint64_t address, uint64_t bytes)
{
    uint32_t n = seep_heap_find(heap, address);

    if (n == SEEP_NODE_NONE)
        (void)meet(heap, address, bytes, SEEP_STRANGER_RAW);
    else if (heap->nodes[n].kind == SEEP_NODE_UNKNOWN)
        heap->nodes[n].kind = SEEP_NODE_RAW;
}

void seep_edge_raw(struct seep_heap *heap, uint64_t address, uint64_t bytes)
{
    uint32_t n = seep_heap_find(heap, address);

    if (n == SEEP_NODE_NONE) {
        (void)meet(heap, address, bytes, SEEP_STRANGER_RAW);
        return;
    }
    if (heap->nodes[n].kind != SEEP_NODE_PYTHON)
        heap->nodes[n].kind = SEEP_NODE_RAW;
    heap->take(heap, n, seep_label_of(SEEP_LABEL_HIDDEN, 0), 0, true);
}

/* Classes belong to their module: a user would not name a stale word that leads to one. */
static unsigned cost_of_class(struct seep_heap *heap, const struct seep_node *node)
{
    const struct seep_pytype *type = seep_python_type(
        heap, seep_memory_word(heap->memory, seep_node_object(node) + SEEP_PY_TYPE));

    return type && type->kind == SEEP_PYTYPE_TYPE ? SEEP_COST_TYPE : 0;
}

/* In a heap at low addresses, numbers look like addresses, unless the heap's addresses are even and
 * the number is odd; flags of types all look so (1 << 24 is the flag of int and its subclasses). */
static bool holds_inside(const struct seep_heap *heap, uint32_t n, uint64_t address)
{
    return heap->inner && heap->inner[n] & SEEP_INNER_HOLDS &&
           (!seep_heap_is_low(address) || (address % 8 == 0 && !heap->in_types));
}

/* The cost of an edge by its target: the start of a block, an object, the inside of a block. */
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
    else
        (void)meet(heap, address, 0, SEEP_STRANGER_WORD);
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

/* An object owned by std::shared_ptr that knows it (enable_shared_from_this), such as a node of
 * PyTorch's graphs, has its own address and that of its count after its vtable. An owner has the
 * same two words side by side; an address alone holds nothing, and is mostly stale. The block
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
        uint64_t word;
        /* Most of a thread's stack was never used: without pages, or zeros. */
        if (!seep_memory_read_word(heap->memory, at, &word)) {
            at = (at | (SEEP_MEMORY_PAGE - 1)) - 7;
            continue;
        }
        if (word < SEEP_MEMORY_PAGE)
            continue;
        if (word == at + 16 && at + 32 <= to &&
            seep_memory_word(heap->memory, at + 8) < SHORT_STRING) {
            at += 24; /* a short std::string: its buffer is stale */
            continue;
        }
        uint32_t n = seep_heap_find(heap, word);
        if (n == SEEP_NODE_NONE)
            (void)meet(heap, word, 0, SEEP_STRANGER_WORD);
        if (n == SEEP_NODE_NONE ||
            !may_own(heap, &heap->nodes[n], seep_memory_word(heap->memory, at + 8)))
            continue;
        take_maybe(heap, n, word,
                   base ? seep_label_of(SEEP_LABEL_OFFSET, at - base)
                        : seep_label_of(SEEP_LABEL_ADDRESS, at),
                   (struct costs){cost, cost_python, SEEP_COST_INNER + SEEP_COST_STALE});
    }
}
