/* Host memory pinned by the CUDA runtime. Memory that it allocates itself is in space pinned.
 * Memory that it is given to pin was counted when it was allocated, and stays in its space; only
 * its sum is noted. */
#include <errno.h>

#include "preload/cuda/runtime.h"

static inline int made(const struct seep_runtime_call *call, int result, void *const *block,
                       uint64_t bytes)
{
    const bool is_made = result == SEEP_CUDA_SUCCESS && block;
    const struct seep_runtime_block its = {SEEP_KEYSPACE_PINNED, SEEP_DEVICE_PINNED,
                                           is_made ? *block : NULL, bytes};
    return seep_runtime_made(call, result, &its);
}

SEEP_EXPORT int cudaMallocHost(void **block, size_t bytes)
{
    SEEP_RUNTIME_MAKES(cudaMallocHost, (void **, size_t));
    const int result = real(block, bytes);
    return made(&call, result, block, bytes);
}

SEEP_EXPORT int cudaHostAlloc(void **block, size_t bytes, unsigned flags)
{
    SEEP_RUNTIME_MAKES(cudaHostAlloc, (void **, size_t, unsigned));
    const int result = real(block, bytes, flags);
    return made(&call, result, block, bytes);
}

SEEP_EXPORT int cudaFreeHost(void *block)
{
    SEEP_RUNTIME_CALL(cudaFreeHost, (void *));
    const struct seep_runtime_free its =
        seep_runtime_free_begins(call.hook, SEEP_KEYSPACE_PINNED, block);
    return seep_runtime_freed(&its, real(block));
}

/* ---- what others have made ------------------------------------------------------------------- */

/* Kept on a keyspace only for its size: it has no site. */
static void put_registered(const void *at, uint64_t bytes)
{
    struct seep_device_aliases *aliases = &seep_arena.header->devices.aliases;
    const struct seep_block block = {.bytes = bytes};
    seep_device_blocks_put_back(SEEP_KEYSPACE_REGISTERED, at, &block);
    const uint64_t sum = __atomic_add_fetch(&aliases->registered_bytes, bytes, __ATOMIC_RELAXED);
    uint64_t peak = __atomic_load_n(&aliases->registered_peak_bytes, __ATOMIC_RELAXED);
    while (sum > peak && !__atomic_compare_exchange_n(&aliases->registered_peak_bytes, &peak, sum,
                                                      true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static inline int registered(const struct seep_runtime_call *call, int result, const void *at,
                             uint64_t bytes)
{
    const bool is_refused = result == SEEP_CUDA_OUT_OF_MEMORY;
    if (!at || (result != SEEP_CUDA_SUCCESS && !is_refused) || !seep_device_enter())
        return result;
    const int saved_errno = errno;
    seep_note_hook(call->hook);
    if (is_refused)
        seep_runtime_refused(&call->regs, SEEP_OOM_BY_REGISTER, SEEP_DEVICE_PINNED, bytes);
    else
        put_registered(at, bytes);
    errno = saved_errno;
    seep_leave();
    return result;
}

SEEP_EXPORT int cudaHostRegister(void *at, size_t bytes, unsigned flags)
{
    SEEP_RUNTIME_CALL(cudaHostRegister, (void *, size_t, unsigned));
    return registered(&call, real(at, bytes, flags), at, bytes);
}

SEEP_EXPORT int cudaHostUnregister(void *at)
{
    SEEP_RUNTIME_CALL(cudaHostUnregister, (void *));
    const struct seep_runtime_free its =
        seep_runtime_free_begins(call.hook, SEEP_KEYSPACE_REGISTERED, at);
    const int result = seep_runtime_freed(&its, real(at));
    if (result == SEEP_CUDA_SUCCESS && its.is_known)
        __atomic_sub_fetch(&seep_arena.header->devices.aliases.registered_bytes, its.block.bytes,
                           __ATOMIC_RELAXED);
    return result;
}
