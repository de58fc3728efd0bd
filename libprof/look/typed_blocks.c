#include "libprof/look/typed_blocks.h"

#include "libprof/who/graph/native.h"
#include "libprof/who/graph/py_size.h"
#include "libprof/who/survey/heap.h"
#include "libprof/who/ways/roots.h"

#include <stdlib.h>

/* Outside nodes of a graph of the blocks that are known are what was met; each is walked in turn.
 */
struct search {
    struct seep_block_list *blocks;
    struct seep_dump *dump;
    struct seep_heap heap;
    struct seep_cells cells;
    struct seep_memory_range *unknown; /* [n] where objects may be, by address */
    size_t n;
    uint32_t next; /* the first node that was not walked */
};

/* ---- where objects may be ----------------------------------------------------------------------
 */

static bool is_unknown(const struct search *s, uint64_t address)
{
    const size_t i = seep_memory_ranges_after(s->unknown, s->n, address);

    return i < s->n && s->unknown[i].start <= address;
}

/* The data of a program lies ahead of what malloc has in the same mapping, and what malloc has is
 * no thread's stack. */
static void take_range(struct search *s, const struct seep_snapshot_block *block)
{
    struct seep_maps *maps = &s->dump->maps;
    const struct seep_map *map = seep_maps_at(maps, block->start);
    uint64_t start = block->start, end = block->start + block->bytes;

    if (map && map->kind == SEEP_MAP_BSS) {
        const uint64_t heap = seep_roots_end_of_data(&s->heap, map);
        start = start < heap ? heap : start;
    }
    if (map)
        maps->list[map - maps->list].guarded = false;
    if (start < end)
        s->unknown[s->n++] = (struct seep_memory_range){start, end};
}

static int split(struct search *s)
{
    struct seep_block_list *blocks = s->blocks;
    size_t n = 0;

    s->unknown = malloc((blocks->n + 1) * sizeof *s->unknown);
    if (!s->unknown)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < blocks->n; i++) {
        if (blocks->list[i].site == SEEP_BLOCK_MAP)
            take_range(s, &blocks->list[i]);
        else
            blocks->list[n++] = blocks->list[i];
    }
    blocks->n = n;
    return 0;
}

/* ---- what is met -------------------------------------------------------------------------------
 */

static bool is_mapped(const struct search *s, uint64_t end)
{
    const struct seep_map *map = seep_maps_at(s->heap.maps, end - 1);

    return map && map->writable;
}

static void add(struct search *s, uint64_t address, uint64_t bytes, enum seep_node_kind kind)
{
    if (!bytes || bytes >> 46 || !is_mapped(s, address + bytes))
        return;
    const uint32_t n = seep_heap_outside(&s->heap, address, true);
    if (n == SEEP_NODE_NONE) {
        s->blocks->full = true;
        return;
    }
    struct seep_node *node = &s->heap.nodes[n];
    if (bytes > node->bytes)
        node->bytes = bytes & SEEP_NODE_SIZES;
    node->kind = kind & 3u;
}

/* Free memory has no count of references where an object has one. */
static bool meet(struct seep_heap *heap, uint64_t address, uint64_t bytes, enum seep_stranger what)
{
    enum { LARGEST_TYPE = 1 << 20 };
    struct search *s = heap->taker;

    if (!is_unknown(s, address))
        return false;
    if (what == SEEP_STRANGER_RAW) {
        add(s, address, bytes, SEEP_NODE_RAW);
        return true;
    }
    if (address % 8 || seep_heap_outside(heap, address, false) != SEEP_NODE_NONE)
        return true;
    const struct seep_pytype *type = seep_python_object(heap, address, LARGEST_TYPE);
    if (type)
        add(s, address, seep_python_bytes(heap, address, type), SEEP_NODE_PYTHON);
    else if (what == SEEP_STRANGER_WORD)
        add(s, address, seep_native_bytes(heap, address), SEEP_NODE_NATIVE);
    return true;
}

/* ---- following references ----------------------------------------------------------------------
 */

static void pass(struct seep_heap *heap, uint32_t node, seep_label label, unsigned cost, bool exact)
{
    (void)heap;
    (void)node;
    (void)label;
    (void)cost;
    (void)exact;
}

static void pass_root(struct seep_heap *heap, const struct seep_root *root, unsigned cost)
{
    (void)heap;
    (void)root;
    (void)cost;
}

static void walk_met(struct search *s)
{
    for (; s->next < s->heap.n_nodes; s->next++)
        if (s->heap.nodes[s->next].kind != SEEP_NODE_RAW)
            seep_heap_read(&s->heap, s->next);
}

static void follow(struct search *s)
{
    const struct seep_root_places places = {0};
    struct seep_heap *heap = &s->heap;

    heap->take = pass;
    heap->taker = s;
    heap->meet = meet;
    for (uint32_t i = 0; i < heap->n_blocks; i++)
        seep_heap_classify(heap, i);
    for (uint32_t i = 0; i < heap->n_blocks; i++) /* they know which of the others are raw */
        if (heap->nodes[i].kind == SEEP_NODE_PYTHON)
            seep_heap_read(heap, i);
    for (uint32_t i = 0; i < heap->n_blocks; i++)
        if (heap->nodes[i].kind == SEEP_NODE_NATIVE)
            seep_heap_read(heap, i);
    s->next = heap->n_blocks;
    walk_met(s);
    seep_roots_walk(heap, &places, pass_root);
    walk_met(s);
}

/* An object's block begins ahead of it. */
static void keep_met(struct search *s)
{
    struct seep_heap *heap = &s->heap;

    for (uint32_t i = heap->n_blocks; i < heap->n_nodes; i++) {
        const struct seep_node *node = &heap->nodes[i];
        uint64_t before = 0;
        if (!node->bytes)
            continue;
        if (node->kind == SEEP_NODE_PYTHON)
            before = seep_python_before(
                &heap->python,
                seep_python_type(heap, seep_memory_word(heap->memory, node->start + SEEP_PY_TYPE)));
        seep_block_add(s->blocks, SEEP_BLOCK_TYPED, node->start - before, before + node->bytes);
    }
    seep_block_sort(s->blocks);
}

static int copy_pools(struct search *s, const struct seep_cells *pools)
{
    int rc = 0;

    for (size_t i = 0; i < pools->n && !rc; i++)
        rc = seep_cells_add(&s->cells, pools->arenas[i].start,
                            pools->arenas[i].end - pools->arenas[i].start);
    return rc;
}

int seep_typed_blocks_find(struct seep_block_list *blocks, const struct seep_cells *pools,
                           struct seep_dump *dump, const struct seep_python *python)
{
    struct search s = {.blocks = blocks, .dump = dump};

    s.cells.most_nodes = (uint32_t)(blocks->most - blocks->n);
    s.heap = (struct seep_heap){
        .python = *python,
        .memory = &dump->memory,
        .maps = &dump->maps,
        .cells = &s.cells,
        .least_address = blocks->n ? blocks->list[0].start : 0,
        .most_outside = (uint32_t)(blocks->most - blocks->n),
    };
    int rc = copy_pools(&s, pools);
    if (!rc)
        rc = split(&s);
    if (!rc)
        rc = seep_heap_init(&s.heap, &dump->memory, &dump->maps, blocks->list, blocks->n);
    if (!rc) {
        follow(&s);
        keep_met(&s);
        rc = blocks->no_memory ? -SEEP_ENOMEM : 0;
    }
    free(s.unknown);
    seep_heap_fini(&s.heap);
    seep_cells_fini(&s.cells);
    return rc;
}
