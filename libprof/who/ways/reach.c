#include "libprof/who/ways/reach.h"

#include "libprof/base/hash_index.h"
#include "libprof/who/ways/py_roots.h"

#include <stdlib.h>
#include <string.h>

enum { DISTANCES = 1 << 16, FARTHEST = 60000, NO_ENTRY = 0x80000000u };

/* Nodes by distance, one list for each, and one of entries that were taken. */
struct seep_reach_queue {
    uint32_t first[DISTANCES];
    unsigned farthest;
    struct entry {
        uint32_t node, next;
    } * entries;
    size_t n, capacity;
    uint32_t taken;
};

static size_t all_nodes(const struct seep_reach *reach)
{
    return reach->heap->capacity;
}

static void push(struct seep_reach *reach, uint32_t node, unsigned distance)
{
    struct seep_reach_queue *queue = reach->queue;

    uint32_t at = queue->taken;

    if (at != NO_ENTRY) {
        queue->taken = queue->entries[at].next;
    } else if (queue->n >= NO_ENTRY ||
               seep_grow(&queue->entries, &queue->capacity, queue->n + 1, sizeof *queue->entries)) {
        reach->no_memory = true;
        return;
    } else {
        at = (uint32_t)queue->n++;
    }
    queue->entries[at] = (struct entry){node, queue->first[distance]};
    queue->first[distance] = at;
    if (distance > queue->farthest)
        queue->farthest = distance;
}

static bool is_excluded(const struct seep_reach *reach, uint32_t node)
{
    for (size_t i = 0; i < SEEP_REACH_EXCLUDED; i++)
        if (reach->excluded[i] == node)
            return true;
    return false;
}

bool seep_reach_explains(const struct seep_reach *reach, uint32_t node)
{
    const struct seep_node *n = &reach->heap->nodes[node];

    return n->kind == SEEP_NODE_PYTHON &&
           reach->exact[node] >=
               (n->counts ? n->counts : seep_memory_u32(reach->heap->memory, seep_node_object(n)));
}

static void note(struct seep_reach *reach, uint32_t to, seep_label label, unsigned distance)
{
    struct seep_refs *refs = &reach->refs;
    int rc;

    if (reach->from & SEEP_REACH_ROOT) {
        const uint32_t from = reach->from & ~SEEP_REACH_ROOT;
        const bool doubtful =
            reach->roots[from].doubtful || seep_label_kind(label) == SEEP_LABEL_TEMPORARY;
        rc = seep_refs_add_root(refs, (struct seep_root_ref){from, to, distance, doubtful, label});
    } else {
        rc = seep_refs_add(refs, reach->from, to);
    }
    reach->no_memory |= rc != 0;
}

static void take_edge(struct seep_heap *heap, uint32_t node, seep_label label, unsigned cost,
                      bool exact)
{
    struct seep_reach *reach = heap->taker;
    unsigned distance = reach->base + cost;

    if (!reach->notes && distance >= reach->distance[node] && distance <= FARTHEST)
        return;
    if (is_excluded(reach, node) || (!exact && seep_reach_explains(reach, node)))
        return;
    if (reach->notes)
        note(reach, node, label, distance);
    if (distance > FARTHEST)
        distance = FARTHEST;
    if (distance >= reach->distance[node] || (reach->settled && reach->settled[node]))
        return;
    seep_reach_note(reach, node);
    reach->distance[node] = (uint16_t)distance;
    reach->parent[node] = reach->from;
    reach->label[node] = label;
    push(reach, node, distance);
}

void seep_reach_take(struct seep_reach *reach, const struct seep_root_ref *ref)
{
    reach->from = ref->root | SEEP_REACH_ROOT;
    reach->base = 0;
    take_edge(reach->heap, ref->to, ref->label, ref->distance, true);
}

static void count_edge(struct seep_heap *heap, uint32_t node, seep_label label, unsigned cost,
                       bool exact)
{
    struct seep_reach *reach = heap->taker;

    (void)label;
    (void)cost;
    if (exact && reach->exact[node] < UINT16_MAX)
        reach->exact[node]++;
}

static void count_root(struct seep_heap *heap, const struct seep_root *root, unsigned cost)
{
    (void)heap;
    (void)root;
    (void)cost;
}

