#include "libprof/model/process_ends.h"

#include "libprof/read/process_alive.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ROWS_KEPT = SEEP_TIMELINE_ROWS / 4, /* a timeline's rows are at most a life / this apart */
    END_SHARE = 256,                    /* what ends within the job's last 1/256 ends with it */
    MAX_DEPTH = 64,
    MAX_LOOKED_AT = 256,
};

#define SLICE_NS (SEEP_TIME_SLICE_MS * UINT64_C(1000000))

/* ---- how it ended ------------------------------------------------------------------------ */

struct seep_process_end seep_process_end_of(int status)
{
    if (WIFSIGNALED(status))
        return (struct seep_process_end){.kind = SEEP_ENDED_SIGNAL, .value = WTERMSIG(status)};
    return (struct seep_process_end){.kind = SEEP_ENDED_EXIT, .value = WEXITSTATUS(status)};
}

static bool still_runs(const struct seep_process_identity *id)
{
    char host[SEEP_NAME_BYTES] = "";

    if (gethostname(host, sizeof host - 1) || strncmp(host, id->host, sizeof host - 1) != 0)
        return false;
    return seep_process_is_alive(id->pid, id->start_own_ns);
}

/* The process that reaped it knows best; next what it said itself; next whether it still exists. If
 * a program was replaced, this is how its successor ended, unless that has a profile. */
static void find_exit(struct seep_model_process *p, bool may_open)
{
    if (p->entry && seep_status_is_known(p->entry)) {
        p->ended = seep_process_end_of(p->entry->wait_status);
    } else if (p->said_kind == SEEP_EXIT_EXIT || p->said_kind == SEEP_EXIT_SIGNAL) {
        p->ended.kind = p->said_kind == SEEP_EXIT_EXIT ? SEEP_ENDED_EXIT : SEEP_ENDED_SIGNAL;
        p->ended.value = p->said_value & 0xff;
    } else if (may_open && still_runs(&p->id)) {
        p->ended.kind = SEEP_ENDED_RUNNING;
    } else {
        p->ended.kind = SEEP_ENDED_UNKNOWN;
        p->ended.untold = p->recording.of_torch || p->recording.of_pprof;
    }
}

static int by_pid(const void *a, const void *b, void *model)
{
    const struct seep_model *m = model;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct seep_model_process *p = &m->processes[i], *q = &m->processes[k];

    if (p->folder != q->folder)
        return p->folder < q->folder ? -1 : 1;
    if (p->id.pid != q->id.pid)
        return p->id.pid < q->id.pid ? -1 : 1;
    return (i > k) - (i < k);
}

/* A replaced program ended as its successor did: the next profile of the same pid. If the pid was
 * reaped under the older program's name, no younger one was in the job. */
static int follow_execs(struct seep_model *m)
{
    uint32_t *order = malloc((m->n_processes + 1) * sizeof *order);

    if (!order)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < m->n_processes; i++)
        order[i] = i;
    qsort_r(order, m->n_processes, sizeof *order, by_pid, m);
    for (size_t i = m->n_processes; i-- > 1;) {
        struct seep_model_process *p = &m->processes[order[i - 1]];
        const struct seep_model_process *q = &m->processes[order[i]];
        if (!p->execed || q->folder != p->folder || q->id.pid != p->id.pid ||
            (p->entry && seep_status_is_known(p->entry)))
            continue;
        p->ended = q->ended;
        p->ended.replaced = true;
    }
    free(order);
    return 0;
}

static bool is_signal(const struct seep_process_end *end, int signal)
{
    return end->kind == SEEP_ENDED_SIGNAL && end->value == signal;
}

static bool outlived(const struct seep_model *m, const struct seep_job *job, uint32_t pid,
                     uint64_t end_ns)
{
    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *q = &m->processes[i];
        if (q->id.pid == pid && q->job == job && !is_signal(&q->ended, SIGTERM) &&
            q->end_ns >= end_ns)
            return true;
    }
    return false;
}

uint32_t seep_job_oom_kills(const struct seep_job *job, bool *all)
{
    uint32_t killed = 0;

    *all = false;
    if (!job->oom_kills)
        return 0;
    for (uint32_t i = 0; i < job->n_processes && i < SEEP_MAX_PROCESSES; i++) {
        const struct seep_process *entry = &job->processes[i];
        if (!seep_status_is_known(entry))
            continue;
        const struct seep_process_end end = seep_process_end_of(entry->wait_status);
        killed += is_signal(&end, SIGKILL);
    }
    *all = job->oom_kills >= killed;
    return *all ? killed : job->oom_kills;
}

