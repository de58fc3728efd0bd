#include "preload/record/tick.h"

#include <string.h>
#include <sys/resource.h>

#include "libprof/contract.h"
#include "libprof/runtime/store/address_space.h"
#include "preload/job/job.h"
#include "preload/job/job_table.h"
#include "preload/objects/modules.h"
#include "preload/python/pyframe.h"
#include "preload/record/rss_sample.h"
#include "preload/record/shm_segments.h"
#include "preload/record/upcalls.h"

enum {
    FIRST_GAP_NS = 20 * 1000 * 1000,
    JOB_GAP_NS = 4 * 1000 * 1000,
    WINDOW_NS = 1000 * 1000 * 1000,
};

static struct seep_lock lock;
#define RELEASE_NS (UINT64_C(60) * 1000 * 1000 * 1000)

static uint64_t next_ns, next_row_ns, next_release_ns, window_ns;

struct seep_overhead seep_overhead;
static uint64_t row_gap_ns = FIRST_GAP_NS;

static uint64_t take_number(const char **at)
{
    uint64_t n = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++)
        n = n * 10 + (uint64_t)(**at - '0');
    *at += **at == ' ';
    return n;
}

/* 500 days of CPU fit into a row. */
static uint32_t cpu_units(void)
{
    const uint64_t units = seep_os_clock_ns(CLOCK_PROCESS_CPUTIME_ID) / SEEP_CPU_UNIT_NS;
    return units < UINT32_MAX ? (uint32_t)units : UINT32_MAX;
}

/* The address space's size, how much of it is resident, and how much of that is neither shared nor
 * of a file; zeros if /proc does not say. */
static void measure(struct seep_timeline_row *row, uint64_t *address_bytes)
{
    struct seep_address_space space;
    seep_address_space_read(&space);
    *address_bytes = space.bytes;
    row->cpu_units = cpu_units();
    row->rss_bytes = space.resident_bytes;
    row->anonymous_bytes =
        space.resident_bytes > space.shared_bytes ? space.resident_bytes - space.shared_bytes : 0;
}

/* Drops every second row; a reader skips rows whose time does not rise. */
static void halve(struct seep_header *header)
{
    for (uint32_t i = 1; 2 * i < SEEP_TIMELINE_ROWS; i++) {
        header->timeline[i] = header->timeline[2 * i];
        for (unsigned s = 0; s < SEEP_MAX_SPACES; s++) {
            uint64_t *live =
                header->spaces[s].timeline ? seep_arena_at(header->spaces[s].timeline) : NULL;
            if (live)
                live[i] = live[2 * i];
        }
    }
    __atomic_store_n(&header->n_timeline, SEEP_TIMELINE_ROWS / 2, __ATOMIC_RELEASE);
    row_gap_ns *= 2;
}

static uint64_t *space_timeline(struct seep_space *space)
{
    if (!space->name[0] || (!space->live_bytes && !space->peak_bytes))
        return NULL;
    if (!space->timeline && !seep_arena.full && seep_os_lock(&seep_arena.lock)) {
        space->timeline = seep_arena_take(SEEP_CHUNK_TIMELINES, SEEP_TIMELINE_ROWS * 8, 8);
        seep_os_unlock(&seep_arena.lock);
    }
    return space->timeline ? seep_arena_at(space->timeline) : NULL;
}

static void add_row(struct seep_header *header, const struct seep_thread *thread, uint64_t now)
{
    if (header->n_timeline >= SEEP_TIMELINE_ROWS)
        halve(header);
    uint32_t n = header->n_timeline;
    for (unsigned s = 0; s < SEEP_MAX_SPACES; s++) {
        struct seep_space *space = &header->spaces[s];
        uint64_t *live = space_timeline(space);
        if (live)
            live[n] = space->live_bytes + (uint64_t)(thread ? thread->sites.spaces[s].pending : 0);
    }
    measure(&header->timeline[n], &header->address_bytes);
    uint64_t rss = header->timeline[n].rss_bytes;
    header->timeline[n].period = *seep_period;
    __atomic_store_n(&header->timeline[n].t_ns, now, __ATOMIC_RELEASE);
    __atomic_store_n(&header->n_timeline, n + 1, __ATOMIC_RELEASE);
    if (rss > header->rss_peak_bytes)
        header->rss_peak_bytes = rss;
    if (rss > seep_process->rss_peak_bytes)
        seep_process->rss_peak_bytes = rss;
    header->last_ns = now;
}

