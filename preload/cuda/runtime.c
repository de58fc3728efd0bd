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
