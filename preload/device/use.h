/* Whether what a process does with devices is recorded. Nothing is where the user does not want it,
 * and in a child that was forked from one that has used a device: what it knows of them is its
 * parent's. */
#ifndef SEEP_PRELOAD_DEVICE_USE_H
#define SEEP_PRELOAD_DEVICE_USE_H

#include "preload/record/thread.h"

extern bool seep_device_is_used; /* in this process, or before it was forked */
extern bool seep_device_is_left; /* nothing is recorded */

/* What is noted as a device is first used. Inside the guard. */
void seep_device_first_use(void);

/* seep_enter() of a hook that is about devices: in its own frame, which the guard remembers. True:
 * ends with seep_leave(). That a process was forked shows as the guard is raised. */
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
