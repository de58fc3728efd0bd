/* Device memory from the CUDA runtime: plain, pitched, managed, stream-ordered. */
#include "preload/cuda/runtime.h"

static inline int made(const struct seep_runtime_call *call, int result, const void *at,
                       uint64_t bytes)
{
    const struct seep_runtime_block block = {SEEP_KEYSPACE_DEVICE, seep_runtime_device(), at,
                                             bytes};
    return seep_runtime_made(call, result, &block);
}

static inline const void *block_at(int result, void *const *block)
{
    return result == SEEP_CUDA_SUCCESS && block ? *block : NULL;
}

SEEP_EXPORT int cudaMalloc(void **block, size_t bytes)
{
    SEEP_RUNTIME_MAKES(cudaMalloc, (void **, size_t));
    const int result = real(block, bytes);
    return made(&call, result, block_at(result, block), bytes);
}

/* Managed memory moves; it counts where it was requested. */
SEEP_EXPORT int cudaMallocManaged(void **block, size_t bytes, unsigned flags)
{
    SEEP_RUNTIME_MAKES(cudaMallocManaged, (void **, size_t, unsigned));
    const int result = real(block, bytes, flags);
    return made(&call, result, block_at(result, block), bytes);
}

SEEP_EXPORT int cudaMallocPitch(void **block, size_t *pitch, size_t width, size_t height)
{
    SEEP_RUNTIME_MAKES(cudaMallocPitch, (void **, size_t *, size_t, size_t));
    const int result = real(block, pitch, width, height);
    const bool is_made = result == SEEP_CUDA_SUCCESS && pitch;
    return made(&call, result, block_at(result, block), (is_made ? *pitch : width) * height);
}

SEEP_EXPORT int cudaMalloc3D(struct seep_cuda_pitched *block, struct seep_cuda_extent extent)
{
    SEEP_RUNTIME_MAKES(cudaMalloc3D, (struct seep_cuda_pitched *, struct seep_cuda_extent));
    const int result = real(block, extent);
    const bool is_made = result == SEEP_CUDA_SUCCESS && block;
    return made(&call, result, is_made ? block->at : NULL,
                (is_made ? block->pitch_bytes : extent.width) * extent.height * extent.depth);
}

static int freed(const struct seep_runtime_call *call, int (*real)(void *), void *block)
{
    const struct seep_runtime_free its =
        seep_runtime_free_begins(call->hook, SEEP_KEYSPACE_DEVICE, block);
    return seep_runtime_freed(&its, real(block));
}

SEEP_EXPORT int cudaFree(void *block)
{
    SEEP_RUNTIME_CALL(cudaFree, (void *));
    return freed(&call, real, block);
}

/* ---- ordered by a stream: counted as the call is made, though the device is not there yet; each
 * function by two names, for streams of a thread ------------------------------------------------
 */

#define MALLOC_ASYNC(name)                                                                         \
    SEEP_EXPORT int name(void **block, size_t bytes, void *stream)                                 \
    {                                                                                              \
        SEEP_RUNTIME_MAKES(name, (void **, size_t, void *));                                       \
        const int result = real(block, bytes, stream);                                             \
        return made(&call, result, block_at(result, block), bytes);                                \
    }

#define MALLOC_FROM_POOL(name)                                                                     \
    SEEP_EXPORT int name(void **block, size_t bytes, void *pool, void *stream)                     \
    {                                                                                              \
        SEEP_RUNTIME_MAKES(name, (void **, size_t, void *, void *));                               \
        const int result = real(block, bytes, pool, stream);                                       \
        return made(&call, result, block_at(result, block), bytes);                                \
    }

#define FREE_ASYNC(name)                                                                           \
    SEEP_EXPORT int name(void *block, void *stream)                                                \
    {                                                                                              \
        SEEP_RUNTIME_CALL(name, (void *, void *));                                                 \
        const struct seep_runtime_free its =                                                       \
            seep_runtime_free_begins(call.hook, SEEP_KEYSPACE_DEVICE, block);                      \
        return seep_runtime_freed(&its, real(block, stream));                                      \
    }

MALLOC_ASYNC(cudaMallocAsync)
MALLOC_ASYNC(cudaMallocAsync_ptsz)
MALLOC_FROM_POOL(cudaMallocFromPoolAsync)
MALLOC_FROM_POOL(cudaMallocFromPoolAsync_ptsz)
FREE_ASYNC(cudaFreeAsync)
FREE_ASYNC(cudaFreeAsync_ptsz)
