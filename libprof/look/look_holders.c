#include "libprof/look/look_holders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/base/hash_index.h"
#include "libprof/look/look_lines.h"
#include "libprof/look/look_memories.h"
#include "libprof/look/look_others.h"
#include "libprof/who/find/who_holds.h"
#include "libprof/who/survey/survey.h"
#include "libprof/who/ways/inner.h"
#include "libprof/who/ways/reach_passes.h"
#include "libprof/who/ways/unheld.h"
#include "libprof/who/ways/way_types.h"
#include "libprof/who/ways/ways.h"

/* What no root reaches: members of cycles, objects that count a reference too many, and what is
 * lost, each by what it is. */

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

/* Adds one holder a group that is large: cycles by the type of the member that tells of
 * them, references by what counts them, what is lost by its type or class, or by its size; if not
 * all blocks are known, only cycles. Sets the sums, where the rest is lost, and for each of their
 * nodes the index of its holder. Behind it the reach has more roots; the ways that it had before
 * are the same. Returns 0 or -SEEP_ENOMEM. */
static int look_unheld_add(struct seep_look_holders *holders, size_t *capacity,
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

enum { MOST_HOLDERS = 256 };

struct search {
    struct seep_look_holders *found;
    struct seep_taken *taken;
    struct seep_heap *heap; /* of what was taken */
    struct seep_reach *reach;
    struct seep_ways ways;
    struct seep_dominators dominators;
    struct seep_look_memories memories;
    struct seep_retainers retainers;
    struct seep_look_lines lines;
    size_t capacity;
};

/* The retainers' own indices are those of the holders, before they are sorted. */
static int take_retainers(struct search *s)
{
    struct seep_look_holders *found = s->found;
    struct seep_retainers *r = &s->retainers;

    found->passed = r->passed;
    found->n_passed = r->n_passed;
    r->passed = NULL;
    if (seep_grow(&found->list, &s->capacity, r->n + 1, sizeof *found->list))
        return -SEEP_ENOMEM;
    for (; found->n < r->n; found->n++) {
        const struct seep_retainer *one = &r->list[found->n];
        struct seep_look_holder *holder = &found->list[found->n];
        *holder = (struct seep_look_holder){.key = one->key,
                                            .state = SEEP_HOLD_HELD,
                                            .objects = one->objects,
                                            .within = one->within,
                                            .length = -1,
                                            .bound = -1,
                                            .node = one->node,
                                            .most = one->most};
        memcpy(holder->retained, one->retained, sizeof holder->retained);
    }
    return 0;
}

static int find_holders(struct search *s)
{
    struct seep_retained_memory memories[SEEP_LOOK_MEMORIES];

    for (size_t m = 0; m < s->found->n_memories; m++)
        memories[m] = (struct seep_retained_memory){.retained = s->memories.retained[m],
                                                    .bytes = s->found->memories[m].bytes,
                                                    .least = s->found->memories[m].least};
    const int rc = seep_retainers_find(&s->retainers, &s->ways, &s->dominators, memories,
                                       s->found->n_memories);
    return rc ? rc : take_retainers(s);
}

/* ---- what is told of them -------------------------------------------------------------------- */

/* Of two with the same share, such as a list and all that is in it, the one with more of its own
 * comes first. */
static int by_share(const void *a, const void *b)
{
    const struct seep_look_holder *x = a, *y = b;
    const uint64_t of_x = x->retained[SEEP_LOOK_HOST], of_y = y->retained[SEEP_LOOK_HOST];

    return x->share < y->share   ? 1
           : x->share > y->share ? -1
           : of_x != of_y        ? (of_x < of_y ? 1 : -1)
           : x->key != y->key    ? (x->key < y->key ? -1 : 1)
                                 : 0;
}

/* `within` holds indices of an order that this sort replaces. */
static int sort_holders(struct search *s)
{
    struct seep_look_holders *found = s->found;
    size_t *place = malloc((found->n + 1) * sizeof *place);

    if (!place)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < found->n; i++) {
        found->list[i].share = seep_look_share(found, found->list[i].retained);
        found->list[i].found = (uint32_t)i;
    }
    if (found->n)
        qsort(found->list, found->n, sizeof *found->list, by_share);
    for (size_t i = 0; i < found->n; i++)
        place[found->list[i].found] = i;
    for (size_t i = 0; i < found->n; i++) {
        struct seep_look_holder *h = &found->list[i];
        if (h->within != SEEP_LOOK_NO_HOLDER)
            h->within =
                place[h->within] < MOST_HOLDERS ? (uint32_t)place[h->within] : SEEP_LOOK_NO_HOLDER;
    }
    found->n = found->n < MOST_HOLDERS ? found->n : MOST_HOLDERS;
    free(place);
    return 0;
}

