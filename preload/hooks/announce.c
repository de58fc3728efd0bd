/* What the job's own allocator announces: functions of seep.h. */
#include <errno.h>

#include "preload/device/device_blocks.h"
#include "preload/device/device_oom.h"
#include "preload/objects/real.h"
#include "preload/record/capture.h"
#include "preload/record/tick.h"

SEEP_EXPORT void seep_block_made(const char *space, const void *address, size_t bytes)
{
    struct seep_regs regs = SEEP_REGS();
    if (!space || !address || !seep_enter())
        return;
    int saved_errno = errno;
    unsigned index = seep_device_blocks_enter(space);
    if (index) {
        seep_tick(seep_tls.thread);
        seep_device_blocks_made(index, address, bytes, seep_capture(seep_tls.thread, &regs, index));
    }
    errno = saved_errno;
    seep_leave();
}

SEEP_EXPORT void seep_block_gone(const char *space, const void *address)
{
    if (!space || !address || !seep_enter())
        return;
    int saved_errno = errno;
    unsigned index = seep_device_blocks_find(space);
    if (index)
        (void)seep_device_blocks_gone(index, address);
    errno = saved_errno;
    seep_leave();
}

SEEP_EXPORT void seep_space_capacity(const char *space, size_t bytes)
{
    if (!space || !seep_enter())
        return;
    int saved_errno = errno;
    unsigned index = seep_device_blocks_enter(space);
    if (index)
        __atomic_store_n(&seep_arena.header->spaces[index].capacity_bytes, bytes, __ATOMIC_RELAXED);
    errno = saved_errno;
    seep_leave();
}

SEEP_EXPORT void seep_block_refused(const char *space, size_t bytes)
{
    struct seep_regs regs = SEEP_REGS();
    if (!space || !seep_enter())
        return;
    int saved_errno = errno;
    unsigned index = seep_device_blocks_enter(space);
    if (index) {
        seep_tick(seep_tls.thread);
        seep_device_oom_announced(index, bytes, &regs);
    }
    errno = saved_errno;
    seep_leave();
}
