/* The places of a device's blocks, written to the profile (libprof/format/layout_format.h) when an
 * allocation fails and at the peak: each time the driver's share grows notably, so the cost stays
 * small beside that of getting that memory. */
#ifndef SEEP_PRELOAD_DEVICE_LAYOUT_H
#define SEEP_PRELOAD_DEVICE_LAYOUT_H

#include "preload/record/thread.h"

/* An allocation of `asked_bytes` on the device failed. Inside the guard. */
void seep_layout_at_oom(unsigned device, enum seep_layout_reason reason, uint64_t asked_bytes);

/* The driver gave memory to the process; it is now in `space`. Inside the guard. */
void seep_layout_grew(unsigned space);

/* Devices that grew, by bit: their layout is worth writing once the tensor is known for which they
 * grew. */
extern uint32_t seep_layout_due;

void seep_layout_at_peak(unsigned device);

/* A tensor was placed. Inside the guard. */
static inline void seep_layout_settled(unsigned device)
{
    if (__builtin_expect(__atomic_load_n(&seep_layout_due, __ATOMIC_RELAXED) >> device & 1, 0))
        seep_layout_at_peak(device);
}

struct seep_lock *seep_layout_lock(void);
void seep_layout_after_fork(void);

#endif
