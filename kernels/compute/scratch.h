/* Scratch memory for kernels: a block in which they lay out their own arrays. */
#ifndef SEEP_KERNELS_SCRATCH_H
#define SEEP_KERNELS_SCRATCH_H

#include "kernels/compute/stream.h"

#include <stdint.h>

/* A cache line; on CUDA the alignment of cudaMalloc(), which CUB expects. */
enum { SEEP_SCRATCH_ALIGNMENT_CPU = 64, SEEP_SCRATCH_ALIGNMENT_CUDA = 256 };

/* NULL, which asks for the size, counts as aligned. */
static inline bool seep_scratch_aligned(const struct seep_stream *stream, const void *scratch)
{
    uintptr_t unit = seep_stream_device(stream) == SEEP_DEVICE_CUDA ? SEEP_SCRATCH_ALIGNMENT_CUDA
                                                                    : SEEP_SCRATCH_ALIGNMENT_CPU;

    return (uintptr_t)scratch % unit == 0;
}

#endif