static void find_python(void)
{
    static uint32_t generation;
    if (seep_python_ready)
        return;
    (void)seep_modules_refresh();
    uint32_t now = __atomic_load_n(&seep_modules_generation, __ATOMIC_ACQUIRE);
    if (now == generation)
        return;
    generation = now;
    seep_python_attach();
}

static void note_python(struct seep_header *header)
{
    header->python_version = seep_python_version;
    header->python_support = seep_python_support();
    header->python_unseen |= seep_python_unseen();
}

static uint64_t own_mapped_bytes(const struct seep_header *header)
{
    uint64_t bytes = (uint64_t)header->n_chunks * SEEP_CHUNK_BYTES;
    struct seep_own_range piece;
    uint32_t at = 0;
    while (seep_own_next(&at, 0, UINTPTR_MAX, &piece))
        bytes += piece.end - piece.start;
    return bytes;
}

/* Of seep itself, resident, when it was last looked at, which is seldom in a large process, and
 * what it has mapped since. */
static uint64_t own_memory(const struct seep_header *header)
{
    static uint64_t looked_ns, mapped_then;
    const uint32_t n = header->n_rss_samples;
    const struct seep_rss_sample *last =
        n && n <= SEEP_RSS_SAMPLES ? &header->rss_samples[n - 1] : NULL;
    const uint64_t mapped = own_mapped_bytes(header);
    if (last && last->t_ns != looked_ns) {
        looked_ns = last->t_ns;
        mapped_then = mapped;
    }
    return (last ? last->seep_bytes : 0) + (mapped > mapped_then ? mapped - mapped_then : 0);
}

/* How much a sum has risen since it was `*before`; a forked child's begins anew. */
static uint64_t rise(uint64_t *before, uint64_t now)
{
    const uint64_t by = now > *before ? now - *before : 0;
    *before = now;
    return by;
}

/* What has been spent since the last time. Where no CPU was free for it, what readers of this
 * process's copies took was the job's, as stops are. */
static void close_window(struct seep_header *header, struct seep_overhead_window *w)
{
    static uint64_t stops_ns, taken_ns;
    const uint64_t taken = rise(
        &taken_ns,
        seep_job_map ? __atomic_load_n(&seep_job_map->snapshots.taken_ns, __ATOMIC_RELAXED) : 0);
    w->spent_ns = seep_meter_window();
    w->stops_ns =
        rise(&stops_ns, __atomic_load_n(&header->cost.ns[SEEP_COST_STOPS], __ATOMIC_RELAXED));
    header->cost.felt_ns += w->spent_ns;
    if (header->snapshots.made) {
        w->spent_ns += taken;
        w->stops_ns += taken;
    }
}

static void keep_to_budget(struct seep_header *header, const struct seep_thread *thread,
                           uint64_t now)
{
    struct seep_overhead_window w = {.age_ns = now - header->start_ns,
                                     .ns = now - (window_ns ? window_ns : header->start_ns),
                                     .memory_bytes = own_memory(header),
                                     .importing = thread->importing};
    if ((int64_t)w.ns < WINDOW_NS) /* the coarse clock lags behind the start */
        return;
    window_ns = now;
    close_window(header, &w);
    const unsigned coarseness = seep_sampling.coarseness;
    const unsigned wanted = seep_overhead_judge(&seep_overhead, &w, coarseness);
    if (wanted != coarseness)
        seep_sampling_set(wanted);
}

/* What is due. True: the process has a profile. */
static bool do_what_is_due(struct seep_thread *thread, uint64_t now)
{
    struct seep_header *header = seep_arena.header;
    __atomic_store_n(&next_ns, now + JOB_GAP_NS, __ATOMIC_RELAXED);
    seep_job_tick(now);
    if (seep_arena_counting) {
        seep_job_count();
        seep_upcalls.promote_helper(now);
        if (seep_arena_counting)
            return false;
        header = seep_arena.header;
    }
    find_python();
    note_python(header);
    if (now >= next_row_ns) {
        add_row(header, thread, now);
        next_row_ns = now + row_gap_ns;
    }
    if (now >= next_release_ns) {
        if (next_release_ns)
            seep_arena_release();
        next_release_ns = now + RELEASE_NS;
    }
    seep_segments_check(false);
    seep_rss_tick(thread, now);
    keep_to_budget(header, thread, now);
    return true;
}

