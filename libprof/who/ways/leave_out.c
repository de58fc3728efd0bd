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
    const struct seep_refs *refs = &loss->reach->refs;

    for (size_t i = 0; i < loss->n && !loss->no_memory; i++) {
        const uint32_t from = loss->nodes[i], end = refs->first[from] + refs->count[from];
        for (uint32_t k = refs->first[from]; k < end; k++)
            if (loss->reach->parent[refs->to[k]] == from)
                lose(loss, refs->to[k]);
    }
}

/* Each node that is still reached and refers to a lost one repeats that reference, once. */
static void ask_nodes(struct loss *loss)
{
    struct seep_reach *reach = loss->reach;
    const struct seep_refs *refs = &reach->refs;

    for (size_t i = 0; i < loss->n; i++) {
        uint32_t to = loss->nodes[i];
        for (uint32_t k = to ? refs->from_end[to - 1] : 0; k < refs->from_end[to]; k++) {
            uint32_t from = refs->from[k];
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

    for (size_t i = 0; i < reach->refs.n_roots; i++) {
        const struct seep_root_ref *ref = &reach->refs.roots[i];
        if (loss->marks[ref->to] == LOST &&
            !(reach->no_doubtful && reach->roots[ref->root].doubtful))
            seep_reach_take(reach, ref);
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

int seep_reach_leave_out(struct seep_reach *reach, uint32_t node)
{
    struct loss loss = {.reach = reach, .marks = calloc(reach->heap->capacity, 1)};

    if (!loss.marks)
        return -SEEP_ENOMEM;
    lose(&loss, node);
    return find_others(&loss);
}

int seep_reach_leave_doubtful(struct seep_reach *reach)
{
    struct loss loss = {.reach = reach, .marks = calloc(reach->heap->capacity, 1)};

    if (!loss.marks)
        return -SEEP_ENOMEM;
    reach->no_doubtful = true;
    for (size_t i = 0; i < reach->refs.n_roots; i++) {
        const struct seep_root_ref *ref = &reach->refs.roots[i];
        if (reach->roots[ref->root].doubtful &&
            reach->parent[ref->to] == (ref->root | SEEP_REACH_ROOT))
            lose(&loss, ref->to);
    }
    return find_others(&loss);
}
