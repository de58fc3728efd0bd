#include "libprof/who/graph/edges.h"

#include "libprof/who/graph/cells.h"
#include "libprof/who/graph/py_types.h"

#include <string.h>

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

static unsigned type_of(const struct seep_pytype *type)
{
    switch (type->kind) {
    case SEEP_PYTYPE_TEXT:
        return SEEP_NODE_TEXT;
    case SEEP_PYTYPE_MODULE:
        return SEEP_NODE_MODULE;
    case SEEP_PYTYPE_TYPE:
        return SEEP_NODE_CLASS;
    default:
        return SEEP_NODE_OTHER;
    }
}

/* What those who refer to the object ask for lies in its node, so that they need not read it. */
static void be_object(struct seep_heap *heap, struct seep_node *node, uint64_t words,
                      const struct seep_pytype *type)
{
    /* an object begins with its reference count */
    const uint32_t counts = seep_memory_u32(heap->memory, node->start + words * sizeof(uint64_t));

    node->kind = SEEP_NODE_PYTHON;
    node->object = (uint8_t)words;
    node->type = type_of(type) & 7u;
    node->counts = counts < UINT8_MAX ? (uint8_t)counts : 0;
    node->class = type->number;
}

/* An object owned by std::shared_ptr that knows it (enable_shared_from_this), such as a node of
 * PyTorch's graphs, has its own address and that of its count after its vtable. The block begins
 * with the object, or with the count. */
enum { OWN = 8, COUNT = 16, BEHIND_COUNT = 16 };

static bool owns_itself(struct seep_heap *heap, const struct seep_node *node)
{
    for (uint64_t at = node->start; at <= node->start + BEHIND_COUNT; at += BEHIND_COUNT)
        if (at + COUNT + 8 <= seep_node_end(node) && seep_memory_word(heap->memory, at + OWN) == at)
            return true;
    return false;
}

void seep_heap_classify(struct seep_heap *heap, uint32_t n)
{
    enum { WORDS = 6 };
    static const uint8_t places[] = {0, 2, 4}; /* where an object may begin: at the block's start,
                                                  after a GC head, after a managed dict's */
    struct seep_node *node = &heap->nodes[n];
    uint64_t words[WORDS] = {0};
    const uint8_t *seen = seep_memory_seen(heap->memory, node->start, sizeof words);

    if (node->type == SEEP_NODE_NO_OBJECT) {
        node->kind = SEEP_NODE_NATIVE;
        return;
    }
    if (seen)
        memcpy(words, seen, sizeof words);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        uint64_t at = places[i] * 8u;
        if (node->bytes < at + 16)
            break;
        if (!seen && !seep_memory_read_pair(heap->memory, node->start + at, words + places[i]))
            continue;
        const struct seep_pytype *type =
            seep_python_head(heap, words + places[i], node->bytes - at);
        if (type && seep_python_before(&heap->python, type) == at) {
            be_object(heap, node, places[i], type);
            return;
        }
    }
    if (is_spare_frame(heap, node)) {
        node->kind = SEEP_NODE_RAW;
        return;
    }
    node->kind = SEEP_NODE_NATIVE;
    node->type = SEEP_NODE_NO_OBJECT;
    node->owns_itself = owns_itself(heap, node);
}

static bool becomes_object(struct seep_heap *heap, struct seep_node *node, uint64_t address)
{
    if (node->kind == SEEP_NODE_PYTHON)
        return address == seep_node_object(node);
    if (node->kind == SEEP_NODE_RAW || (address - node->start) / 8 > UINT8_MAX)
        return false;
    const struct seep_pytype *type =
        seep_python_object(heap, address, seep_node_end(node) - address);
    if (type)
        be_object(heap, node, (address - node->start) / 8, type);
    return type;
}

/* An object in the data of a program or library; numbers and the like refer to nothing. */
static uint32_t look_outside(struct seep_heap *heap, uint64_t address)
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

/* Most are the same few: None, small numbers, types. */
static uint32_t find_outside(struct seep_heap *heap, uint64_t address)
{
    struct seep_outside *recent = seep_heap_recent(heap, address);

    if (recent->address != address)
        *recent = (struct seep_outside){address, look_outside(heap, address)};
    return recent->node;
}

static bool meet(struct seep_heap *heap, uint64_t address, uint64_t bytes, enum seep_stranger what)
{
    return heap->meet && address >= SEEP_MEMORY_PAGE && heap->meet(heap, address, bytes, what);
}

/* What has no node goes with whoever refers to it. */
static bool goes_with(struct seep_heap *heap, uint64_t address)
{
    uint32_t bytes;

    if (!heap->cells || !seep_cells_meet(heap->cells, address, &bytes))
        return false;
    heap->with_bytes += bytes;
    heap->n_with += bytes > 0;
    return true;
}

