#include "libprof/processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char *seep_process_role_name(enum seep_process_role role)
{
    static const char *const names[] = {"helper", "trainer", "loader-worker", "rank"};

    return names[role];
}

static void settle_roles(struct seep_model *m)
{
    unsigned n_ranks = 0;

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        if (p->steps && p->profile->header->rank >= 0)
            n_ranks++;
    }
    for (size_t i = 0; i < m->n_processes; i++) {
        struct seep_model_process *p = &m->processes[i];
        if (p->in_worker_loop)
            p->role = SEEP_ROLE_WORKER;
        else if (p->steps && p->profile->header->rank >= 0 && n_ranks >= 2)
            p->role = SEEP_ROLE_RANK;
        else if (p->steps || i == m->main)
            p->role = SEEP_ROLE_TRAINER;
        else
            p->role = SEEP_ROLE_HELPER;
    }
}

/* Whether the pid is alive on this machine and no younger than the profile: pids are used again. */
static bool still_runs(const struct seep_header *h)
{
    char path[64], text[1024], host[SEEP_NAME_BYTES] = "", state;
    unsigned long long ticks;
    struct timespec boot, mono;

    if (gethostname(host, sizeof host - 1) || strncmp(host, h->host, sizeof host - 1) != 0)
        return false;
    snprintf(path, sizeof path, "/proc/%u/stat", h->pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = 0;
    const char *after = strrchr(text, ')');
    if (!after || sscanf(after + 1,
                         " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
                         "%*d %*d %*d %*d %llu",
                         &state, &ticks) != 2)
        return false;
    if (state == 'Z' || state == 'X')
        return false;
    clock_gettime(CLOCK_BOOTTIME, &boot);
    clock_gettime(CLOCK_MONOTONIC, &mono);
    double asleep = (double)(boot.tv_sec - mono.tv_sec);
    double started = (double)ticks / (double)sysconf(_SC_CLK_TCK) - asleep;
    return started <= (double)h->start_ns / 1e9 + 2.0;
}

void seep_process_set_exit(struct seep_model_process *p, int status)
{
    if (WIFSIGNALED(status)) {
        p->exit_kind = SEEP_ENDED_SIGNAL;
        p->exit_value = WTERMSIG(status);
    } else {
        p->exit_kind = SEEP_ENDED_EXIT;
        p->exit_value = WEXITSTATUS(status);
    }
}

/* Whoever reaped the process knows best; else what it said itself; else whether it is there. */
static void settle_exit(struct seep_model_process *p, bool may_look)
{
    const struct seep_header *h = p->profile->header;

    p->execed = h->exit_kind == SEEP_EXIT_EXEC;
    if (p->entry && p->entry->has_status && !p->execed) {
        seep_process_set_exit(p, p->entry->wait_status);
    } else if (h->exit_kind == SEEP_EXIT_EXIT || h->exit_kind == SEEP_EXIT_SIGNAL) {
        p->exit_kind = h->exit_kind == SEEP_EXIT_EXIT ? SEEP_ENDED_EXIT : SEEP_ENDED_SIGNAL;
        p->exit_value = h->exit_value & 0xff;
    } else if (!p->execed && may_look && still_runs(h)) {
        p->exit_kind = SEEP_ENDED_RUNNING;
    } else {
        p->exit_kind = SEEP_ENDED_UNKNOWN;
    }
}

/* A program that was replaced ended as its successor did: the next profile of the same pid. */
static void follow_execs(struct seep_model *m)
{
    for (size_t i = m->n_processes; i-- > 0;) {
        struct seep_model_process *p = &m->processes[i];
        if (!p->execed)
            continue;
        for (size_t k = i + 1; k < m->n_processes; k++) {
            const struct seep_model_process *q = &m->processes[k];
            if (q->folder == p->folder && q->profile->header->pid == p->profile->header->pid) {
                p->exit_kind = q->exit_kind;
                p->exit_value = q->exit_value;
                break;
            }
        }
    }
}

static void settle_end(const struct seep_model *m, struct seep_model_process *p)
{
    const struct seep_model_process *main = &m->processes[m->main];
    bool ended = p->exit_kind != SEEP_ENDED_RUNNING;

    p->end_step = INT32_MAX;
    if (ended && p != main && p->end_ns < main->end_ns)
        p->end_step = seep_model_step_at(m, p->end_ns);
}

static void settle_rss(struct seep_model_process *p)
{
    p->rss_peak_bytes = p->profile->header->rss_peak_bytes;
    if (p->entry && p->entry->rss_peak_bytes > p->rss_peak_bytes)
        p->rss_peak_bytes = p->entry->rss_peak_bytes;
    for (uint32_t i = 0; i < p->n_rows; i++) {
        if (p->row_rss[i] > p->rss_peak_bytes)
            p->rss_peak_bytes = p->row_rss[i];
    }
    p->pss_peak_bytes = p->entry ? p->entry->pss_peak_bytes : 0;
}

void seep_processes_settle(struct seep_model *m, bool may_look)
{
    settle_roles(m);
    for (size_t i = 0; i < m->n_processes; i++) {
        settle_exit(&m->processes[i], may_look);
        settle_rss(&m->processes[i]);
    }
    follow_execs(m);
    for (size_t i = 0; i < m->n_processes; i++)
        settle_end(m, &m->processes[i]);
}

/* Index of the latest row no later than t, or -1. */
static int64_t row_at(const struct seep_model_process *p, uint64_t t_ns)
{
    uint32_t low = 0, high = p->n_rows;

    if (t_ns < p->start_ns || (p->end_step != INT32_MAX && t_ns > p->end_ns))
        return -1;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (p->row_t_ns[middle] <= t_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return (int64_t)low - 1;
}

uint64_t seep_process_live_at(const struct seep_model_process *p, uint16_t space, uint64_t t_ns)
{
    int64_t row = row_at(p, t_ns);
    bool at_end = t_ns == p->end_ns || (t_ns > p->end_ns && p->end_step == INT32_MAX);
    uint64_t sum = 0;

    /* A process too short for a row of its own had its last state throughout. */
    if (t_ns >= p->start_ns && t_ns <= p->end_ns && !p->n_rows)
        at_end = true;
    for (int s = 0; s < SEEP_MAX_SPACES; s++) {
        if (p->space_of[s] != space + 1)
            continue;
        if (at_end)
            sum += seep_totals_live(&p->spaces[s]);
        else if (row >= 0)
            sum += p->live[(size_t)s * p->n_rows + (size_t)row];
    }
    return sum;
}

uint64_t seep_process_rss_at(const struct seep_model_process *p, uint64_t t_ns)
{
    int64_t row = row_at(p, t_ns);

    return row < 0 ? 0 : p->row_rss[row];
}

/* A time in the step of a process's own peak: that of its largest row near it. */
static uint64_t time_of_peak(const struct seep_model_process *p, int space)
{
    uint32_t best = 0;

    if (!p->n_rows)
        return p->end_ns;
    for (uint32_t i = 1; i < p->n_rows; i++) {
        const uint64_t *live = p->live + (size_t)space * p->n_rows;
        if (live[i] > live[best])
            best = i;
    }
    return p->row_t_ns[best];
}

static void raise_peak(struct seep_totals *t, uint64_t bytes, int32_t step)
{
    if (bytes > t->peak_bytes) {
        t->peak_bytes = bytes;
        t->peak_step = step;
    }
}

static uint64_t others_at(const struct seep_model *m, size_t but, uint16_t space, uint64_t t_ns)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < m->n_processes; i++)
        sum += i == but ? 0 : seep_process_live_at(&m->processes[i], space, t_ns);
    return sum;
}

