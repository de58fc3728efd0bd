#include "libprof/who/survey/read_cells.h"

#include "libprof/who/graph/edges.h"
#include "libprof/who/graph/py_walk.h"
#include "libprof/who/graph/pymalloc.h"

#include <stdlib.h>

enum { GRANULE = SEEP_CELL_GRANULE, MAX_IN_POOL = 1024 };

/* An int may be the address that a function of C has returned. */
static bool may_be_address(struct seep_heap *heap, uint64_t object, const struct seep_pytype *type)
{
    uint64_t value;

    return type->flags & SEEP_PY_IS_INT && seep_python_int(heap, object, &value) &&
           value >= heap->least_address;
}

/* Whether an object refers to nothing, for nobody who asks, and counts all references. An interned
 * text does not count those that the table of all of them has. */
static bool is_leaf(struct seep_heap *heap, uint64_t object, const struct seep_pytype *type)
{
    if (type->flags & SEEP_PY_HEAP_TYPE) /* a subclass has attributes */
        return false;
    switch (type->kind) {
    case SEEP_PYTYPE_LEAF:
        return !may_be_address(heap, object, type);
    case SEEP_PYTYPE_BYTES:
        return true;
    case SEEP_PYTYPE_TEXT:
        return (seep_memory_u32(heap->memory, object + SEEP_PY_TEXT_STATE) &
                (SEEP_PY_TEXT_COMPACT | SEEP_PY_TEXT_INTERNED)) == SEEP_PY_TEXT_COMPACT;
    default:
        return false;
    }
}

/* The table of an object that no other one can have; 0: it has none. */
static uint64_t table_of(struct seep_heap *heap, uint64_t object, const struct seep_pytype *type)
{
    uint64_t table = 0;

    switch (type->kind) {
    case SEEP_PYTYPE_LIST:
        return seep_memory_word(heap->memory, object + SEEP_PY_LIST_ITEMS);
    case SEEP_PYTYPE_SET:
        return seep_memory_word(heap->memory, object + SEEP_PY_SET_TABLE);
    case SEEP_PYTYPE_DICT: /* instances of a class share their keys, which count how many do */
        table = seep_memory_word(heap->memory, object + SEEP_PY_DICT_KEYS);
        return table && seep_memory_word(heap->memory, table) == 1 ? table : 0;
    default:
        return 0;
    }
}

static void own(struct seep_cells *cells, uint64_t address)
{
    const size_t granule = seep_cells_granule(cells, address);

    if (granule != SIZE_MAX)
        seep_cells_set(cells->owned, granule);
}

/* What goes with its owner gets no node; a table's owner may come later (leave_out_tables). */
static int add_node(struct seep_cells *cells, struct seep_heap *heap,
                    const struct seep_snapshot_block *cell)
{
    const size_t n = heap->n_nodes;

    if (seep_graph_add(heap, cell))
        return -SEEP_ENOMEM;
    seep_heap_classify(heap, (uint32_t)n);
    const struct seep_node *node = &heap->nodes[n];
    if (node->kind != SEEP_NODE_PYTHON)
        return 0;
    const uint64_t object = seep_node_object(node);
    const struct seep_pytype *type = seep_node_type(heap, (uint32_t)n);
    const uint64_t table = type ? table_of(heap, object, type) : 0;
    if (table) {
        own(cells, table);
    } else if (type && !node->object && node->counts == 1 && is_leaf(heap, object, type)) {
        own(cells, cell->start);
        heap->n_nodes--;
    }
    return 0;
}

static int read_pool(struct seep_cells *cells, struct seep_heap *heap, uint64_t at,
                     struct seep_snapshot_block *objects)
{
    const size_t n =
        seep_pymalloc_pool_objects(heap->memory, at, cells->pool_bytes, heap->cells_site, objects);
    const size_t first = seep_cells_granule(cells, at);
    int rc = 0;

    cells->n_live += n;
    if (n)
        cells->each[first * GRANULE / cells->pool_bytes] = (uint8_t)(objects[0].bytes / GRANULE);
    for (size_t i = 0; i < n && !rc; i++) {
        seep_cells_set(cells->live, first + (size_t)(objects[i].start - at) / GRANULE);
        rc = add_node(cells, heap, &objects[i]);
    }
    return rc;
}

static void leave_out_tables(const struct seep_cells *cells, struct seep_heap *heap, uint32_t first)
{
    uint32_t n = first;

    for (uint32_t i = first; i < heap->n_nodes; i++)
        if (!seep_cells_has(cells->owned, seep_cells_granule(cells, heap->nodes[i].start)))
            heap->nodes[n++] = heap->nodes[i];
    heap->n_nodes = n;
}

static int by_start(const void *a, const void *b)
{
    const struct seep_cell_arena *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

/* Whoever makes them up may let them overlap: those behind another one's beginning are left out. */
static void sort_arenas(struct seep_cells *cells)
{
    size_t n = 1;

    qsort(cells->arenas, cells->n, sizeof *cells->arenas, by_start);
    for (size_t i = 1; i < cells->n; i++)
        if (cells->arenas[i].start >= cells->arenas[n - 1].end)
            cells->arenas[n++] = cells->arenas[i];
    cells->n = n;
}

static int make_bits(struct seep_cells *cells)
{
    for (size_t i = 0; i < cells->n; i++) {
        cells->arenas[i].first = cells->n_granules;
        cells->n_granules += (size_t)(cells->arenas[i].end - cells->arenas[i].start) / GRANULE;
    }
    const size_t words = cells->n_granules / 64 + 1;
    cells->live = calloc(words, sizeof *cells->live);
    cells->owned = calloc(words, sizeof *cells->owned);
    cells->met = calloc(words, sizeof *cells->met);
    cells->each = calloc(cells->n_granules * GRANULE / cells->pool_bytes + 1, 1);
    return cells->live && cells->owned && cells->met && cells->each ? 0 : -SEEP_ENOMEM;
}

int seep_cells_read(struct seep_cells *cells, struct seep_heap *heap)
{
    const uint32_t first = heap->n_nodes;
    struct seep_snapshot_block *objects;
    int rc = 0;

    if (!cells->n)
        return 0;
    cells->pool_bytes = heap->python.layout->pool_bytes;
    sort_arenas(cells);
    objects = malloc(MAX_IN_POOL * sizeof *objects);
    if (!objects || make_bits(cells)) {
        free(objects);
        return -SEEP_ENOMEM;
    }
    for (size_t i = 0; i < cells->n && !rc && !cells->full; i++)
        for (uint64_t at = cells->arenas[i].start; at < cells->arenas[i].end && !rc && !cells->full;
             at += cells->pool_bytes) {
            rc = read_pool(cells, heap, at, objects);
            cells->full = heap->n_nodes > cells->most_nodes;
        }
    free(objects);
    leave_out_tables(cells, heap, first);
    return rc;
}
