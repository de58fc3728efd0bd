/* Requests for memory of a device that could not be met: records of the profile. */
#ifndef SEEP_PRELOAD_DEVICE_DEVICE_SHORTAGE_H
#define SEEP_PRELOAD_DEVICE_DEVICE_SHORTAGE_H

#include "preload/record/thread.h"

/* `what` says who refused what; its time, period and stack are filled in here. `space` is the one
 * that the block would have been in (0: not known). Inside the guard. */
void seep_device_shortage_note(const struct seep_device_shortage *what,
                               const struct seep_regs *regs, unsigned space);

#endif
