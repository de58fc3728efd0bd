#include "libprof/who/ways/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/thresholds/thresholds.h"
#include "libprof/who/survey/survey.h"
#include "libprof/who/ways/path.h"
#include "libprof/who/ways/reach_passes.h"
#include "libprof/who/ways/ways.h"

/* The blocks that each line of code allocated, and the paths that lead to them. */

enum { SEEP_LINE_WAYS = 64 }; /* paths of a line that are told apart */

/* Blocks of a line that are reached by alike paths. */
struct seep_line_way {
    uint64_t hash, blocks, bytes;
    uint32_t n_nodes; /* fewer than blocks, where only some were recorded */
    uint32_t example;
    uint8_t number; /* from 1 on */
};

struct seep_line_ways {
    struct seep_reach *reach;
    struct seep_ways ways;
    uint32_t n_lines;
    uint32_t *end;   /* [n_lines] of each line's part of */
    uint32_t *nodes; /* the blocks of lines 1 to n_lines − 1, by line and address */
    uint8_t *way_of; /* [nodes] for the line that was asked for last: the number of the node's way;
                      * 0: none */
};

/* The blocks of a line. */
static inline const uint32_t *seep_line_begin(const struct seep_line_ways *l, uint32_t line)
{
    return l->nodes + (line ? l->end[line - 1] : 0);
}

static inline const uint32_t *seep_line_end(const struct seep_line_ways *l, uint32_t line)
{
    return l->nodes + l->end[line];
}

enum {
    ASKED = 3,    /* blocks of a path that are searched for its common part */
    COMMON = 256, /* nodes from the root on that paths may share */
};

static uint32_t line_of_run(const struct seep_heap *heap, uint32_t node,
                            const uint32_t *line_of_site, size_t n_sites)
{
    const uint32_t site = heap->nodes[node].site;

    return site < n_sites ? line_of_site[site] : 0;
}

/* Takes the blocks whose site has a line: line_of_site[n_sites], 0: none. Returns 0 or
 * -SEEP_ENOMEM. Allocates, 5 bytes for each block at most, and struct seep_ways; _fini() in either
 * case. */
static int line_ways_init(struct seep_line_ways *l, struct seep_reach *reach,
                          const uint32_t *line_of_site, size_t n_sites, uint32_t n_lines)
{
    const struct seep_heap *heap = reach->heap;
    uint32_t sum = 0;

    *l = (struct seep_line_ways){.reach = reach, .n_lines = n_lines};
    l->end = calloc(n_lines + (size_t)1, sizeof *l->end);
    l->way_of = calloc(heap->n_nodes + (size_t)1, sizeof *l->way_of);
    if (!l->end || !l->way_of || seep_ways_init(&l->ways, reach))
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < heap->n_blocks; i++) {
        const uint32_t line = line_of_run(heap, i, line_of_site, n_sites);
        if (line && line < n_lines)
            l->end[line]++;
    }
    for (uint32_t line = 0; line < n_lines; line++) {
        const uint32_t count = l->end[line];
        l->end[line] = sum; /* where it begins; once all are placed, where it ends */
        sum += count;
    }
    l->nodes = malloc((sum + (size_t)1) * sizeof *l->nodes);
    if (!l->nodes)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < heap->n_blocks; i++) {
        const uint32_t line = line_of_run(heap, i, line_of_site, n_sites);
        if (line && line < n_lines)
            l->nodes[l->end[line]++] = i;
    }
    return 0;
}

static void line_ways_fini(struct seep_line_ways *l)
{
    seep_ways_fini(&l->ways);
    free(l->end);
    free(l->nodes);
    free(l->way_of);
    *l = (struct seep_line_ways){0};
}

/* Sums up the paths to a line's blocks that are reached, and of which `only`[nodes] is `value`
 * (NULL: to all), and notes each block's way. Stores at most SEEP_LINE_WAYS and returns the number
 * of ways. If paths have changed since the last call, seep_ways_forget() comes first. */
