/* What malloc takes for a block: its chunk, which has a header, and is rounded up to 16 bytes; for
 * small blocks that is as much again. Of glibc on 64-bit machines (its malloc.c, request2size). */
#ifndef SEEP_LIBPROF_MODEL_CHUNKS_H
#define SEEP_LIBPROF_MODEL_CHUNKS_H

#include <stdint.h>

/* Bytes of the chunk that a block of so many bytes lies in. */
static inline uint64_t seep_chunk_bytes(uint64_t block)
{
    enum { HEADER = 8, ALIGN = 16, LEAST = 32 };
    const uint64_t bytes = (block + HEADER + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);

    return bytes < LEAST ? LEAST : bytes;
}

/* The same of `blocks` blocks with `bytes` bytes together, by their mean size; `bytes` itself where
 * a chunk is less than a tenth larger than its block: what is said of blocks of a KiB or a MiB is
 * what was requested, to the byte. */
static inline uint64_t seep_chunks_bytes(uint64_t bytes, uint64_t blocks)
{
    const uint64_t mean = blocks ? bytes / blocks : 0, beyond = seep_chunk_bytes(mean) - mean;

    return blocks && beyond * 10 >= mean && bytes >> 48 == 0 ? bytes + blocks * beyond : bytes;
}

#endif
