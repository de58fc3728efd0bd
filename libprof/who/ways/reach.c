#include "libprof/who/ways/reach.h"

#include "libprof/base/hash_index.h"
#include "libprof/who/survey/survey.h"

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
    return reach->heap->n_nodes;
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

/* ---- labels ---------------------------------------------------------------------------------- */

/* Four bits for the kind, the rest for the value: names' numbers and indices have fewer. Behind a
 * root it is the number of the root's edge, whose value may be an address; 0: of none. */
enum { VALUE_BITS = 28, MAX_VALUE = (1 << VALUE_BITS) - 1 };

static uint32_t packed(seep_label label)
{
    const uint64_t value = seep_label_value(label);

    return (uint32_t)seep_label_kind(label) << VALUE_BITS |
           (value < MAX_VALUE ? (uint32_t)value : MAX_VALUE);
}

seep_label seep_reach_label(const struct seep_reach *reach, uint32_t node)
{
    const uint32_t label = reach->label[node];

    if (!(reach->parent[node] & SEEP_REACH_ROOT))
        return seep_label_of((enum seep_label_kind)(label >> VALUE_BITS), label & MAX_VALUE);
    return label ? reach->root_edges[label - 1].edge.label : seep_label_of(SEEP_LABEL_NONE, 0);
}

/* ---- roots ----------------------------------------------------------------------------------- */

static void take_root(struct seep_heap *heap, const struct seep_root *root, unsigned cost)
{
    struct seep_reach *reach = heap->taker;

    if (reach->n_roots >= SEEP_REACH_ROOT - 1 ||
        seep_grow(&reach->roots, &reach->roots_capacity, reach->n_roots + 1,
                  sizeof *reach->roots)) {
        reach->no_memory = true;
        return;
    }
    reach->root_cost = cost;
    reach->roots[reach->n_roots++] = *root;
    if (root->kind == SEEP_ROOT_FRAME)
        seep_survey_code(heap, root->at);
    else if (root->kind == SEEP_ROOT_MODULE)
        (void)seep_survey_text(heap, root->at);
}

static void take_root_edge(struct seep_heap *heap, uint32_t node, seep_label label, unsigned cost,
                           bool exact)
{
    struct seep_reach *reach = heap->taker;
    const unsigned distance = reach->root_cost + cost;

    if (exact)
        seep_survey_count(heap, node);
    if (!reach->n_roots || seep_grow(&reach->root_edges, &reach->root_edges_capacity,
                                     reach->n_root_edges + 1, sizeof *reach->root_edges)) {
        reach->no_memory = true;
        return;
    }
    reach->root_edges[reach->n_root_edges++] = (struct seep_root_edge){
        .edge = {.to = node,
                 .marks = (uint8_t)(heap->marks | (exact ? SEEP_EDGE_EXACT : 0)),
                 .cost = (uint16_t)(distance < FARTHEST ? distance : FARTHEST),
                 .label = seep_survey_label(heap, label),
                 .inside =
                     heap->marks & SEEP_EDGE_INNER ? heap->inner_at - heap->nodes[node].start : 0},
        .root = (uint32_t)reach->n_roots - 1,
        .doubtful = reach->roots[reach->n_roots - 1].doubtful ||
                    seep_label_kind(label) == SEEP_LABEL_TEMPORARY};
}

static int survey(struct seep_reach *reach, bool keys)
{
    struct seep_heap *heap = reach->heap;
    int rc = seep_survey_begin(heap, keys);

    if (rc)
        return rc;
    heap->take = take_root_edge;
    heap->taker = reach;
    heap->with_bytes = heap->n_with = 0;
    seep_roots_walk(heap, &reach->places, take_root);
    heap->survey->roots_bytes = heap->with_bytes;
    heap->survey->n_with_roots = heap->n_with;
    rc = seep_survey_end(heap);
    return reach->no_memory ? -SEEP_ENOMEM : rc;
}

