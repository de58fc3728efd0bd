#include "viewer/watch/resident.h"

#include "libprof/base/clock.h"
#include "libprof/base/page_bytes.h"
#include "libprof/read/process_alive.h"
#include "viewer/watch/process_file.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* from Linux 5.14 on */
#endif

enum {
    FIRST_GAP_NS = 10 * 1000 * 1000,
    RSS_GAP_NS = 250 * 1000 * 1000,
    PSS_GAP_NS = 500 * 1000 * 1000,
    SEEN_GAP_MS = 200,
    NEVER_MS = INT32_MAX,
    LASTS_NS = 1000 * 1000 * 1000,
    LIST_GAP_NS = 2000 * 1000 * 1000,
    LIST_SHARE = 8,      /* files are listed again when they have become 1/n more … */
    LIST_KIB = 4 * 1024, /* … and this */
    COST_SHARE = 100,    /* a pass may take one part in so many of the time */
};

/* A pid counts once: after an exec it has two entries, and the younger one is what runs. */
static bool is_youngest(const struct seep_job *job, uint32_t n, uint32_t i)
{
    for (uint32_t k = i + 1; k < n; k++) {
        if (job->processes[k].pid == job->processes[i].pid)
            return false;
    }
    return true;
}

static void raise_peak(uint64_t *peak, uint64_t bytes)
{
    if (bytes > __atomic_load_n(peak, __ATOMIC_RELAXED))
        __atomic_store_n(peak, bytes, __ATOMIC_RELAXED);
}

/* The period of the process whose steps it takes part in. */
static uint32_t period_of(const struct seep_job *job, const struct seep_process *p)
{
    return p->follows && p->follows <= SEEP_MAX_PROCESSES ? job->processes[p->follows - 1].period
                                                          : p->period;
}

/* Pages that a forked child writes become its own, without any call that a hook could see. */
static void note_private(struct seep_process *p, uint64_t bytes, uint32_t period)
{
    if (!bytes)
        return;
    if (!p->private_first_bytes) {
        p->private_first_period = period;
        p->private_first_bytes = bytes;
    }
    p->private_last_period = period;
    p->private_last_bytes = bytes;
}

/* While a copy of a process exists, its private pages count as shared. */
static bool is_copied(const struct seep_job *job, uint32_t process)
{
    return __atomic_load_n(&job->snapshot.state, __ATOMIC_ACQUIRE) != SEEP_SNAPSHOT_FREE &&
           job->snapshot.process_plus_1 == process + 1;
}

/* Numbers of processes in another pid namespace mean nothing here, so these cannot be found. The
 * first one there has a parent that it cannot see. */
static bool any_has_other_pids(const struct seep_job *job, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (__atomic_load_n(&job->processes[i].pid, __ATOMIC_ACQUIRE) && !job->processes[i].ppid)
            return true;
    return false;
}

/* Drops every second pass, and from here on keeps half as many. */
static void thin(struct seep_seen *seen)
{
    uint32_t kept = 0, pass = 0;

    for (uint32_t i = 0; i < seen->n; i++) {
        pass += i && seen->rows[i].t_ns != seen->rows[i - 1].t_ns;
        if (pass % 2 == 0)
            seen->rows[kept++] = seen->rows[i];
    }
    seen->gap_ms *= 2;
    __atomic_store_n(&seen->n, kept, __ATOMIC_RELEASE);
}

static void note_seen(struct seep_job *job, uint32_t process, uint64_t t_ns, const char *status,
                      uint32_t files_kib)
{
    struct seep_seen *seen = &job->seen;

    if (seen->n >= SEEP_SEEN_ROWS)
        return; /* by chance in the middle of a pass */
    seen->rows[seen->n] =
        (struct seep_seen_row){.t_ns = t_ns,
                               .rss_bytes = seep_process_file_kib(status, "VmRSS:"),
                               .anonymous_bytes = seep_process_file_kib(status, "RssAnon:"),
                               .process_plus_1 = process + 1,
                               .files_kib = files_kib};
    __atomic_store_n(&seen->n, seen->n + 1, __ATOMIC_RELEASE);
}

/* Gets disk behind a part of the table: where a write to it would fail nothing is kept there. */
static bool has_disk(void *part, size_t size)
{
    const uintptr_t page = seep_page_bytes();
    const uintptr_t start = (uintptr_t)part & ~(page - 1), end = (uintptr_t)part + size;

    return madvise((void *)start, end - start, MADV_POPULATE_WRITE) == 0;
}

/* Whether what this pass sees is kept: of a job that lasts. */
static bool is_kept(struct seep_job *job, uint32_t n_processes, uint64_t now_ns)
{
    struct seep_seen *seen = &job->seen;

    if (now_ns - job->started_ns < LASTS_NS)
        return false;
    if (!seen->gap_ms)
        seen->gap_ms = has_disk(seen, sizeof *seen) ? SEEN_GAP_MS : NEVER_MS;
    const uint64_t last_ns = seen->n ? seen->rows[seen->n - 1].t_ns : 0;
    if (now_ns - last_ns < seen->gap_ms * UINT64_C(1000000))
        return false;
    if (seen->n + n_processes > SEEP_SEEN_ROWS)
        thin(seen);
    return true;
}

static uint32_t held_kib(struct seep_resident *r, const struct seep_job *job)
{
    if (!r->tmpfs.known)
        seep_tmpfs_find(&r->tmpfs, r->own ? r->own : "");
    return seep_tmpfs_held_kib(&r->tmpfs, __atomic_load_n(&job->folder_bytes, __ATOMIC_RELAXED));
}

/* What the job's processes have written to any files by this pass. What a child wrote counts as its
 * parent's once that has reaped it; where nobody of the job does, the sum falls. */
