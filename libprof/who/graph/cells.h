/* Memory of Python's arenas in which nobody needs a node of its own: numbers, texts and bytes that
 * one reference alone keeps, and the tables of lists, dicts and sets. Each goes with the object
 * that refers to it, whose own memory is larger by it. In a heap of small objects these are most.
 */
#ifndef SEEP_LIBPROF_WHO_GRAPH_CELLS_H
#define SEEP_LIBPROF_WHO_GRAPH_CELLS_H

#include "libprof/base/error.h"
#include "libprof/format/snapshot_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seep_cell_arena {
    uint64_t start, end;
    size_t first; /* of its granules */
};

enum { SEEP_CELL_GRANULE = 16 }; /* all objects begin at multiples of it */

/* A bit for each 16 bytes of all arenas. Zero-initialised is empty; the caller sets `most_nodes`,
 * which the heap may have with them. */
struct seep_cells {
    struct seep_cell_arena *arenas; /* [n] by address */
    size_t n, capacity, n_granules, n_live;
    uint64_t *live;  /* an object or memory begins there; */
    uint64_t *owned; /* it has no node, */
    uint64_t *met;   /* and its owner is known */
    uint8_t *each;   /* [n_granules / granules of a pool] granules of what is in each pool */
    uint32_t pool_bytes, most_nodes;
    bool full; /* more nodes are needed than `most_nodes`: not all was read */
};

void seep_cells_fini(struct seep_cells *cells);

static inline bool seep_cells_has(const uint64_t *bits, size_t granule)
{
    return bits[granule / 64] >> granule % 64 & 1;
}

static inline void seep_cells_set(uint64_t *bits, size_t granule)
{
    bits[granule / 64] |= UINT64_C(1) << granule % 64;
}

/* The place of an address among all granules; SIZE_MAX: nothing can begin there. */
size_t seep_cells_granule(const struct seep_cells *cells, uint64_t address);

/* Adds an arena, of whole pools; they are read by who/survey/read_cells.h. Returns 0 or
 * -SEEP_ENOMEM. Allocates. */
SEEP_MUST_CHECK int seep_cells_add(struct seep_cells *cells, uint64_t start, uint64_t bytes);

/* Takes a block. False: no more are wanted. */
typedef bool seep_cell_taker(void *arg, uint64_t start, uint32_t bytes);

/* Takes each without a node whose owner was not met, by address. */
void seep_cells_each_unmet(const struct seep_cells *cells, seep_cell_taker *take, void *arg);

/* Somebody refers to an address. False: what begins there has a node, or is none of these. Else
 * *bytes is what its owner has more by it: 0 if another one was met before. */
bool seep_cells_meet(struct seep_cells *cells, uint64_t address, uint32_t *bytes);

#endif
