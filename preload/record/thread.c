#include "preload/record/thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include "libprof/contract.h"
#include "preload/record/upcalls.h"

__thread struct seep_tls seep_tls;

static uint32_t idle = SEEP_IDLE;
SEEP_HOT uint32_t seep_threads_generation; /* gcc places the last one first */
SEEP_HOT _Alignas(64) uint32_t *seep_activity = &idle;

bool seep_waiting;

static SEEP_LARGE struct seep_thread *threads[SEEP_MAX_SLOTS];
static uint32_t n_threads;
static SEEP_LARGE bool in_use[SEEP_MAX_SLOTS]; /* a separate array: a forked child clears it, and
                                                * would copy each page */
static SEEP_LARGE bool
    late[SEEP_MAX_SLOTS]; /* slots taken again after the thread had given back its own */
static uint32_t n_late;
static uint32_t n_forks;
static struct seep_lock registry_lock;
static pthread_key_t key;
static bool key_made;

/* No slot was free: tries again once one is given back, or after this time. */
enum { RETRY_NS = 1000 * 1000 * 1000 };
static uint64_t retry_ns;
static uint32_t n_released, n_released_then;

static void release(void *state)
{
    struct seep_thread *thread = state;
    if (seep_tls.thread != thread)
        return;
    seep_guard_raise();
    for (unsigned space = 0; space < SEEP_MAX_SPACES && seep_is_recording(); space++)
        if (thread->sites.spaces[space].pending)
            seep_space_flush(&thread->sites, space, 0);
    seep_tls.thread = NULL;
    seep_tls.stack_bytes = 0;
    seep_tls.ended = 1;
    __atomic_store_n(&in_use[thread->sites.slot], false, __ATOMIC_RELEASE);
    __atomic_fetch_add(&n_released, 1, __ATOMIC_RELEASE);
    seep_guard_lower();
}

void seep_threads_start(void)
{
    key_made = pthread_key_create(&key, release) == 0;
}

/* Slots of threads that ended after their last destructor ran are found by their thread id. */
static bool abandoned(uint32_t slot)
{
    uint32_t tid = seep_arena.header->slots[slot].tid;
    return seep_os_call3(SYS_tgkill, seep_os_pid(), (long)tid, 0) == -ESRCH;
}

static struct seep_thread *make_slot(void)
{
    struct seep_thread *fresh = seep_os_pages(sizeof(*fresh));
    if (!fresh)
        return NULL;
    fresh->traces = seep_os_pages(SEEP_MIN_TRACE_SETS * sizeof(*fresh->traces));
    if (!fresh->traces || !seep_walk_init(&fresh->walk)) {
        if (fresh->traces)
            seep_os_unmap(fresh->traces, SEEP_MIN_TRACE_SETS * sizeof(*fresh->traces));
        seep_os_unmap(fresh, sizeof(*fresh));
        return NULL;
    }
    fresh->trace_mask = SEEP_MIN_TRACE_SETS - 1;
    fresh->n_forks = n_forks;
    fresh->sites.slot = n_threads;
    if (!n_threads && seep_walk_many) { /* other threads have fewer stacks */
        seep_os_populate(fresh, sizeof(*fresh));
        seep_os_populate(fresh->walk.shapes, SEEP_MIN_SHAPE_SETS * sizeof(*fresh->walk.shapes));
    }
    threads[n_threads] = fresh;
    __atomic_store_n(&n_threads, n_threads + 1, __ATOMIC_RELEASE);
    return fresh;
}

/* Libc frees what it keeps for a thread (strerror's text, resolvers, …) after all destructors have
 * run: nobody gives back a slot that the thread takes for that. */
static struct seep_thread *take_late_slot(void)
{
    for (uint32_t i = 0; n_late && i < n_threads; i++) {
        if (!late[i] || !abandoned(i))
            continue;
        late[i] = false;
        n_late--;
        return threads[i];
    }
    return NULL;
}

static struct seep_thread *take_slot(void)
{
    for (uint32_t i = 0; i < n_threads; i++)
        if (!__atomic_load_n(&in_use[i], __ATOMIC_ACQUIRE))
            return threads[i];
    struct seep_thread *thread = take_late_slot();
    if (thread)
        return thread;
    if (n_threads < SEEP_MAX_SLOTS)
        return make_slot();
    for (uint32_t i = 0; i < n_threads; i++)
        if (abandoned(i))
            return threads[i];
    return NULL;
}

static bool another_in_use(uint32_t slot)
{
    for (uint32_t i = 0; i < n_threads; i++)
        if (i != slot && in_use[i])
            return true;
    return false;
}

/* Forgets everything that refers to the profile of the parent process. */
static void forget_parent(struct seep_thread *thread)
{
    struct seep_sites *sites = &thread->sites;
    seep_ref_index_clear(&sites->index);
    memset(sites->spaces, 0, sizeof(sites->spaces));
    memset(thread->noted, 0, sizeof(thread->noted));
    seep_os_clear(thread->traces, (thread->trace_mask + 1) * sizeof(*thread->traces));
    thread->n_last_python = 0;
    thread->n_forks = n_forks;
}

