/* Blocks in libc's heaps that nobody recorded: of code that calls libc's malloc past the hooks, by
 * a handle of libc's own or bound to it at link time.
 *
 * libc marks in the word before each chunk how long it is, and whether the chunk before is in use.
 * A walk begins at a recorded block, which shows where a chunk begins, and goes from chunk to
 * chunk. A heap is too large to be walked whole: it is sampled piece by piece. Nothing is locked:
 * the words are read as they are, by the kernel, and what cannot be right ends the walk. */
#ifndef SEEP_PRELOAD_RECORD_HEAP_WALK_H
#define SEEP_PRELOAD_RECORD_HEAP_WALK_H

#include <stdint.h>

/* Begins a look at all heaps of a process that has about `resident_bytes`: the more, the fewer
 * chunks of each piece are looked at. One thread at a time: static buffers. */
void seep_heap_walk_begin(uint64_t resident_bytes);

/* About how many bytes of [start, end), which lies in one of libc's heaps, are of blocks that are
 * in use and not recorded, resident or not; all of what is left when a look has cost too much, for
 * nobody can say that it is free. Ranges come in the order of their addresses. 0 also
 * where nothing can be known: no recorded block is near, it is no heap of libc's, or a seccomp
 * filter is there. Blocks below 128 bytes are not counted: freed ones look like live ones. */
uint64_t seep_heap_walk(uintptr_t start, uintptr_t end);

/* What this look has cost so far: pages that were searched for recorded blocks, and all else in
 * terms of these. */
uint64_t seep_heap_walk_steps(void);

#endif
