/* Chunks of glibc's malloc, as its heaps have them one behind the other (malloc/malloc.c,
 * malloc/arena.c). Sizes and flags have been the same since 2.3; the place of the first chunk in an
 * arena's heap is found by trying, for it is the one from which the chunks end where the heap does.
 */
#ifndef SEEP_LIBPROF_WHO_BLOCKS_GLIBC_CHUNKS_H
#define SEEP_LIBPROF_WHO_BLOCKS_GLIBC_CHUNKS_H

#include "libprof/who/blocks/block_list.h"
#include "libprof/who/blocks/memory_window.h"

/* Adds the chunks of [start, end) that are in use or in a thread's cache, which looks the same
 * (glibc_free.h), from a first chunk at `start`; returns where what is there stopped being one:
 * `end`, if it is a heap. */
uint64_t seep_glibc_chunks(struct seep_block_list *blocks, struct seep_window *window,
                           uint64_t start, uint64_t end);

/* The same for the heap of an arena that a mapping begins with. Returns where it ends; 0: it is
 * none. */
uint64_t seep_glibc_arena(struct seep_block_list *blocks, struct seep_window *window,
                          uint64_t start, uint64_t end);

/* Adds the chunk that has a mapping of its own, which begins at `at`, and returns the mapping's
 * bytes; 0: there is none. */
uint64_t seep_glibc_mapped(struct seep_block_list *blocks, struct seep_window *window, uint64_t at,
                           uint64_t end);

#endif
