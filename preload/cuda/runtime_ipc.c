/* Blocks of another process that are mapped here (CUDA IPC): they are that process's memory, and
 * CUDA does not tell their size, so they are only counted by number. */

#include "preload/cuda/runtime.h"

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
