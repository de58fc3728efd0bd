#include "libprof/who/retained/retainers.h"

#include "libprof/base/hash_index.h"
#include "libprof/who/survey/survey.h"

#include <stdlib.h>

struct search {
    struct seep_retainers *found;
    struct seep_ways *ways;
    const struct seep_reach *reach;
    const struct seep_dominators *dominators;
    const struct seep_retained_memory *memories;
    size_t n_memories;
    uint32_t *part[SEEP_RETAINED_MEMORIES]; /* [nodes] of those directly dominated by it, the one
                                             * that retains most in each memory */
    bool *is_member;                        /* [nodes] of a linked list, and not its first */
    uint32_t *named;                        /* [nodes] the retainer that it is; SEEP_NO_RETAINER */
    struct seep_hash_index by_key, by_passed_key;
    size_t passed_capacity;
};

static const struct seep_pytype *type_of(const struct search *s, uint32_t node)
{
    return seep_node_type(s->reach->heap, node);
}

static bool is_namespace(const struct seep_pytype *type)
{
    return type && (type->kind == SEEP_PYTYPE_MODULE || type->kind == SEEP_PYTYPE_TYPE);
}

/* A module or a class has several things that a user would name, and so has its dict. */
static bool has_names(const struct search *s, uint32_t node)
{
    const struct seep_pytype *type = type_of(s, node);
    const uint32_t parent = s->reach->parent[node];

    return is_namespace(type) || (type && type->kind == SEEP_PYTYPE_DICT &&
                                  !(parent & SEEP_REACH_ROOT) && is_namespace(type_of(s, parent)));
}

enum { NEARLY_ALL = 9, OF = 10 };

/* The part that retains nearly all of it; SEEP_NODE_NONE: there is none. */
static uint32_t main_part(const struct search *s, size_t memory, uint32_t node)
{
    const uint64_t *retained = s->memories[memory].retained;
    const uint32_t part = s->part[memory][node];

    return part != SEEP_NODE_NONE && retained[part] * OF >= retained[node] * NEARLY_ALL
               ? part
               : SEEP_NODE_NONE;
}

/* The next member of a linked list, or of a tree whose memory is nearly all on one side: an object
 * of the same type that retains nearly all of it, close behind it. A container in another one is
 * often just that. */
static uint32_t next_member(const struct search *s, size_t memory, uint32_t node)
{
    enum { CLOSE = 5 }; /* its attributes, a container, that one's table, a pair, the member */
    const struct seep_pytype *type = type_of(s, node);
    uint32_t next = node;

    if (!type || seep_node_length(s->reach->heap, node) >= 0)
        return SEEP_NODE_NONE;
    for (int i = 0; i < CLOSE; i++) {
        next = main_part(s, memory, next);
        if (next == SEEP_NODE_NONE || type_of(s, next) == type)
            return next;
    }
    return SEEP_NODE_NONE;
}

/* Whether many things are freed with it, and not nearly all of them with one of its parts: a user
 * would name that instead, unless it is but the next member of a linked list. */
static bool is_large(struct search *s, size_t memory, uint32_t node)
{
    if (!s->part[memory] || s->memories[memory].retained[node] < s->memories[memory].least)
        return false;
    const uint32_t next = next_member(s, memory, node);
    if (next != SEEP_NODE_NONE)
        s->is_member[next] = true;
    return next != SEEP_NODE_NONE || main_part(s, memory, node) == SEEP_NODE_NONE;
}

static bool is_retainer(struct search *s, uint32_t node)
{
    bool large = false;

    for (size_t m = 0; m < s->n_memories; m++)
        large = is_large(s, m, node) || large;
    return large && !s->is_member[node] && !has_names(s, node);
}

/* What a user would name of it: a block of C goes with the object that it belongs to, as an array's
 * elements, and a member of a linked list with the first. */
static uint32_t named_by(struct search *s, uint32_t node)
{
    for (uint32_t by; (by = s->dominators->by[node]) != SEEP_DOMINATED_BY_NONE; node = by)
        if (has_names(s, by) ||
            (type_of(s, node) && seep_ways_hash(s->ways, by) != seep_ways_hash(s->ways, node)))
            break;
    return node;
}

