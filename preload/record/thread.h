/* Per-thread state of the shim, and the guard that keeps its own calls out of the record. */
#ifndef SEEP_PRELOAD_RECORD_THREAD_H
#define SEEP_PRELOAD_RECORD_THREAD_H

#include "libprof/runtime/store/site_table.h"
#include "preload/cost/meter.h"
#include "preload/cost/sampling.h"
#include "preload/python/pyframe_loops.h"
#include "preload/stack/walk.h"

enum {
    SEEP_MAX_NATIVE_FRAMES = SEEP_MAX_STACK_DEPTH - SEEP_MAX_PYTHON_FRAMES,
    SEEP_TRACE_WAYS = 4,
    SEEP_MIN_TRACE_SETS = 512,
    SEEP_MAX_TRACE_SETS = 512 * 1024, /* 32 MiB: two million stacks */
};

struct seep_trace {
    uint64_t hash; /* of the whole stack and its space; 0: empty */
    uint32_t site;
    uint32_t marks; /* SEEP_MARK_… */
};

/* The map to which a thread is moving a tensor; 0 bytes: none. */
struct seep_map_of_move {
    uintptr_t start, bytes;
};

/* Why a thread is examined at each of its allocations. */
enum seep_watch {
    SEEP_WATCH_LOOPS = 1 << 0,   /* its stacks tell which loop is the job's main one */
    SEEP_WATCH_RETRIES = 1 << 1, /* it was refused memory, and may try again */
};

/* The thread's last refused request. */
struct seep_refused {
    uint64_t t_ns;
    uint64_t python; /* hash of the Python stack */
    uint32_t site;
    uint32_t period;
    uint32_t place; /* in the profile's table */
};

/* Of a table that forgets: how often something that it once had was missed, since `ticks`. */
struct seep_misses {
    uint32_t n, ticks;
};

/* What every event needs comes first, in few cache lines. */
struct seep_thread {
    _Alignas(64) struct seep_walk walk;
    /* Stacks that this thread finds again without interning them: sets of one cache line, latest
     * first. Grows while stacks are missed that it held before. */
    struct seep_trace (*traces)[SEEP_TRACE_WAYS];
    uint32_t trace_mask; /* sets − 1 */
    uint32_t generation;
    uint32_t ticks;
    uint32_t marks;                                /* of the stack seen last */
    bool in_python;                                /* `stack` has frames */
    bool importing;                                /* by the last interned stack */
    bool first;                                    /* it is the process's first thread */
    bool moves;                                    /* a block, between two places, … */
    bool look_waits;                               /* … and a look that was due then */
    uint8_t watches;                               /* bits of enum seep_watch */
    uint64_t noted[(SEEP_MAX_COVERAGE + 63) / 64]; /* hooks, bit by bit: see seep_note_hook() */
    struct seep_sites sites;
    struct seep_misses trace_misses, shape_misses;
    uint32_t n_forks;      /* forks between the program's start and the process that filled this
                            * in */
    uintptr_t mark_object; /* the optimizer that is in its step */
    struct seep_sampler sampler;
    struct seep_meter meter;
    const void *passed_over;           /* the last block that was not recorded */
    const struct seep_pyframe *python; /* innermost first: the frames of `stack` */
    struct seep_map_of_move shared;
    struct seep_refused refused; /* while it is watched for that */
    struct seep_pystack stack;
    uintptr_t native[SEEP_MAX_NATIVE_FRAMES];
    /* For the last interned stack, outermost first: nodes of frames that are still there are
     * reused. */
    uint32_t n_last_python, n_last_native;
    uint32_t last_forks;
    uint32_t last_native_base; /* the node below its native part */
    uint32_t last_nodes[SEEP_MAX_PYTHON_FRAMES];
    uint32_t last_marks[SEEP_MAX_PYTHON_FRAMES]; /* of the frame and all frames outside it */
    uintptr_t last_native[SEEP_MAX_NATIVE_FRAMES];
    uint32_t last_native_nodes[SEEP_MAX_NATIVE_FRAMES];
    uint32_t native_frames[SEEP_MAX_NATIVE_FRAMES]; /* refs, while a stack is interned */
    struct seep_pyloop_memo loop_memo[SEEP_PYLOOP_FRAMES];
};