static int tell(struct search *s, struct seep_look_holder *holder, bool keys)
{
    const struct seep_pytype *type = seep_node_type(s->heap, holder->node);

    holder->made_at = seep_look_lines_json(&s->lines, holder->found);
    if (!holder->made_at)
        return -SEEP_ENOMEM;
    if (type && holder->state != SEEP_HOLD_LOST) {
        if (holder->state == SEEP_HOLD_HELD) {
            holder->length = seep_node_length(s->heap, holder->node);
            holder->bound = seep_way_bound(s->reach, holder->node);
        }
        snprintf(holder->type, sizeof holder->type, "%s", seep_pytype_short(type));
    }
    const int rc = seep_unheld_path(s->reach, holder->state, holder->node, keys, &holder->path);
    if (!rc)
        seep_who_name_global(&s->taken->dump.maps, &holder->path);
    return rc;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int search(struct search *s)
{
    int rc = seep_reach_run(s->reach);

    if (!rc)
        rc = seep_inner_find(s->reach);
    if (!rc)
        rc = seep_ways_init(&s->ways, s->reach);
    if (!rc)
        rc = seep_dominators_find(&s->dominators, s->reach, true);
    return rc ? rc : seep_look_memories_find(&s->memories, s->found, s->heap, &s->dominators);
}

static void count(struct search *s)
{
    struct seep_look_holders *found = s->found;
    uint64_t bytes, n;

    found->live_bytes = found->memories[SEEP_LOOK_HOST].bytes;
    found->reached_bytes = s->heap->survey->roots_bytes;
    found->nodes = s->heap->n_nodes + s->heap->survey->n_with_roots;
    for (uint32_t i = 0; i < s->heap->n_nodes; i++) {
        seep_node_with(s->heap, i, &bytes, &n);
        found->nodes += n;
        if (s->reach->distance[i] != SEEP_UNREACHED)
            found->reached_bytes += s->heap->nodes[i].bytes + bytes;
    }
}

static int find(struct search *s, bool keys)
{
    int rc = search(s);

    if (!rc) {
        count(s);
        rc = find_holders(s);
    }
    if (!rc)
        rc = look_unheld_add(s->found, &s->capacity, s->reach, &s->memories, s->retainers.of_node);
    if (!rc)
        rc = seep_look_lines_count(&s->lines, s->taken, s->heap, s->found->list,
                                   s->retainers.of_node);
    if (!rc)
        rc = seep_look_others_find(s->found, s->reach, &s->dominators, s->retainers.of_node);
    if (!rc)
        rc = sort_holders(s);
    for (size_t i = 0; i < s->found->n && !rc; i++)
        rc = tell(s, &s->found->list[i], keys);
    return rc;
}

int seep_look_holders_find(struct seep_look_holders *holders, struct seep_taken *taken, bool keys)
{
    struct search *s = calloc(1, sizeof *s);

    *holders = (struct seep_look_holders){.all_known = !taken->allocator[0] && !taken->is_cut &&
                                                       !taken->lacks_memory};
    if (!s)
        return -SEEP_ENOMEM;
    holders->free_bytes = taken->free_bytes;
    s->found = holders;
    s->taken = taken;
    s->heap = &taken->heap;
    s->reach = &taken->reach;
    int rc = find(s, keys);
    seep_look_memories_fini(&s->memories);
    seep_dominators_fini(&s->dominators);
    seep_ways_fini(&s->ways);
    seep_look_lines_fini(&s->lines);
    seep_retainers_fini(&s->retainers);
    free(s);
    return rc;
}

void seep_look_holders_fini(struct seep_look_holders *holders)
{
    for (size_t i = 0; i < holders->n; i++)
        json_decref(holders->list[i].made_at);
    free(holders->list);
    free(holders->passed);
    *holders = (struct seep_look_holders){0};
}