/* True: something was due, and the process has a profile. */
static bool tick(struct seep_thread *thread)
{
    const uint64_t now = seep_os_clock_ns(CLOCK_MONOTONIC_COARSE);
    if (now < __atomic_load_n(&next_ns, __ATOMIC_RELAXED) || !seep_os_try_lock(&lock))
        return false;
    const uint64_t began = seep_os_clock_ns(CLOCK_MONOTONIC);
    const bool is_whole = do_what_is_due(thread, now);
    seep_os_unlock(&lock);
    seep_meter_add(&thread->meter, SEEP_COST_UPKEEP, seep_os_clock_ns(CLOCK_MONOTONIC) - began);
    return is_whole;
}

void seep_tick_look(struct seep_thread *thread)
{
    thread->look_waits = thread->moves;
    if (!thread->moves)
        seep_upcalls.snapshot_look(thread);
}

void seep_tick(struct seep_thread *thread)
{
    SEEP_CHECK(seep_is_inside());
    if (tick(thread) || thread->look_waits)
        seep_tick_look(thread);
}

void seep_tick_without_look(struct seep_thread *thread)
{
    (void)tick(thread);
}

void seep_tick_slices(void)
{
    const uint64_t now = seep_os_clock_ns(CLOCK_MONOTONIC_COARSE);
    if (now < __atomic_load_n(&next_ns, __ATOMIC_RELAXED) || !seep_os_try_lock(&lock))
        return;
    seep_job_tick(now);
    seep_os_unlock(&lock);
}

/* Pages that a forked child has written to, and so owns, as it ends: `seep run` looks only
 * rarely. The kernel walks all pages to answer, so very large processes are left out. */
static void note_private(const struct seep_header *header)
{
    enum { LARGE_GIB = 8 };
    char text[4096];
    if (!header->parent_file[0] || header->rss_peak_bytes >> 30 >= LARGE_GIB ||
        seep_os_read_file("/proc/self/smaps_rollup", text, sizeof(text)) <= 0)
        return;
    const char *at = strstr(text, "Private_Dirty:");
    for (at = at ? at + 14 : ""; *at == ' ';)
        at++;
    uint64_t kib = take_number(&at);
    if (!kib)
        return;
    seep_process->private_last_period = *seep_period;
    seep_process->private_last_bytes = kib * 1024;
}

void seep_tick_final(void)
{
    if (!seep_os_try_lock(&lock))
        return;
    if (seep_arena_counting) {
        struct rusage usage = {0};
        (void)seep_os_call3(SYS_getrusage, RUSAGE_SELF, (long)&usage, 0);
        uint64_t peak = (uint64_t)usage.ru_maxrss * 1024;
        if (peak > seep_process->rss_peak_bytes)
            seep_process->rss_peak_bytes = peak;
        seep_os_unlock(&lock);
        return;
    }
    note_python(seep_arena.header); /* does not search for it: another thread may hold the loader's
                                     * lock for ever */
    if (seep_tls.thread)
        seep_segments_check(true);
    add_row(seep_arena.header, seep_tls.thread, seep_os_clock_ns(CLOCK_MONOTONIC_COARSE));
    seep_rss_final(seep_tls.thread);
    seep_arena.header->cost.felt_ns += seep_meter_window();
    note_private(seep_arena.header);
    seep_os_unlock(&lock);
}

struct seep_lock *seep_tick_lock(void)
{
    return &lock;
}

void seep_tick_after_fork(void)
{
    lock.word = 0;
    next_ns = 0;
    next_row_ns = next_release_ns = window_ns = 0;
    seep_overhead.begun = false;
    seep_meter_after_fork();
    row_gap_ns = FIRST_GAP_NS;
    seep_rss_after_fork();
}