static size_t line_ways_find(struct seep_line_ways *l, uint32_t line, const uint8_t *only,
                             uint8_t value, struct seep_line_way *ways)
{
    const struct seep_reach *reach = l->reach;
    size_t n = 0;

    for (const uint32_t *at = seep_line_begin(l, line); at < seep_line_end(l, line); at++) {
        l->way_of[*at] = 0;
        if (reach->distance[*at] == SEEP_UNREACHED || (only && only[*at] != value))
            continue;
        const uint64_t hash = seep_ways_hash(&l->ways, *at);
        size_t i = 0;
        while (i < n && ways[i].hash != hash)
            i++;
        if (i == SEEP_LINE_WAYS)
            continue;
        if (i == n) {
            ways[i] =
                (struct seep_line_way){.hash = hash, .number = (uint8_t)(i + 1), .example = *at};
            n++;
        }
        l->way_of[*at] = ways[i].number;
        if (reach->distance[*at] > reach->distance[ways[i].example])
            ways[i].example = *at; /* the farthest: in a list, its end */
        ways[i].n_nodes++;
        ways[i].blocks += seep_node_stands_for(reach->heap, *at);
        ways[i].bytes += seep_node_all_bytes(reach->heap, *at);
    }
    return n;
}

/* The way to most bytes, or NULL. */
static struct seep_line_way *line_ways_largest(struct seep_line_way *ways, size_t n)
{
    struct seep_line_way *best = NULL;

    for (size_t i = 0; i < n; i++)
        if (ways[i].bytes && (!best || ways[i].bytes > best->bytes))
            best = &ways[i];
    return best;
}

/* How many nodes of a path, counted from the root, nearly all blocks of a way share. A block is not
 * part of what it shares itself. */
static size_t depth_of(struct seep_line_ways *l, uint32_t line, const struct seep_line_way *way,
                       const uint32_t *path, size_t n_path)
{
    uint64_t shares[COMMON + 1] = {0}, sum = 0;

    seep_ways_unmark(&l->ways);
    for (size_t k = 0; k < n_path; k++)
        seep_ways_mark(&l->ways, path[k], (uint16_t)(k + 1));
    for (const uint32_t *at = seep_line_begin(l, line); at < seep_line_end(l, line); at++)
        if (l->way_of[*at] == way->number)
            shares[seep_ways_marked(&l->ways, l->reach->parent[*at])] +=
                seep_node_stands_for(l->reach->heap, *at);
    for (size_t k = COMMON; k > 0; k--) {
        sum += shares[k];
        if (way->blocks && (double)sum / (double)way->blocks >= SEEP_T_HOLDER_SHARE)
            return k;
    }
    return 0;
}

/* The nearest block stands for all; of several, the largest. So the choice does not depend on
 * addresses. */
static void choose_example(struct seep_line_ways *l, uint32_t line, struct seep_line_way *way,
                           uint32_t holder)
{
    const struct seep_reach *reach = l->reach;
    const struct seep_node *nodes = reach->heap->nodes;
    uint32_t best = way->example;

    seep_ways_unmark(&l->ways);
    seep_ways_mark(&l->ways, holder, 1);
    for (const uint32_t *at = seep_line_begin(l, line); at < seep_line_end(l, line); at++) {
        if (l->way_of[*at] != way->number || reach->distance[*at] > reach->distance[best] ||
            (reach->distance[*at] == reach->distance[best] &&
             nodes[*at].bytes <= nodes[best].bytes))
            continue;
        if (seep_ways_marked(&l->ways, *at))
            best = *at;
    }
    way->example = best;
}

/* The last node that nearly all blocks of a way share with the path to `asked`, and its depth. */
static uint32_t common_with(struct seep_line_ways *l, uint32_t line,
                            const struct seep_line_way *way, uint32_t asked, size_t *depth)
{
    uint32_t first[COMMON];
    size_t n = seep_path_begin(l->reach, asked, first, COMMON);

    *depth = depth_of(l, line, way, first, n > COMMON ? COMMON : n - 1);
    return *depth ? first[*depth - 1] : SEEP_NODE_NONE;
}

