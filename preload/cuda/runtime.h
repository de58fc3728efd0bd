/* What the hooks of the CUDA runtime share. A hook finds the function that its caller would have
 * reached, makes the call, and says what came of it:
 *
 *     SEEP_RUNTIME(cudaMalloc, (void **, size_t));
 *     const int result = real(block, bytes);
 *     return seep_runtime_made(&call, result, …);
 *
 * An allocation is made with the guard up: the driver maps and mallocs through libc meanwhile, and
 * what it needs to give memory is not the job's. A free is made without: what the driver may give
 * back then, it may have got where no guard was. Nothing here calls CUDA: the device of a block is
 * the one that its thread last set. */
#ifndef SEEP_PRELOAD_CUDA_RUNTIME_H
#define SEEP_PRELOAD_CUDA_RUNTIME_H

#include <stddef.h>

#include "preload/device/caller.h"
#include "preload/device/device_blocks.h"
#include "preload/device/use.h"

/* The part of CUDA's binary interface that the hooks need: numbers and records as callers of the
 * runtime and the driver lay them out, the same from CUDA 11 to 13. */
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

struct seep_runtime_call {
    struct seep_regs regs;
    enum seep_hook hook;
    bool is_recorded; /* the guard is up */
};

/* Declares `call` and `real`; returns from the hook if no library exports the function. */
#define SEEP_RUNTIME_CALL(name, parameters)                                                        \
    struct seep_runtime_call call = {.regs = SEEP_REGS(), .hook = SEEP_HOOK_##name};               \
    int(*real) parameters;                                                                         \
    *(void **)&real = seep_caller_real(call.regs.ra, call.hook);                                   \
    if (!real)                                                                                     \
    return SEEP_CUDA_NOT_FOUND

/* The same of an allocation: the guard is up from here to seep_runtime_made(). */
#define SEEP_RUNTIME_MAKES(name, parameters)                                                       \
    SEEP_RUNTIME_CALL(name, parameters);                                                           \
    call.is_recorded = seep_device_enter()

/* The device on which this thread allocates. */
unsigned seep_runtime_device(void);

/* The space of a device's memory; 0: none. */
unsigned seep_runtime_space(unsigned device);

/* A block that was requested: kind of memory, address, size. */
struct seep_runtime_block {
    enum seep_keyspace keyspace;
    unsigned device; /* SEEP_DEVICE_PINNED: of the host */
    const void *at;
    uint64_t bytes; /* the size that it got, or requested if that failed */
};

/* Records the result of the call, and ends it. Returns `result`. */
int seep_runtime_made(const struct seep_runtime_call *call, int result,
                      const struct seep_runtime_block *block);

/* Notes a request that failed for lack of memory in the runtime or the driver: source is
 * SEEP_OOM_BY_RUNTIME or SEEP_OOM_BY_REGISTER. Inside the guard. */
void seep_runtime_refused(const struct seep_regs *regs, enum seep_oom_source source,
                          unsigned device, uint64_t bytes);

/* A free in progress. */
struct seep_runtime_free {
    enum seep_keyspace keyspace;
    const void *at;
    struct seep_block block;
    bool is_known;
};

/* Takes the block off the books before it is freed; after the call, puts it back or settles it.
 * Returns `result`. */
struct seep_runtime_free seep_runtime_free_begins(enum seep_hook hook, enum seep_keyspace keyspace,
                                                  const void *at);
int seep_runtime_freed(const struct seep_runtime_free *its, int result);

/* Every result may show that the runtime is gone. True: it is there. Inside the guard. */
bool seep_runtime_is_there(int result);

#endif
