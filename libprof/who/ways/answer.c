#include "libprof/who/ways/answer.h"
#include "libprof/who/ways/way_types.h"

#include "libprof/thresholds/thresholds.h"
#include "libprof/who/graph/py_walk.h"
#include "libprof/who/ways/reach_passes.h"
#include "libprof/who/ways/ways.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WAYS = 64,    /* paths of a line that are told apart */
    ASKED = 3,    /* blocks of a path that are searched for its common part */
    COMMON = 256, /* nodes from the root on that paths may share */
};

/* Whether a block is held, and if not, what keeps it. */
enum alive { BY_NOBODY, ALIVE, BY_CYCLE, BY_REFERENCE };

/* Blocks of a line that are reached by alike paths. */
struct way {
    uint64_t hash, blocks, bytes;
    uint32_t example;
    uint8_t number; /* from 1 on */
};

/* The live memory of a line. */
struct sum {
    uint32_t line;
    uint64_t blocks, bytes, lost_bytes, cycle_bytes, reference_bytes, graph_bytes;
};

struct asking {
    struct seep_reach *reach;
    const struct seep_question *question;
    uint8_t *alive;       /* [nodes] enum alive */
    uint64_t small_bytes; /* of objects in arenas that references too many hold */
    uint8_t *in_graph;    /* [nodes] whether graphs hold it, as far as known */
    uint8_t *way_of;      /* [nodes] for the line in question: the number of the node's way; 0:
                           * none */
    struct seep_ways ways;
    size_t most_walked;
    struct seep_reach kept;    /* as found, */
    struct seep_reach certain; /* and without cycles and doubtful roots */
};

static uint32_t line_of(const struct asking *a, uint32_t node)
{
    uint32_t site = a->reach->heap->nodes[node].site;

    return site < a->question->n_sites ? a->question->line_of_site[site] : 0;
}

