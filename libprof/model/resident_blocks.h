/* What is resident of blocks.
 *
 * Of small ones it is what malloc takes: the chunk, which has a header, and is rounded up to 16
 * bytes; for the smallest that is as much again. Of glibc on 64-bit machines (its malloc.c,
 * request2size). Of large ones it is the pages that were touched. */
#ifndef SEEP_LIBPROF_MODEL_RESIDENT_BLOCKS_H
#define SEEP_LIBPROF_MODEL_RESIDENT_BLOCKS_H

#include "libprof/format/profile_format.h"

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

/* Of the bytes of a site's large blocks, in 256ths: in pages that were never touched. Less than a
 * tenth is 0: a block's ends may lie in pages of others. */
static inline uint8_t seep_untouched_256ths(const struct seep_detail *its)
{
    if (its->untouched_bytes > its->looked_bytes || its->looked_bytes >> 56 ||
        its->untouched_bytes * 10 < its->looked_bytes || !its->looked_bytes)
        return 0;
    const uint64_t share = its->untouched_bytes * 256 / its->looked_bytes;
    return share < UINT8_MAX ? (uint8_t)share : UINT8_MAX;
}

#endif
