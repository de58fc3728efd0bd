/* How the job and its processes ended. */
#include "libprof/report/report_pieces.h"

#include "libprof/model/process_ends.h"
#include "libprof/words/exit_words.h"

#include <stdio.h>
#include <string.h>

/* ---- of one process ---------------------------------------------------------------------- */

static void say(const struct seep_process_end *end, char text[SEEP_EXIT_TEXT])
{
    const size_t n = SEEP_EXIT_TEXT;

    if (end->replaced)
        snprintf(text, n, SEEP_ENDED_REPLACED_TEXT);
    else if (end->terminated)
        snprintf(text, n, SEEP_ENDED_TERMINATED_TEXT);
    else if (end->out_of_memory)
        snprintf(text, n, SEEP_ENDED_OOM_TEXT);
    else if (end->kind == SEEP_ENDED_SIGNAL)
        seep_exit_signal_text(end->value, text);
    else if (end->kind == SEEP_ENDED_EXIT && end->value)
        snprintf(text, n, SEEP_ENDED_STATUS_TEXT, end->value);
    else
        snprintf(text, n, "%s",
                 end->kind == SEEP_ENDED_EXIT      ? SEEP_ENDED_WELL_TEXT
                 : end->kind == SEEP_ENDED_RUNNING ? SEEP_ENDED_RUNNING_TEXT
                                                   : SEEP_ENDED_UNSEEN_TEXT);
}

static bool has_failed(const struct seep_process_end *end)
{
    return !end->terminated && !end->replaced &&
           (end->kind == SEEP_ENDED_SIGNAL || (end->kind == SEEP_ENDED_EXIT && end->value));
}

static json_t *end_json(const struct seep_process_end *end, const char *text)
{
    static const char *const kinds[] = {"exit", "signal", "running", "unknown"};
    const bool valued = end->kind == SEEP_ENDED_EXIT || end->kind == SEEP_ENDED_SIGNAL;

    return json_pack("{s:s, s:o, s:b, s:s}", "kind", kinds[end->kind], "value",
                     valued ? json_integer(end->value) : json_null(), "failed", has_failed(end),
                     "text", text);
}

json_t *seep_json_exit(const struct seep_process_end *end)
{
    char text[SEEP_EXIT_TEXT];

    say(end, text);
    return end_json(end, text);
}

/* ---- of the job -------------------------------------------------------------------------- */

static bool trains(const struct seep_model_process *p)
{
    return p->role == SEEP_ROLE_TRAINER || p->role == SEEP_ROLE_RANK;
}

/* The trainer or rank that failed first: failures of others followed from it. */
static const struct seep_model_process *first_failed(const struct seep_model *m)
{
    const struct seep_model_process *first = NULL;

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        if (trains(p) && has_failed(&p->ended) && (!first || p->end_ns < first->end_ns))
            first = p;
    }
    return first;
}

/* How the command ended, if the launcher saw it fail. */
static bool command_failed(const struct seep_model *m, struct seep_process_end *end)
{
    for (size_t i = 0; i < m->n_jobs; i++) {
        const struct seep_job *job = m->jobs[i];
        if (job && job->argv_bytes && job->ended_ns && job->wait_status) {
            *end = seep_process_end_of(job->wait_status);
            return true;
        }
    }
    return false;
}

json_t *seep_json_oom_kills(const struct seep_model *m)
{
    uint64_t sum = 0;
    bool all;

    for (size_t i = 0; i < m->n_jobs; i++)
        sum += m->jobs[i] ? seep_job_oom_kills(m->jobs[i], &all) : 0;
    return seep_json_count(sum);
}

json_t *seep_json_job_exit(const struct seep_model *m)
{
    const struct seep_model_process *failed = first_failed(m);
    struct seep_process_end end = m->processes[m->main].ended;
    char text[SEEP_EXIT_TEXT], longer[96];

    for (size_t i = 0; i < m->n_processes; i++) {
        if (m->processes[i].ended.kind == SEEP_ENDED_RUNNING)
            return seep_json_exit(&m->processes[i].ended);
    }
    if (!failed) {
        command_failed(m, &end);
        return seep_json_exit(&end);
    }
    say(&failed->ended, text);
    if (failed->role != SEEP_ROLE_RANK)
        return end_json(&failed->ended, text);
    snprintf(longer, sizeof longer, SEEP_ENDED_RANK_TEXT, failed->id.rank, text);
    return end_json(&failed->ended, longer);
}
