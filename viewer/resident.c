#include "viewer/resident.h"

#include "libprof/alive.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    FIRST_GAP_NS = 10 * 1000 * 1000,
    RSS_GAP_NS = 250 * 1000 * 1000,
    PSS_GAP_NS = 500 * 1000 * 1000,
    COST_SHARE = 100, /* a pass may cost one in so many */
};

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The number behind `key` ("VmHWM:") in a file of /proc/PID, in bytes; 0 where it is not there. */
static uint64_t read_kib(uint32_t pid, const char *file, const char *key)
{
    char path[64], text[4096];

    snprintf(path, sizeof path, "/proc/%" PRIu32 "/%s", pid, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    for (char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, strlen(key)) == 0)
            return strtoull(line + strlen(key), NULL, 10) * 1024;
    }
    return 0;
}

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

/* One pass over the listed processes that have not been reaped yet. */
static void pass(struct seep_job *job, bool with_pss)
{
    uint64_t sum = 0;
    uint32_t n = __atomic_load_n(&job->n_processes, __ATOMIC_ACQUIRE);

    if (n > SEEP_MAX_PROCESSES)
        n = SEEP_MAX_PROCESSES;
    for (uint32_t i = 0; i < n; i++) {
        struct seep_process *p = &job->processes[i];
        uint32_t pid = __atomic_load_n(&p->pid, __ATOMIC_ACQUIRE);
        if (!pid || __atomic_load_n(&p->has_status, __ATOMIC_ACQUIRE) || !is_youngest(job, n, i))
            continue;
        /* One that nobody in the job has reaped may have ended, and a stranger have its pid. */
        if (!seep_process_is_alive(pid, p->start_ns))
            continue;
        if (with_pss) {
            uint64_t pss = read_kib(pid, "smaps_rollup", "Pss:");
            raise_peak(&p->pss_peak_bytes, pss);
            sum += pss;
        } else {
            raise_peak(&p->rss_peak_bytes, read_kib(pid, "status", "VmHWM:"));
        }
    }
    if (with_pss)
        raise_peak(&job->pss_peak_bytes, sum);
}

static void make_pass(struct seep_job *job, bool with_pss, uint64_t *due_ns, uint64_t *gap_ns)
{
    uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID), widest = with_pss ? PSS_GAP_NS : RSS_GAP_NS;

    pass(job, with_pss);
    uint64_t cost = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
    *gap_ns = *gap_ns ? *gap_ns * 2 : FIRST_GAP_NS;
    if (*gap_ns > widest)
        *gap_ns = widest;
    uint64_t dear = cost * COST_SHARE;
    *due_ns = clock_ns(CLOCK_MONOTONIC) + (dear > *gap_ns ? dear : *gap_ns);
}

uint64_t seep_resident_sample(struct seep_resident *r, struct seep_job *job)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    if (now >= r->rss_due_ns)
        make_pass(job, false, &r->rss_due_ns, &r->rss_gap_ns);
    if (now >= r->pss_due_ns)
        make_pass(job, true, &r->pss_due_ns, &r->pss_gap_ns);
    uint64_t due = r->rss_due_ns < r->pss_due_ns ? r->rss_due_ns : r->pss_due_ns;
    now = clock_ns(CLOCK_MONOTONIC);
    return due > now ? due - now : 1000;
}
