#include "preload/cuda/runtime.h"

#include <errno.h>

#include "libprof/contract.h"
#include "preload/device/backward.h"
#include "preload/device/device_oom.h"
#include "preload/device/layout.h"
#include "preload/record/capture.h"
#include "preload/record/tick.h"

/* Two runtimes in one process share the current device, because the driver keeps it. */
static __thread int current_device;

unsigned seep_runtime_device(void)
{
    return (unsigned)current_device;
}

unsigned seep_runtime_space(unsigned device)
{
    return device == SEEP_DEVICE_PINNED ? seep_device_blocks_enter("pinned")
           : device < SEEP_MAX_DEVICES  ? seep_device_blocks_of_device("device", device)
                                        : 0;
}

/* From then on addresses belong to nobody. */
bool seep_runtime_is_there(int result)
{
    SEEP_CHECK(seep_is_inside());
    if (result == SEEP_CUDA_UNLOADING)
        seep_device_is_left = true;
    return result != SEEP_CUDA_UNLOADING;
}

static void record(const struct seep_runtime_call *call, const struct seep_runtime_block *block)
{
    struct seep_thread *thread = seep_tls.thread;
    const unsigned space = seep_runtime_space(block->device);
    if (!space)
        return;
    seep_tick(thread);
    const uint32_t site = seep_capture(thread, &call->regs, space);
    seep_device_blocks_made(block->keyspace, block->at, block->bytes,
                            seep_backward_site(thread, site, space));
    seep_layout_grew(space);
}

void seep_runtime_refused(const struct seep_regs *regs, enum seep_oom_source source,
                          unsigned device, uint64_t bytes)
{
    SEEP_CHECK(seep_is_inside());
    const uint64_t *registered = &seep_arena.header->devices.aliases.registered_bytes;
    const bool is_pinned = device == SEEP_DEVICE_PINNED;
    const struct seep_device_oom what = {
        .asked_bytes = bytes,
        .allocated_bytes = is_pinned ? __atomic_load_n(registered, __ATOMIC_RELAXED) : 0,
        .device = device,
        .source = (uint16_t)source};
    seep_device_oom_note(&what, regs, seep_runtime_space(device));
}

/* The hook returns while the guard is up, so the guard is left for good: its frame is the
 * hook's. */
int seep_runtime_made(const struct seep_runtime_call *call, int result,
                      const struct seep_runtime_block *block)
{
    if (!call->is_recorded)
        return result;
    const int saved_errno = errno;
    seep_note_hook(call->hook);
    if (result == SEEP_CUDA_SUCCESS && block->at && block->bytes)
        record(call, block);
    else if (seep_runtime_is_there(result) && result == SEEP_CUDA_OUT_OF_MEMORY)
        seep_runtime_refused(&call->regs, SEEP_OOM_BY_RUNTIME, block->device, block->bytes);
    errno = saved_errno;
    seep_leave();
    return result;
}

struct seep_runtime_free seep_runtime_free_begins(enum seep_hook hook, enum seep_keyspace keyspace,
                                                  const void *at)
{
    struct seep_runtime_free its = {.keyspace = keyspace, .at = at};
    if (!at || !seep_device_enter())
        return its;
    seep_note_hook(hook);
    its.is_known = seep_device_blocks_take(keyspace, at, &its.block);
    seep_leave();
    return its;
}

int seep_runtime_freed(const struct seep_runtime_free *its, int result)
{
    const int saved_errno = errno;
    if (!its->is_known || !seep_device_enter())
        return result;
    if (result == SEEP_CUDA_SUCCESS)
        seep_device_blocks_settle(&its->block);
    else if (seep_runtime_is_there(result))
        seep_device_blocks_put_back(its->keyspace, its->at, &its->block);
    seep_leave();
    errno = saved_errno;
    return result;
}

/* ---- the device ------------------------------------------------------------------------------ */

SEEP_EXPORT int cudaSetDevice(int device)
{
    SEEP_RUNTIME_CALL(cudaSetDevice, (int));
    const int result = real(device);
    if (result == SEEP_CUDA_SUCCESS)
        current_device = device;
    return result;
}