void seep_edge_to(struct seep_heap *heap, uint32_t n, uint64_t address, seep_label label,
                  unsigned cost)
{
    if (address < SEEP_MEMORY_PAGE || address % 8)
        return;
    if (n != SEEP_NODE_NONE && !becomes_object(heap, &heap->nodes[n], address))
        return;
    if (n == SEEP_NODE_NONE && !goes_with(heap, address) &&
        !meet(heap, address, 0, SEEP_STRANGER_OBJECT))
        n = find_outside(heap, address);
    if (n != SEEP_NODE_NONE)
        heap->take(heap, n, label, cost, true);
}

void seep_edge_exact(struct seep_heap *heap, uint64_t address, seep_label label, unsigned cost)
{
    seep_edge_to(heap, seep_heap_find(heap, address), address, label, cost);
}

void seep_edge_spare(struct seep_heap *heap, uint64_t address, uint64_t bytes)
{
    uint32_t n = seep_heap_find(heap, address);

    if (n == SEEP_NODE_NONE)
        (void)meet(heap, address, bytes, SEEP_STRANGER_RAW);
    else if (heap->nodes[n].kind != SEEP_NODE_PYTHON)
        heap->nodes[n].kind = SEEP_NODE_RAW;
}

void seep_edge_raw(struct seep_heap *heap, uint64_t address, uint64_t bytes)
{
    uint32_t n = seep_heap_find(heap, address);

    if (n == SEEP_NODE_NONE) {
        if (!goes_with(heap, address))
            (void)meet(heap, address, bytes, SEEP_STRANGER_RAW);
        return;
    }
    if (heap->nodes[n].kind != SEEP_NODE_PYTHON)
        heap->nodes[n].kind = SEEP_NODE_RAW;
    heap->take(heap, n, seep_label_of(SEEP_LABEL_HIDDEN, 0), 0, true);
}

/* Classes belong to their module: a user would not name a stale word that leads to one. */
static unsigned cost_of_class(const struct seep_node *node)
{
    return node->type == SEEP_NODE_CLASS ? SEEP_COST_TYPE : 0;
}

/* In a heap at low addresses, numbers look like addresses, unless the heap's addresses are even and
 * the number is odd; flags of types all look so (1 << 24 is the flag of int and its subclasses). */
static bool may_hold_inside(const struct seep_heap *heap, const struct seep_node *node,
                            uint64_t address)
{
    return node->kind != SEEP_NODE_RAW &&
           (!seep_heap_is_low(address) || (address % 8 == 0 && !heap->in_types));
}

static void take_marked(struct seep_heap *heap, uint32_t n, seep_label label, unsigned cost,
                        enum seep_edge_mark mark)
{
    const uint8_t marks = heap->marks;

    heap->marks |= (uint8_t)mark;
    heap->take(heap, n, label, cost, false);
    heap->marks = marks;
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
            take_marked(heap, n, label, cost.python + cost_of_class(node), SEEP_EDGE_OBJECT);
    } else if (address - node->start <= INTERIOR && address % 8 == 0) {
        heap->take(heap, n, label, cost.native, false);
    } else if (may_hold_inside(heap, node, address)) {
        heap->inner_at = address;
        take_marked(heap, n, label, cost.native + cost.inner, SEEP_EDGE_INNER);
    }
}

void seep_edge_maybe(struct seep_heap *heap, uint64_t address, seep_label label, unsigned cost,
                     unsigned cost_python)
{
    uint32_t n = seep_heap_find(heap, address);

    if (n != SEEP_NODE_NONE)
        take_maybe(heap, n, address, label, (struct costs){cost, cost_python, SEEP_COST_INNER});
    else if (!goes_with(heap, address))
        (void)meet(heap, address, 0, SEEP_STRANGER_WORD);
}

void seep_edge_inner(struct seep_heap *heap, uint64_t address, seep_label label)
{
    uint32_t n = seep_heap_find(heap, address);

    if (n == SEEP_NODE_NONE || heap->nodes[n].kind == SEEP_NODE_PYTHON ||
        !may_hold_inside(heap, &heap->nodes[n], address) ||
        (seep_heap_is_low(address) && address != heap->nodes[n].start))
        return;
    heap->inner_at = address;
    take_marked(heap, n, label, SEEP_COST_INNER, SEEP_EDGE_INNER);
}

/* An owner has the address of the object and that of its count side by side; an address alone
 * holds nothing, and is mostly stale. */
