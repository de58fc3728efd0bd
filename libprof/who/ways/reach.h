/* The shortest path from a root to each node; short means what a user would name. */
#ifndef SEEP_LIBPROF_WHO_WAYS_REACH_H
#define SEEP_LIBPROF_WHO_WAYS_REACH_H

#include "libprof/who/ways/refs.h"
#include "libprof/who/ways/roots.h"

struct seep_reach_changes;

enum { SEEP_REACH_EXCLUDED = 4 };
#define SEEP_REACH_ROOT 0x80000000u /* in `parent`: the rest is the index of a root */
#define SEEP_UNREACHED  UINT16_MAX

struct seep_reach {
    struct seep_heap *heap;
    struct seep_root_places places;
    uint16_t *distance; /* [nodes] SEEP_UNREACHED: nobody holds it */
    uint32_t *parent;   /* [nodes] node or root | SEEP_REACH_ROOT */
    seep_label *label;  /* [nodes] of the edge from the parent */
    struct seep_root *roots;
    size_t n_roots, roots_capacity;
    uint32_t excluded[SEEP_REACH_EXCLUDED]; /* nodes that are skipped; SEEP_NODE_NONE: none */
    bool *settled;                          /* [nodes] nodes that keep their path; NULL: none */
    bool no_doubtful;                       /* skip roots whose words are often stale */
    uint16_t *exact;       /* [nodes] how many certain references to an object exist */
    struct seep_refs refs; /* references that the first search met */
    bool no_memory;
    /* the node that the search is at */
    uint32_t from;
    unsigned base;
    bool notes;      /* whether the search notes references */
    size_t n_walked; /* nodes walked by all searches */
    struct seep_reach_queue *queue;
    struct seep_reach_changes *changes; /* where they are noted; NULL: nowhere */
};

/* Returns 0 or -SEEP_ENOMEM. Allocates; seep_reach_fini() in either case. Counts the exact
 * references, so that words that only look like further ones are not believed. */
SEEP_MUST_CHECK int seep_reach_init(struct seep_reach *reach, struct seep_heap *heap,
                                    const struct seep_root_places *places);
void seep_reach_fini(struct seep_reach *reach);

/* Finds all paths, and notes all references. Called once. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_reach_run(struct seep_reach *reach);

/* Notes the references of the roots and of these nodes again, now with more of them, and finds the
 * paths from there. Earlier paths remain valid. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_reach_again(struct seep_reach *reach, const uint32_t *nodes, size_t n);

/* Adds a root that holds `node` itself, at distance `cost`, and finds the paths from there, beside
 * those already known. */
void seep_reach_add(struct seep_reach *reach, enum seep_root_kind kind, uint32_t node,
                    unsigned cost);
SEEP_MUST_CHECK int seep_reach_go_on(struct seep_reach *reach);

/* From here on the paths to nodes reached so far do not change, whatever else leads there: memory
 * belongs to its holder, not to garbage that also refers to it. Searches with excluded nodes come
 * after seep_reach_unsettle(). Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_reach_settle(struct seep_reach *reach);
void seep_reach_unsettle(struct seep_reach *reach);

/* The steps of a search: it begins with an empty queue, takes the references of roots and of
 * reached nodes, and goes on. */
void seep_reach_begin(struct seep_reach *reach);
void seep_reach_take(struct seep_reach *reach, const struct seep_root_ref *ref);
void seep_reach_walk(struct seep_reach *reach, uint32_t node);

/* Whether all references that an object counts are known for certain: then another word that looks
 * like one is stale. */
bool seep_reach_explains(const struct seep_reach *reach, uint32_t node);

/* The paths to nodes as they were before they changed, each node once. Zero-initialised is empty.
 */
struct seep_reach_changes {
    struct seep_reach_change {
        seep_label label;
        uint32_t node, parent;
        uint16_t distance;
    } * list;
    size_t n, capacity, n_roots;
    uint64_t *noted; /* [nodes / 64] a bit for each node in the list */
};

/* From here on what changes is noted: at most 24 bytes for each node whose path changes, and a bit
 * for each node. Returns 0 or -SEEP_ENOMEM. Allocates; seep_reach_changes_fini() in either case,
 * before the reach's own end. */
SEEP_MUST_CHECK int seep_reach_changes_begin(struct seep_reach *reach,
                                             struct seep_reach_changes *changes);
void seep_reach_changes_end(struct seep_reach *reach);
void seep_reach_changes_fini(struct seep_reach_changes *changes);

/* Exchanges the paths before and after the changes; changes that came after them were taken back
 * before. */
void seep_reach_swap(struct seep_reach *reach, struct seep_reach_changes *changes);

/* Whoever changes a path notes it before. */
void seep_reach_note(struct seep_reach *reach, uint32_t node);

#endif