static bool is_reached(const struct asking *a, uint32_t node)
{
    return a->reach->distance[node] != SEEP_UNREACHED;
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

/* Sums up the paths to a line's blocks that are reached and were alive, or with `cycles` to all
 * that are reached, and notes each block's way. Returns the number of ways. */
static size_t ways_to(struct asking *a, uint32_t line, bool cycles, struct way *ways)
{
    size_t n = 0;

    memset(a->way_of, 0, a->reach->heap->n_blocks);
    seep_ways_forget(&a->ways);
    for (uint32_t i = 0; i < a->reach->heap->n_blocks; i++) {
        if (line_of(a, i) != line || !is_reached(a, i) || (!cycles && a->alive[i] != ALIVE))
            continue;
        uint64_t hash = seep_ways_hash(&a->ways, i);
        size_t at = 0;
        while (at < n && ways[at].hash != hash)
            at++;
        if (at == WAYS)
            continue;
        if (at == n) {
            ways[at] = (struct way){.hash = hash, .number = (uint8_t)(at + 1), .example = i};
            n++;
        }
        a->way_of[i] = ways[at].number;
        if (a->reach->distance[i] > a->reach->distance[ways[at].example])
            ways[at].example = i; /* the farthest: in a list, its end */
        ways[at].blocks++;
        ways[at].bytes += a->reach->heap->nodes[i].bytes;
    }
    return n;
}

static struct way *largest(struct way *ways, size_t n)
{
    struct way *best = NULL;

    for (size_t i = 0; i < n; i++)
        if (ways[i].bytes && (!best || ways[i].bytes > best->bytes))
            best = &ways[i];
    return best;
}

/* How many nodes of a path, counted from the root, nearly all blocks of a way share. A block is not
 * part of what it shares itself. */
static size_t depth_of(struct asking *a, const struct way *way, const uint32_t *path, size_t n_path)
{
    uint64_t shares[COMMON + 1] = {0}, sum = 0;

    seep_ways_unmark(&a->ways);
    for (size_t k = 0; k < n_path; k++)
        seep_ways_mark(&a->ways, path[k], (uint16_t)(k + 1));
    for (uint32_t i = 0; i < a->reach->heap->n_blocks; i++)
        if (a->way_of[i] == way->number)
            shares[seep_ways_marked(&a->ways, a->reach->parent[i])]++;
    for (size_t k = COMMON; k > 0; k--) {
        sum += shares[k];
        if (share(sum, way->blocks) >= SEEP_T_HOLDER_SHARE)
            return k;
    }
    return 0;
}

/* The nearest block stands for all; of several, the largest. So the choice does not depend on
 * addresses. */
static void choose_example(struct asking *a, struct way *way, uint32_t holder)
{
    const struct seep_reach *reach = a->reach;
    uint32_t best = way->example;

    seep_ways_unmark(&a->ways);
    seep_ways_mark(&a->ways, holder, 1);
    for (uint32_t i = 0; i < reach->heap->n_blocks; i++) {
        if (a->way_of[i] != way->number || reach->distance[i] > reach->distance[best] ||
            (reach->distance[i] == reach->distance[best] &&
             reach->heap->nodes[i].bytes <= reach->heap->nodes[best].bytes))
            continue;
        if (seep_ways_marked(&a->ways, i))
            best = i;
    }
    way->example = best;
}

/* The last node that nearly all blocks of a way share with the path to `asked`, and its depth. */
static uint32_t common_with(struct asking *a, const struct way *way, uint32_t asked, size_t *depth)
{
    uint32_t first[COMMON];
    size_t n = seep_path_begin(a->reach, asked, first, COMMON);

    *depth = depth_of(a, way, first, n > COMMON ? COMMON : n - 1);
    return *depth ? first[*depth - 1] : SEEP_NODE_NONE;
}

/* The last node, counted from the root, that the paths to nearly all those blocks share;
 * SEEP_NODE_NONE: none. Any block may be an outlier, so several are tried. */
static uint32_t common_node(struct asking *a, struct way *way)
{
    uint64_t seen = 0;
    size_t deepest, depth;
    uint32_t best = common_with(a, way, way->example, &deepest);

    for (uint32_t i = 0; i < a->reach->heap->n_blocks; i++) {
        if (a->way_of[i] != way->number || seen++ % (way->blocks / ASKED + 1))
            continue;
        uint32_t node = common_with(a, way, i, &depth);
        if (depth > deepest) {
            deepest = depth;
            best = node;
            way->example = i;
        }
    }
    if (best != SEEP_NODE_NONE)
        choose_example(a, way, best);
    return best;
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
    const struct seep_node *node = &heap->nodes[holder];
    const struct seep_pytype *type = node->kind == SEEP_NODE_PYTHON
                                         ? seep_python_object(heap, seep_node_object(node), 1 << 20)
                                         : NULL;

    p->holder_hop = holder_hop(reach, holder, &p->path);
    seep_path_holder_name(&p->path, p->holder_hop, p->holder_name, sizeof p->holder_name);
    if (p->holder_hop)
        snprintf(p->holder_type, sizeof p->holder_type, "%s", p->path.hops[p->holder_hop - 1].type);
    if (!type || (type->kind == SEEP_PYTYPE_DICT &&
                  seep_label_kind(reach->label[holder]) == SEEP_LABEL_HIDDEN))
        return; /* its attributes are the object's own */
    p->holder_length = seep_python_length(heap, seep_node_object(node), type);
    p->holder_bound = seep_way_bound(reach, holder);
}

/* The bytes of a line that nobody would hold without the excluded nodes. */
static uint64_t freed_of(const struct asking *a, uint32_t line)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < a->reach->heap->n_blocks; i++)
        if (!is_reached(a, i) && a->alive[i] == ALIVE && line_of(a, i) == line)
            bytes += a->reach->heap->nodes[i].bytes;
    return bytes;
}

