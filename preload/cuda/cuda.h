/* The part of CUDA's binary interface that the hooks need: numbers and records as callers of the
 * runtime and the driver lay them out, the same from CUDA 11 to 13. */
#ifndef SEEP_PRELOAD_CUDA_CUDA_H
#define SEEP_PRELOAD_CUDA_CUDA_H

#include <stddef.h>

enum seep_cuda_result {
    SEEP_CUDA_SUCCESS = 0,
    SEEP_CUDA_OUT_OF_MEMORY = 2, /* of both, the runtime and the driver */
    SEEP_CUDA_UNLOADING = 4,     /* the process ends, and the runtime is gone already */
    SEEP_CUDA_NOT_FOUND = 500,   /* no such function: no library exports the one that was called */
};

struct seep_cuda_pitched {
    void *at;
    size_t pitch_bytes, width, height;
};

struct seep_cuda_extent {
    size_t width, height, depth;
};

/* An element of an array: bits of its components. */
struct seep_cuda_channels {
    int bits[4];
    int kind;
};

enum { SEEP_CUDA_LAYERED = 1 }; /* a flag of arrays: the depth counts layers */

struct seep_cuda_ipc {
    char handle[64];
};

enum { SEEP_CU_ON_DEVICE = 1 };

/* The beginning of CUmemAllocationProp. */
struct seep_cu_wanted {
    int type;
    int handle_types;
    int location_type;
    int location;
};

#endif
