/* Failed requests for device memory: records of the profile. */
#ifndef SEEP_PRELOAD_DEVICE_DEVICE_OOM_H
#define SEEP_PRELOAD_DEVICE_DEVICE_OOM_H

#include "preload/record/thread.h"

/* `what` says who refused what; time, period and stack are filled in here. `space` is the one in
 * which the block would have been (0: unknown). Inside the guard. */
void seep_device_oom_note(const struct seep_device_oom *what, const struct seep_regs *regs,
                          unsigned space);

/* The program says that its own allocator had no room for a block in `space`. Inside the guard. */
void seep_device_oom_announced(unsigned space, uint64_t bytes, const struct seep_regs *regs);

#endif
