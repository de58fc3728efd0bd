/* Where the blocks of a device lie, written to the profile (libprof/format/layout_format.h) when
 * there was no room for one, and at the peak: as often as the driver's share becomes notably
 * larger, so that the cost stays small beside what it takes to get that memory. */
#ifndef SEEP_PRELOAD_DEVICE_LAYOUT_H
#define SEEP_PRELOAD_DEVICE_LAYOUT_H

#include "preload/record/thread.h"

/* There was no room for `asked_bytes` on the device. Inside the guard. */
void seep_layout_at_shortage(unsigned device, enum seep_layout_reason reason, uint64_t asked_bytes);

/* The driver gave memory to the process, which is now in `space`. Inside the guard. */
void seep_layout_grew(unsigned space);

/* Devices that grew, by bit: their layout is worth writing once the tensor is known that they grew
 * for. */
extern uint32_t seep_layout_due;

void seep_layout_at_peak(unsigned device);

/* A tensor lies where the allocator wanted it. Inside the guard. */
static inline void seep_layout_settled(unsigned device)
{
    if (__builtin_expect(__atomic_load_n(&seep_layout_due, __ATOMIC_RELAXED) >> device & 1, 0))
        seep_layout_at_peak(device);
}

struct seep_lock *seep_layout_lock(void);
void seep_layout_after_fork(void);

#endif
