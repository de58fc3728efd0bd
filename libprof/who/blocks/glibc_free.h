/* Chunks of glibc's that look as if they were in use and are free: in the caches of threads (since
 * 2.26) and in the arenas' lists of small ones (malloc/malloc.c: tcache_perthread_struct,
 * malloc_state). Both are believed where every link in them leads to a chunk of their size. */
#ifndef SEEP_LIBPROF_WHO_BLOCKS_GLIBC_FREE_H
#define SEEP_LIBPROF_WHO_BLOCKS_GLIBC_FREE_H

#include "libprof/who/blocks/block_list.h"
#include "libprof/who/graph/memory.h"
#include "libprof/who/graph/process_maps.h"

/* Takes them out of `blocks`, which are sorted. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_glibc_leave_out_free(struct seep_block_list *blocks,
                                              struct seep_memory *memory,
                                              const struct seep_maps *maps);

#endif
