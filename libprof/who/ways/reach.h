/* The shortest path from a root to each node; short means what a user would name. */
#ifndef SEEP_LIBPROF_WHO_WAYS_REACH_H
#define SEEP_LIBPROF_WHO_WAYS_REACH_H

#include "libprof/who/survey/survey.h"
#include "libprof/who/ways/roots.h"

struct seep_reach_changes;

enum { SEEP_REACH_EXCLUDED = 4 };
#define SEEP_REACH_ROOT 0x80000000u /* in `parent`: the rest is the index of a root */
#define SEEP_UNREACHED  UINT16_MAX

/* A reference that comes from a root; its cost is the distance. */
struct seep_root_edge {
    struct seep_edge edge;
    uint32_t root;
    bool doubtful; /* its root's words are often stale, as a frame's stack of temporaries is */
};

struct seep_reach {
    struct seep_heap *heap;
    struct seep_root_places places;
    uint16_t *distance; /* [nodes] SEEP_UNREACHED: nobody holds it */
    uint32_t *parent;   /* [nodes] node or root | SEEP_REACH_ROOT */
    uint32_t *label;    /* [nodes] of the edge from the parent: seep_reach_label() */
    struct seep_root *roots;
    size_t n_roots, roots_capacity;
    struct seep_root_edge *root_edges;
    size_t n_root_edges, root_edges_capacity;
    uint32_t *referrers;     /* of each node, after seep_reach_referrers() */
    uint32_t *referrers_end; /* [nodes] in `referrers`; they begin where the previous node's end */
    uint32_t excluded[SEEP_REACH_EXCLUDED]; /* nodes that are skipped; SEEP_NODE_NONE: none */
    uint64_t *settled; /* [nodes / 64] a bit for nodes that keep their path; NULL: none */
    bool no_doubtful;  /* skip roots whose words are often stale */
    bool no_memory;
    size_t n_walked;    /* nodes walked by all searches */
    unsigned root_cost; /* distance of the root whose references are being surveyed */
    struct seep_reach_queue *queue;
    struct seep_reach_changes *changes; /* where they are noted; NULL: nowhere */
};

/* Surveys the heap and its roots: afterwards nothing of the process's memory is needed. `keys`:
 * texts of dict keys may be shown. Returns 0 or -SEEP_ENOMEM. Allocates; seep_reach_fini() in
 * either case. */
SEEP_MUST_CHECK int seep_reach_init(struct seep_reach *reach, struct seep_heap *heap,
                                    const struct seep_root_places *places, bool keys);
void seep_reach_fini(struct seep_reach *reach);

/* Finds all paths. Called once. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_reach_run(struct seep_reach *reach);

/* Finds the paths from the roots and from these nodes again, now that more of their references are
 * believed. Earlier paths remain valid. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_reach_again(struct seep_reach *reach, const uint32_t *nodes, size_t n);

/* Notes for each node which of the reached nodes refer to it. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_reach_referrers(struct seep_reach *reach);

/* The label of the edge that a reached node's path ends with. Values of labels with a name are its
 * number (survey.h). */
seep_label seep_reach_label(const struct seep_reach *reach, uint32_t node);

/* Whether the reference of a root is believed by now. */
static inline bool seep_reach_believes(const struct seep_reach *reach,
                                       const struct seep_root_edge *edge)
{
    return seep_heap_believes(reach->heap, SEEP_NODE_NONE, &edge->edge);
}

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

/* The steps of a search: it begins with an empty queue, takes the references of roots (by their
 * index in root_edges) and of reached nodes, and goes on. */
void seep_reach_begin(struct seep_reach *reach);
void seep_reach_take(struct seep_reach *reach, size_t root_edge);
void seep_reach_walk(struct seep_reach *reach, uint32_t node);

/* The paths to nodes as they were before they changed, each node once. Zero-initialised is empty.
 */
struct seep_reach_changes {
    struct seep_reach_change {
        uint32_t node, parent, label;
        uint16_t distance;
    } * list;
    size_t n, capacity, n_roots;
    uint64_t *noted; /* [nodes / 64] a bit for each node in the list */
};

/* From here on what changes is noted: 16 bytes for each node whose path changes, and a bit
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
