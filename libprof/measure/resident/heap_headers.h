/* What malloc's chunks take beyond the bytes that were asked for: a header, and the rounding to 16
 * bytes; for small blocks that is as much again. Of glibc on 64-bit machines (its malloc.c,
 * request2size). */
#ifndef SEEP_LIBPROF_MEASURE_RESIDENT_HEAP_HEADERS_H
#define SEEP_LIBPROF_MEASURE_RESIDENT_HEAP_HEADERS_H

#include "libprof/model/model.h"

/* Bytes of the chunk that a block of so many bytes lies in. */
static inline uint64_t seep_chunk_bytes(uint64_t block)
{
    enum { HEADER = 8, ALIGN = 16, LEAST = 32 };
    const uint64_t bytes = (block + HEADER + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);

    return bytes < LEAST ? LEAST : bytes;
}

/* Samples take what is in malloc's maps beyond the recorded blocks for free memory. Moves what
 * chunks take beyond their blocks, by the mean size of each site, to what is live. Not where
 * another malloc is in use. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_heap_headers_add(struct seep_model *m);

#endif
