#include "libprof/look/look_unheld.h"

#include "libprof/who/survey/survey.h"
#include "libprof/who/ways/reach_passes.h"
#include "libprof/who/ways/unheld.h"

#include <stdlib.h>

struct adding {
    struct seep_look_holders *holders;
    struct seep_reach *reach;
    const struct seep_look_memories *memories;
    struct seep_unheld unheld;
    struct seep_look_holder *list; /* [unheld.n] */
};

static int find_groups(struct adding *a)
{
    int rc = seep_cycles_find(a->reach);

    if (!rc && a->holders->all_known)
        rc = seep_references_find(a->reach);
    if (!rc)
        rc = seep_unheld_find(&a->unheld, a->reach);
    if (rc)
        return rc;
    a->list = calloc(a->unheld.n + 1, sizeof *a->list);
    for (size_t i = 0; a->list && i < a->unheld.n; i++)
        a->list[i] = (struct seep_look_holder){.key = a->unheld.list[i].key,
                                               .state = a->unheld.list[i].state,
                                               .within = SEEP_LOOK_NO_HOLDER,
                                               .length = -1,
                                               .bound = -1};
    return a->list ? 0 : -SEEP_ENOMEM;
}

static uint64_t *sum_of(struct seep_look_holders *holders, enum seep_hold_state state)
{
    return state == SEEP_HOLD_CYCLE       ? &holders->cycle_bytes
           : state == SEEP_HOLD_REFERENCE ? &holders->reference_bytes
                                          : &holders->lost_bytes;
}

static void add_node(struct adding *a, uint32_t node)
{
    struct seep_heap *heap = a->reach->heap;
    struct seep_look_holder *group = &a->list[a->unheld.of_node[node]];
    uint64_t bytes[SEEP_LOOK_MEMORIES] = {0}, with, n;

    *sum_of(a->holders, group->state) += seep_node_bytes(heap, node);
    seep_look_memories_add(a->memories, node, bytes);
    for (size_t m = 0; m < a->holders->n_memories; m++)
        group->retained[m] += bytes[m];
    const double share = seep_look_share(a->holders, bytes);
    seep_node_with(heap, node, &with, &n); /* the example that is shown is large by itself */
    group->retained[SEEP_LOOK_HOST] += with;
    group->objects += seep_unheld_is_top(a->reach, node);
    if (share > group->most) {
        group->most = share;
        group->node = node;
    }
}

static int keep_large(struct adding *a, size_t *capacity)
{
    struct seep_look_holders *holders = a->holders;

    for (size_t i = 0; i < a->unheld.n; i++) {
        a->list[i].found = SEEP_LOOK_NO_HOLDER;
        if (!seep_look_is_large(holders, &a->list[i]) ||
            (a->list[i].state == SEEP_HOLD_LOST && !holders->all_known))
            continue;
        if (seep_grow(&holders->list, capacity, holders->n + 1, sizeof *holders->list))
            return -SEEP_ENOMEM;
        a->list[i].found = (uint32_t)holders->n;
        holders->list[holders->n++] = a->list[i];
    }
    return 0;
}

int seep_look_unheld_add(struct seep_look_holders *holders, size_t *capacity,
                         struct seep_reach *reach, const struct seep_look_memories *memories,
                         uint32_t *holder)
{
    struct adding a = {.holders = holders, .reach = reach, .memories = memories};
    const uint32_t *of_node;
    int rc = find_groups(&a);

    of_node = a.unheld.of_node;
    for (uint32_t i = 0; i < reach->heap->n_nodes && !rc; i++)
        if (of_node[i] != SEEP_NO_GROUP)
            add_node(&a, i);
    if (!rc)
        rc = keep_large(&a, capacity);
    for (uint32_t i = 0; i < reach->heap->n_nodes && !rc; i++)
        if (of_node[i] != SEEP_NO_GROUP)
            holder[i] = a.list[of_node[i]].found;
    seep_unheld_fini(&a.unheld);
    free(a.list);
    return rc;
}
