#include "libprof/who/retained/dominators.h"
#include "libprof/who/survey/survey.h"
#include "tests/suite.h"

#include <stdlib.h>
#include <string.h>

/* A graph of which each edge is a pair; roots refer to some nodes. */
struct graph {
    uint32_t n;
    const uint32_t (*edges)[2]; /* by what they come from */
    size_t n_edges;
    const uint32_t *roots;
    size_t n_roots;
    uint32_t doubtful; /* root index + 1; 0: none is */
};

/* A surveyed heap with these edges. */
static void make_edges(struct seep_heap *heap, const struct graph *g)
{
    struct seep_survey *s = heap->survey = calloc(1, sizeof *heap->survey);
    size_t at = 0;

    ck_assert(s && !seep_edge_store_init(&s->edges));
    s->place = calloc(g->n, sizeof *s->place);
    ck_assert_ptr_nonnull(s->place);
    for (uint32_t node = 0; node < g->n; node++) {
        if (at == g->n_edges || g->edges[at][0] != node)
            continue;
        seep_edge_store_begin(&s->edges, node);
        for (; at < g->n_edges && g->edges[at][0] == node; at++)
            seep_edge_store_add(
                &s->edges, &(struct seep_edge){.to = g->edges[at][1], .marks = SEEP_EDGE_EXACT});
        s->place[node] = seep_edge_store_end(&s->edges, &(struct seep_edge_facts){-1, -1, 0, 0});
    }
    ck_assert_uint_eq(at, g->n_edges);
    ck_assert_int_eq(seep_survey_end(heap), 0);
    ck_assert_int_eq(seep_survey_settle(heap), 0);
}

static void find(struct seep_dominators *d, const struct graph *g, const struct seep_node *nodes)
{
    struct seep_heap heap = {.n_nodes = g->n, .n_blocks = g->n};
    struct seep_root_edge roots[4] = {{.root = 0}};
    const struct seep_reach reach = {
        .heap = &heap, .root_edges = roots, .n_root_edges = g->n_roots};

    heap.nodes = calloc(g->n, sizeof *nodes);
    ck_assert_ptr_nonnull(heap.nodes);
    memcpy(heap.nodes, nodes, g->n * sizeof *nodes);
    for (uint32_t i = 0; i < g->n_roots; i++)
        roots[i] = (struct seep_root_edge){.edge = {.to = g->roots[i], .marks = SEEP_EDGE_EXACT},
                                           .root = i,
                                           .doubtful = i + 1 == g->doubtful};
    make_edges(&heap, g);
    ck_assert_int_eq(seep_dominators_find(d, &reach, true), 0);
    seep_survey_fini(&heap);
    seep_heap_fini(&heap);
}

TEST(what_two_hold_is_retained_by_what_holds_both)
{
    /* root → 0 → {1, 2} → 3; 3 → 4 */
    static const uint32_t edges[][2] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}};
    static const uint32_t roots[] = {0};
    static const struct seep_node nodes[5] = {
        {.bytes = 1}, {.bytes = 10}, {.bytes = 100}, {.bytes = 1000}, {.bytes = 10000}};
    struct seep_dominators d;

    find(&d, &(struct graph){5, edges, 5, roots, 1, 0}, nodes);
    ck_assert_uint_eq(d.retained[0], 11111);
    ck_assert_uint_eq(d.retained[1], 10);
    ck_assert_uint_eq(d.retained[2], 100);
    ck_assert_uint_eq(d.retained[3], 11000);
    ck_assert_uint_eq(d.by[3], 0);
    ck_assert_uint_eq(d.by[0], SEEP_DOMINATED_BY_NONE);
    seep_dominators_fini(&d);
}

TEST(what_two_roots_reach_apart_is_retained_by_nobody)
{
    /* roots → 0, 1; both → 2; 3 is not reached, and refers to 2 */
    static const uint32_t edges[][2] = {{0, 2}, {1, 2}, {3, 2}};
    static const uint32_t roots[] = {0, 1};
    static const struct seep_node nodes[4] = {
        {.bytes = 1}, {.bytes = 2}, {.bytes = 4}, {.bytes = 8}};
    struct seep_dominators d;

    find(&d, &(struct graph){4, edges, 3, roots, 2, 0}, nodes);
    ck_assert_uint_eq(d.retained[0], 1);
    ck_assert_uint_eq(d.retained[1], 2);
    ck_assert_uint_eq(d.by[2], SEEP_DOMINATED_BY_NONE);
    ck_assert_uint_eq(d.by[3], SEEP_NODE_NONE);
    ck_assert_uint_eq(d.retained[3], 0);
    ck_assert_uint_eq(d.n_order, 3);
    seep_dominators_fini(&d);
}

