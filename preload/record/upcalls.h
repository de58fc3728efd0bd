/* What lower rooms call in rooms above them, whose headers they may not include. There is one
 * table, which the object on top (preload/lifecycle.c) fills with constants, so it is complete
 * before the first hook can be called, and in every forked child. Lower rooms use no other symbol
 * from above. */
#ifndef SEEP_PRELOAD_RECORD_UPCALLS_H
#define SEEP_PRELOAD_RECORD_UPCALLS_H

#include <stdbool.h>
#include <stdint.h>

struct seep_thread;

/* All inside the guard, except wakes(), start_waits() and those around a fork. */
struct seep_upcalls {
    /* ---- the process's life (life/start.h) ---- */

    /* Begins to record in a forked child that has just noticed that it is one; a program begins in
     * the constructor. False: not now, or never. */
    bool (*start)(void);

    /* A process that waits for `seep wake` looks for its word, now and then. True: it has come, and
     * start() will begin. Outside the guard. */
    bool (*wakes)(void);

    /* A bystander's forked child usually becomes another program at once, so its first events are
     * not even counted. True: wait. Called in a child that has not begun. */
    bool (*start_waits)(void);

    /* A process that was only counted so far gets its profile once it has lived for a while or
     * grown. Called from the tick. */
    void (*promote_helper)(uint64_t now_ns);

    /* Looks for the rank again: a child forked to be a rank sets its own environment. Called in a
     * thread that trains, when the environment may be read. */
    void (*resolve_rank)(void);

    /* Notes how PyTorch's allocator is configured: a job may set that itself before it imports
     * PyTorch. Called once, in a thread that has begun to use a device. */
    void (*resolve_allocator)(void);

    /* ---- frozen copies (snapshot/snapshot.h) ---- */

    /* A step has ended, or some time has passed: makes a copy if one is due, which stops the
     * calling thread for some milliseconds. */
    void (*snapshot_look)(const struct seep_thread *thread);

    /* A device has no memory left for PyTorch's allocator, which is about to say so: looks at who
     * holds it. */
    void (*snapshot_at_oom)(const struct seep_thread *thread);

    /* The process is about to end, or to become another program: ends an existing copy once it has
     * been read. No thread makes one from then on. */
    void (*snapshot_before_end)(void);

    /* It does not end after all. */
    void (*snapshot_goes_on)(void);

    /* ---- all modules together (lifecycle.c) ---- */

    /* Takes the locks of all modules, before a fork. Returns which it got, a bit each, for
     * unlock_all(); it skips a lock whose owner stalls. */
    uint32_t (*lock_all)(void);
    void (*unlock_all)(uint32_t held);

    /* In a forked child: nobody holds a lock, and what was known of the parent is forgotten. */
    void (*after_fork)(void);

    /* Reports the list of loaded objects to modules that keep something of their code. Called once
     * stacks are to be recorded. */
    void (*watch_objects)(void);
};

extern const struct seep_upcalls seep_upcalls;

#endif
