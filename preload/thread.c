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
static struct seep_lock registry_lock;
static pthread_key_t key;
static bool key_made;

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
    __atomic_store_n(&thread->in_use, false, __ATOMIC_RELEASE);
    seep_tls.depth--;
}

void seep_threads_start(void)
{
    key_made = pthread_key_create(&key, release) == 0;
}

/* Slots of threads that ended after their last destructor ran are found by their thread id. */
static bool abandoned(const struct seep_thread *thread)
{
    uint32_t tid = seep_arena.header->slots[thread->sites.slot].tid;
    return seep_os_call3(SYS_tgkill, seep_os_pid(), (long)tid, 0) == -ESRCH;
}

static struct seep_thread *take_slot(void)
{
    for (uint32_t i = 0; i < n_threads; i++)
        if (!__atomic_load_n(&threads[i]->in_use, __ATOMIC_ACQUIRE))
            return threads[i];
    if (n_threads < SEEP_MAX_SLOTS) {
        struct seep_thread *fresh = seep_os_pages(sizeof(*fresh));
        if (!fresh)
            return NULL;
        fresh->traces = seep_os_pages(SEEP_MIN_TRACE_SETS * sizeof(*fresh->traces));
        if (!fresh->traces) {
            seep_os_unmap(fresh, sizeof(*fresh));
            return NULL;
        }
        fresh->trace_mask = SEEP_MIN_TRACE_SETS - 1;
        fresh->sites.slot = n_threads;
        threads[n_threads++] = fresh;
        return fresh;
    }
    for (uint32_t i = 0; i < n_threads; i++)
        if (abandoned(threads[i]))
            return threads[i];
    return NULL;
}

static bool another_in_use(const struct seep_thread *self)
{
    for (uint32_t i = 0; i < n_threads; i++)
        if (threads[i] != self && threads[i]->in_use)
            return true;
    return false;
}

struct seep_thread *seep_thread_acquire(void)
{
    if (!seep_os_lock(&registry_lock))
        return NULL;
    struct seep_thread *thread = take_slot();
    if (thread) {
        thread->in_use = true;
        seep_sites_threaded = seep_sites_threaded || another_in_use(thread);
    }
    seep_os_unlock(&registry_lock);
    if (!thread) {
        seep_arena_drop(SEEP_DROP_NO_SLOT);
        return NULL;
    }
    struct seep_slot *slot = &seep_arena.header->slots[thread->sites.slot];
    memset(&thread->walk.stacks, 0, sizeof(thread->walk.stacks));
    memset(thread->walk.shapes, 0, sizeof(thread->walk.shapes));
    thread->marks = 0;
    thread->random = seep_os_clock_ns(CLOCK_MONOTONIC) ^ (uintptr_t)thread;
    thread->until_sample = 0;
    (void)prctl(PR_GET_NAME, slot->name);
    slot->threads++;
    __atomic_store_n(&slot->tid, (uint32_t)seep_os_tid(), __ATOMIC_RELEASE);
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

static void clear_sites(struct seep_sites *sites)
{
    if (sites->indices)
        memset(sites->indices, 0, ((size_t)sites->mask + 1) * sizeof(*sites->indices));
    sites->n = 0;
    memset(sites->overflow, 0, sizeof(sites->overflow));
    memset(sites->pending, 0, sizeof(sites->pending));
}

void seep_threads_after_fork(void)
{
    registry_lock.word = 0;
    seep_stack_range_after_fork();
    seep_sites_threaded = false;
    for (uint32_t i = 0; i < n_threads; i++) {
        clear_sites(&threads[i]->sites);
        memset(threads[i]->traces, 0, (threads[i]->trace_mask + 1) * sizeof(*threads[i]->traces));
        threads[i]->n_last_python = 0;
        threads[i]->in_use = false;
    }
    seep_tls.thread = NULL;
}

void seep_threads_forget(void)
{
    __atomic_fetch_add(&seep_threads_generation, 1, __ATOMIC_RELEASE);
}
