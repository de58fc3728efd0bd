/* All locks of the shim are held around a fork, so no thread is in the middle of a change to what a
 * child inherits. Forks by forkpty() and daemon() are the same. Children of clone() and _Fork()
 * come without; they find the activity page cleared, as all do, and take what they find. */
#include "preload/life/fork.h"

#include <pthread.h>
#include <string.h>

#include "preload/record/thread.h"
#include "preload/record/upcalls.h"

/* The locks that this thread holds for its fork. */
static __thread bool forks;
static __thread uint32_t held;

/* Written before a fork, read in the child: to read the header there, its pages would have to be
 * mapped again. */
static struct seep_inherited inherited;
static bool noted;

static void note(void)
{
    const struct seep_thread *thread = seep_tls.thread;
    const struct seep_header *header = seep_arena.header;
    for (unsigned s = 0; s < SEEP_MAX_SPACES && header->spaces[s].name[0]; s++) {
        inherited.live_bytes[s] =
            header->spaces[s].live_bytes + (uint64_t)(thread ? thread->sites.spaces[s].pending : 0);
        memcpy(inherited.names[s], header->spaces[s].name, sizeof(inherited.names[s]));
    }
    inherited.end = seep_arena_end();
    inherited.python_version = header->python_version;
    inherited.python_support = header->python_support;
    noted = true;
}

const struct seep_inherited *seep_fork_inherited(void)
{
    if (!noted)
        note();
    noted = false;
    return &inherited;
}

static void prepare(void)
{
    /* In a signal handler that interrupted the shim, this thread may already hold a lock. */
    if (seep_tls.depth || seep_activity_now() == SEEP_OFF)
        return;
    seep_guard_raise();
    forks = true;
    held = seep_upcalls.lock_all();
    if (seep_is_recording())
        note();
}

static void release(void)
{
    if (!forks)
        return;
    seep_upcalls.unlock_all(held);
    forks = false;
    seep_guard_lower();
}

static void in_parent(void)
{
    noted = false;
    release();
}

void seep_fork_watch(void)
{
    static bool asked;
    if (!__atomic_exchange_n(&asked, true, __ATOMIC_ACQ_REL))
        (void)pthread_atfork(prepare, in_parent, release);
}
