/* Chunks of glibc's malloc, in the order in which its heaps contain them (malloc/malloc.c,
 * malloc/arena.c). Sizes and flags have been the same since 2.3. The first chunk of an arena's heap
 * is found by trying: from the right place, the chunks end exactly where the heap does. */
#ifndef SEEP_LIBPROF_WHO_BLOCKS_GLIBC_CHUNKS_H
#define SEEP_LIBPROF_WHO_BLOCKS_GLIBC_CHUNKS_H

#include "libprof/who/blocks/block_list.h"
#include "libprof/who/blocks/memory_window.h"
#include "libprof/who/graph/memory.h"
#include "libprof/who/graph/process_maps.h"

/* Adds the chunks of [start, end) that are in use or in a thread's cache, which looks the same
 * (seep_glibc_leave_out_free()), and the bytes of the others. The first chunk is at `start`.
 * Returns where the chunks end: `end`, if this is a heap. */
uint64_t seep_glibc_chunks(struct seep_block_list *blocks, struct seep_window *window,
                           uint64_t start, uint64_t end);

/* The same for an arena's heap at the beginning of a mapping. Returns where it ends; 0: there is
 * none. */
uint64_t seep_glibc_arena(struct seep_block_list *blocks, struct seep_window *window,
                          uint64_t start, uint64_t end);

/* The same for all heaps of a process, by address. */
void seep_glibc_heaps(struct seep_block_list *blocks, struct seep_window *window,
                      const struct seep_maps *maps);

/* Adds the chunk with a mapping of its own that begins at `at`, and returns the mapping's bytes; 0:
 * there is none. */
uint64_t seep_glibc_mapped(struct seep_block_list *blocks, struct seep_window *window, uint64_t at,
                           uint64_t end);

/* Takes out of `blocks`, which is sorted, free chunks that look as if they were in use: those in
 * the caches of threads (since 2.26) and in the arenas' lists of small chunks (malloc/malloc.c:
 * tcache_perthread_struct, malloc_state). A cache or list is believed if every link in it leads to
 * a chunk of its size. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_glibc_leave_out_free(struct seep_block_list *blocks,
                                              struct seep_memory *memory,
                                              const struct seep_maps *maps);

#endif