/* The last node, counted from the root, that the paths to nearly all blocks of one of the ways
 * found last share; SEEP_NODE_NONE: none. Makes the block that stands best for them the example. */
/* Any block may be an outlier, so several are tried. */
static uint32_t line_ways_common(struct seep_line_ways *l, uint32_t line, struct seep_line_way *way)
{
    uint64_t seen = 0;
    size_t deepest, depth;
    uint32_t best = common_with(l, line, way, way->example, &deepest);

    for (const uint32_t *at = seep_line_begin(l, line); at < seep_line_end(l, line); at++) {
        if (l->way_of[*at] != way->number || seen++ % (way->n_nodes / ASKED + 1))
            continue;
        uint32_t node = common_with(l, line, way, *at, &depth);
        if (depth > deepest) {
            deepest = depth;
            best = node;
            way->example = *at;
        }
    }
    if (best != SEEP_NODE_NONE)
        choose_example(l, line, way, best);
    return best;
}

/* Whether a block is held, and if not, what keeps it. */
enum alive { BY_NOBODY, ALIVE, BY_CYCLE, BY_REFERENCE };

/* The live memory of a line. */
struct sum {
    uint32_t line;
    uint64_t blocks, bytes, lost_bytes, cycle_bytes, reference_bytes, graph_bytes;
};

/* What is held, before anything is left out. */
struct held {
    struct seep_line_way way;
    uint32_t holder; /* SEEP_NODE_NONE: none */
    uint32_t first;  /* the block that stands for the first way */
    bool is_asked;   /* whether further holders are looked for */
    uint32_t shared; /* what others than the way's variable lead to, too; SEEP_NODE_NONE: none */
};

struct holder_search {
    struct seep_reach *reach;
    const struct seep_holder_query *question;
    uint8_t *alive;       /* [nodes] enum alive */
    uint64_t small_bytes; /* of objects in arenas that references too many hold */
    uint8_t *in_graph;    /* [nodes] whether graphs hold it, as far as known */
    struct seep_line_ways lines;
    size_t most_walked;
    /* Of the paths that were found, */
    struct seep_reach_changes certain; /* those that change without doubtful roots, */
    struct seep_reach_changes unheld;  /* and those to what only cycles and references hold */
    struct held *held;                 /* [most] */
};

static uint32_t line_of(const struct holder_search *a, uint32_t node)
{
    uint32_t site = a->reach->heap->nodes[node].site;

    return site < a->question->n_sites ? a->question->line_of_site[site] : 0;
}

