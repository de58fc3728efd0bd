/* No thread is in the middle of a change to what a child inherits: all locks of the shim are held
 * around the fork, taken in the order of `order`, which is also that in which one is taken while
 * another is held. So are forks of forkpty() and daemon(). Children of clone() and _Fork() come
 * without; they find the activity page cleared as all do, and take what they find. */
#include "preload/life/fork.h"

#include <pthread.h>

#include "libprof/record/arena.h"
#include "libprof/record/live_blocks.h"
#include "libprof/record/range_map.h"
#include "preload/life/start.h"
#include "preload/record/steps.h"
#include "preload/record/thread.h"
#include "preload/record/tick.h"
#include "preload/stack/modules.h"
#include "preload/stack/stack_range.h"

enum { N_LOCKS = 10 };

static struct seep_lock *lock_at(unsigned place)
{
    switch (place) {
    case 0:
        return seep_start_lock();
    case 1:
        return seep_tick_lock();
    case 2:
        return seep_modules_lock();
    case 3:
        return seep_steps_lock();
    case 4:
        return seep_threads_lock();
    case 5:
        return seep_stack_range_lock();
    case 6:
    case 7:
        return seep_live_lock(place - 6);
    case 8:
        return seep_range_lock();
    default:
        return &seep_arena.lock;
    }
}

/* Bits of the locks that this thread holds, and FORKS. */
enum { FORKS = 1 << N_LOCKS };
static __thread uint32_t held;

static void prepare(void)
{
    /* In a signal handler that has interrupted the shim, a lock may be this thread's own. */
    if (seep_tls.depth || *seep_activity == SEEP_OFF)
        return;
    seep_guard_raise();
    held = FORKS;
    for (unsigned i = 0; i < N_LOCKS; i++)
        if (seep_os_lock(lock_at(i)))
            held |= 1u << i;
    if (*seep_activity == SEEP_RECORDING)
        seep_before_fork();
}

static void release(void)
{
    if (!(held & FORKS))
        return;
    for (unsigned i = N_LOCKS; i-- > 0;)
        if (held & 1u << i)
            seep_os_unlock(lock_at(i));
    held = 0;
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