/* Beyond so many processes their own peaks are not paired with what the others held just then. */
enum { PEAK_POINTS = 256, PAIRED_PROCESSES = 256 };

static void find_peak(struct seep_model *m, uint16_t space)
{
    struct seep_totals *t = &m->spaces[space].totals;
    uint64_t span = m->end_ns - m->start_ns;
    bool paired = m->n_processes > 1 && m->n_processes <= PAIRED_PROCESSES;

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        for (int s = 0; s < SEEP_MAX_SPACES; s++) {
            if (p->space_of[s] != space + 1)
                continue;
            uint64_t other = paired ? others_at(m, i, space, time_of_peak(p, s)) : 0;
            raise_peak(t, p->spaces[s].peak_bytes + other, p->spaces[s].peak_step);
        }
        if (paired)
            raise_peak(t, others_at(m, SIZE_MAX, space, p->end_ns),
                       seep_model_step_at(m, p->end_ns));
    }
    for (unsigned i = 0; i <= PEAK_POINTS && m->n_processes > 1; i++) {
        uint64_t at = m->start_ns + (uint64_t)((double)span * i / PEAK_POINTS);
        raise_peak(t, others_at(m, SIZE_MAX, space, at), seep_model_step_at(m, at));
    }
}

void seep_processes_add_spaces(struct seep_model *m)
{
    uint64_t at_end[SEEP_MODEL_MAX_SPACES] = {0};

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        for (int s = 0; s < SEEP_MAX_SPACES; s++) {
            if (!p->space_of[s])
                continue;
            struct seep_totals *t = &m->spaces[p->space_of[s] - 1].totals;
            t->allocations += p->spaces[s].allocations;
            t->frees += p->spaces[s].frees;
            t->allocated_bytes += p->spaces[s].allocated_bytes;
            t->freed_bytes += p->spaces[s].freed_bytes;
            /* What lived to the end lived together. */
            if (p->end_step == INT32_MAX)
                at_end[p->space_of[s] - 1] += seep_totals_live(&p->spaces[s]);
        }
    }
    for (uint16_t i = 0; i < m->n_spaces; i++) {
        find_peak(m, i);
        raise_peak(&m->spaces[i].totals, at_end[i], (int32_t)m->n_steps);
    }
}
