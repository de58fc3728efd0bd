/* Blocks in libc's heaps that seep did not record: of code that calls libc's malloc past the hooks,
 * through a handle of its own or by static binding.
 *
 * libc stores in the word before each chunk its length, and whether the chunk before it is in use.
 * A walk begins at a recorded block, which shows where a chunk begins, and goes from chunk to
 * chunk. Heaps are too large to walk whole, so they are sampled piece by piece. Nothing is locked:
 * the kernel reads the words as they are, and an impossible one ends the walk. */
#ifndef SEEP_PRELOAD_PAGES_HEAP_WALK_H
#define SEEP_PRELOAD_PAGES_HEAP_WALK_H

#include <stdint.h>

/* Begins a look at all heaps of a process with about `resident_bytes`: the larger it is, the fewer
 * chunks of each piece are read. One thread at a time: static buffers. */
void seep_heap_walk_begin(uint64_t resident_bytes);

/* Estimates how many bytes of [start, end), a part of one of libc's heaps, belong to blocks that
 * are in use and not recorded, resident or not. Once a look has cost too much, all of the rest
 * counts, for nobody can say that it is free. Ranges come in the order of their addresses. 0 also
 * if nothing can be known: no recorded block is near, it is not a heap of libc, or a seccomp filter
 * is active. Blocks below 128 bytes do not count: freed ones look like live ones. */
uint64_t seep_heap_walk(uintptr_t start, uintptr_t end);

/* The cost of this look so far, in pages that were searched for recorded blocks. */
uint64_t seep_heap_walk_steps(void);

#endif
