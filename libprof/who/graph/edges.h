/* References from one node of the heap to others, as read from memory: certain ones, and words that
 * look like addresses. Each goes to heap->take. */
#ifndef SEEP_LIBPROF_WHO_GRAPH_EDGES_H
#define SEEP_LIBPROF_WHO_GRAPH_EDGES_H

#include "libprof/who/graph/graph.h"

/* Costs of edges: names that a user knows are near, types and modules far. */
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

/* The most bytes of a C or C++ block that are searched for addresses: tables of addresses are
 * smaller, images are larger. */
enum { SEEP_NATIVE_SCANNED = 1 << 20 };

/* Finds out what a node is if only a word that looks like an address has led to it. */
void seep_heap_classify(struct seep_heap *heap, uint32_t node);

/* Gives an edge to the taker: a certain one, to the object at `address`; */
void seep_edge_exact(struct seep_heap *heap, uint64_t address, seep_label label, unsigned cost);
/* the same, if seep_heap_find() has found `node` at the address; */
void seep_edge_to(struct seep_heap *heap, uint32_t node, uint64_t address, seep_label label,
                  unsigned cost);
/* one to memory that belongs to the node, which alone knows its contents, and that has `bytes` or
 * more; */
void seep_edge_raw(struct seep_heap *heap, uint64_t address, uint64_t bytes);
/* one that may be a reference: to the start of a native block or close after it, to the object of a
 * Python block (SEEP_EDGE_OBJECT), or anywhere into a native block (SEEP_EDGE_INNER). */
void seep_edge_maybe(struct seep_heap *heap, uint64_t address, seep_label label, unsigned cost,
                     unsigned cost_python);

/* one by a number, to memory that nothing else seems to hold (SEEP_EDGE_INNER). */
void seep_edge_inner(struct seep_heap *heap, uint64_t address, seep_label label);

/* Says that memory of `bytes` or more has no addresses in it: numbers, characters, leftovers. */
void seep_edge_spare(struct seep_heap *heap, uint64_t address, uint64_t bytes);

/* Gives every word of [from, to) that may be an address to seep_edge_maybe(). The label is the
 * word's address, or its offset from `base` if that is not 0. */
void seep_heap_scan(struct seep_heap *heap, uint64_t from, uint64_t to, uint64_t base,
                    unsigned cost, unsigned cost_python);

#endif
