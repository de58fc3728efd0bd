#include "libprof/who/ways/reach_passes.h"

#include "libprof/base/hash_index.h"

#include <stdlib.h>

enum mark { NOTHING, LOST, ASKED };

/* The nodes that have lost their path. */
struct loss {
    struct seep_reach *reach;
    uint8_t *marks; /* [nodes] */
    uint32_t *nodes;
    size_t n, capacity;
    bool no_memory;
};

static void lose(struct loss *loss, uint32_t node)
{
    if (loss->reach->distance[node] == SEEP_UNREACHED)
        return;
    if (seep_grow(&loss->nodes, &loss->capacity, loss->n + 1, sizeof *loss->nodes)) {
        loss->no_memory = true;
        return;
    }
    loss->nodes[loss->n++] = node;
    loss->marks[node] = LOST;
    seep_reach_note(loss->reach, node);
    loss->reach->distance[node] = SEEP_UNREACHED;
}

/* What was reached through a lost node is lost as well. */
static void spread(struct loss *loss)
{
    const struct seep_reach *reach = loss->reach;
    struct seep_edge edge;

    for (size_t i = 0; i < loss->n && !loss->no_memory; i++) {
        const uint32_t from = loss->nodes[i];
        struct seep_edge_cursor cursor = seep_heap_edges(reach->heap, from);
        while (seep_heap_next(reach->heap, from, &cursor, &edge))
            if (reach->parent[edge.to] == from)
                lose(loss, edge.to);
    }
}

/* Each node that is still reached and refers to a lost one repeats that reference, once. */
static void ask_nodes(struct loss *loss)
{
    struct seep_reach *reach = loss->reach;
    const uint32_t *end = reach->referrers_end;

    for (size_t i = 0; i < loss->n; i++) {
        const uint32_t to = loss->nodes[i];
        for (uint32_t k = to ? end[to - 1] : 0; k < end[to]; k++) {
            const uint32_t from = reach->referrers[k];
            if (loss->marks[from] != NOTHING || reach->distance[from] == SEEP_UNREACHED)
                continue;
            loss->marks[from] = ASKED;
            seep_reach_walk(reach, from);
        }
    }
}

static void ask_roots(struct loss *loss)
{
    struct seep_reach *reach = loss->reach;

    for (size_t i = 0; i < reach->n_root_edges; i++) {
        const struct seep_root_edge *one = &reach->root_edges[i];
        if (loss->marks[one->edge.to] == LOST &&
            !(reach->no_doubtful && reach->roots[one->root].doubtful))
            seep_reach_take(reach, i);
    }
}

static int find_others(struct loss *loss)
{
    struct seep_reach *reach = loss->reach;
    int rc = -SEEP_ENOMEM;

    spread(loss);
    if (!loss->no_memory) {
        seep_reach_begin(reach);
        ask_roots(loss);
        ask_nodes(loss);
        rc = seep_reach_go_on(reach);
    }
    free(loss->marks);
    free(loss->nodes);
    return rc;
}

/* Who refers to whom is noted while all are still reached. */
static int begin(struct loss *loss)
{
    loss->marks = calloc(loss->reach->heap->n_nodes + (size_t)1, 1);
    if (!loss->marks)
        return -SEEP_ENOMEM;
    return loss->reach->referrers ? 0 : seep_reach_referrers(loss->reach);
}

int seep_reach_leave_out(struct seep_reach *reach, uint32_t node)
{
    struct loss loss = {.reach = reach};

    if (begin(&loss)) {
        free(loss.marks);
        return -SEEP_ENOMEM;
    }
    lose(&loss, node);
    return find_others(&loss);
}

int seep_reach_leave_doubtful(struct seep_reach *reach)
{
    struct loss loss = {.reach = reach};

    if (begin(&loss)) {
        free(loss.marks);
        return -SEEP_ENOMEM;
    }
    reach->no_doubtful = true;
    for (size_t i = 0; i < reach->n_root_edges; i++) {
        const struct seep_root_edge *one = &reach->root_edges[i];
        if (reach->roots[one->root].doubtful &&
            reach->parent[one->edge.to] == (one->root | SEEP_REACH_ROOT))
            lose(&loss, one->edge.to);
    }
    return find_others(&loss);
}
