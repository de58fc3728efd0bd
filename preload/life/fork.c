/* No thread is in the middle of a change to what a child inherits: all locks of the shim are held
 * around the fork. So are forks of forkpty() and daemon(). Children of clone() and _Fork() come
 * without; they find the activity page cleared as all do, and take what they find. */
#include "preload/life/fork.h"

#include <pthread.h>

#include "preload/life/lifecycle.h"
#include "preload/life/start.h"
#include "preload/record/thread.h"

/* What this thread has taken for the fork that it is in. */
static __thread bool forks;
static __thread uint32_t held;

static void prepare(void)
{
    /* In a signal handler that has interrupted the shim, a lock may be this thread's own. */
    if (seep_tls.depth || *seep_activity == SEEP_OFF)
        return;
    seep_guard_raise();
    forks = true;
    held = seep_lifecycle_lock();
    if (*seep_activity == SEEP_RECORDING)
        seep_before_fork();
}

static void release(void)
{
    if (!forks)
        return;
    seep_lifecycle_unlock(held);
    forks = false;
    seep_guard_lower();
}

static void in_parent(void)
{
    seep_after_fork();
    release();
}

void seep_fork_watch(void)
{
    static bool asked;
    if (!__atomic_exchange_n(&asked, true, __ATOMIC_ACQ_REL))
        (void)pthread_atfork(prepare, in_parent, release);
}
