/* A refusal is rare, and what follows may be the end of the process: all that is known is written
 * at once. What comes of it is seen by watching the thread for a moment, as the search for the main
 * loop does: the path of an allocation has one test for both. */
#include "preload/record/record.h"

#include <sys/resource.h>

#include "libprof/runtime/store/address_space.h"
#include "preload/job/job.h"
#include "preload/record/capture.h"

static const uint64_t retry_ns = SEEP_RETRY_MS * UINT64_C(1000000);

static struct seep_host_ooms *table(void)
{
    return &seep_arena.header->host_ooms;
}

/* Whether the thread stands where it was refused last. */
static bool is_there_again(const struct seep_thread *thread, uint32_t site)
{
    const struct seep_refused *last = &thread->refused;
    return (site && site == last->site) || seep_pystack_hash(&thread->stack) == last->python;
}

/* When they are full a request that was met gives way, else the last one. */
static uint32_t choose_place(const struct seep_host_ooms *t)
{
    uint32_t place = t->n < SEEP_MAX_HOST_OOMS ? t->n : 0;
    if (t->n < SEEP_MAX_HOST_OOMS)
        return place;
    while (place < SEEP_MAX_HOST_OOMS - 1 && !t->list[place].met_bytes)
        place++;
    return place;
}

static uint64_t live_bytes(const struct seep_thread *thread)
{
    int64_t sum = 0;
    for (unsigned space = SEEP_SPACE_HOST; space <= SEEP_SPACE_MMAP; space++)
        sum += (int64_t)seep_arena.header->spaces[space].live_bytes +
               thread->sites.spaces[space].pending;
    return sum > 0 ? (uint64_t)sum : 0;
}

static void describe(struct seep_host_oom *entry, const struct seep_thread *thread)
{
    struct seep_address_space space;
    seep_address_space_read(&space);
    entry->live_bytes = live_bytes(thread);
    entry->address_bytes = space.bytes;
    entry->data_bytes = space.data_bytes;
    entry->limit_address_bytes = seep_address_space_limit(RLIMIT_AS);
    entry->limit_data_bytes = seep_address_space_limit(RLIMIT_DATA);
}

/* Another request than the one before. NULL: two threads at once; one of them is only counted. */
static struct seep_host_oom *begin(struct seep_thread *thread, uint32_t site)
{
    struct seep_host_ooms *t = table();
    if (__atomic_exchange_n(&t->is_busy, 1, __ATOMIC_ACQUIRE)) {
        __atomic_fetch_add(&t->n, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    const uint32_t place = choose_place(t);
    struct seep_host_oom *entry = &t->list[place];
    __atomic_store_n(&entry->t_ns, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE); /* withdrawn before it is overwritten */
    *entry = (struct seep_host_oom){.stack = site ? seep_site_at(site)->stack : 0};
    describe(entry, thread);
    thread->refused.place = place;
    thread->refused.site = site;
    thread->refused.python = seep_pystack_hash(&thread->stack);
    __atomic_fetch_add(&t->n, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&t->is_busy, 0, __ATOMIC_RELEASE);
    return entry;
}

void seep_host_oom_note(uint64_t bytes, const struct seep_regs *regs, unsigned space)
{
    struct seep_thread *thread = seep_tls.thread;
    struct seep_refused *last = &thread->refused;
    const uint64_t now = seep_os_clock_ns(CLOCK_MONOTONIC);
    const uint32_t site = seep_capture(thread, regs, space);
    const bool again = thread->watches & SEEP_WATCH_RETRIES && now - last->t_ns <= retry_ns &&
                       is_there_again(thread, site);
    struct seep_host_oom *entry = again ? &table()->list[last->place] : begin(thread, site);
    if (!entry)
        return;
    entry->asked_bytes = bytes;
    entry->met_bytes = 0;
    entry->period = last->period = *seep_period;
    entry->requests++;
    last->t_ns = now;
    thread->watches |= SEEP_WATCH_RETRIES;
    __atomic_store_n(&entry->t_ns, now, __ATOMIC_RELEASE);
}

void seep_host_oom_watch(struct seep_thread *thread, uint64_t bytes, uint32_t site)
{
    const struct seep_refused *last = &thread->refused;
    struct seep_host_oom *entry = &table()->list[last->place];
    const bool is_there = is_there_again(thread, site), by_same = site && site == last->site;
    if (!is_there && *seep_period == last->period)
        return; /* the clock is asked no more often than must be */
    if (seep_os_clock_ns(CLOCK_MONOTONIC) - last->t_ns > retry_ns) {
        thread->watches &= (uint8_t)~SEEP_WATCH_RETRIES;
        return;
    }
    if (!is_there || (bytes <= entry->met_bytes && !by_same))
        return;
    entry->met_bytes = bytes;
    entry->met_period = *seep_period;
    entry->met_by_same = by_same;
    if (by_same)
        thread->watches &= (uint8_t)~SEEP_WATCH_RETRIES;
}