static void take_root(struct seep_heap *heap, const struct seep_root *root, unsigned cost)
{
    struct seep_reach *reach = heap->taker;

    if (reach->n_roots >= SEEP_REACH_ROOT - 1 ||
        seep_grow(&reach->roots, &reach->roots_capacity, reach->n_roots + 1,
                  sizeof *reach->roots)) {
        reach->no_memory = true;
        return;
    }
    reach->from = (uint32_t)reach->n_roots | SEEP_REACH_ROOT;
    reach->base = cost;
    reach->roots[reach->n_roots++] = *root;
}

/* A native node may turn out to be an object once an exact reference leads to it. */
static void count_exact(struct seep_reach *reach)
{
    enum { MAX_OBJECT = 100000 };
    struct seep_heap *heap = reach->heap;

    heap->take = count_edge;
    heap->taker = reach;
    heap->is_counting = true;
    for (uint32_t i = 0; i < heap->n_blocks; i++)
        if (heap->nodes[i].kind == SEEP_NODE_UNKNOWN && heap->nodes[i].bytes <= MAX_OBJECT)
            seep_heap_classify(heap, i);
    for (uint32_t i = 0; i < heap->n_nodes; i++)
        if (heap->nodes[i].kind == SEEP_NODE_PYTHON)
            seep_heap_walk(heap, i);
    for (uint32_t i = 0; i < heap->n_blocks; i++)
        if (heap->nodes[i].kind == SEEP_NODE_NATIVE)
            heap->nodes[i].kind = SEEP_NODE_UNKNOWN;
    seep_python_roots_walk(heap, count_root); /* no other root has exact references */
    heap->is_counting = false;
}

static int allocate(struct seep_reach *reach)
{
    size_t n = all_nodes(reach);

    reach->distance = malloc(n * sizeof *reach->distance);
    reach->parent = malloc(n * sizeof *reach->parent);
    reach->label = calloc(n, sizeof *reach->label);
    return reach->distance && reach->parent && reach->label ? 0 : -SEEP_ENOMEM;
}

int seep_reach_init(struct seep_reach *reach, struct seep_heap *heap,
                    const struct seep_root_places *places)
{
    *reach = (struct seep_reach){.heap = heap, .places = *places};
    for (size_t i = 0; i < SEEP_REACH_EXCLUDED; i++)
        reach->excluded[i] = SEEP_NODE_NONE;
    reach->exact = calloc(all_nodes(reach), sizeof *reach->exact);
    reach->queue = malloc(sizeof *reach->queue);
    if (!reach->exact || !reach->queue || allocate(reach) ||
        seep_refs_init(&reach->refs, heap->capacity))
        return -SEEP_ENOMEM;
    *reach->queue = (struct seep_reach_queue){.taken = NO_ENTRY};
    if (heap->python.layout)
        count_exact(reach);
    return 0;
}

void seep_reach_fini(struct seep_reach *reach)
{
    if (reach->queue)
        free(reach->queue->entries);
    free(reach->queue);
    seep_refs_fini(&reach->refs);
    free(reach->exact);
    free(reach->distance);
    free(reach->parent);
    free(reach->label);
    free(reach->roots);
    free(reach->settled);
    *reach = (struct seep_reach){0};
}

void seep_reach_begin(struct seep_reach *reach)
{
    reach->queue->n = 0;
    reach->queue->farthest = 0;
    reach->queue->taken = NO_ENTRY;
    for (size_t i = 0; i < DISTANCES; i++)
        reach->queue->first[i] = NO_ENTRY;
    reach->heap->take = take_edge;
    reach->heap->taker = reach;
}

void seep_reach_walk(struct seep_reach *reach, uint32_t node)
{
    reach->from = node;
    reach->base = reach->distance[node];
    reach->heap->node_is_attributes = seep_label_kind(reach->label[node]) == SEEP_LABEL_HIDDEN;
    if (reach->notes)
        seep_refs_begin(&reach->refs, node);
    reach->n_walked++;
    seep_heap_walk(reach->heap, node);
}

/* Nodes lie far apart, so the next ones are fetched while this one is walked. */
static void expect(const struct seep_reach *reach, uint32_t next)
{
    const struct seep_reach_queue *queue = reach->queue;
    const struct seep_node *nodes = reach->heap->nodes;

    if (next == NO_ENTRY)
        return;
    const struct entry entry = queue->entries[next];
    seep_memory_expect(reach->heap->memory, nodes[entry.node].start);
    if (entry.next == NO_ENTRY)
        return;
    const uint32_t after = queue->entries[entry.next].node;
    __builtin_prefetch(&nodes[after]);
    __builtin_prefetch(&reach->distance[after]);
}