int seep_reach_init(struct seep_reach *reach, struct seep_heap *heap,
                    const struct seep_root_places *places, bool keys)
{
    *reach = (struct seep_reach){.heap = heap, .places = *places};
    for (size_t i = 0; i < SEEP_REACH_EXCLUDED; i++)
        reach->excluded[i] = SEEP_NODE_NONE;
    return survey(reach, keys);
}

void seep_reach_fini(struct seep_reach *reach)
{
    if (reach->queue)
        free(reach->queue->entries);
    free(reach->queue);
    free(reach->referrers);
    free(reach->referrers_end);
    free(reach->distance);
    free(reach->parent);
    free(reach->label);
    free(reach->roots);
    free(reach->root_edges);
    free(reach->settled);
    if (reach->heap)
        seep_survey_fini(reach->heap);
    *reach = (struct seep_reach){0};
}

/* ---- searching ------------------------------------------------------------------------------- */

static bool is_settled(const struct seep_reach *reach, uint32_t node)
{
    return reach->settled && reach->settled[node / 64] >> node % 64 & 1;
}

static void reach_node(struct seep_reach *reach, uint32_t node, uint32_t from, unsigned distance,
                       uint32_t label)
{
    if (distance > FARTHEST)
        distance = FARTHEST;
    if (distance >= reach->distance[node] || is_excluded(reach, node) || is_settled(reach, node))
        return;
    seep_reach_note(reach, node);
    reach->distance[node] = (uint16_t)distance;
    reach->parent[node] = from;
    reach->label[node] = label;
    push(reach, node, distance);
}

void seep_reach_begin(struct seep_reach *reach)
{
    reach->queue->n = 0;
    reach->queue->farthest = 0;
    reach->queue->taken = NO_ENTRY;
    for (size_t i = 0; i < DISTANCES; i++)
        reach->queue->first[i] = NO_ENTRY;
}

void seep_reach_take(struct seep_reach *reach, size_t i)
{
    const struct seep_root_edge *one = &reach->root_edges[i];

    if (seep_reach_believes(reach, one))
        reach_node(reach, one->edge.to, one->root | SEEP_REACH_ROOT, one->edge.cost,
                   (uint32_t)i + 1);
}

void seep_reach_walk(struct seep_reach *reach, uint32_t node)
{
    struct seep_edge_cursor cursor = seep_heap_edges(reach->heap, node);
    const unsigned distance = reach->distance[node];
    struct seep_edge edge;

    reach->n_walked++;
    while (seep_heap_next(reach->heap, node, &cursor, &edge))
        reach_node(reach, edge.to, node, distance + edge.cost, packed(edge.label));
}