/* A block of C's that does not go with the object before it is another retainer than that; those
 * that a program's variables point to are told apart by these. */
static uint64_t key_of(struct search *s, uint32_t node)
{
    const uint64_t key = seep_ways_hash(s->ways, node);
    const bool of_variable = s->reach->parent[node] & SEEP_REACH_ROOT;
    const uint64_t place = of_variable ? seep_label_value(seep_reach_label(s->reach, node)) : 1;

    return type_of(s, node) ? key : key ^ place * UINT64_C(0x9e3779b97f4a7c15);
}

static uint32_t by_key(const struct search *s, uint64_t key)
{
    uint32_t at = seep_hash_begin(&s->by_key, key), i;

    while ((i = seep_hash_next(&s->by_key, key, &at)) != SEEP_HASH_NONE)
        if (s->found->list[i].key == key)
            return i;
    return SEEP_NO_RETAINER;
}

static uint32_t add(struct search *s, uint64_t key, uint32_t within)
{
    struct seep_retainers *found = s->found;
    const uint32_t i = (uint32_t)found->n;

    if (seep_grow(&found->list, &found->capacity, found->n + 1, sizeof *found->list) ||
        seep_hash_add(&s->by_key, key, i)) {
        s->ways->no_memory = true;
        return SEEP_NO_RETAINER;
    }
    found->list[found->n++] = (struct seep_retainer){.key = key, .within = within};
    return i;
}

/* A retainer inside another one of its own kind, as in a tree, counts in the outer one's sum. */
static uint32_t above(const struct search *s, uint32_t node)
{
    const uint32_t by = s->dominators->by[node];

    return by == SEEP_DOMINATED_BY_NONE ? SEEP_NO_RETAINER : s->found->of_node[by];
}

/* The largest part that it is of a memory. */
static double share_of(const struct search *s, const uint64_t retained[SEEP_RETAINED_MEMORIES])
{
    double share = 0;

    for (size_t m = 0; m < s->n_memories; m++)
        if (s->memories[m].bytes && (double)retained[m] > share * (double)s->memories[m].bytes)
            share = (double)retained[m] / (double)s->memories[m].bytes;
    return share;
}

static struct seep_retained_sum *passed_of(struct search *s, uint64_t key)
{
    struct seep_retainers *found = s->found;
    uint32_t at = seep_hash_begin(&s->by_passed_key, key), i;

    while ((i = seep_hash_next(&s->by_passed_key, key, &at)) != SEEP_HASH_NONE)
        if (found->passed[i].key == key)
            return &found->passed[i];
    if (seep_grow(&found->passed, &s->passed_capacity, found->n_passed + 1,
                  sizeof *found->passed) ||
        seep_hash_add(&s->by_passed_key, key, (uint32_t)found->n_passed)) {
        s->ways->no_memory = true;
        return NULL;
    }
    found->passed[found->n_passed] = (struct seep_retained_sum){.key = key};
    return &found->passed[found->n_passed++];
}

/* Another look may name it, whose growth is then counted from what it has here. */
static void pass_over(struct search *s, uint32_t node)
{
    struct seep_retained_sum *sum;
    bool large = false;

    for (size_t m = 0; m < s->n_memories; m++)
        large = large || s->memories[m].retained[node] >= s->memories[m].least;
    if (!large || s->is_member[node] || has_names(s, node) || named_by(s, node) != node ||
        !(sum = passed_of(s, key_of(s, node))))
        return;
    for (size_t m = 0; m < s->n_memories; m++)
        sum->retained[m] += s->memories[m].retained[node];
}

static void take_node(struct search *s, uint32_t found)
{
    uint32_t *of_node = s->found->of_node;

    of_node[found] = above(s, found);
    if (!is_retainer(s, found)) {
        pass_over(s, found);
        return;
    }
    const uint32_t node = named_by(s, found), within = above(s, node);
    const uint64_t key = key_of(s, node);
    uint64_t retained[SEEP_RETAINED_MEMORIES] = {0};
    uint32_t i = by_key(s, key);
    if (i == SEEP_NO_RETAINER)
        i = add(s, key, within);
    if (i == SEEP_NO_RETAINER || i == of_node[node] || i == within)
        return;
    struct seep_retainer *one = &s->found->list[i];
    for (size_t m = 0; m < s->n_memories; m++) {
        retained[m] = s->memories[m].retained[node];
        one->retained[m] += retained[m];
    }
    const double share = share_of(s, retained);
    one->objects++;
    if (share > one->most) {
        one->most = share;
        one->node = node;
    }
    of_node[node] = of_node[found] = i;
    s->named[node] = s->named[found] = i;
}