static enum seep_root_kind root_of(const struct asking *a, const struct way *way)
{
    size_t n;

    return a->reach->roots[seep_path_root(a->reach, way->example, &n)].kind;
}

/* The bytes of a line that a further path must lead to. More if it begins at a word that may be
 * stale instead of an object. */
static double least_of(const struct asking *a, const struct way *way)
{
    const enum seep_root_kind kind = root_of(a, way);
    bool word = kind == SEEP_ROOT_STATIC || kind == SEEP_ROOT_THREAD || kind == SEEP_ROOT_STACK;
    return word ? SEEP_T_HALF : 1.0 / SEEP_T_PEAK_SHARE;
}

static int take_way(const struct asking *a, const struct way *way, struct seep_answer_path *p)
{
    p->blocks = way->blocks;
    p->bytes = way->bytes;
    p->holder_length = p->holder_bound = -1;
    return seep_path_of(a->reach, way->example, a->question->keys, &p->path);
}

/* Removes one holder after the other until most of the line would be free, and describes each. */
static int find_holders(struct asking *a, struct seep_answer *answer, const struct way *first)
{
    struct way ways[WAYS], way = *first;
    uint64_t freed = 0;
    size_t n_worth = 1; /* the rest hold nothing that would not be held without them, too */
    int rc = 0;

    for (size_t h = 0; h < SEEP_REACH_EXCLUDED && !rc; h++) {
        struct seep_answer_path *p = &answer->paths[h];
        uint32_t holder = common_node(a, &way);
        rc = take_way(a, &way, p);
        if (holder != SEEP_NODE_NONE)
            seep_answer_holder(a->reach, holder, p);
        if (rc || holder == SEEP_NODE_NONE || a->reach->n_walked >= a->most_walked)
            break; /* a further one would need proof */
        if (!h)
            seep_reach_put_back(a->reach, &a->certain);
        a->reach->excluded[h] = holder;
        rc = seep_reach_leave_out(a->reach, holder);
        p->sole_bytes = rc ? 0 : freed_of(a, answer->line);
        p->sole_known = !rc;
        if (!h || p->sole_bytes >= freed + answer->bytes / SEEP_T_NEGLIGIBLE)
            n_worth = h + 1;
        freed = p->sole_bytes;
        size_t n =
            share(freed, answer->bytes) < SEEP_T_MOST ? ways_to(a, answer->line, false, ways) : 0;
        const struct way *next = largest(ways, n);
        if (!next || share(next->bytes, answer->bytes) < least_of(a, next))
            break;
        way = *next;
    }
    answer->n_paths = n_worth;
    return rc;
}

static int add_path(const struct asking *a, struct seep_answer *answer, const struct way *way)
{
    struct seep_answer_path *p = &answer->paths[answer->n_paths++];
    int rc = take_way(a, way, p);

    p->holder_hop = p->path.n;
    return rc;
}

/* Addresses that lead to a part of lost memory may be stray: none of their paths leads to much. */
static enum seep_hold_state state_of(const struct asking *a, const struct seep_answer *answer,
                                     const struct way *way)
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

static int answer_line(struct asking *a, struct seep_answer *answer)
{
    struct way ways[WAYS];
    size_t n = ways_to(a, answer->line, true, ways);
    const struct way *way = largest(ways, n);
    int rc;

    answer->state = state_of(a, answer, way);
    if (answer->state == SEEP_HOLD_CYCLE || answer->state == SEEP_HOLD_REFERENCE)
        return add_path(a, answer, way);
    if (answer->state == SEEP_HOLD_HELD && root_of(a, way) == SEEP_ROOT_REFERENCE) {
        n = ways_to(a, answer->line, false, ways); /* only a part is explained: who holds the
                                                    * rest? */
        way = largest(ways, n);
        answer->state = way ? SEEP_HOLD_HELD : SEEP_HOLD_UNKNOWN;
    }
    if (answer->state != SEEP_HOLD_HELD)
        return 0;
    rc = find_holders(a, answer, way);
    for (size_t h = 0; h < SEEP_REACH_EXCLUDED; h++)
        a->reach->excluded[h] = SEEP_NODE_NONE;
    seep_reach_put_back(a->reach, &a->kept);
    if (answer->n_paths > 1 &&
        share(answer->paths[0].sole_bytes, answer->paths[0].bytes) < SEEP_T_HALF)
        answer->state = SEEP_HOLD_SHARED; /* else each holds a part */
    return rc;
}

