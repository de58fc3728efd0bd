/* Where only some of the small blocks were recorded: the others, which are no line's, but may hold
 * what is. They are chunks of glibc's heaps, whose sizes lead from one to the next. */
#ifndef SEEP_LIBPROF_WHO_FIND_UNRECORDED_H
#define SEEP_LIBPROF_WHO_FIND_UNRECORDED_H

#include "libprof/who/blocks/block_list.h"
#include "libprof/who/find/dump.h"
#include "libprof/who/graph/graph.h"

/* Lists all chunks of a process, recorded or not, by address. Returns 0, -SEEP_EIO or -SEEP_ENOMEM.
 * Allocates; seep_block_list_fini() in either case. */
SEEP_MUST_CHECK int seep_unrecorded_find(struct seep_block_list *chunks,
                                         struct seep_remote *remote);

/* Adds to a graph that has all recorded blocks so far, and nothing else, what is live of the
 * chunks. Sets *whole: they are all that there is, judged by the blocks that stand for others,
 * which must be among them. They are not if malloc is another one, or if the process went on
 * meanwhile. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_unrecorded_add(struct seep_block_list *chunks, struct seep_dump *dump,
                                        struct seep_heap *heap, bool *whole);

#endif
