/* The blocks that each line of code allocated, and the paths that lead to them. */
#ifndef SEEP_LIBPROF_WHO_WAYS_LINE_WAYS_H
#define SEEP_LIBPROF_WHO_WAYS_LINE_WAYS_H

#include "libprof/who/ways/ways.h"

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

/* Takes the blocks whose site has a line: line_of_site[n_sites], 0: none. Returns 0 or
 * -SEEP_ENOMEM. Allocates, 5 bytes for each block at most, and struct seep_ways; _fini() in either
 * case. */
SEEP_MUST_CHECK int seep_line_ways_init(struct seep_line_ways *l, struct seep_reach *reach,
                                        const uint32_t *line_of_site, size_t n_sites,
                                        uint32_t n_lines);
void seep_line_ways_fini(struct seep_line_ways *l);

/* The blocks of a line. */
static inline const uint32_t *seep_line_begin(const struct seep_line_ways *l, uint32_t line)
{
    return l->nodes + (line ? l->end[line - 1] : 0);
}

static inline const uint32_t *seep_line_end(const struct seep_line_ways *l, uint32_t line)
{
    return l->nodes + l->end[line];
}

/* Sums up the paths to a line's blocks that are reached, and of which `only`[nodes] is `value`
 * (NULL: to all), and notes each block's way. Stores at most SEEP_LINE_WAYS and returns the number
 * of ways. If paths have changed since the last call, seep_ways_forget() comes first. */
size_t seep_line_ways_find(struct seep_line_ways *l, uint32_t line, const uint8_t *only,
                           uint8_t value, struct seep_line_way *ways);

/* The way to most bytes, or NULL. */
struct seep_line_way *seep_line_ways_largest(struct seep_line_way *ways, size_t n);

/* The last node, counted from the root, that the paths to nearly all blocks of one of the ways
 * found last share; SEEP_NODE_NONE: none. Makes the block that stands best for them the example. */
uint32_t seep_line_ways_common(struct seep_line_ways *l, uint32_t line, struct seep_line_way *way);

#endif
