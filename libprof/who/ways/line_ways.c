#include "libprof/who/ways/line_ways.h"

#include "libprof/thresholds/thresholds.h"
#include "libprof/who/ways/path.h"

#include <stdlib.h>

enum {
    ASKED = 3,    /* blocks of a path that are searched for its common part */
    COMMON = 256, /* nodes from the root on that paths may share */
};

static uint32_t line_of(const struct seep_heap *heap, uint32_t node, const uint32_t *line_of_site,
                        size_t n_sites)
{
    const uint32_t site = heap->nodes[node].site;

    return site < n_sites ? line_of_site[site] : 0;
}

int seep_line_ways_init(struct seep_line_ways *l, struct seep_reach *reach,
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
        const uint32_t line = line_of(heap, i, line_of_site, n_sites);
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
        const uint32_t line = line_of(heap, i, line_of_site, n_sites);
        if (line && line < n_lines)
            l->nodes[l->end[line]++] = i;
    }
    return 0;
}

void seep_line_ways_fini(struct seep_line_ways *l)
{
    seep_ways_fini(&l->ways);
    free(l->end);
    free(l->nodes);
    free(l->way_of);
    *l = (struct seep_line_ways){0};
}

size_t seep_line_ways_find(struct seep_line_ways *l, uint32_t line, const uint8_t *only,
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

struct seep_line_way *seep_line_ways_largest(struct seep_line_way *ways, size_t n)
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

/* Any block may be an outlier, so several are tried. */
uint32_t seep_line_ways_common(struct seep_line_ways *l, uint32_t line, struct seep_line_way *way)
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
