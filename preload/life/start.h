/* Start and end of recording in a process. */
#ifndef SEEP_PRELOAD_LIFE_START_H
#define SEEP_PRELOAD_LIFE_START_H

#include "preload/life/options.h"
#include "preload/record/life_calls.h"

/* A forked child of a helper ends before it has begun: it is listed. */
void seep_start_list(void);

/* The code of an allocator other than libc's: what it maps, it maps to hand it out. */
extern uintptr_t seep_allocator_start, seep_allocator_end;

static inline bool seep_start_is_allocator(uintptr_t ra)
{
    return ra - seep_allocator_start < seep_allocator_end - seep_allocator_start;
}

/* Notes how the process ends (enum seep_exit_kind). Does nothing in a vfork child. */
void seep_end(uint32_t kind, int value);

/* Called before the process ends, or becomes another program; NULL: nothing is to be done. */
extern void (*seep_before_end)(void);

struct seep_lock *seep_start_lock(void);

#endif
