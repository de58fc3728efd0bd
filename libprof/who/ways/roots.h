/* The places outside all blocks that references come from: variables of running functions, modules,
 * data of programs and libraries, stacks, thread-local storage. */
#ifndef SEEP_LIBPROF_WHO_WAYS_ROOTS_H
#define SEEP_LIBPROF_WHO_WAYS_ROOTS_H

#include "libprof/who/ways/root.h"

struct seep_root_places {
    uint64_t stack_pointer, thread_pointer; /* of the thread that was copied */
};

void seep_roots_walk(struct seep_heap *heap, const struct seep_root_places *places,
                     seep_root_taker *begin);

/* The end of the data of a program or library in a mapping of its data: what follows it there is
 * the heap. */
uint64_t seep_roots_end_of_data(struct seep_heap *heap, const struct seep_map *map);

#endif
