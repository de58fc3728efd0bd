#include "libprof/who/ways/answer.h"

#include "libprof/thresholds/thresholds.h"
#include "libprof/who/survey/survey.h"
#include "libprof/who/ways/line_ways.h"
#include "libprof/who/ways/reach_passes.h"
#include "libprof/who/ways/way_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

struct asking {
    struct seep_reach *reach;
    const struct seep_question *question;
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
static uint64_t freed_of(const struct asking *a, uint32_t line)
{
    const struct seep_line_ways *l = &a->lines;
    uint64_t bytes = 0;

    for (const uint32_t *at = seep_line_begin(l, line); at < seep_line_end(l, line); at++)
        if (!is_reached(a, *at) && a->alive[*at] == ALIVE)
            bytes += seep_node_all_bytes(a->reach->heap, *at);
    return bytes;
}

static enum seep_root_kind root_of(const struct asking *a, const struct seep_line_way *way)
{
    size_t n;

    return a->reach->roots[seep_path_root(a->reach, way->example, &n)].kind;
}

/* The bytes of a line that a further path must lead to. More if it begins at a word that may be
 * stale instead of an object. */
static double least_of(const struct asking *a, const struct seep_line_way *way)
{
    const enum seep_root_kind kind = root_of(a, way);
    bool word = kind == SEEP_ROOT_STATIC || kind == SEEP_ROOT_THREAD || kind == SEEP_ROOT_STACK;
    return word ? SEEP_T_HALF : 1.0 / SEEP_T_PEAK_SHARE;
}

static int take_way(const struct asking *a, const struct seep_line_way *way,
                    struct seep_answer_path *p)
{
    p->blocks = way->blocks;
    p->bytes = way->bytes;
    p->holder_length = p->holder_bound = -1;
    return seep_path_of(a->reach, way->example, a->question->keys, &p->path);
}

/* The ways to what a line keeps for certain. */
static size_t certain_ways(struct asking *a, uint32_t line, struct seep_line_way *ways)
{
    return seep_line_ways_find(&a->lines, line, a->alive, ALIVE, ways);
}

/* Where several variables of a library lead to the same blocks by as long ways as these, which one
 * of them is found is chance. A table's entries are near. */
enum { MOST_BY_CHANCE = 3 };

/* Describes what holds the blocks of a way. */
static int find_holder(struct asking *a, const struct seep_answer *answer, struct held *held,
                       struct seep_answer_path *p)
{
    held->holder = seep_line_ways_common(&a->lines, answer->line, &held->way);
    const int rc = take_way(a, &held->way, p);
    if (held->holder != SEEP_NODE_NONE)
        seep_answer_holder(a->reach, held->holder, p);
    else if (p->path.n && p->path.hops[0].kind == SEEP_HOP_NATIVE &&
             p->path.hops[0].repeated > MOST_BY_CHANCE)
        p->path.root_address = 0;
    return rc;
}

/* Removes one holder after the other until most of the line would be free, and describes each. */
static int find_holders(struct asking *a, struct seep_answer *answer, struct held *held)
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
        const struct seep_line_way *next = seep_line_ways_largest(ways, n);
        if (!next || share(next->bytes, answer->bytes) < least_of(a, next))
            break;
        held->way = *next;
    }
    answer->n_paths = n_worth;
    return rc;
}

static int add_path(const struct asking *a, struct seep_answer *answer,
                    const struct seep_line_way *way)
{
    struct seep_answer_path *p = &answer->paths[answer->n_paths++];
    int rc = take_way(a, way, p);

    p->holder_hop = p->path.n;
    return rc;
}

/* Addresses that lead to a part of lost memory may be stray: none of their paths leads to much. */
static enum seep_hold_state state_of(const struct asking *a, const struct seep_answer *answer,
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

static int answer_line(struct asking *a, struct seep_answer *answer, struct held *held)
{
    struct seep_line_way ways[SEEP_LINE_WAYS];
    size_t n = seep_line_ways_find(&a->lines, answer->line, NULL, 0, ways);
    const struct seep_line_way *way = seep_line_ways_largest(ways, n);

    answer->state = state_of(a, answer, way);
    if (answer->state == SEEP_HOLD_CYCLE || answer->state == SEEP_HOLD_REFERENCE)
        return add_path(a, answer, way);
    if (answer->state == SEEP_HOLD_HELD && root_of(a, way) == SEEP_ROOT_REFERENCE) {
        n = certain_ways(a, answer->line, ways); /* only a part is explained: who holds the rest? */
        way = seep_line_ways_largest(ways, n);
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

static void put_back(struct asking *a, struct seep_reach_changes *changes)
{
    for (size_t h = 0; h < SEEP_REACH_EXCLUDED; h++)
        a->reach->excluded[h] = SEEP_NODE_NONE;
    seep_reach_changes_end(a->reach);
    seep_reach_swap(a->reach, changes);
    seep_reach_changes_fini(changes);
}

/* What each holder alone keeps, of a line that is held. Leaves the paths as they were. */
static int prove_line(struct asking *a, struct seep_answer *answer, struct held *held)
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
static int find_shared(struct asking *a, const struct seep_answer *answer, uint32_t holder,
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

static int prove_one(struct asking *a, struct seep_answer *answer, struct held *held)
{
    const uint32_t holder = held->holder;
    int rc = SEEP_NODE_NONE == holder ? 0 : find_shared(a, answer, holder, &held->shared);

    if (!rc && held->shared == SEEP_NODE_NONE)
        rc = prove_line(a, answer, held);
    return rc;
}

/* A runtime's own data is no variable's, though each of its objects leads there. */
static int tell_shared(struct asking *a, struct seep_answer *answer, const struct held *held)
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
static int prove_all(struct asking *a, struct seep_answer *answers, size_t n)
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

static void sum_lines(const struct asking *a, struct sum *sums)
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
        rc = answer_line(a, &answers[n], &a->held[n]);
    }
    if (!rc)
        rc = prove_all(a, answers, n);
    if (a->lines.ways.no_memory)
        rc = -SEEP_ENOMEM;
    return rc ? rc : (int)n;
}

/* Of small objects: what the node is, and what goes with it. */
static uint64_t small_bytes_of(const struct asking *a, uint32_t node)
{
    const struct seep_heap *heap = a->reach->heap;
    uint64_t bytes, n;

    seep_node_with(heap, node, &bytes, &n);
    return bytes +
           (heap->nodes[node].site == a->question->small_site ? heap->nodes[node].bytes : 0);
}

/* What is reached now and was not before is held in this way. */
static void note_reached(struct asking *a, enum alive how)
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
static int complete(struct asking *a)
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

int seep_answer_lines(struct seep_reach *reach, const struct seep_question *question,
                      struct seep_answer *answers)
{
    struct asking a = {.reach = reach, .question = question};
    struct sum *sums = calloc(question->n_lines + 1u, sizeof *sums);
    int rc = -SEEP_ENOMEM;

    a.alive = calloc(reach->heap->n_nodes + (size_t)1, sizeof *a.alive);
    a.in_graph = calloc(reach->heap->n_nodes + (size_t)1, sizeof *a.in_graph);
    a.held = calloc(question->most + 1, sizeof *a.held);
    if (sums && a.alive && a.in_graph && a.held)
        rc = complete(&a);
    if (!rc)
        rc = seep_line_ways_init(&a.lines, reach, question->line_of_site, question->n_sites,
                                 question->n_lines);
    if (!rc)
        rc = answer_all(&a, sums, answers);
    seep_reach_changes_fini(&a.certain);
    seep_reach_changes_fini(&a.unheld);
    seep_line_ways_fini(&a.lines);
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
