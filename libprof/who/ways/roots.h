/* The places outside all blocks that references come from: variables of running functions, modules,
 * data of programs and libraries, stacks, thread-local storage. */
#ifndef SEEP_LIBPROF_WHO_WAYS_ROOTS_H
#define SEEP_LIBPROF_WHO_WAYS_ROOTS_H

#include "libprof/who/survey/heap.h"

/* A place outside all blocks that references come from. */

enum seep_root_kind {
    SEEP_ROOT_FRAME,     /* at: the code object of a running function */
    SEEP_ROOT_MODULE,    /* at: the module's name, a str */
    SEEP_ROOT_MODULES,   /* sys.modules itself */
    SEEP_ROOT_LOCALS,    /* of a thread: threading.local */
    SEEP_ROOT_STATIC,    /* map: of a program or a library */
    SEEP_ROOT_STACK,     /* map: a thread's */
    SEEP_ROOT_THREAD,    /* C's thread-local storage */
    SEEP_ROOT_CYCLE,     /* nobody: `at` is the node of a cycle's member */
    SEEP_ROOT_REFERENCE, /* nobody: `at` is the node of an object whose reference count is too
                          * high */
    SEEP_ROOT_NOBODY,    /* nobody at all; only in paths, for lost memory */
};

struct seep_root {
    enum seep_root_kind kind;
    uint64_t at;
    const struct seep_map *map;
    bool doubtful; /* its words are often stale: stacks, thread storage, the interpreter's data */
    uint32_t subinterpreter; /* the number of the one that it belongs to; 0: to none */
};

/* Called before the edges of each root go to heap->take, with the root's own distance. */
typedef void seep_root_taker(struct seep_heap *heap, const struct seep_root *root, unsigned cost);

struct seep_root_places {
    uint64_t stack_pointer, thread_pointer; /* of the thread that was copied */
};

void seep_roots_walk(struct seep_heap *heap, const struct seep_root_places *places,
                     seep_root_taker *begin);

/* The end of the data of a program or library in a mapping of its data: what follows it there is
 * the heap. */
uint64_t seep_roots_end_of_data(struct seep_heap *heap, const struct seep_map *map);

#endif