/* Takes a slot for the calling thread; NULL when there is none. */
static struct seep_thread *register_thread(void)
{
    if (!seep_os_lock(&registry_lock))
        return NULL;
    uint32_t released = __atomic_load_n(&n_released, __ATOMIC_ACQUIRE);
    struct seep_thread *thread = take_slot();
    if (thread) {
        struct seep_slot *slot = &seep_arena.header->slots[thread->sites.slot];
        long tid = seep_os_tid();
        in_use[thread->sites.slot] = true;
        thread->first = tid == seep_os_pid();
        thread->watches = 0;
        thread->shared.bytes = 0;
        late[thread->sites.slot] = seep_tls.ended;
        n_late += seep_tls.ended;
        slot->threads += !seep_tls.ended;
        __atomic_store_n(&slot->tid, tid > 0 ? (uint32_t)tid : UINT32_MAX, __ATOMIC_RELEASE);
        seep_sites_threaded = seep_sites_threaded || another_in_use(thread->sites.slot);
    } else {
        __atomic_store_n(&n_released_then, released, __ATOMIC_RELAXED);
        __atomic_store_n(&retry_ns, seep_os_clock_ns(CLOCK_MONOTONIC_COARSE) + RETRY_NS,
                         __ATOMIC_RELEASE);
    }
    seep_os_unlock(&registry_lock);
    return thread;
}

static bool none_free(void)
{
    uint64_t until = __atomic_load_n(&retry_ns, __ATOMIC_ACQUIRE);
    return until && seep_os_clock_ns(CLOCK_MONOTONIC_COARSE) < until &&
           __atomic_load_n(&n_released, __ATOMIC_RELAXED) ==
               __atomic_load_n(&n_released_then, __ATOMIC_RELAXED);
}

struct seep_thread *seep_thread_acquire(void)
{
    SEEP_CHECK(seep_is_inside());
    struct seep_thread *thread = none_free() ? NULL : register_thread();
    if (!thread) {
        seep_arena_drop(SEEP_DROP_NO_SLOT);
        return NULL;
    }
    /* Keeps what the slot's last thread learned: the sites belong to the slot, and shapes are
     * checked against the stack of the thread that uses them. */
    if (thread->n_forks != n_forks)
        forget_parent(thread);
    for (unsigned space = 0; space < SEEP_MAX_SPACES; space++)
        thread->sites.spaces[space].at_peak = 0; /* others may have recorded since */
    memset(&thread->walk.stacks, 0, sizeof(thread->walk.stacks));
    thread->marks = 0;
    thread->sampler = (struct seep_sampler){
        .random = (seep_os_clock_ns(CLOCK_MONOTONIC) ^ (uintptr_t)thread) | 1};
    (void)seep_os_call3(SYS_prctl, PR_GET_NAME,
                        (long)seep_arena.header->slots[thread->sites.slot].name, 0);
    seep_tls.thread = thread;
    if (key_made && !seep_tls.ended) {
        int saved_errno = errno;
        (void)pthread_setspecific(key, thread);
        errno = saved_errno;
    }
    return thread;
}

/* A signal handler has left the hook that it interrupted, by siglongjmp(). A hook called from
 * further out on the same stack shows it; a handler on a stack of its own does not. */
static bool was_left(uintptr_t frame)
{
    stack_t stack = {0};
    uintptr_t inside = seep_tls.frame;
    if (!inside || frame < inside || inside - seep_tls.stack_low >= seep_tls.stack_bytes ||
        frame - seep_tls.stack_low >= seep_tls.stack_bytes)
        return false;
    return seep_os_call3(SYS_sigaltstack, 0, (long)&stack, 0) == 0 &&
           !(stack.ss_flags & SS_ONSTACK);
}

/* Learns the extent of the thread's own stack as it is used. */
static void know_stack(uintptr_t frame)
{
    struct seep_stacks *stacks = &seep_tls.thread->walk.stacks;
    (void)seep_stack_range_find(stacks, frame);
    seep_tls.stack_low = stacks->own.low;
    seep_tls.stack_bytes = stacks->own.high - stacks->own.low;
}

bool seep_enter_slow(uintptr_t frame)
{
    enum { EVENTS_PER_LOOK = 64 };
    if (__builtin_expect(seep_waiting, 0) &&
        (seep_tls.depth || ++seep_tls.waited % EVENTS_PER_LOOK || !seep_upcalls.wakes()))
        return false;
    const enum seep_activity now = seep_activity_now();
    if (now == SEEP_OFF || (seep_tls.depth && !was_left(frame)))
        return false;
    if (now == SEEP_IDLE && seep_upcalls.start_waits())
        return false;
    const bool met = seep_stack_range_met(frame);
    if (!met && !seep_stack_range_roomy(frame)) {
        seep_arena_drop(SEEP_DROP_STACK);
        return false;
    }
    seep_tls.frame = 0;
    seep_tls.depth = 1;
    int saved_errno = errno;
    bool ok = seep_is_recording() || seep_upcalls.start();
    if (ok && !seep_tls.thread)
        ok = seep_thread_acquire() != NULL;
    if (ok && !met)
        know_stack(frame);
    errno = saved_errno;
    if (ok)
        seep_tls.frame = frame;
    else
        seep_tls.depth = 0;
    return ok;
}

__attribute__((cold)) void seep_note_hook_first(unsigned hook)
{
    struct seep_thread *thread = seep_tls.thread;
    if (thread)
        thread->noted[hook / 64] |= UINT64_C(1) << hook % 64;
    seep_arena.header->coverage_seen[hook] = 1;
}

/* What the parent's threads learned is forgotten when their slots are taken: clearing it now would
 * copy all of it. */
void seep_threads_after_fork(void)
{
    registry_lock.word = 0;
    seep_sites_threaded = false;
    n_forks++;
    retry_ns = 0;
    memset(in_use, 0, sizeof(in_use));
    memset(late, 0, sizeof(late));
    n_late = 0;
    seep_tls.thread = NULL;
    seep_tls.stack_bytes = 0;
}

void seep_threads_forget(void)
{
    __atomic_fetch_add(&seep_threads_generation, 1, __ATOMIC_RELEASE);
}

struct seep_lock *seep_threads_lock(void)
{
    return &registry_lock;
}