static int by_bytes(const void *a, const void *b)
{
    const struct sum *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return (x->line > y->line) - (x->line < y->line);
}

static void sum_lines(const struct asking *a, struct sum *sums)
{
    const struct seep_reach *reach = a->reach;

    for (uint32_t i = 0; i < reach->heap->n_blocks; i++) {
        uint32_t line = line_of(a, i);
        uint64_t bytes = reach->heap->nodes[i].bytes;
        if (!line || line >= a->question->n_lines)
            continue;
        struct sum *sum = &sums[line];
        sum->line = line;
        sum->blocks++;
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

static int answer_all(struct asking *a, struct sum *sums, struct seep_answer *answers)
{
    const struct seep_question *q = a->question;
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
        rc = answer_line(a, &answers[n]);
    }
    if (a->ways.no_memory)
        rc = -SEEP_ENOMEM;
    return rc ? rc : (int)n;
}

/* What is reached now and was not before is held in this way. */
static void note_reached(struct asking *a, enum alive how)
{
    const struct seep_heap *heap = a->reach->heap;

    for (uint32_t i = 0; i < heap->n_nodes; i++) {
        if (a->alive[i] != BY_NOBODY || !is_reached(a, i))
            continue;
        a->alive[i] = (uint8_t)how;
        if (how == BY_REFERENCE && a->question->small_site &&
            heap->nodes[i].site == a->question->small_site)
            a->small_bytes += heap->nodes[i].bytes;
    }
}

/* Searches for cycles, and again without doubtful roots. */
static int complete(struct asking *a)
{
    struct seep_reach *reach = a->reach;
    int rc = seep_reach_keep(reach, &a->kept);

    note_reached(a, ALIVE);
    if (!rc)
        rc = seep_reach_leave_doubtful(reach);
    if (!rc)
        rc = seep_reach_keep(reach, &a->certain);
    if (rc)
        return rc;
    seep_reach_put_back(reach, &a->kept);
    seep_reach_fini(&a->kept);
    rc = seep_cycles_find(reach);
    note_reached(a, BY_CYCLE);
    if (!rc)
        rc = seep_references_find(reach);
    note_reached(a, BY_REFERENCE);
    if (!rc)
        rc = seep_reach_keep(reach, &a->kept);
    a->most_walked = reach->n_walked + a->question->most_runs * reach->heap->n_nodes;
    return rc;
}

int seep_answer_lines(struct seep_reach *reach, const struct seep_question *question,
                      struct seep_answer *answers)
{
    struct asking a = {.reach = reach, .question = question};
    struct sum *sums = calloc(question->n_lines + 1u, sizeof *sums);
    int rc = -SEEP_ENOMEM;

    a.alive = calloc(reach->heap->capacity, sizeof *a.alive);
    a.in_graph = calloc(reach->heap->capacity, sizeof *a.in_graph);
    a.way_of = calloc(reach->heap->capacity, sizeof *a.way_of);
    if (sums && a.alive && a.in_graph && a.way_of && !seep_ways_init(&a.ways, reach))
        rc = complete(&a);
    if (!rc)
        rc = answer_all(&a, sums, answers);
    seep_reach_fini(&a.kept);
    seep_reach_fini(&a.certain);
    seep_ways_fini(&a.ways);
    free(a.alive);
    free(a.in_graph);
    free(a.way_of);
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
