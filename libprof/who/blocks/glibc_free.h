/* Free chunks of glibc's that look as if they were in use: those in the caches of threads (since
 * 2.26) and in the arenas' lists of small chunks (malloc/malloc.c: tcache_perthread_struct,
 * malloc_state). A cache or list is believed if every link in it leads to a chunk of its size. */
#ifndef SEEP_LIBPROF_WHO_BLOCKS_GLIBC_FREE_H
#define SEEP_LIBPROF_WHO_BLOCKS_GLIBC_FREE_H

#include "libprof/who/blocks/block_list.h"
#include "libprof/who/graph/memory.h"
#include "libprof/who/graph/process_maps.h"

/* Takes them out of `blocks`, which is sorted. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_glibc_leave_out_free(struct seep_block_list *blocks,
                                              struct seep_memory *memory,
                                              const struct seep_maps *maps);

#endif