static void note_written(struct seep_resident *r, bool known, uint64_t bytes)
{
    if (!known)
        return;
    if (r->knows_written && bytes > r->last_written_bytes)
        r->written_bytes += bytes - r->last_written_bytes;
    r->knows_written = true;
    r->last_written_bytes = bytes;
}

/* One pass over the listed processes that have not been reaped yet. */
static void pass(struct seep_resident *r, struct seep_job *job, bool with_pss)
{
    char text[SEEP_PROCESS_FILE_BYTES];
    uint64_t sum = 0, written = 0;
    bool knows_written = false;
    uint32_t n = __atomic_load_n(&job->n_processes, __ATOMIC_ACQUIRE);

    if (n > SEEP_MAX_PROCESSES)
        n = SEEP_MAX_PROCESSES;
    const uint64_t now = seep_clock_ns(CLOCK_MONOTONIC);
    const bool keeps = !with_pss && is_kept(job, n, now);
    const uint32_t files_kib = keeps ? held_kib(r, job) : 0;
    r->held_kib = keeps ? files_kib : r->held_kib;
    for (uint32_t i = 0; i < n; i++) {
        struct seep_process *p = &job->processes[i];
        uint32_t pid = __atomic_load_n(&p->pid, __ATOMIC_ACQUIRE);
        if (!pid || __atomic_load_n(&p->has_status, __ATOMIC_ACQUIRE) || !is_youngest(job, n, i))
            continue;
        /* A process that nobody in the job has reaped may have ended, and its pid be reused. */
        if (!seep_process_is_alive(pid, p->start_ns))
            continue;
        seep_process_file((pid_t)pid, with_pss ? "smaps_rollup" : "status", text);
        if (with_pss) {
            uint64_t pss = seep_process_file_kib(text, "Pss:");
            raise_peak(&p->pss_peak_bytes, pss);
            if (!is_copied(job, i))
                note_private(p, seep_process_file_kib(text, "Private_Dirty:"), period_of(job, p));
            sum += pss;
        } else {
            raise_peak(&p->rss_peak_bytes, seep_process_file_kib(text, "VmHWM:"));
            if (keeps)
                note_seen(job, i, now, text, files_kib);
            if (keeps && r->tmpfs.n) {
                seep_process_file((pid_t)pid, "io", text);
                written += seep_process_file_number(text, "wchar:");
                knows_written |= *text != '\0';
            }
        }
    }
    note_written(r, knows_written, written);
    if (with_pss && any_has_other_pids(job, n))
        __atomic_store_n(&job->pss_peak_bytes, 0, __ATOMIC_RELAXED); /* it would lack them */
    else if (with_pss)
        raise_peak(&job->pss_peak_bytes, sum);
}

static void make_pass(struct seep_resident *r, struct seep_job *job, bool with_pss,
                      uint64_t *due_ns, uint64_t *gap_ns)
{
    uint64_t start = seep_clock_ns(CLOCK_THREAD_CPUTIME_ID),
             widest = with_pss ? PSS_GAP_NS : RSS_GAP_NS;

    pass(r, job, with_pss);
    uint64_t cost = seep_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
    *gap_ns = *gap_ns ? *gap_ns * 2 : FIRST_GAP_NS;
    if (*gap_ns > widest)
        *gap_ns = widest;
    uint64_t dear = cost * COST_SHARE;
    *due_ns = seep_clock_ns(CLOCK_MONOTONIC) + (dear > *gap_ns ? dear : *gap_ns);
}

/* A reader takes no notice of the list while it is written. */
static void list_files(struct seep_resident *r, struct seep_job *job)
{
    struct seep_memory_files files;

    seep_tmpfs_list(&r->tmpfs, job, &files);
    if ((!files.n && !job->files.n) || !has_disk(&job->files, sizeof job->files))
        return;
    files.knows_written = r->knows_written;
    files.written_bytes = r->written_bytes;
    const uint32_t n = files.n;
    files.n = 0;
    __atomic_store_n(&job->files.n, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    job->files = files;
    __atomic_store_n(&job->files.n, n, __ATOMIC_RELEASE);
}

static void list_if_more(struct seep_resident *r, struct seep_job *job)
{
    const uint64_t now = seep_clock_ns(CLOCK_MONOTONIC);
    const uint64_t start = seep_clock_ns(CLOCK_THREAD_CPUTIME_ID);

    if (!r->tmpfs.n || now < r->list_due_ns ||
        r->held_kib < r->listed_kib + r->listed_kib / LIST_SHARE + LIST_KIB)
        return;
    list_files(r, job);
    const uint64_t dear = (seep_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) * COST_SHARE;
    r->listed_kib = r->held_kib;
    r->list_due_ns = now + (dear > LIST_GAP_NS ? dear : LIST_GAP_NS);
}

uint64_t seep_resident_sample(struct seep_resident *r, struct seep_job *job)
{
    uint64_t now = seep_clock_ns(CLOCK_MONOTONIC);

    if (now >= r->rss_due_ns)
        make_pass(r, job, false, &r->rss_due_ns, &r->rss_gap_ns);
    list_if_more(r, job);
    if (now >= r->pss_due_ns)
        make_pass(r, job, true, &r->pss_due_ns, &r->pss_gap_ns);
    uint64_t due = r->rss_due_ns < r->pss_due_ns ? r->rss_due_ns : r->pss_due_ns;
    now = seep_clock_ns(CLOCK_MONOTONIC);
    return due > now ? due - now : 1000;
}

void seep_resident_end(struct seep_resident *r, struct seep_job *job)
{
    if (job->seen.n && r->tmpfs.n)
        list_files(r, job);
}
