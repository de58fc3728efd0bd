/* Where references come from that are in no block: variables of running functions, modules, data of
 * programs and libraries, stacks, thread-local storage. */
#ifndef SEEP_LIBPROF_WHO_WAYS_ROOTS_H
#define SEEP_LIBPROF_WHO_WAYS_ROOTS_H

#include "libprof/who/ways/root.h"

struct seep_root_places {
    uint64_t stack_pointer, thread_pointer; /* of the thread that was copied */
};

void seep_roots_walk(struct seep_heap *heap, const struct seep_root_places *places,
                     seep_root_taker *begin);

#endif
