/* References from one node of the heap to another, as they are read: sure ones, and words that look
 * like one. Each goes to heap->take. */
#ifndef SEEP_LIBPROF_WHO_GRAPH_EDGES_H
#define SEEP_LIBPROF_WHO_GRAPH_EDGES_H

#include "libprof/who/graph/graph.h"

/* What edges cost: names that a user knows are near, types and modules far. */
enum {
    SEEP_COST_NAMED = 2,
    SEEP_COST_NATIVE = 2,
    SEEP_COST_NATIVE_PYTHON = 6,
    SEEP_COST_UNNAMED = 4,
    SEEP_COST_MODULE = 30,
    SEEP_COST_INNER = 20,
    SEEP_COST_STALE = 40,
    SEEP_COST_TYPE = 60,
    SEEP_COST_GLOBALS = 80,
    SEEP_COST_NEVER = 1000,
};

/* Bytes of a block of C or C++ that are searched for addresses: tables of them are smaller,
 * pictures are not. */
enum { SEEP_NATIVE_SCANNED = 1 << 20 };

/* Finds out what a node is that only a word that looks like an address has led to. */
void seep_heap_classify(struct seep_heap *heap, uint32_t node);

/* Gives an edge to the taker: to an object at `address`, for sure; */
void seep_edge_exact(struct seep_heap *heap, uint64_t address, seep_label label, unsigned cost);
/* to memory that belongs to the node, which alone knows what it holds; */
void seep_edge_raw(struct seep_heap *heap, uint64_t address);
/* perhaps: at its start or close behind where it is native, at its object where it is Python's, and
 * anywhere in it where heap->inner says so. */
void seep_edge_maybe(struct seep_heap *heap, uint64_t address, seep_label label, unsigned cost,
                     unsigned cost_python);

/* by a number, to what nobody else seems to hold: only where heap->inner says so. */
void seep_edge_inner(struct seep_heap *heap, uint64_t address, seep_label label);

/* Gives every word of [from, to) that may be an address to seep_edge_maybe(): labelled by its
 * address, or with `base` not 0 by its offset from there. */
void seep_heap_scan(struct seep_heap *heap, uint64_t from, uint64_t to, uint64_t base,
                    unsigned cost, unsigned cost_python);

#endif
