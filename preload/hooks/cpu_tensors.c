/* PyTorch's allocators of host memory report each block to their profiler. Most get it from malloc,
 * where it is seen anyway; but a PyTorch that was built with an allocator of its own hides it
 * there. Other reports for the CPU (tensors.c) are about the same blocks. */
#include <errno.h>

#include "preload/device/caller.h"
#include "preload/device/hidden.h"
#include "preload/record/capture.h"

#define MADE _ZN3c1025ProfiledCPUMemoryReporter3NewEPvm
#define GONE _ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv

SEEP_EXPORT void MADE(void *reporter, void *block, size_t bytes)
{
    const struct seep_regs regs = SEEP_REGS();
    if (block && bytes && seep_enter()) {
        const int saved_errno = errno;
        seep_note_hook(SEEP_HOOK_OF(MADE));
        seep_hidden_made(block, bytes, &regs);
        errno = saved_errno;
        seep_leave();
    }
    void (*real)(void *, void *, size_t);
    *(void **)&real = seep_caller_real(regs.ra, SEEP_HOOK_OF(MADE));
    if (real)
        real(reporter, block, bytes);
}

SEEP_EXPORT void GONE(void *reporter, void *block)
{
    const struct seep_regs regs = SEEP_REGS();
    if (block && seep_enter()) {
        const int saved_errno = errno;
        seep_note_hook(SEEP_HOOK_OF(GONE));
        seep_hidden_gone(block);
        errno = saved_errno;
        seep_leave();
    }
    void (*real)(void *, void *);
    *(void **)&real = seep_caller_real(regs.ra, SEEP_HOOK_OF(GONE));
    if (real)
        real(reporter, block);
}