/* Nodes lie far apart, so the next ones are fetched while this one is walked. */
static void expect(const struct seep_reach *reach, uint32_t next)
{
    const struct seep_reach_queue *queue = reach->queue;
    const struct seep_survey *survey = reach->heap->survey;

    if (next == NO_ENTRY || !survey->n_inner)
        return;
    const struct entry entry = queue->entries[next];
    __builtin_prefetch(&survey->edges.bytes[survey->place[entry.node]]);
    if (entry.next == NO_ENTRY)
        return;
    const uint32_t after = queue->entries[entry.next].node;
    __builtin_prefetch(&survey->place[after]);
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

static int allocate(struct seep_reach *reach)
{
    const size_t n = all_nodes(reach) + 1;

    reach->queue = malloc(sizeof *reach->queue);
    reach->distance = malloc(n * sizeof *reach->distance);
    reach->parent = malloc(n * sizeof *reach->parent);
    reach->label = calloc(n, sizeof *reach->label);
    if (!reach->queue || !reach->distance || !reach->parent || !reach->label)
        return -SEEP_ENOMEM;
    *reach->queue = (struct seep_reach_queue){.taken = NO_ENTRY};
    memset(reach->distance, 0xff, n * sizeof *reach->distance);
    return 0;
}

/* What will never be believed is left out. */
static void settle_roots(struct seep_reach *reach)
{
    size_t n = 0;

    for (size_t i = 0; i < reach->n_root_edges; i++)
        if (seep_heap_may_believe(reach->heap, &reach->root_edges[i].edge))
            reach->root_edges[n++] = reach->root_edges[i];
    reach->n_root_edges = n;
}

static void take_roots(struct seep_reach *reach)
{
    for (size_t i = 0; i < reach->n_root_edges; i++)
        seep_reach_take(reach, i);
}

int seep_reach_run(struct seep_reach *reach)
{
    if (seep_survey_settle(reach->heap) || allocate(reach))
        return -SEEP_ENOMEM;
    settle_roots(reach);
    seep_reach_begin(reach);
    take_roots(reach);
    return seep_reach_go_on(reach);
}

int seep_reach_again(struct seep_reach *reach, const uint32_t *nodes, size_t n)
{
    seep_reach_begin(reach);
    take_roots(reach);
    for (size_t i = 0; i < n && !reach->no_memory; i++)
        seep_reach_walk(reach, nodes[i]);
    return seep_reach_go_on(reach);
}

/* Two passes over all references: how many each node has, and where they are from. */
int seep_reach_referrers(struct seep_reach *reach)
{
    const uint32_t n = reach->heap->n_nodes;
    struct seep_edge_cursor cursor;
    struct seep_edge edge;
    uint32_t *end = calloc((size_t)n + 1, sizeof *end), sum = 0;

    free(reach->referrers);
    free(reach->referrers_end);
    reach->referrers = NULL;
    reach->referrers_end = end;
    if (!end)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        if (reach->distance[i] != SEEP_UNREACHED)
            for (cursor = seep_heap_edges(reach->heap, i);
                 seep_heap_next(reach->heap, i, &cursor, &edge);)
                end[edge.to]++;
    /* At first where each node's begin; once all are placed, where they end. */
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t count = end[i];
        end[i] = sum;
        sum += count;
    }
    reach->referrers = malloc(((size_t)sum + 1) * sizeof *reach->referrers);
    if (!reach->referrers)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        if (reach->distance[i] != SEEP_UNREACHED)
            for (cursor = seep_heap_edges(reach->heap, i);
                 seep_heap_next(reach->heap, i, &cursor, &edge);)
                reach->referrers[end[edge.to]++] = i;
    return 0;
}

void seep_reach_add(struct seep_reach *reach, enum seep_root_kind kind, uint32_t node,
                    unsigned cost)
{
    const struct seep_root root = {.kind = kind, .at = node};

    reach->heap->taker = reach;
    take_root(reach->heap, &root, cost);
    if (!reach->no_memory)
        reach_node(reach, node, ((uint32_t)reach->n_roots - 1) | SEEP_REACH_ROOT, cost, 0);
}

int seep_reach_settle(struct seep_reach *reach)
{
    const size_t n = all_nodes(reach);

    seep_reach_unsettle(reach);
    reach->settled = calloc(n / 64 + 1, sizeof *reach->settled);
    if (!reach->settled)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (reach->distance[i] != SEEP_UNREACHED)
            reach->settled[i / 64] |= UINT64_C(1) << i % 64;
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
        node, reach->parent[node], reach->label[node], reach->distance[node]};
}

void seep_reach_swap(struct seep_reach *reach, struct seep_reach_changes *changes)
{
    const size_t n_roots = reach->n_roots;

    for (size_t i = 0; i < changes->n; i++) {
        struct seep_reach_change *was = &changes->list[i];
        const struct seep_reach_change is = {was->node, reach->parent[was->node],
                                             reach->label[was->node], reach->distance[was->node]};
        reach->label[was->node] = was->label;
        reach->parent[was->node] = was->parent;
        reach->distance[was->node] = was->distance;
        *was = is;
    }
    reach->n_roots = changes->n_roots;
    changes->n_roots = n_roots;
}
