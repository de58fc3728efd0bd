/* This part of report.json's coverage names processes that could not record, and programs that seep
 * could not enter. */
#include "libprof/report/report_said.h"

#include "libprof/program/program_entry_words.h"
#include "libprof/runtime/program/program_entry.h"
#include "libprof/thresholds/thresholds.h"

#include <errno.h>
#include <string.h>

/* ---- processes that could not record -------------------------------------------------------- */

static void say_trouble(struct seep_said *said, const struct seep_process *e, uint32_t job_uid)
{
    char who[96];

    snprintf(who, sizeof who, "pid %u%s%s%s", e->pid, e->name[0] ? " (" : "", e->name,
             e->name[0] ? ")" : "");
    if (e->trouble == SEEP_TROUBLE_SANDBOX)
        seep_said_add(said,
                      "%s: its own seccomp filter forbids what seep needs: nothing more of it "
                      "was recorded",
                      who);
    else if (e->trouble == SEEP_TROUBLE_FOLDER)
        seep_said_add(said, "%s: --max-folder was reached: it is only counted, without stacks",
                      who);
    else if (e->uid != job_uid && (e->trouble_errno == EACCES || e->trouble_errno == EPERM))
        seep_said_add(said,
                      "%s became uid %u and could not write %s: let the job keep its user, or "
                      "give that user the folder",
                      who, e->uid,
                      e->trouble == SEEP_TROUBLE_PROFILE ? "a profile" : "its profile");
    else
        seep_said_add(said, "%s: its profile could not be %s: %s", who,
                      e->trouble == SEEP_TROUBLE_PROFILE ? "created" : "extended",
                      e->trouble_errno ? strerror(e->trouble_errno) : "for an unknown reason");
}

static void say_unwritten(struct seep_said *said)
{
    const struct seep_model *m = said->pieces->code->model;
    size_t n = 0;

    for (size_t i = 0; i < m->n_jobs; i++) {
        const struct seep_job *job = m->jobs[i];
        for (uint32_t k = 0; job && k < job->n_processes; k++) {
            const struct seep_process *e = &job->processes[k];
            if (e->pid && e->trouble && ++n <= SEEP_SAID_MOST)
                say_trouble(said, e, job->processes[0].uid);
        }
    }
    seep_said_more(said, n, "processes could not write their profiles");
}

/* ---- programs that could not be entered ------------------------------------------------------ */

static bool same_exec(const struct seep_process *a, const struct seep_process *b)
{
    return a->exec_entry == b->exec_entry && strcmp(a->exec_path, b->exec_path) == 0;
}

/* A static program that ended before the launcher's first look at it, and was small: ldconfig, or
 * another short-lived tool. The job's own program is always told, and so are other reasons: the
 * user can do something about those. */
static bool was_brief_tool(const struct seep_job *job, uint32_t i)
{
    const struct seep_process *e = &job->processes[i];

    return i && e->exec_entry == SEEP_ENTRY_STATIC && job->pss_peak_bytes && e->has_status &&
           !e->pss_peak_bytes && e->rss_peak_bytes < SEEP_T_LARGE_BYTES;
}

static bool is_told(const struct seep_job *job, uint32_t i)
{
    const struct seep_process *e = &job->processes[i];

    return e->pid && e->exec_path[0] && e->exec_entry && !was_brief_tool(job, i);
}

/* Each program once, with the number of processes that became it. */
static void say_entries_of(struct seep_said *said, const struct seep_job *job, size_t *n_said)
{
    for (uint32_t i = 0; i < job->n_processes; i++) {
        const struct seep_process *e = &job->processes[i];
        size_t n = 0;
        bool first = is_told(job, i);
        char pids[64];
        for (uint32_t k = 0; k < i && first; k++)
            first = !(is_told(job, k) && same_exec(&job->processes[k], e));
        for (uint32_t k = i; k < job->n_processes && first; k++)
            n += is_told(job, k) && same_exec(&job->processes[k], e);
        if (first && ++*n_said <= SEEP_SAID_MOST)
            seep_said_add(said, "%s became %s, which %s, so nothing of it is recorded: %s",
                          seep_said_pids(e->pid, n, pids), e->exec_path,
                          seep_entry_words((enum seep_entry)e->exec_entry),
                          seep_entry_advice((enum seep_entry)e->exec_entry));
    }
}

/* Whether the process became another program, and nothing after it has an entry. */
static bool vanished(const struct seep_model_process *p)
{
    if (!p->execed || !p->entry || p->entry->exec_path[0])
        return false;
    uint32_t at = (uint32_t)(p->entry - p->job->processes);
    for (uint32_t i = at + 1; i < p->job->n_processes; i++) {
        if (p->job->processes[i].pid == p->entry->pid)
            return false;
    }
    return true;
}

static void say_execs(struct seep_said *said)
{
    const struct seep_model *m = said->pieces->code->model;
    size_t n = 0;

    for (size_t i = 0; i < m->n_jobs; i++) {
        if (m->jobs[i])
            say_entries_of(said, m->jobs[i], &n);
    }
    seep_said_more(said, n, "programs could not be entered");
    n = 0;
    for (size_t i = 0; i < m->n_processes; i++) {
        if (vanished(&m->processes[i]) && ++n <= SEEP_SAID_MOST)
            seep_said_add(said,
                          "pid %u was replaced by another program, which recorded nothing: seep "
                          "doctor -- PROGRAM tells why",
                          m->processes[i].id.pid);
    }
    seep_said_more(said, n, "were replaced by other programs");
}

/* ---- machines that met in one folder --------------------------------------------------------- */

/* Whether a table is of another machine than one that recorded beside it without any. */
static bool is_foreign(const struct seep_model *m, const struct seep_model_process *p)
{
    const struct seep_job *job = p->folder < m->n_jobs ? m->jobs[p->folder] : NULL;

    return job && !p->entry && job->host[0] && p->id.host[0] && strcmp(job->host, p->id.host) != 0;
}

static void say_machines(struct seep_said *said)
{
    const struct seep_model *m = said->pieces->code->model;
    size_t n = 0;

    for (size_t i = 0; i < m->n_jobs; i++) {
        if (m->jobs[i] && m->jobs[i]->is_part == 1 && ++n <= SEEP_SAID_MOST)
            seep_said_add(
                said,
                "host %s: SEEP_OUT named a folder with the table of another machine or boot: its "
                "processes recorded in a folder in there, and follow no steps of others",
                m->jobs[i]->host);
    }
    seep_said_more(said, n, "found another machine's table");
    n = 0;
    for (size_t i = 0; i < m->n_processes; i++) {
        if (is_foreign(m, &m->processes[i]) && ++n <= SEEP_SAID_MOST)
            seep_said_add(
                said,
                "pid %u on host %s: the folder has the table of another machine (%s), and no "
                "folder could be made in there: who started it, and how it ended, is "
                "known only from itself",
                m->processes[i].id.pid, m->processes[i].id.host,
                m->jobs[m->processes[i].folder]->host);
    }
    seep_said_more(said, n, "recorded beside another machine's table");
}

void seep_said_troubles(struct seep_said *said)
{
    say_machines(said);
    say_unwritten(said);
    say_execs(said);
}