void seep_process_end_blame(const struct seep_model *m, const struct seep_job *job, uint32_t ppid,
                            uint64_t end_ns, struct seep_process_end *end)
{
    bool all = false;

    end->terminated = is_signal(end, SIGTERM) && outlived(m, job, ppid, end_ns);
    end->out_of_memory = is_signal(end, SIGKILL) && job && seep_job_oom_kills(job, &all) > 0 && all;
}

/* ---- whether it was gone ----------------------------------------------------------------- */

/* A killed process may have ended up to this much after its last sign of life. */
static uint64_t latest_end(const struct seep_model_process *p)
{
    uint64_t life = p->end_ns - p->start_ns;

    return p->end_known ? p->end_ns : p->end_ns + SLICE_NS + life / ROWS_KEPT;
}

static bool descends(const struct seep_model *m, const struct seep_model_process *q,
                     const struct seep_model_process *p)
{
    for (int depth = 0; q->parent && depth < MAX_DEPTH; depth++) {
        q = &m->processes[q->parent - 1];
        if (q == p)
            return true;
    }
    return false;
}

/* Whether another process began after p had ended. The children of a killed process say nothing of
 * its end: an idle parent shows no sign of life. */
static bool was_outlived(const struct seep_model *m, const struct seep_model_process *p)
{
    uint64_t end = latest_end(p);
    size_t n = 0;

    for (size_t i = m->n_processes; i-- > 0 && n < MAX_LOOKED_AT; n++) {
        const struct seep_model_process *q = &m->processes[i];
        if (q->start_ns <= end)
            return false; /* sorted by start */
        if (q != p && (p->end_known || !descends(m, q, p)))
            return true;
    }
    return false;
}

static bool is_gone(const struct seep_model *m, const struct seep_model_process *p, bool any_runs)
{
    const struct seep_model_process *main = &m->processes[m->main];
    uint64_t share = (m->end_ns - m->start_ns) / END_SHARE;

    if (p->execed)
        return true;
    if (p->ended.kind == SEEP_ENDED_RUNNING)
        return false;
    if (any_runs || (p != main && latest_end(p) < main->end_ns) || was_outlived(m, p))
        return true;
    return p->end_known && p->end_ns + (share > SLICE_NS ? share : SLICE_NS) < m->end_ns;
}

/* The step during which it ended. Its own count knows better than the clock which steps it
 * finished. */
static int32_t end_step(const struct seep_model *m, const struct seep_model_process *p)
{
    int32_t step = seep_model_step_at(m, p->end_ns);

    if (p->steps && m->n_runs) {
        int32_t own = seep_model_step(m, p, p->axis_last + p->steps - p->axis_back + 1);
        if (own > step)
            step = own;
    }
    return step;
}

static void find_peak(struct seep_model_process *p)
{
    if (p->entry && p->entry->rss_peak_bytes > p->rss_peak_bytes)
        p->rss_peak_bytes = p->entry->rss_peak_bytes;
    for (uint32_t i = 0; i < p->n_rows; i++) {
        if (p->row_rss[i] > p->rss_peak_bytes)
            p->rss_peak_bytes = p->row_rss[i];
    }
    p->pss_peak_bytes = p->entry ? p->entry->pss_peak_bytes : 0;
}

int seep_process_ends_compute(struct seep_model *m, bool may_open)
{
    bool any_runs = false;

    for (size_t i = 0; i < m->n_processes; i++)
        find_exit(&m->processes[i], may_open);
    for (size_t i = 0; i < m->n_processes; i++)
        find_peak(&m->processes[i]);
    if (follow_execs(m))
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < m->n_processes; i++)
        any_runs |= m->processes[i].ended.kind == SEEP_ENDED_RUNNING;
    for (size_t i = 0; i < m->n_processes; i++) {
        struct seep_model_process *p = &m->processes[i];
        seep_process_end_blame(m, p->job, p->id.ppid, p->end_ns, &p->ended);
        p->gone = is_gone(m, p, any_runs);
        p->end_step = p->gone ? end_step(m, p) : INT32_MAX;
    }
    return 0;
}