/* Everything that the process had on the device is gone with its context. Pinned memory is assumed
 * to stay, because nothing says to which context it belonged. */
SEEP_EXPORT int cudaDeviceReset(void)
{
    SEEP_RUNTIME_CALL(cudaDeviceReset, (void));
    const int result = real();
    if (result == SEEP_CUDA_SUCCESS && seep_device_enter()) {
        const int saved_errno = errno;
        const unsigned space = seep_runtime_space(seep_runtime_device());
        seep_note_hook(call.hook);
        if (space)
            seep_device_blocks_clear(space);
        errno = saved_errno;
        seep_leave();
    }
    return result;
}

/* ---- memory of a device: plain, pitched, managed, stream-ordered ----------------------------- */

static inline int made_on_device(const struct seep_runtime_call *call, int result, const void *at,
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
    return made_on_device(&call, result, block_at(result, block), bytes);
}

/* Managed memory moves; it counts where it was requested. */
SEEP_EXPORT int cudaMallocManaged(void **block, size_t bytes, unsigned flags)
{
    SEEP_RUNTIME_MAKES(cudaMallocManaged, (void **, size_t, unsigned));
    const int result = real(block, bytes, flags);
    return made_on_device(&call, result, block_at(result, block), bytes);
}

SEEP_EXPORT int cudaMallocPitch(void **block, size_t *pitch, size_t width, size_t height)
{
    SEEP_RUNTIME_MAKES(cudaMallocPitch, (void **, size_t *, size_t, size_t));
    const int result = real(block, pitch, width, height);
    const bool is_made = result == SEEP_CUDA_SUCCESS && pitch;
    return made_on_device(&call, result, block_at(result, block),
                          (is_made ? *pitch : width) * height);
}

SEEP_EXPORT int cudaMalloc3D(struct seep_cuda_pitched *block, struct seep_cuda_extent extent)
{
    SEEP_RUNTIME_MAKES(cudaMalloc3D, (struct seep_cuda_pitched *, struct seep_cuda_extent));
    const int result = real(block, extent);
    const bool is_made = result == SEEP_CUDA_SUCCESS && block;
    return made_on_device(&call, result, is_made ? block->at : NULL,
                          (is_made ? block->pitch_bytes : extent.width) * extent.height *
                              extent.depth);
}

static int freed_on_device(const struct seep_runtime_call *call, int (*real)(void *), void *block)
{
    const struct seep_runtime_free its =
        seep_runtime_free_begins(call->hook, SEEP_KEYSPACE_DEVICE, block);
    return seep_runtime_freed(&its, real(block));
}

SEEP_EXPORT int cudaFree(void *block)
{
    SEEP_RUNTIME_CALL(cudaFree, (void *));
    return freed_on_device(&call, real, block);
}

/* Ordered by a stream: counted as the call is made, though the device is not there yet; each
 * function by two names, for streams of a thread. */

#define MALLOC_ASYNC(name)                                                                         \
    SEEP_EXPORT int name(void **block, size_t bytes, void *stream)                                 \
    {                                                                                              \
        SEEP_RUNTIME_MAKES(name, (void **, size_t, void *));                                       \
        const int result = real(block, bytes, stream);                                             \
        return made_on_device(&call, result, block_at(result, block), bytes);                      \
    }

