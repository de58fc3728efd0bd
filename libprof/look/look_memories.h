/* In which memory a process's objects are: the host's, by blocks, and that of devices, by the words
 * of the storages of PyTorch's tensors, which are in host memory. */
#ifndef SEEP_LIBPROF_LOOK_LOOK_MEMORIES_H
#define SEEP_LIBPROF_LOOK_LOOK_MEMORIES_H

#include "libprof/look/look_holder.h"
#include "libprof/who/retained/dominators.h"

struct seep_look_storage {
    uint32_t node;
    uint32_t memory; /* index in memories[] of the holders */
    uint64_t bytes;
    const struct seep_storage *storage; /* the survey's */
};

struct seep_look_memories {
    const struct seep_heap *heap;
    struct seep_look_storage *storages; /* [n] by node; storages with the same data are one */
    size_t n, capacity;
    uint64_t *retained[SEEP_LOOK_MEMORIES]; /* of each memory [nodes]; the host's is the
                                             * dominators' own */
};

/* Finds them, and sets the holders' memories. A storage without data, as on PyTorch's meta device,
 * has no bytes. Returns 0 or -SEEP_ENOMEM. Allocates; seep_look_memories_fini() in either case.
 * The dominators outlive it. */
SEEP_MUST_CHECK int seep_look_memories_find(struct seep_look_memories *memories,
                                            struct seep_look_holders *holders,
                                            struct seep_heap *heap,
                                            const struct seep_dominators *dominators);
void seep_look_memories_fini(struct seep_look_memories *memories);

/* Adds what a node alone has in each memory. */
void seep_look_memories_add(const struct seep_look_memories *memories, uint32_t node,
                            uint64_t bytes[SEEP_LOOK_MEMORIES]);

#endif