int seep_reach_go_on(struct seep_reach *reach)
{
    struct seep_reach_queue *queue = reach->queue;

    for (unsigned d = 0; d <= queue->farthest && !reach->no_memory; d++)
        while (queue->first[d] != NO_ENTRY) {
            const uint32_t at = queue->first[d];
            const struct entry entry = queue->entries[at];
            queue->first[d] = entry.next;
            queue->entries[at].next = queue->taken;
            queue->taken = at;
            if (reach->distance[entry.node] != d)
                continue; /* a shorter path was found since */
            expect(reach, entry.next);
            seep_reach_walk(reach, entry.node);
            /* Edges of cost 0 add to the list that is being read. */
        }
    return reach->no_memory ? -SEEP_ENOMEM : 0;
}

int seep_reach_run(struct seep_reach *reach)
{
    memset(reach->distance, 0xff, all_nodes(reach) * sizeof *reach->distance);
    seep_reach_begin(reach);
    reach->notes = true;
    seep_roots_walk(reach->heap, &reach->places, take_root);
    int rc = seep_reach_go_on(reach);
    reach->notes = false;
    return rc ? rc : seep_refs_turn(&reach->refs);
}

int seep_reach_again(struct seep_reach *reach, const uint32_t *nodes, size_t n)
{
    seep_reach_begin(reach);
    reach->notes = true;
    reach->n_roots = reach->refs.n_roots = 0; /* they come again in the same order */
    seep_roots_walk(reach->heap, &reach->places, take_root);
    for (size_t i = 0; i < n && !reach->no_memory; i++)
        seep_reach_walk(reach, nodes[i]);
    int rc = seep_reach_go_on(reach);
    reach->notes = false;
    return rc ? rc : seep_refs_turn(&reach->refs);
}

void seep_reach_add(struct seep_reach *reach, enum seep_root_kind kind, uint32_t node,
                    unsigned cost)
{
    struct seep_root root = {kind, node, NULL, false};

    reach->heap->take = take_edge;
    reach->heap->taker = reach;
    take_root(reach->heap, &root, cost);
    take_edge(reach->heap, node, seep_label_of(SEEP_LABEL_NONE, 0), 0, true);
}

int seep_reach_settle(struct seep_reach *reach)
{
    const size_t n = all_nodes(reach);

    if (!reach->settled)
        reach->settled = calloc(n, sizeof *reach->settled);
    if (!reach->settled)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < n; i++)
        reach->settled[i] = reach->distance[i] != SEEP_UNREACHED;
    return 0;
}

void seep_reach_unsettle(struct seep_reach *reach)
{
    free(reach->settled);
    reach->settled = NULL;
}

/* ---- changes --------------------------------------------------------------------------------- */

int seep_reach_changes_begin(struct seep_reach *reach, struct seep_reach_changes *changes)
{
    *changes = (struct seep_reach_changes){.n_roots = reach->n_roots};
    changes->noted = calloc(all_nodes(reach) / 64 + 1, sizeof *changes->noted);
    reach->changes = changes->noted ? changes : NULL;
    return changes->noted ? 0 : -SEEP_ENOMEM;
}

void seep_reach_changes_end(struct seep_reach *reach)
{
    reach->changes = NULL;
}

void seep_reach_changes_fini(struct seep_reach_changes *changes)
{
    free(changes->list);
    free(changes->noted);
    *changes = (struct seep_reach_changes){0};
}

void seep_reach_note(struct seep_reach *reach, uint32_t node)
{
    struct seep_reach_changes *changes = reach->changes;
    const uint64_t bit = UINT64_C(1) << node % 64;

    if (!changes || changes->noted[node / 64] & bit)
        return;
    if (seep_grow(&changes->list, &changes->capacity, changes->n + 1, sizeof *changes->list)) {
        reach->no_memory = true;
        return;
    }
    changes->noted[node / 64] |= bit;
    changes->list[changes->n++] = (struct seep_reach_change){
        reach->label[node], node, reach->parent[node], reach->distance[node]};
}

void seep_reach_swap(struct seep_reach *reach, struct seep_reach_changes *changes)
{
    const size_t n_roots = reach->n_roots;

    for (size_t i = 0; i < changes->n; i++) {
        struct seep_reach_change *was = &changes->list[i];
        const struct seep_reach_change is = {reach->label[was->node], was->node,
                                             reach->parent[was->node], reach->distance[was->node]};
        reach->label[was->node] = was->label;
        reach->parent[was->node] = was->parent;
        reach->distance[was->node] = was->distance;
        *was = is;
    }
    reach->n_roots = changes->n_roots;
    changes->n_roots = n_roots;
}
