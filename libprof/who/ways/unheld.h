/* Groups nodes that no root reaches by their state and their type: members of cycles by the type of
 * the cycle's representative, objects that count a reference too many by the type of what counts
 * it, what is lost by its own type or class, or by its size. */
#ifndef SEEP_LIBPROF_WHO_WAYS_UNHELD_H
#define SEEP_LIBPROF_WHO_WAYS_UNHELD_H

#include "libprof/base/hash_index.h"
#include "libprof/who/ways/answer.h"

#define SEEP_NO_GROUP UINT32_MAX

struct seep_unheld_group {
    uint64_t key; /* of its state and what it is: the same in each look at a process */
    enum seep_hold_state state; /* cycle, reference or lost */
};

struct seep_unheld {
    struct seep_unheld_group *list; /* [n] */
    size_t n, capacity;
    uint32_t *of_node; /* [nodes] its group; SEEP_NO_GROUP: a root reaches it, or it has no bytes */
    struct seep_hash_index by_key;
};

/* After seep_cycles_find(), and seep_references_find() where all blocks are known. Returns 0 or
 * -SEEP_ENOMEM. Allocates; seep_unheld_fini() in either case. */
SEEP_MUST_CHECK int seep_unheld_find(struct seep_unheld *unheld, struct seep_reach *reach);
void seep_unheld_fini(struct seep_unheld *unheld);

/* Whether the node is what its group is named for, and not just kept by it. */
bool seep_unheld_is_top(const struct seep_reach *reach, uint32_t node);

/* The path to such a node; what is lost has none but what it is. `keys`: texts of dict keys may be
 * shown. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_unheld_path(struct seep_reach *reach, enum seep_hold_state state,
                                     uint32_t node, bool keys, struct seep_path *path);

#endif
