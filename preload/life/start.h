/* Start and end of recording in a process. */
#ifndef SEEP_PRELOAD_LIFE_START_H
#define SEEP_PRELOAD_LIFE_START_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/life/options.h"

/* Begins to record in a forked child that has just noticed that it is one; a program begins with
 * the constructor. Called inside the guard. False: not now, or not at all. */
bool seep_start(void);

/* A forked child of a helper most often becomes another program at once: its first events are not
 * even counted. True: not yet. Called in a child that has not begun. */
bool seep_start_waits(void);

/* Such a child ends before it has begun: it is listed. */
void seep_start_list(void);

/* A process that was only counted so far gets its profile, once it has lived for a while or grown.
 * Called from the tick, inside the guard. */
void seep_start_grown_up(uint64_t now_ns);

/* The code of an allocator other than libc's: what it maps, it maps to hand it out. */
extern uintptr_t seep_allocator_start, seep_allocator_end;

static inline bool seep_start_is_allocator(uintptr_t ra)
{
    return ra - seep_allocator_start < seep_allocator_end - seep_allocator_start;
}

/* Notes how the process ends (enum seep_exit_kind). Does nothing in a vfork child. */
void seep_end(uint32_t kind, int value);

/* Before a fork, and after it in the parent: how much a child inherits. */
void seep_before_fork(void);
void seep_after_fork(void);

/* Looks for the rank once more: a child that was forked to be one sets its own environment. Called
 * where the environment may be read, in a thread that trains. */
void seep_start_resolve_rank(void);

struct seep_lock *seep_start_lock(void);

#endif
