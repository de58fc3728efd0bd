/* Whether a process's use of devices is recorded. It is not if the user does not want it, nor in a
 * child forked from a process that has used a device: whatever the child knows of devices is its
 * parent's. */
#ifndef SEEP_PRELOAD_DEVICE_USE_H
#define SEEP_PRELOAD_DEVICE_USE_H

#include "preload/record/thread.h"

extern bool seep_device_is_used; /* in this process, or before it was forked */
extern bool seep_device_is_left; /* nothing is recorded */

/* Notes the first use of a device. Inside the guard. */
void seep_device_first_use(void);

/* seep_enter() for hooks of device functions: in the hook's own frame, which the guard remembers.
 * True: ends with seep_leave(). Raising the guard shows whether the process was forked. */
static inline __attribute__((always_inline)) bool seep_device_enter(void)
{
    if (seep_device_is_left || !seep_enter())
        return false;
    if (__builtin_expect(seep_device_is_left, 0)) {
        seep_leave();
        return false;
    }
    if (__builtin_expect(!seep_device_is_used, 0))
        seep_device_first_use();
    return true;
}

void seep_device_after_fork(void);

#endif
