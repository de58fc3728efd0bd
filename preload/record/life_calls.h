/* What the recording asks of the process's life, which is above it (life/start.c): whether to begin
 * in a process that has not, and what a profile needs that is known late. All but
 * seep_start_waits() inside the guard. */
#ifndef SEEP_PRELOAD_RECORD_LIFE_CALLS_H
#define SEEP_PRELOAD_RECORD_LIFE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* Begins to record in a forked child that has just noticed that it is one; a program begins with
 * the constructor. False: not now, or not at all. */
bool seep_start(void);

/* A forked child of a helper most often becomes another program at once: its first events are not
 * even counted. True: not yet. Called in a child that has not begun. */
bool seep_start_waits(void);

/* A process that was only counted so far gets its profile, once it has lived for a while or grown.
 * Called from the tick. */
void seep_start_grown_up(uint64_t now_ns);

/* Looks for the rank once more: a child that was forked to be one sets its own environment. Called
 * where the environment may be read, in a thread that trains. */
void seep_start_resolve_rank(void);

/* Notes how PyTorch's allocator is told to work: a job may set that itself before it imports
 * PyTorch. Called once, in a thread that has begun to use a device. */
void seep_start_resolve_allocator(void);

#endif