static bool is_reached(const struct holder_search *a, uint32_t node)
{
    return a->reach->distance[node] != SEEP_UNREACHED;
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

/* The hop behind the one that the holder belongs to: where its inside begins. */
static size_t holder_hop(const struct seep_reach *reach, uint32_t holder,
                         const struct seep_path *path)
{
    size_t depth, hop = 0;

    (void)seep_path_root(reach, holder, &depth);
    while (hop < path->n && path->hops[hop].at < depth)
        hop++;
    while (hop && path->hops[hop - 1].repeated > 1)
        hop--; /* a linked list is held at its head */
    return hop;
}

void seep_answer_holder(struct seep_reach *reach, uint32_t holder, struct seep_answer_path *p)
{
    struct seep_heap *heap = reach->heap;
    const struct seep_pytype *type = seep_node_type(heap, holder);

    p->holder_hop = holder_hop(reach, holder, &p->path);
    seep_path_holder_name(&p->path, p->holder_hop, p->holder_name, sizeof p->holder_name);
    if (p->holder_hop)
        snprintf(p->holder_type, sizeof p->holder_type, "%s", p->path.hops[p->holder_hop - 1].type);
    if (!type || (type->kind == SEEP_PYTYPE_DICT &&
                  seep_label_kind(seep_reach_label(reach, holder)) == SEEP_LABEL_HIDDEN))
        return; /* its attributes are the object's own */
    p->holder_length = seep_node_length(heap, holder);
    p->holder_bound = seep_way_bound(reach, holder);
}

/* The bytes of a line that nobody would hold without the excluded nodes. */
static uint64_t freed_of(const struct holder_search *a, uint32_t line)
{
    const struct seep_line_ways *l = &a->lines;
    uint64_t bytes = 0;

    for (const uint32_t *at = seep_line_begin(l, line); at < seep_line_end(l, line); at++)
        if (!is_reached(a, *at) && a->alive[*at] == ALIVE)
            bytes += seep_node_all_bytes(a->reach->heap, *at);
    return bytes;
}

static enum seep_root_kind root_of(const struct holder_search *a, const struct seep_line_way *way)
{
    size_t n;

    return a->reach->roots[seep_path_root(a->reach, way->example, &n)].kind;
}

/* The bytes of a line that a further path must lead to. More if it begins at a word that may be
 * stale instead of an object. */
static double least_of(const struct holder_search *a, const struct seep_line_way *way)
{
    const enum seep_root_kind kind = root_of(a, way);
    bool word = kind == SEEP_ROOT_STATIC || kind == SEEP_ROOT_THREAD || kind == SEEP_ROOT_STACK;
    return word ? SEEP_T_HALF : 1.0 / SEEP_T_PEAK_SHARE;
}

static int take_way(const struct holder_search *a, const struct seep_line_way *way,
                    struct seep_answer_path *p)
{
    p->blocks = way->blocks;
    p->bytes = way->bytes;
    p->holder_length = p->holder_bound = -1;
    return seep_path_of(a->reach, way->example, a->question->keys, &p->path);
}

/* The ways to what a line keeps for certain. */
static size_t certain_ways(struct holder_search *a, uint32_t line, struct seep_line_way *ways)
{
    return line_ways_find(&a->lines, line, a->alive, ALIVE, ways);
}

/* Where several variables of a library lead to the same blocks by as long ways as these, which one
 * of them is found is chance. A table's entries are near. */
enum { MOST_BY_CHANCE = 3 };

/* Describes what holds the blocks of a way. */
static int find_holder(struct holder_search *a, const struct seep_answer *answer, struct held *held,
                       struct seep_answer_path *p)
{
    held->holder = line_ways_common(&a->lines, answer->line, &held->way);
    const int rc = take_way(a, &held->way, p);
    if (held->holder != SEEP_NODE_NONE)
        seep_answer_holder(a->reach, held->holder, p);
    else if (p->path.n && p->path.hops[0].kind == SEEP_HOP_NATIVE &&
             p->path.hops[0].repeated > MOST_BY_CHANCE)
        p->path.root_address = 0;
    return rc;
}

/* Removes one holder after the other until most of the line would be free, and describes each. */
static int find_holders(struct holder_search *a, struct seep_answer *answer, struct held *held)
{
    struct seep_line_way ways[SEEP_LINE_WAYS];
    uint64_t freed = 0;
    size_t n_worth = 1; /* the rest hold nothing that would not be held without them, too */
    int rc = 0;

    for (size_t h = 0; h < SEEP_REACH_EXCLUDED && !rc; h++) {
        struct seep_answer_path *p = &answer->paths[h];
        if (h)
            rc = find_holder(a, answer, held, p);
        if (rc || held->holder == SEEP_NODE_NONE || a->reach->n_walked >= a->most_walked)
            break; /* a further one would need proof */
        a->reach->excluded[h] = held->holder;
        rc = seep_reach_leave_out(a->reach, held->holder);
        p->sole_bytes = rc ? 0 : freed_of(a, answer->line);
        p->sole_known = !rc;
        if (!h || p->sole_bytes >= freed + answer->bytes / SEEP_T_NEGLIGIBLE)
            n_worth = h + 1;
        freed = p->sole_bytes;
        seep_ways_forget(&a->lines.ways);
        size_t n =
            share(freed, answer->bytes) < SEEP_T_MOST ? certain_ways(a, answer->line, ways) : 0;
        const struct seep_line_way *next = line_ways_largest(ways, n);
        if (!next || share(next->bytes, answer->bytes) < least_of(a, next))
            break;
        held->way = *next;
    }
    answer->n_paths = n_worth;
    return rc;
}

static int add_path(const struct holder_search *a, struct seep_answer *answer,
                    const struct seep_line_way *way)
{
    struct seep_answer_path *p = &answer->paths[answer->n_paths++];
    int rc = take_way(a, way, p);

    p->holder_hop = p->path.n;
    return rc;
}

/* Addresses that lead to a part of lost memory may be stray: none of their paths leads to much. */
static enum seep_hold_state state_of(const struct holder_search *a,
                                     const struct seep_answer *answer,
                                     const struct seep_line_way *way)
{
    const double lost = share(answer->lost_bytes, answer->bytes);

    if (lost >= SEEP_T_NEARLY_ALL || (lost >= SEEP_T_KEPT_LOST && way &&
                                      share(way->bytes, answer->bytes) < 1.0 / SEEP_T_LARGE_SHARE))
        return a->reach->heap->inner_cut ? SEEP_HOLD_UNKNOWN : SEEP_HOLD_LOST;
    if (share(answer->cycle_bytes, answer->bytes) >= SEEP_T_HALF)
        return SEEP_HOLD_CYCLE;
    if (!way)
        return SEEP_HOLD_UNKNOWN;
    if (share(answer->reference_bytes, answer->bytes) >= SEEP_T_HALF)
        return a->reach->heap->inner_cut ? SEEP_HOLD_UNKNOWN : SEEP_HOLD_REFERENCE;
    return SEEP_HOLD_HELD;
}

static int answer_line(struct holder_search *a, struct seep_answer *answer, struct held *held)
{
    struct seep_line_way ways[SEEP_LINE_WAYS];
    size_t n = line_ways_find(&a->lines, answer->line, NULL, 0, ways);
    const struct seep_line_way *way = line_ways_largest(ways, n);

    answer->state = state_of(a, answer, way);
    if (answer->state == SEEP_HOLD_CYCLE || answer->state == SEEP_HOLD_REFERENCE)
        return add_path(a, answer, way);
    if (answer->state == SEEP_HOLD_HELD && root_of(a, way) == SEEP_ROOT_REFERENCE) {
        n = certain_ways(a, answer->line, ways); /* only a part is explained: who holds the rest? */
        way = line_ways_largest(ways, n);
        answer->state = way ? SEEP_HOLD_HELD : SEEP_HOLD_UNKNOWN;
    }
    if (answer->state != SEEP_HOLD_HELD)
        return 0;
    *held = (struct held){.way = *way, .is_asked = true, .shared = SEEP_NODE_NONE};
    answer->n_paths = 1;
    const int rc = find_holder(a, answer, held, &answer->paths[0]);
    held->first = held->way.example;
    return rc;
}

static void put_back(struct holder_search *a, struct seep_reach_changes *changes)
{
    for (size_t h = 0; h < SEEP_REACH_EXCLUDED; h++)
        a->reach->excluded[h] = SEEP_NODE_NONE;
    seep_reach_changes_end(a->reach);
    seep_reach_swap(a->reach, changes);
    seep_reach_changes_fini(changes);
}

/* What each holder alone keeps, of a line that is held. Leaves the paths as they were. */
static int prove_line(struct holder_search *a, struct seep_answer *answer, struct held *held)
{
    struct seep_reach_changes left_out;
    int rc = seep_reach_changes_begin(a->reach, &left_out);

    if (!rc)
        rc = find_holders(a, answer, held);
    put_back(a, &left_out);
    if (answer->n_paths > 1 &&
        share(answer->paths[0].sole_bytes, answer->paths[0].bytes) < SEEP_T_HALF)
        answer->state = SEEP_HOLD_SHARED; /* else each holds a part */
    return rc;
}

/* Without one variable after the other that leads to the holder nothing is freed: they are not what
 * holds it. Leaves the paths as they were. */
static int find_shared(struct holder_search *a, const struct seep_answer *answer, uint32_t holder,
                       uint32_t *node)
{
    struct seep_reach_changes left_out;
    struct seep_shared shared;
    bool more = true;

    seep_shared_begin(&shared, a->reach, holder);
    *node = SEEP_NODE_NONE;
    if (shared.node == SEEP_NODE_NONE)
        return 0;
    int rc = seep_reach_changes_begin(a->reach, &left_out);
    while (!rc && more && shared.node != SEEP_NODE_NONE) {
        rc = seep_shared_leave_out(&shared, &more);
        if (share(freed_of(a, answer->line), answer->bytes) >= 1.0 / SEEP_T_LARGE_SHARE ||
            a->reach->n_walked >= a->most_walked)
            shared.node = SEEP_NODE_NONE;
    }
    put_back(a, &left_out);
    *node = shared.node;
    return rc;
}

static int prove_one(struct holder_search *a, struct seep_answer *answer, struct held *held)
{
    const uint32_t holder = held->holder;
    int rc = SEEP_NODE_NONE == holder ? 0 : find_shared(a, answer, holder, &held->shared);

    if (!rc && held->shared == SEEP_NODE_NONE)
        rc = prove_line(a, answer, held);
    return rc;
}

/* A runtime's own data is no variable's, though each of its objects leads there. */
static int tell_shared(struct holder_search *a, struct seep_answer *answer, const struct held *held)
{
    struct seep_answer_path *p = &answer->paths[0];
    const int rc =
        seep_path_of_shared(a->reach, held->first, held->shared, a->question->keys, &p->path);

    if (rc || !p->path.shared)
        return rc;
    seep_answer_holder(a->reach, held->shared, p);
    p->holder_length = p->holder_bound = -1;
    return 0;
}

/* Doubtful roots prove nothing. */
static int prove_all(struct holder_search *a, struct seep_answer *answers, size_t n)
{
    int rc = 0;

    seep_reach_swap(a->reach, &a->unheld);
    seep_reach_swap(a->reach, &a->certain);
    for (size_t i = 0; i < n && !rc; i++)
        if (a->held[i].is_asked)
            rc = prove_one(a, &answers[i], &a->held[i]);
    seep_reach_swap(a->reach, &a->certain);
    seep_reach_swap(a->reach, &a->unheld);
    for (size_t i = 0; i < n && !rc; i++)
        if (a->held[i].is_asked && a->held[i].shared != SEEP_NODE_NONE)
            rc = tell_shared(a, &answers[i], &a->held[i]);
    return rc;
}

static int by_bytes(const void *a, const void *b)
{
    const struct sum *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return (x->line > y->line) - (x->line < y->line);
}

static void sum_lines(const struct holder_search *a, struct sum *sums)
{
    const struct seep_reach *reach = a->reach;

    for (uint32_t i = 0; i < reach->heap->n_blocks; i++) {
        uint32_t line = line_of(a, i);
        const uint64_t bytes = seep_node_all_bytes(reach->heap, i);
        if (!line || line >= a->question->n_lines)
            continue;
        struct sum *sum = &sums[line];
        sum->line = line;
        sum->blocks += seep_node_stands_for(reach->heap, i);
        sum->bytes += bytes;
        if (!is_reached(a, i))
            sum->lost_bytes += bytes;
        else if (a->alive[i] == BY_CYCLE)
            sum->cycle_bytes += bytes;
        else if (a->alive[i] == BY_REFERENCE)
            sum->reference_bytes += bytes;
        else if (seep_graph_holds(reach, i, a->in_graph))
            sum->graph_bytes += bytes;
    }
    qsort(sums, a->question->n_lines, sizeof *sums, by_bytes);
}

static int answer_all(struct holder_search *a, struct sum *sums, struct seep_answer *answers)
{
    const struct seep_holder_query *q = a->question;
    size_t n = 0;
    int rc = 0;

    sum_lines(a, sums);
    for (; !rc && n < q->most && n < q->n_lines && sums[n].line && sums[n].bytes >= q->least; n++) {
        answers[n] = (struct seep_answer){.line = sums[n].line,
                                          .blocks = sums[n].blocks,
                                          .bytes = sums[n].bytes,
                                          .lost_bytes = sums[n].lost_bytes,
                                          .cycle_bytes = sums[n].cycle_bytes,
                                          .reference_bytes = sums[n].reference_bytes,
                                          .small_bytes = a->small_bytes,
                                          .graph_bytes = sums[n].graph_bytes};
        rc = answer_line(a, &answers[n], &a->held[n]);
    }
    if (!rc)
        rc = prove_all(a, answers, n);
    if (a->lines.ways.no_memory)
        rc = -SEEP_ENOMEM;
    return rc ? rc : (int)n;
}

/* Of small objects: what the node is, and what goes with it. */
static uint64_t small_bytes_of(const struct holder_search *a, uint32_t node)
{
    const struct seep_heap *heap = a->reach->heap;
    uint64_t bytes, n;

    seep_node_with(heap, node, &bytes, &n);
    return bytes +
           (heap->nodes[node].site == a->question->small_site ? heap->nodes[node].bytes : 0);
}

/* What is reached now and was not before is held in this way. */
static void note_reached(struct holder_search *a, enum alive how)
{
    const struct seep_heap *heap = a->reach->heap;

    for (uint32_t i = 0; i < heap->n_nodes; i++) {
        if (a->alive[i] != BY_NOBODY || !is_reached(a, i))
            continue;
        a->alive[i] = (uint8_t)how;
        if (how == BY_REFERENCE && a->question->small_site)
            a->small_bytes += small_bytes_of(a, i);
    }
}

/* Searches for cycles, and again without doubtful roots. */
static int complete(struct holder_search *a)
{
    struct seep_reach *reach = a->reach;
    int rc = seep_reach_changes_begin(reach, &a->certain);

    note_reached(a, ALIVE);
    if (!rc)
        rc = seep_reach_leave_doubtful(reach);
    seep_reach_changes_end(reach);
    seep_reach_swap(reach, &a->certain);
    if (!rc)
        rc = seep_reach_changes_begin(reach, &a->unheld);
    if (!rc)
        rc = seep_cycles_find(reach);
    note_reached(a, BY_CYCLE);
    if (!rc)
        rc = seep_references_find(reach);
    note_reached(a, BY_REFERENCE);
    seep_reach_changes_end(reach);
    a->most_walked = reach->n_walked + a->question->most_runs * reach->heap->n_nodes;
    return rc;
}

int seep_answer_lines(struct seep_reach *reach, const struct seep_holder_query *question,
                      struct seep_answer *answers)
{
    struct holder_search a = {.reach = reach, .question = question};
    struct sum *sums = calloc(question->n_lines + 1u, sizeof *sums);
    int rc = -SEEP_ENOMEM;

    a.alive = calloc(reach->heap->n_nodes + (size_t)1, sizeof *a.alive);
    a.in_graph = calloc(reach->heap->n_nodes + (size_t)1, sizeof *a.in_graph);
    a.held = calloc(question->most + 1, sizeof *a.held);
    if (sums && a.alive && a.in_graph && a.held)
        rc = complete(&a);
    if (!rc)
        rc = line_ways_init(&a.lines, reach, question->line_of_site, question->n_sites,
                            question->n_lines);
    if (!rc)
        rc = answer_all(&a, sums, answers);
    seep_reach_changes_fini(&a.certain);
    seep_reach_changes_fini(&a.unheld);
    line_ways_fini(&a.lines);
    free(a.alive);
    free(a.in_graph);
    free(a.held);
    free(sums);
    return rc;
}

const char *seep_hold_state_word(enum seep_hold_state state)
{
    static const char *const words[] = {
#define SEEP_HOLDER_STATE(id, name) [SEEP_HOLD_##id] = name,
#include "libprof/words/holder_states.def"
#undef SEEP_HOLDER_STATE
    };

    return words[state];
}
