#include "preload/record/rss_sample.h"

#include "preload/job/job.h"
#include "preload/record/map_resident.h"
#include "preload/record/rss_look.h"

#define MILLISECOND UINT64_C(1000000)
#define MIN_GAP     (250 * MILLISECOND)
#define SOON        (100 * MILLISECOND)
#define TOO_LONG    (500 * MILLISECOND)

enum {
    COST = 1000, /* looks may take 1/n of the CPU time; on a busy machine a look may wait for long,
                  * … */
    COST_SOON = 200, /* … and more while a child writes to what it inherited, or the process grows
                      * by … */
    RISE_SHARE = 20, /* … 1/n of its size from one to the next */
    LARGE_GIB = 8,
    SMALL_BYTES = 8 << 20,
};

static uint64_t due_ns, soonest_ns; /* 0: unknown yet */
static uint64_t least_gap_ns = MIN_GAP;
static uint64_t last_cost_ns, last_rss_bytes;

static uint64_t rss_now(const struct seep_header *header)
{
    return header->n_timeline ? header->timeline[header->n_timeline - 1].rss_bytes : 0;
}

/* Drops every second sample; a reader skips samples whose time does not rise. */
static void halve(struct seep_header *header)
{
    for (uint32_t i = 1; 2 * i < SEEP_RSS_SAMPLES; i++)
        header->rss_samples[i] = header->rss_samples[2 * i];
    __atomic_store_n(&header->n_rss_samples, SEEP_RSS_SAMPLES / 2, __ATOMIC_RELEASE);
    least_gap_ns *= 2;
}

static void store(struct seep_rss_sample *to, const struct seep_rss_sample *sample)
{
    __atomic_store_n(&to->t_ns, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    struct seep_rss_sample unpublished = *sample;
    unpublished.t_ns = 0;
    *to = unpublished;
    __atomic_store_n(&to->t_ns, sample->t_ns, __ATOMIC_RELEASE);
}

static uint64_t host_live(const struct seep_header *header, const struct seep_thread *thread)
{
    const struct seep_space *host = &header->spaces[SEEP_SPACE_HOST];
    int64_t pending = thread ? thread->sites.spaces[SEEP_SPACE_HOST].pending : 0;
    return host->inherited_bytes + host->live_bytes + (uint64_t)pending;
}

static void take(struct seep_header *header, const struct seep_thread *thread)
{
    const uint64_t cpu_began = seep_os_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    struct seep_rss_sample sample = {.t_ns = seep_os_clock_ns(CLOCK_MONOTONIC),
                                     .period = *seep_period};
    bool taken = seep_rss_look(host_live(header, thread), rss_now(header), &sample);
    const uint64_t cost = last_cost_ns = seep_os_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_began;
    const uint64_t now = seep_os_clock_ns(CLOCK_MONOTONIC);
    if (taken) {
        last_rss_bytes = sample.rss_bytes;
        if (header->n_rss_samples >= SEEP_RSS_SAMPLES)
            halve(header);
        store(&header->rss_samples[header->n_rss_samples], &sample);
        __atomic_store_n(&header->n_rss_samples, header->n_rss_samples + 1, __ATOMIC_RELEASE);
        if (sample.rss_bytes > header->rss_peak.rss_bytes)
            store(&header->rss_peak, &sample);
    }
    const uint64_t apart = cost * (taken && sample.written_bytes ? COST_SOON : COST);
    due_ns = now + (apart > least_gap_ns ? apart : least_gap_ns);
    soonest_ns = now + (cost * COST_SOON > SOON ? cost * COST_SOON : SOON);
}

void seep_rss_tick(const struct seep_thread *thread, uint64_t now_ns)
{
    struct seep_header *header = seep_arena.header;
    if (!soonest_ns) { /* a process that has just begun shows nothing yet */
        soonest_ns = now_ns + SOON;
        due_ns = now_ns + MIN_GAP;
        return;
    }
    if (now_ns < soonest_ns)
        return;
    uint64_t largest = header->rss_peak.rss_bytes;
    if (now_ns >= due_ns || rss_now(header) > largest + largest / RISE_SHARE)
        take(header, thread);
}

/* A look takes some tenths of a millisecond, which is much of a short life. */
static bool is_small_and_short(const struct seep_header *header)
{
    return rss_now(header) < SMALL_BYTES &&
           seep_os_clock_ns(CLOCK_MONOTONIC) - header->start_ns < SOON;
}

/* The last sample is so recent that none would be due, and RSS has not changed since; what a child
 * writes to changes nothing in that. */
static bool is_known(const struct seep_header *header)
{
    const uint32_t n = header->n_rss_samples;
    if (n && n <= SEEP_RSS_SAMPLES && header->rss_samples[n - 1].written_bytes)
        return false;
    uint64_t rss = rss_now(header), last = last_rss_bytes;
    uint64_t apart = rss > last ? rss - last : last - rss;
    return seep_os_clock_ns(CLOCK_MONOTONIC) < soonest_ns && apart < last / RISE_SHARE;
}

void seep_rss_final(const struct seep_thread *thread)
{
    struct seep_header *header = seep_arena.header;
    bool worth_it = (!is_small_and_short(header) && !is_known(header)) || seep_map_any_by_touch();
    if (rss_now(header) >> 30 < LARGE_GIB && last_cost_ns < TOO_LONG && worth_it)
        take(header, thread);
}

void seep_rss_after_fork(void)
{
    due_ns = soonest_ns = 0;
    least_gap_ns = MIN_GAP;
    last_cost_ns = last_rss_bytes = 0;
}