/* One cache line: every hook looks at it. */
struct seep_tls {
    struct seep_thread *thread;
    uint32_t depth;  /* > 0: inside the shim; hooks pass through */
    uint32_t ended;  /* the thread's state was given back: later calls are libc's cleanup */
    uintptr_t frame; /* of the running hook; 0: it must not be taken for a hook that was left */
    uintptr_t stack_low,
        stack_bytes;            /* of the thread's own stack, as far as known; 0 without state */
    struct seep_live_near near; /* where the last block lay */
    uint32_t waited;            /* events that passed while the process waits to be woken */
} __attribute__((aligned(64)));

extern __thread struct seep_tls seep_tls;

enum seep_activity {
    SEEP_IDLE = 0, /* not started, or a forked child that has not noticed it yet */
    SEEP_RECORDING = 1,
    SEEP_OFF = 2, /* cannot go on */
};

/* Lies in a page that the kernel clears in a forked child, however the child was made. */
extern uint32_t *seep_activity;

/* Acquires: whoever is told that this process records sees all that its start has made. */
static inline enum seep_activity seep_activity_now(void)
{
    return (enum seep_activity)__atomic_load_n(seep_activity, __ATOMIC_ACQUIRE);
}

static inline bool seep_is_recording(void)
{
    return seep_activity_now() == SEEP_RECORDING;
}

/* This process records nothing until it is woken, nor do children that it forks before that. */
extern bool seep_waiting;

/* Slow path of seep_enter(); `frame` is the hook's. */
bool seep_enter_slow(uintptr_t frame);

/* This thread's state; NULL when no more can be had. Called inside the guard. */
struct seep_thread *seep_thread_acquire(void);

/* After a fork, in the child: all other threads are gone. */
void seep_threads_after_fork(void);
struct seep_lock *seep_threads_lock(void);

/* Makes the key whose destructor gives a thread's slot back. */
void seep_threads_start(void);

/* Makes every thread forget its traces (code has been unloaded): each notices that the generation
 * has changed. */
void seep_threads_forget(void);
extern uint32_t seep_threads_generation;

/* Slow path of seep_note_hook(). */
void seep_note_hook_first(unsigned hook);

/* True: recording, and the guard is up; ends with seep_leave(). A plain load of the activity is
 * enough here: a thread whose stack is known has been through seep_enter_slow(), which acquires.
 * The guard is this thread's alone, seen by its signal handlers: only the compiler must keep it in
 * its place. */
static inline bool seep_enter(void)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    if (__builtin_expect(seep_tls.depth != 0, 0) ||
        __builtin_expect(*seep_activity != SEEP_RECORDING, 0) ||
        __builtin_expect(frame - seep_tls.stack_low >= seep_tls.stack_bytes, 0))
        return seep_enter_slow(frame);
    seep_tls.frame = frame;
    seep_tls.depth = 1;
    __asm__ volatile("" ::: "memory");
    return true;
}

/* The guard where nothing is recorded, and other handlers and destructors may come in between. */
static inline void seep_guard_raise(void)
{
    seep_tls.frame = 0;
    seep_tls.depth++;
}

static inline void seep_guard_lower(void)
{
    seep_tls.depth--;
}

/* Whether the guard is up: for SEEP_CHECK() where a contract says "inside the guard". */
static inline bool seep_is_inside(void)
{
    return seep_tls.depth > 0;
}

/* For coverage in the report; also outside the guard, by threads without a state. Each thread
 * stores it once, because all share that line. */
static inline void seep_note_hook(unsigned hook)
{
    const struct seep_thread *thread = seep_tls.thread;
    if (__builtin_expect(!thread || !(thread->noted[hook / 64] >> hook % 64 & 1), 0))
        seep_note_hook_first(hook);
}

static inline void seep_leave(void)
{
    __asm__ volatile("" ::: "memory");
    seep_tls.depth = 0;
}

#endif
