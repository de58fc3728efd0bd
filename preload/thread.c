#include "preload/thread.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>

#include "preload/start.h"

__thread struct seep_tls seep_tls;

static uint32_t idle = SEEP_IDLE;
uint32_t *seep_activity = &idle;

uint32_t seep_threads_generation;

static struct seep_thread *threads[SEEP_MAX_SLOTS];
static uint32_t n_threads;
static bool in_use[SEEP_MAX_SLOTS]; /* apart: a forked child clears it, and would copy each page */
static uint32_t n_forks;
static struct seep_lock registry_lock;
static pthread_key_t key;
static bool key_made;

/* No slot was free: not looked for again before one is given back, or so long. */
enum { RETRY_NS = 1000 * 1000 * 1000 };
static uint64_t retry_ns;
static uint32_t n_released, n_released_then;

static void release(void *state)
{
    struct seep_thread *thread = state;
    if (seep_tls.thread != thread)
        return;
    seep_tls.depth++;
    for (unsigned space = 0; space < SEEP_MAX_SPACES && *seep_activity == SEEP_RECORDING; space++)
        if (thread->sites.pending[space])
            seep_space_flush(&thread->sites, space, 0);
    seep_tls.thread = NULL;
    __atomic_store_n(&in_use[thread->sites.slot], false, __ATOMIC_RELEASE);
    __atomic_fetch_add(&n_released, 1, __ATOMIC_RELEASE);
    seep_tls.depth--;
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
    if (!fresh->traces) {
        seep_os_unmap(fresh, sizeof(*fresh));
        return NULL;
    }
    fresh->trace_mask = SEEP_MIN_TRACE_SETS - 1;
    fresh->n_forks = n_forks;
    fresh->sites.slot = n_threads;
    threads[n_threads] = fresh;
    __atomic_store_n(&n_threads, n_threads + 1, __ATOMIC_RELEASE);
    return fresh;
}

static struct seep_thread *take_slot(void)
{
    for (uint32_t i = 0; i < n_threads; i++)
        if (!__atomic_load_n(&in_use[i], __ATOMIC_ACQUIRE))
            return threads[i];
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

/* All that leads into the profile of the process that this one was forked from. */
static void forget_parent(struct seep_thread *thread)
{
    struct seep_sites *sites = &thread->sites;
    if (sites->indices)
        seep_os_clear(sites->indices, ((size_t)sites->mask + 1) * sizeof(*sites->indices));
    sites->n = 0;
    memset(sites->pending, 0, sizeof(sites->pending));
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
        in_use[thread->sites.slot] = true;
        slot->threads++;
        __atomic_store_n(&slot->tid, (uint32_t)seep_os_tid(), __ATOMIC_RELEASE);
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
    struct seep_thread *thread = none_free() ? NULL : register_thread();
    if (!thread) {
        seep_arena_drop(SEEP_DROP_NO_SLOT);
        return NULL;
    }
    /* What the slot's last thread has learned stays: the sites are the slot's, and shapes are held
     * against the stack of whoever uses them. */
    if (thread->n_forks != n_forks)
        forget_parent(thread);
    memset(&thread->walk.stacks, 0, sizeof(thread->walk.stacks));
    thread->marks = 0;
    thread->random = seep_os_clock_ns(CLOCK_MONOTONIC) ^ (uintptr_t)thread;
    thread->until_sample = 0;
    (void)prctl(PR_GET_NAME, seep_arena.header->slots[thread->sites.slot].name);
    seep_tls.thread = thread;
    if (key_made) {
        int saved_errno = errno;
        (void)pthread_setspecific(key, thread);
        errno = saved_errno;
    }
    return thread;
}

bool seep_enter_slow(void)
{
    seep_tls.depth = 1;
    int saved_errno = errno;
    bool ok = *seep_activity == SEEP_RECORDING || seep_start();
    if (ok && !seep_tls.thread)
        ok = seep_thread_acquire() != NULL;
    errno = saved_errno;
    if (!ok)
        seep_tls.depth = 0;
    return ok;
}

/* What the parent's threads had learned is forgotten when their slots are taken: clearing it now
 * would copy all of it. */
void seep_threads_after_fork(void)
{
    registry_lock.word = 0;
    seep_stack_range_after_fork();
    seep_sites_threaded = false;
    n_forks++;
    retry_ns = 0;
    memset(in_use, 0, sizeof(in_use));
    seep_tls.thread = NULL;
}

void seep_threads_forget(void)
{
    __atomic_fetch_add(&seep_threads_generation, 1, __ATOMIC_RELEASE);
}

struct seep_lock *seep_threads_lock(void)
{
    return &registry_lock;
}