static bool may_own(struct seep_heap *heap, const struct seep_node *to, uint64_t next)
{
    if (!to->owns_itself)
        return true;
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

/* Whether take_maybe() would give an edge to a node of known kind to the taker. */
static bool may_take(const struct seep_heap *heap, uint32_t n, uint64_t address)
{
    const struct seep_node *node = &heap->nodes[n];

    if (node->kind == SEEP_NODE_UNKNOWN)
        return true;
    return node->kind == SEEP_NODE_PYTHON
               ? address == seep_node_object(node)
               : (address - node->start <= INTERIOR && address % 8 == 0) ||
                     may_hold_inside(heap, node, address);
}

/* Words of one page. What they lead to is read meanwhile, so it is a copy. */
struct words {
    uint8_t page[SEEP_MEMORY_PAGE];
    uint64_t at, end; /* in the page */
    uint64_t to;      /* of the whole scan */
};

static uint64_t word_at(struct seep_heap *heap, const struct words *w, uint64_t at)
{
    uint64_t word;

    if (at >= w->end)
        return seep_memory_word(heap->memory, at);
    memcpy(&word, w->page + at % SEEP_MEMORY_PAGE, sizeof word);
    return word;
}

/* A word that may be an address, and the node that it leads to. */
struct candidate {
    uint64_t at, word;
    uint32_t node;
};

enum { CANDIDATES = 16 };

/* The next words that may be addresses. Nobody knows yet whether they are: what they lead to lies
 * far apart, and is fetched at the same time. */
static size_t find_candidates(struct seep_heap *heap, struct words *w, struct candidate *found)
{
    const size_t most = heap->meet ? 1 : CANDIDATES;
    size_t n = 0;

    for (; w->at < w->end && n < most; w->at += 8) {
        const uint64_t word = word_at(heap, w, w->at);
        if (word < SEEP_MEMORY_PAGE)
            continue;
        if (word == w->at + 16 && w->at + 32 <= w->to &&
            word_at(heap, w, w->at + 8) < SHORT_STRING) {
            w->at += 24; /* a short std::string: its buffer is stale */
            continue;
        }
        if (!heap->meet && !seep_heap_expect(heap, word))
            continue;
        found[n].at = w->at;
        found[n++].word = word;
    }
    for (size_t i = 0; i < n && !heap->meet; i++)
        seep_heap_expect_node(heap, found[i].word);
    for (size_t i = 0; i < n; i++) {
        found[i].node = seep_heap_find(heap, found[i].word);
        if (found[i].node != SEEP_NODE_NONE)
            seep_memory_expect(heap->memory, heap->nodes[found[i].node].start);
    }
    return n;
}

/* How a scan names and weighs what it finds. */
struct manner {
    uint64_t base;
    struct costs cost;
};

static void scan_words(struct seep_heap *heap, struct words *w, const struct manner *manner)
{
    struct candidate found[CANDIDATES];

    for (size_t n; (n = find_candidates(heap, w, found));)
        for (size_t i = 0; i < n; i++) {
            const uint64_t at = found[i].at, word = found[i].word;
            const uint32_t node = found[i].node;
            if (node == SEEP_NODE_NONE && !goes_with(heap, word))
                (void)meet(heap, word, 0, SEEP_STRANGER_WORD);
            else if (node != SEEP_NODE_NONE && may_take(heap, node, word) &&
                     may_own(heap, &heap->nodes[node], word_at(heap, w, at + 8)))
                take_maybe(heap, node, word,
                           manner->base ? seep_label_of(SEEP_LABEL_OFFSET, at - manner->base)
                                        : seep_label_of(SEEP_LABEL_ADDRESS, at),
                           manner->cost);
        }
}

void seep_heap_scan(struct seep_heap *heap, uint64_t from, uint64_t to, uint64_t base,
                    unsigned cost, unsigned cost_python)
{
    const struct manner manner = {base, {cost, cost_python, SEEP_COST_INNER + SEEP_COST_STALE}};
    struct words w;

    w.at = (from + 7) & ~UINT64_C(7);
    w.to = to;
    to &= ~UINT64_C(7);
    while (w.at < to) {
        const uint64_t next = (w.at | (SEEP_MEMORY_PAGE - 1)) + 1;
        const uint8_t *page = seep_memory_changed_page(heap->memory, w.at);
        w.end = next < to ? next : to;
        if (page) {
            const size_t in_page = (size_t)(w.at % SEEP_MEMORY_PAGE);
            memcpy(w.page + in_page, page + in_page, (size_t)(w.end - w.at));
            scan_words(heap, &w, &manner);
        } else { /* most of a thread's stack was never used */
            w.at = w.end;
        }
    }
}