/* The retainer around one, not itself in another object's place. */
static uint32_t around(const struct search *s, uint32_t i)
{
    const uint32_t *by = s->dominators->by;

    for (uint32_t at = by[s->found->list[i].node]; at != SEEP_DOMINATED_BY_NONE; at = by[at])
        if (s->named[at] != SEEP_NO_RETAINER && s->named[at] != i)
            return s->named[at];
    return SEEP_NO_RETAINER;
}

/* A retainer may be named by an object around what was found, and around retainers that were found
 * before: so who is within whom is known last. */
static void place_all(struct search *s)
{
    const struct seep_dominators *d = s->dominators;
    struct seep_retainers *found = s->found;

    for (uint32_t i = 0; i < d->n_order; i++) {
        const uint32_t node = d->order[i];
        found->of_node[node] = s->named[node] != SEEP_NO_RETAINER ? s->named[node] : above(s, node);
    }
    for (uint32_t i = 0; i < found->n; i++)
        found->list[i].within = SEEP_NO_RETAINER;
    for (uint32_t i = 0; i < found->n; i++) {
        uint32_t outer = around(s, i), at = outer;
        while (at != SEEP_NO_RETAINER && at != i)
            at = found->list[at].within;
        found->list[i].within =
            at == i ? SEEP_NO_RETAINER : outer; /* each holds some of the other */
    }
}

static int find_parts(struct search *s, size_t memory)
{
    const struct seep_dominators *d = s->dominators;
    const uint64_t *retained = s->memories[memory].retained;
    uint32_t *part = s->part[memory] = malloc(((size_t)d->n_nodes + 1) * sizeof *part);

    if (!part)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < d->n_nodes; i++)
        part[i] = SEEP_NODE_NONE;
    for (uint32_t i = d->n_order; i-- > 0;) {
        const uint32_t node = d->order[i], by = d->by[node];
        if (by != SEEP_DOMINATED_BY_NONE && retained[node] &&
            (part[by] == SEEP_NODE_NONE || retained[node] > retained[part[by]]))
            part[by] = node;
    }
    return 0;
}

static int find(struct search *s)
{
    const struct seep_dominators *d = s->dominators;
    const size_t n = (size_t)d->n_nodes + 1;

    s->found->of_node = malloc(n * sizeof *s->found->of_node);
    s->named = malloc(n * sizeof *s->named);
    s->is_member = calloc(n, sizeof *s->is_member);
    if (!s->found->of_node || !s->named || !s->is_member)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < n; i++)
        s->found->of_node[i] = s->named[i] = SEEP_NO_RETAINER;
    for (size_t m = 0; m < s->n_memories; m++)
        if (s->memories[m].least != UINT64_MAX && find_parts(s, m))
            return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < d->n_order; i++)
        take_node(s, d->order[i]);
    place_all(s);
    return s->ways->no_memory ? -SEEP_ENOMEM : 0;
}

int seep_retainers_find(struct seep_retainers *found, struct seep_ways *ways,
                        const struct seep_dominators *dominators,
                        const struct seep_retained_memory *memories, size_t n_memories)
{
    struct search s = {.found = found,
                       .ways = ways,
                       .reach = ways->reach,
                       .dominators = dominators,
                       .memories = memories,
                       .n_memories = n_memories};

    *found = (struct seep_retainers){0};
    const int rc = find(&s);
    seep_hash_fini(&s.by_key);
    seep_hash_fini(&s.by_passed_key);
    for (size_t m = 0; m < n_memories; m++)
        free(s.part[m]);
    free(s.is_member);
    free(s.named);
    return rc;
}

void seep_retainers_fini(struct seep_retainers *found)
{
    free(found->list);
    free(found->passed);
    free(found->of_node);
    *found = (struct seep_retainers){0};
}