TEST(a_word_left_on_a_stack_is_no_second_holder)
{
    /* roots → 0, and, by stale words, 3; 0 → 1; 3 → {1, 4} */
    static const uint32_t edges[][2] = {{0, 1}, {1, 2}, {3, 1}, {3, 4}};
    static const uint32_t roots[] = {3, 0, 2};
    static const struct seep_node nodes[5] = {
        {.bytes = 1}, {.bytes = 10}, {.bytes = 100}, {.bytes = 1000}, {.bytes = 10000}};
    struct seep_dominators d;

    find(&d, &(struct graph){5, edges, 4, roots, 2, 1}, nodes);
    ck_assert_uint_eq(d.retained[0], 111);
    ck_assert_uint_eq(d.by[1], 0);
    ck_assert_uint_eq(d.retained[3], 11000); /* that nobody else holds */
    seep_dominators_fini(&d);
    find(&d, &(struct graph){5, edges, 4, roots + 1, 2, 2}, nodes);
    ck_assert_uint_eq(d.retained[0], 111); /* nor is one that leads right into it */
    seep_dominators_fini(&d);
}

TEST(a_cycle_is_retained_by_its_entry)
{
    /* root → 0 → 1 → 2 → 1; 2 → 0 */
    static const uint32_t edges[][2] = {{0, 1}, {1, 2}, {2, 0}, {2, 1}};
    static const uint32_t roots[] = {0};
    static const struct seep_node nodes[3] = {{.bytes = 1}, {.bytes = 2}, {.bytes = 4}};
    struct seep_dominators d;

    find(&d, &(struct graph){3, edges, 4, roots, 1, 0}, nodes);
    ck_assert_uint_eq(d.retained[0], 7);
    ck_assert_uint_eq(d.retained[1], 6);
    ck_assert_uint_eq(d.by[2], 1);
    seep_dominators_fini(&d);
}

/* Whether `to` is still reached without `out`, by a plain search. */
static void reach_without(const struct graph *g, uint32_t out, bool *reached)
{
    bool more = true;

    memset(reached, 0, g->n);
    for (size_t i = 0; i < g->n_roots; i++)
        reached[g->roots[i]] = g->roots[i] != out;
    while (more) {
        more = false;
        for (size_t i = 0; i < g->n_edges; i++)
            if (reached[g->edges[i][0]] && !reached[g->edges[i][1]] && g->edges[i][1] != out)
                more = reached[g->edges[i][1]] = true;
    }
}

static uint32_t any(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

static int by_from(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return x[0] < y[0] ? -1 : x[0] > y[0];
}

enum { NODES = 24 };

static void compare_with_searches(const struct graph *g, const struct seep_node *nodes)
{
    struct seep_dominators d;
    bool whole[NODES], without[NODES];

    find(&d, g, nodes);
    reach_without(g, SEEP_NODE_NONE, whole);
    for (uint32_t k = 0; k < NODES; k++) {
        uint64_t bytes = 0;
        reach_without(g, k, without);
        for (uint32_t i = 0; i < NODES; i++)
            bytes += whole[i] && !without[i] ? nodes[i].bytes : 0;
        ck_assert_uint_eq(d.retained[k], whole[k] ? bytes : 0);
        ck_assert_int_eq(d.by[k] == SEEP_NODE_NONE, !whole[k]);
    }
    seep_dominators_fini(&d);
}

TEST(retained_is_what_is_not_reached_without_it_in_any_graph)
{
    uint32_t seed = 1, edges[3 * NODES][2], roots[2];
    struct seep_node nodes[NODES] = {{0}};

    for (int round = 0; round < 400; round++) {
        const size_t n = NODES / 2 + any(&seed, 2 * NODES);
        for (size_t i = 0; i < n; i++) {
            edges[i][0] = any(&seed, NODES);
            edges[i][1] = any(&seed, NODES);
        }
        qsort(edges, n, sizeof *edges, by_from);
        for (uint32_t i = 0; i < NODES; i++)
            nodes[i].bytes = 1 + any(&seed, 1000);
        roots[0] = any(&seed, NODES);
        roots[1] = any(&seed, NODES);
        compare_with_searches(
            &(struct graph){NODES, (const uint32_t(*)[2])edges, n, roots, 1 + any(&seed, 2), 0},
            nodes);
    }
}

TEST(a_list_of_a_million_links_is_walked_without_a_stack_of_its_length)
{
    enum { LONG = 1000 * 1000 };
    uint32_t(*edges)[2] = malloc((LONG - 1) * sizeof *edges);
    struct seep_node *nodes = calloc(LONG, sizeof *nodes);
    const uint32_t roots[] = {0};
    struct seep_dominators d;

    ck_assert(edges && nodes);
    for (uint32_t i = 0; i < LONG; i++) {
        nodes[i].bytes = 1;
        if (i + 1 < LONG)
            memcpy(edges[i], (uint32_t[]){i, i + 1}, sizeof *edges);
    }
    find(&d, &(struct graph){LONG, (const uint32_t(*)[2])edges, LONG - 1, roots, 1, 0}, nodes);
    ck_assert_uint_eq(d.retained[0], LONG);
    ck_assert_uint_eq(d.retained[LONG - 1], 1);
    seep_dominators_fini(&d);
    free(edges);
    free(nodes);
}

SUITE("dominators");
