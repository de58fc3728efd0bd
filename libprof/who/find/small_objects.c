#include "libprof/who/find/small_objects.h"

#include "libprof/who/retained/retainers.h"
#include "libprof/who/survey/survey.h"
#include "libprof/who/ways/unheld.h"

#include <stdlib.h>

enum { MIN_BYTES = 64 << 10, MIN_SHARE = 256 };
enum { BYTES, BLOCKS }; /* places in a retainer's sums */

struct search {
    struct seep_small_objects *found;
    struct seep_reach *reach;
    uint32_t site;
    struct seep_ways ways;
    struct seep_dominators dominators;
    uint64_t *bytes; /* [nodes] of small objects, that each retains */
    struct seep_retainers retainers;
};

/* What goes with a node, and the node itself if it is one of them. */
static void small_of(const struct seep_heap *heap, uint32_t node, uint32_t site, uint64_t *bytes,
                     uint64_t *n)
{
    seep_node_with(heap, node, bytes, n);
    if (heap->nodes[node].site != site)
        return;
    *bytes += heap->nodes[node].bytes;
    *n += 1;
}

static int sum_up(struct search *s)
{
    const struct seep_heap *heap = s->reach->heap;

    s->bytes = calloc((size_t)s->dominators.n_nodes + 1, sizeof *s->bytes);
    if (!s->bytes)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < heap->n_nodes; i++) {
        uint64_t n;
        small_of(heap, i, s->site, &s->bytes[i], &n);
        s->found->bytes += s->bytes[i];
        s->found->blocks += n;
    }
    seep_dominators_sum(&s->dominators, s->bytes);
    return 0;
}

/* Who retains a block is asked only once it is known who retains much. */
static void count_blocks(struct search *s)
{
    const struct seep_heap *heap = s->reach->heap;
    struct seep_retainers *r = &s->retainers;

    for (uint32_t i = 0; i < heap->n_nodes; i++) {
        uint64_t bytes, n;
        small_of(heap, i, s->site, &bytes, &n);
        for (uint32_t one = r->of_node[i]; one != SEEP_NO_RETAINER; one = r->list[one].within)
            r->list[one].retained[BLOCKS] += n;
    }
}

static int by_bytes(const void *a, const void *b)
{
    const struct seep_retainer *x = a, *y = b;

    if (x->retained[BYTES] != y->retained[BYTES])
        return x->retained[BYTES] < y->retained[BYTES] ? 1 : -1;
    return (x->key > y->key) - (x->key < y->key);
}

/* The largest block that the container refers to and whose contents nobody else reads. */
static uint32_t table_of(const struct search *s, uint32_t container)
{
    const struct seep_heap *heap = s->reach->heap;
    const struct seep_node *table = NULL;
    struct seep_edge_cursor cursor = seep_heap_edges(heap, container);
    struct seep_edge edge;

    while (seep_heap_next(heap, container, &cursor, &edge)) {
        const struct seep_node *to = &heap->nodes[edge.to];
        if (to->kind == SEEP_NODE_RAW && to->site < s->site && (!table || to->bytes > table->bytes))
            table = to;
    }
    return table ? table->site : 0;
}

static struct seep_small_holder *add_holder(struct seep_small_objects *found, uint64_t bytes,
                                            uint64_t blocks)
{
    struct seep_small_holder *holder = &found->list[found->n++];

    *holder = (struct seep_small_holder){.path = {.blocks = blocks,
                                                  .bytes = bytes,
                                                  .sole_bytes = bytes,
                                                  .sole_known = true,
                                                  .holder_length = -1,
                                                  .holder_bound = -1}};
    return holder;
}

static int describe(const struct search *s, const struct seep_retainer *one, bool keys)
{
    struct seep_small_holder *holder =
        add_holder(s->found, one->retained[BYTES], one->retained[BLOCKS]);
    struct seep_answer_path *p = &holder->path;

    const int rc = seep_path_of(s->reach, one->node, keys, &p->path);
    if (!rc)
        seep_answer_holder(s->reach, one->node, p);
    const struct seep_pytype *type = seep_node_type(s->reach->heap, one->node);
    if (type && type->kind == SEEP_PYTYPE_TUPLE)
        p->holder_length = -1; /* it never gets longer */
    holder->table = p->holder_length >= 0 ? table_of(s, one->node) : 0;
    return rc;
}

