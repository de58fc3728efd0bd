/* What lower rooms ask of those above them, whose headers they may not include. One table: the
 * object on top (preload/lifecycle.c) fills it as constants, so that it is whole before the first
 * hook can be called, and in every forked child. No other symbol is used from below. */
#ifndef SEEP_PRELOAD_RECORD_UPCALLS_H
#define SEEP_PRELOAD_RECORD_UPCALLS_H

#include <stdbool.h>
#include <stdint.h>

struct seep_thread;

/* All inside the guard, but for start_waits() and those around a fork. */
struct seep_upcalls {
    /* ---- the process's life (life/start.h) ---- */

    /* Begins to record in a forked child that has just noticed that it is one; a program begins
     * with the constructor. False: not now, or not at all. */
    bool (*start)(void);

    /* A forked child of a bystander most often becomes another program at once: its first events
     * are not even counted. True: not yet. Called in a child that has not begun. */
    bool (*start_waits)(void);

    /* A process that was only counted so far gets its profile, once it has lived for a while or
     * grown. Called from the tick. */
    void (*start_grown_up)(uint64_t now_ns);

    /* Looks for the rank once more: a child that was forked to be one sets its own environment.
     * Called where the environment may be read, in a thread that trains. */
    void (*resolve_rank)(void);

    /* Notes how PyTorch's allocator is told to work: a job may set that itself before it imports
     * PyTorch. Called once, in a thread that has begun to use a device. */
    void (*resolve_allocator)(void);

    /* ---- frozen copies (snapshot/snapshot.h) ---- */

    /* A step has ended, or some time has passed: makes a copy where one is due, which stops the
     * calling thread for some milliseconds. */
    void (*snapshot_look)(const struct seep_thread *thread);

    /* The process is about to end, or to become another program: takes the end of a copy that is
     * there, once it has been read. None is made from then on, in any thread. */
    void (*snapshot_before_end)(void);

    /* It goes on after all. */
    void (*snapshot_goes_on)(void);

    /* ---- all modules together (lifecycle.c) ---- */

    /* Takes the locks of all modules, before a fork. Returns which it got, a bit each, for
     * unlock_all(): one whose owner stalls is left. */
    uint32_t (*lock_all)(void);
    void (*unlock_all)(uint32_t held);

    /* In a forked child: nobody holds a lock, and what was known of the parent is forgotten. */
    void (*after_fork)(void);

    /* Makes objects that come and go known to those that keep something of their code. Once stacks
     * are to be recorded. */
    void (*watch_objects)(void);
};

extern const struct seep_upcalls seep_upcalls;

#endif
