/* Who retains how much: objects whose removal frees much memory, and that a user would name. Many
 * objects of one kind, such as the entries of a list, are one retainer. */
#ifndef SEEP_LIBPROF_WHO_RETAINED_RETAINERS_H
#define SEEP_LIBPROF_WHO_RETAINED_RETAINERS_H

#include "libprof/who/retained/dominators.h"
#include "libprof/who/ways/ways.h"

#define SEEP_NO_RETAINER UINT32_MAX

/* Memory in which something is retained: the host's, that of GPUs. */
enum { SEEP_RETAINED_MEMORIES = 17 };

struct seep_retained_memory {
    const uint64_t *retained; /* [nodes] bytes of it, summed over the dominators */
    uint64_t bytes;           /* in use, */
    uint64_t least;           /* and what makes a retainer; UINT64_MAX: no part of it does */
};

struct seep_retainer {
    uint64_t key; /* of its path without indices and keys: the same in each look at a process */
    uint64_t retained[SEEP_RETAINED_MEMORIES]; /* bytes of all its objects in each memory */
    uint64_t objects;
    uint32_t node;   /* the object that retains most, */
    double most;     /* and the part of a memory that it retains */
    uint32_t within; /* index of the retainer that it belongs to; SEEP_NO_RETAINER: none */
};

/* What retains enough to be named, but nearly all of it by one of its parts, which is named
 * instead. Its key may also be a retainer's. */
struct seep_retained_sum {
    uint64_t key;
    uint64_t retained[SEEP_RETAINED_MEMORIES];
};

struct seep_retainers {
    struct seep_retainer *list; /* [n] no two are within each other */
    size_t n, capacity;
    struct seep_retained_sum *passed; /* [n_passed] */
    size_t n_passed;
    uint32_t *of_node; /* [nodes] the retainer that each belongs to, or that it is */
};

/* `ways` are those of the reach whose references the dominators were made from. Returns 0 or
 * -SEEP_ENOMEM. Allocates; seep_retainers_fini() in either case. */
SEEP_MUST_CHECK int seep_retainers_find(struct seep_retainers *found, struct seep_ways *ways,
                                        const struct seep_dominators *dominators,
                                        const struct seep_retained_memory *memories,
                                        size_t n_memories);
void seep_retainers_fini(struct seep_retainers *found);

#endif
