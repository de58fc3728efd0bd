/* Start and end of recording in a process. */
#ifndef SEEP_PRELOAD_LIFE_START_H
#define SEEP_PRELOAD_LIFE_START_H

#include "preload/life/run_settings.h"

/* What lower rooms call through preload/record/upcalls.h, which says what these do. */
bool seep_start(void);
bool seep_start_wakes(void);
bool seep_start_waits(void);
void seep_start_promote_helper(uint64_t now_ns);
void seep_start_resolve_rank(void);
void seep_start_resolve_allocator(void);

/* A forked child of a bystander ends before it has begun recording: it is listed. */
void seep_start_list(void);

/* The code of an allocator other than libc's: it hands out what it maps. */
extern uintptr_t seep_allocator_start, seep_allocator_end;

static inline bool seep_start_is_allocator(uintptr_t ra)
{
    return ra - seep_allocator_start < seep_allocator_end - seep_allocator_start;
}

/* Notes how the process ends (enum seep_exit_kind). Does nothing in a vfork child. */
void seep_end(uint32_t kind, int value);

struct seep_lock *seep_start_lock(void);

#endif