/* Less is not worth to be told. */
static uint64_t least_of(const struct seep_small_objects *found)
{
    const uint64_t share = found->bytes / MIN_SHARE;

    return share > MIN_BYTES ? share : MIN_BYTES;
}

static int find(struct search *s, bool keys)
{
    int rc = seep_ways_init(&s->ways, s->reach);

    if (!rc)
        rc = seep_dominators_find(&s->dominators, s->reach, false);
    if (!rc)
        rc = sum_up(s);
    const struct seep_retained_memory memory = {
        .retained = s->bytes, .bytes = s->found->bytes, .least = least_of(s->found)};
    if (!rc)
        rc = seep_retainers_find(&s->retainers, &s->ways, &s->dominators, &memory, 1);
    if (!rc)
        count_blocks(s);
    const size_t n = s->retainers.n < SEEP_SMALL_HOLDERS ? s->retainers.n : SEEP_SMALL_HOLDERS;
    s->found->list = rc ? NULL : calloc(n + SEEP_SMALL_UNHELD, sizeof *s->found->list);
    if (!s->found->list)
        return -SEEP_ENOMEM;
    if (n)
        qsort(s->retainers.list, s->retainers.n, sizeof *s->retainers.list, by_bytes);
    for (size_t i = 0; i < n && !rc; i++)
        rc = describe(s, &s->retainers.list[i], keys);
    return rc;
}

int seep_small_objects_find(struct seep_small_objects *found, struct seep_reach *reach,
                            uint32_t site, bool keys)
{
    struct search s = {.found = found, .reach = reach, .site = site};

    *found = (struct seep_small_objects){0};
    const int rc = find(&s, keys);
    seep_retainers_fini(&s.retainers);
    seep_dominators_fini(&s.dominators);
    seep_ways_fini(&s.ways);
    free(s.bytes);
    return rc;
}

/* ---- what nobody holds ----------------------------------------------------------------------- */

struct unheld_sum {
    uint64_t bytes, blocks;
    uint64_t most; /* of one node, */
    uint32_t node; /* this one */
};

static void sum_unheld(const struct seep_reach *reach, const struct seep_unheld *unheld,
                       uint32_t site, struct unheld_sum *sums)
{
    for (uint32_t i = 0; i < reach->heap->n_nodes; i++) {
        struct unheld_sum *sum = &sums[unheld->of_node[i]];
        uint64_t bytes, n;
        if (unheld->of_node[i] == SEEP_NO_GROUP)
            continue;
        small_of(reach->heap, i, site, &bytes, &n);
        sum->bytes += bytes;
        sum->blocks += n;
        if (bytes > sum->most) {
            sum->most = bytes;
            sum->node = i;
        }
    }
}

int seep_small_objects_add_unheld(struct seep_small_objects *found, struct seep_reach *reach,
                                  uint32_t site, bool keys)
{
    struct seep_unheld unheld;
    int rc = seep_unheld_find(&unheld, reach);
    struct unheld_sum *sums = calloc(unheld.n + 1, sizeof *sums);

    if (!sums)
        rc = -SEEP_ENOMEM;
    if (!rc)
        sum_unheld(reach, &unheld, site, sums);
    for (int k = 0; k < SEEP_SMALL_UNHELD && !rc; k++) {
        size_t most = 0;
        for (size_t i = 1; i < unheld.n; i++)
            most = sums[i].bytes > sums[most].bytes ? i : most;
        if (sums[most].bytes < least_of(found))
            break;
        struct seep_small_holder *holder = add_holder(found, sums[most].bytes, sums[most].blocks);
        holder->path.sole_known = false; /* there is nothing to delete */
        rc = seep_unheld_path(reach, unheld.list[most].state, sums[most].node, keys,
                              &holder->path.path);
        sums[most].bytes = 0;
    }
    free(sums);
    seep_unheld_fini(&unheld);
    return rc;
}

void seep_small_objects_fini(struct seep_small_objects *found)
{
    free(found->list);
    *found = (struct seep_small_objects){0};
}