#define MALLOC_FROM_POOL(name)                                                                     \
    SEEP_EXPORT int name(void **block, size_t bytes, void *pool, void *stream)                     \
    {                                                                                              \
        SEEP_RUNTIME_MAKES(name, (void **, size_t, void *, void *));                               \
        const int result = real(block, bytes, pool, stream);                                       \
        return made_on_device(&call, result, block_at(result, block), bytes);                      \
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

/* ---- arrays ---------------------------------------------------------------------------------- */

/* Arrays of the CUDA runtime, which the job knows by a handle: they count by their elements,
 * however the device lays them out. */

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

static inline int made_array(const struct seep_runtime_call *call, int result, void *const *array,
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
    return made_array(&call, result, array,
                      bytes_of(each, (struct seep_cuda_extent){width, height, 0}));
}

SEEP_EXPORT int cudaMalloc3DArray(void **array, const struct seep_cuda_channels *each,
                                  struct seep_cuda_extent extent, unsigned flags)
{
    SEEP_RUNTIME_MAKES(cudaMalloc3DArray, (void **, const struct seep_cuda_channels *,
                                           struct seep_cuda_extent, unsigned));
    const int result = real(array, each, extent, flags);
    return made_array(&call, result, array, bytes_of(each, extent));
}

SEEP_EXPORT int cudaMallocMipmappedArray(void **array, const struct seep_cuda_channels *each,
                                         struct seep_cuda_extent extent, unsigned levels,
                                         unsigned flags)
{
    SEEP_RUNTIME_MAKES(cudaMallocMipmappedArray, (void **, const struct seep_cuda_channels *,
                                                  struct seep_cuda_extent, unsigned, unsigned));
    const int result = real(array, each, extent, levels, flags);
    return made_array(&call, result, array, bytes_of_levels(each, extent, levels, flags));
}

#define FREE_ARRAY(name)                                                                           \
    SEEP_EXPORT int name(void *array)                                                              \
    {                                                                                              \
        SEEP_RUNTIME_CALL(name, (void *));                                                         \
        const struct seep_runtime_free its =                                                       \
            seep_runtime_free_begins(call.hook, SEEP_KEYSPACE_ARRAY, array);                       \
        return seep_runtime_freed(&its, real(array));                                              \
    }

FREE_ARRAY(cudaFreeArray)
FREE_ARRAY(cudaFreeMipmappedArray)

/* ---- pinned memory of the host --------------------------------------------------------------- */

/* Host memory pinned by the CUDA runtime. Memory that it allocates itself is in space pinned.
 * Memory that it is given to pin was counted when it was allocated, and stays in its space; only
 * its sum is noted. */

static inline int made_pinned(const struct seep_runtime_call *call, int result, void *const *block,
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
    return made_pinned(&call, result, block, bytes);
}

SEEP_EXPORT int cudaHostAlloc(void **block, size_t bytes, unsigned flags)
{
    SEEP_RUNTIME_MAKES(cudaHostAlloc, (void **, size_t, unsigned));
    const int result = real(block, bytes, flags);
    return made_pinned(&call, result, block, bytes);
}

SEEP_EXPORT int cudaFreeHost(void *block)
{
    SEEP_RUNTIME_CALL(cudaFreeHost, (void *));
    const struct seep_runtime_free its =
        seep_runtime_free_begins(call.hook, SEEP_KEYSPACE_PINNED, block);
    return seep_runtime_freed(&its, real(block));
}

/* ---- pinned, but made by others -------------------------------------------------------------- */

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

/* ---- other processes' blocks ----------------------------------------------------------------- */

/* Blocks of another process that are mapped here (CUDA IPC): they are that process's memory, and
 * CUDA does not tell their size, so they are only counted by number. */

static inline void note(const struct seep_runtime_call *call, int result, uint32_t *counter)
{
    if (result != SEEP_CUDA_SUCCESS || !counter)
        return;
    seep_note_hook(call->hook);
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

SEEP_EXPORT int cudaIpcOpenMemHandle(void **block, struct seep_cuda_ipc handle, unsigned flags)
{
    SEEP_RUNTIME_MAKES(cudaIpcOpenMemHandle, (void **, struct seep_cuda_ipc, unsigned));
    const int result = real(block, handle, flags);
    if (call.is_recorded) {
        note(&call, result, &seep_arena.header->devices.aliases.ipc_opened);
        seep_leave();
    }
    return result;
}

SEEP_EXPORT int cudaIpcCloseMemHandle(void *block)
{
    SEEP_RUNTIME_CALL(cudaIpcCloseMemHandle, (void *));
    const int result = real(block);
    if (result == SEEP_CUDA_SUCCESS && seep_device_enter()) {
        note(&call, result, &seep_arena.header->devices.aliases.ipc_closed);
        seep_leave();
    }
    return result;
}
