/* Arrays of the CUDA runtime, which the job knows by a handle: they count by their elements,
 * however the device lays them out. */
#include "preload/cuda/runtime.h"

static uint64_t at_least_1(size_t n)
{
    return n ? n : 1;
}

static uint64_t bytes_of(const struct seep_cuda_channels *each, struct seep_cuda_extent extent)
{
    uint64_t bits = 0;
    for (unsigned i = 0; each && i < 4; i++)
        bits += each->bits[i] > 0 ? (unsigned)each->bits[i] : 0;
    return (bits + 7) / 8 * at_least_1(extent.width) * at_least_1(extent.height) *
           at_least_1(extent.depth);
}

/* Each level has half of the previous one in each direction, except for layers. */
static uint64_t bytes_of_levels(const struct seep_cuda_channels *each,
                                struct seep_cuda_extent extent, unsigned levels, unsigned flags)
{
    enum { MAX_LEVELS = 64 };
    uint64_t bytes = 0;
    for (unsigned i = 0; i < levels && i < MAX_LEVELS; i++) {
        bytes += bytes_of(each, extent);
        extent.width /= 2;
        extent.height /= 2;
        if (!(flags & SEEP_CUDA_LAYERED))
            extent.depth /= 2;
    }
    return bytes;
}

static inline int made(const struct seep_runtime_call *call, int result, void *const *array,
                       uint64_t bytes)
{
    const bool is_made = result == SEEP_CUDA_SUCCESS && array;
    const struct seep_runtime_block block = {SEEP_KEYSPACE_ARRAY, seep_runtime_device(),
                                             is_made ? *array : NULL, bytes};
    return seep_runtime_made(call, result, &block);
}

SEEP_EXPORT int cudaMallocArray(void **array, const struct seep_cuda_channels *each, size_t width,
                                size_t height, unsigned flags)
{
    SEEP_RUNTIME_MAKES(cudaMallocArray,
                       (void **, const struct seep_cuda_channels *, size_t, size_t, unsigned));
    const int result = real(array, each, width, height, flags);
    return made(&call, result, array, bytes_of(each, (struct seep_cuda_extent){width, height, 0}));
}

SEEP_EXPORT int cudaMalloc3DArray(void **array, const struct seep_cuda_channels *each,
                                  struct seep_cuda_extent extent, unsigned flags)
{
    SEEP_RUNTIME_MAKES(cudaMalloc3DArray, (void **, const struct seep_cuda_channels *,
                                           struct seep_cuda_extent, unsigned));
    const int result = real(array, each, extent, flags);
    return made(&call, result, array, bytes_of(each, extent));
}

SEEP_EXPORT int cudaMallocMipmappedArray(void **array, const struct seep_cuda_channels *each,
                                         struct seep_cuda_extent extent, unsigned levels,
                                         unsigned flags)
{
    SEEP_RUNTIME_MAKES(cudaMallocMipmappedArray, (void **, const struct seep_cuda_channels *,
                                                  struct seep_cuda_extent, unsigned, unsigned));
    const int result = real(array, each, extent, levels, flags);
    return made(&call, result, array, bytes_of_levels(each, extent, levels, flags));
}

#define FREE(name)                                                                                 \
    SEEP_EXPORT int name(void *array)                                                              \
    {                                                                                              \
        SEEP_RUNTIME_CALL(name, (void *));                                                         \
        const struct seep_runtime_free its =                                                       \
            seep_runtime_free_begins(call.hook, SEEP_KEYSPACE_ARRAY, array);                       \
        return seep_runtime_freed(&its, real(array));                                              \
    }

FREE(cudaFreeArray)
FREE(cudaFreeMipmappedArray)
