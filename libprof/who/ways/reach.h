/* The shortest way from a root to each node, in the sense of what a user would name. */
#ifndef SEEP_LIBPROF_WHO_WAYS_REACH_H
#define SEEP_LIBPROF_WHO_WAYS_REACH_H

#include "libprof/who/ways/refs.h"
#include "libprof/who/ways/roots.h"

enum { SEEP_REACH_EXCLUDED = 4 };
#define SEEP_REACH_ROOT 0x80000000u /* in `parent`: the rest is the index of a root */
#define SEEP_UNREACHED  UINT16_MAX

struct seep_reach {
    struct seep_heap *heap;
    struct seep_root_places places;
    uint16_t *distance; /* [nodes] SEEP_UNREACHED: nobody holds it */
    uint32_t *parent;   /* [nodes] node or root | SEEP_REACH_ROOT */
    seep_label *label;  /* [nodes] of the edge from there */
    struct seep_root *roots;
    size_t n_roots, roots_capacity;
    uint32_t excluded[SEEP_REACH_EXCLUDED]; /* nodes that are passed over; SEEP_NODE_NONE */
    bool *settled;                          /* [nodes] of these the way stays; NULL: of none */
    bool no_doubtful;                       /* nor count roots whose words are often stale */
    uint16_t *exact;       /* [nodes] references that are there for sure, of an object */
    struct seep_refs refs; /* that the first search has met */
    bool no_memory;
    /* the search under way */
    uint32_t from;
    unsigned base;
    bool notes;      /* what it meets */
    size_t n_walked; /* nodes, by all searches */
    struct seep_reach_queue *queue;
};

/* Returns 0 or -SEEP_ENOMEM. Allocates; seep_reach_fini() in either case. Counts the exact
 * references, so that words that only look like more of them are not believed. */
SEEP_MUST_CHECK int seep_reach_init(struct seep_reach *reach, struct seep_heap *heap,
                                    const struct seep_root_places *places);
void seep_reach_fini(struct seep_reach *reach);

/* Finds all ways, and notes who refers to whom. Called once. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_reach_run(struct seep_reach *reach);

/* Notes anew, and more of, what roots and these nodes refer to, and finds the ways from there. What
 * led to nodes before still does. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_reach_again(struct seep_reach *reach, const uint32_t *nodes, size_t n);

/* Adds a root that holds `node` itself, `cost` away, and finds the ways from there, beside those
 * that are known. */
void seep_reach_add(struct seep_reach *reach, enum seep_root_kind kind, uint32_t node,
                    unsigned cost);
SEEP_MUST_CHECK int seep_reach_go_on(struct seep_reach *reach);

/* From here on the ways to what is reached by now stay as they are, whatever leads there as well:
 * what is held is held by its holder, and not by garbage. Searches with excluded nodes come after
 * seep_reach_unsettle(). Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_reach_settle(struct seep_reach *reach);
void seep_reach_unsettle(struct seep_reach *reach);

/* The pieces that a search is made of: it begins with nothing to do, takes references that roots
 * make and those of nodes that are reached, and goes on. */
void seep_reach_begin(struct seep_reach *reach);
void seep_reach_take(struct seep_reach *reach, const struct seep_root_ref *ref);
void seep_reach_walk(struct seep_reach *reach, uint32_t node);

/* Whether every reference that an object counts is there for sure: another word that looks like one
 * is stale. */
bool seep_reach_explains(const struct seep_reach *reach, uint32_t node);

/* Copies what `from` has found, so that it can be searched anew. */
SEEP_MUST_CHECK int seep_reach_keep(const struct seep_reach *from, struct seep_reach *kept);
void seep_reach_put_back(struct seep_reach *reach, const struct seep_reach *kept);

#endif
