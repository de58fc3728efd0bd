/* Blocks that the job's own allocator announces: functions of seep.h. */
#include <errno.h>

#include "preload/device/books.h"
#include "preload/objects/real.h"
#include "preload/record/capture.h"
#include "preload/record/tick.h"

SEEP_EXPORT void seep_block_made(const char *space, const void *address, size_t bytes)
{
    struct seep_regs regs = SEEP_REGS();
    if (!space || !address || !seep_enter())
        return;
    int saved_errno = errno;
    unsigned index = seep_books_enter(space);
    if (index) {
        seep_tick(seep_tls.thread);
        seep_books_made(index, address, bytes, seep_capture(seep_tls.thread, &regs, index));
    }
    errno = saved_errno;
    seep_leave();
}

SEEP_EXPORT void seep_block_gone(const char *space, const void *address)
{
    if (!space || !address || !seep_enter())
        return;
    int saved_errno = errno;
    unsigned index = seep_books_find(space);
    if (index)
        (void)seep_books_gone(index, address);
    errno = saved_errno;
    seep_leave();
}
