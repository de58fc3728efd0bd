/* This file writes report.json's processes, those folded by name (`helpers`), and the job over
 * time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/model/process_ends.h"
#include "libprof/model/unprofiled_processes.h"
#include "libprof/report/report_pieces.h"
#include "libprof/words/exit_words.h"

/* How the job and its processes ended. */

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
                 : end->untold                     ? SEEP_ENDED_UNTOLD_TEXT
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

    return SEEP_REPORT_JSON(exit, .kind = kinds[end->kind], .value = valued ? end->value : -1,
                            .failed = has_failed(end), .text = text);
}

/* How a process or the job ended, also in words. The job's end is that of the first trainer or rank
 * that failed, else that of its command, else that of the main process. */
static json_t *json_exit(const struct seep_process_end *end)
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

/* How the command ended, if `seep run` saw it fail. */
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

uint64_t seep_report_oom_kills(const struct seep_model *m)
{
    uint64_t sum = 0;
    bool all;

    for (size_t i = 0; i < m->n_jobs; i++)
        sum += m->jobs[i] ? seep_job_oom_kills(m->jobs[i], &all) : 0;
    return sum;
}

json_t *seep_json_job_exit(const struct seep_model *m)
{
    const struct seep_model_process *failed = first_failed(m);
    struct seep_process_end end = m->processes[m->main].ended;
    char text[SEEP_EXIT_TEXT], longer[96];

    for (size_t i = 0; i < m->n_processes; i++) {
        if (m->processes[i].ended.kind == SEEP_ENDED_RUNNING)
            return json_exit(&m->processes[i].ended);
    }
    if (!failed) {
        command_failed(m, &end);
        return json_exit(&end);
    }
    say(&failed->ended, text);
    if (failed->role != SEEP_ROLE_RANK)
        return end_json(&failed->ended, text);
    snprintf(longer, sizeof longer, SEEP_ENDED_RANK_TEXT, failed->id.rank, text);
    return end_json(&failed->ended, longer);
}

/* This file writes what seep itself cost the job. */

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

/* The process that was slowed most: several slow the job no more than that one. NULL: none was
 * measured. */
static const struct seep_model_process *most_slowed(const struct seep_model *m)
{
    const struct seep_model_process *most = NULL;

    for (uint32_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        if (p->recording.cost.felt_ns > (most ? most->recording.cost.felt_ns : 0))
            most = p;
    }
    return most;
}

static struct seep_cost sum(const struct seep_model *m)
{
    struct seep_cost all = {0};

    for (uint32_t i = 0; i < m->n_processes; i++) {
        const struct seep_cost *its = &m->processes[i].recording.cost;
        all.events = seep_sum(all.events, its->events);
        for (int k = 0; k < SEEP_N_COSTS; k++)
            all.ns[k] = seep_sum(all.ns[k], its->ns[k]);
    }
    return all;
}

static struct seep_snapshot_reads readers(const struct seep_model *m)
{
    struct seep_snapshot_reads all = {0};

    for (size_t i = 0; i < m->n_jobs; i++) {
        const struct seep_snapshot_reads *its = m->jobs[i] ? &m->jobs[i]->snapshots : &all;
        if (its == &all)
            continue;
        all.cpu_ns = seep_sum(all.cpu_ns, its->cpu_ns);
        all.taken_ns = seep_sum(all.taken_ns, its->taken_ns);
        all.peak_bytes = its->peak_bytes > all.peak_bytes ? its->peak_bytes : all.peak_bytes;
    }
    return all;
}

/* Of all processes at the job's peak, or of the largest at its own. */
static uint64_t own_bytes(const struct seep_report_pieces *pieces)
{
    const struct seep_model *m = pieces->code->model;
    const struct seep_rss *job = &pieces->rss->job;
    uint64_t most = job->peak.parts_known ? job->peak.sum.seep_bytes : 0;

    for (uint32_t i = 0; i < m->n_processes; i++) {
        const struct seep_process_samples *s = &m->processes[i].samples;
        for (uint32_t k = 0; k < s->n; k++)
            most = s->list[k].seep_bytes > most ? s->list[k].seep_bytes : most;
    }
    return most;
}

static uint64_t sample_bytes(const struct seep_model *m)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < m->n_processes; i++) {
        const uint64_t its = m->processes[i].recording.sample_bytes;
        most = its > most ? its : most;
    }
    return most;
}

json_t *seep_json_cost(const struct seep_report_pieces *pieces)
{
    const struct seep_model *m = pieces->code->model;
    const struct seep_model_process *p = most_slowed(m);
    const struct seep_cost all = sum(m);
    const struct seep_snapshot_reads read = readers(m);

    if (!p || p->end_ns <= p->start_ns)
        return json_null();
    const double of_s = seconds(p->end_ns - p->start_ns);
    const double felt_s = seconds(seep_sum(p->recording.cost.felt_ns, read.taken_ns));
    return SEEP_REPORT_JSON(
        cost, .felt_s = felt_s, .of_s = of_s, .share = felt_s / of_s, .pid = p->id.pid,
        .events = all.events, .events_s = seconds(all.ns[SEEP_COST_EVENTS]),
        .stacks_s = seconds(all.ns[SEEP_COST_STACKS]),
        .upkeep_s = seconds(all.ns[SEEP_COST_UPKEEP]), .stops_s = seconds(all.ns[SEEP_COST_STOPS]),
        .reader_cpu_s = seconds(read.cpu_ns), .reader_taken_s = seconds(read.taken_ns),
        .own_bytes = own_bytes(pieces), .reader_peak_bytes = read.peak_bytes,
        .sample_bytes = sample_bytes(m));
}

enum { GRID_POINTS = 256 };
_Static_assert((int)GRID_POINTS <= (int)SEEP_TIMELINE_ROWS, "one array holds either grid");

/* ---- processes --------------------------------------------------------------------------- */

enum { PYTHON_TEXT = 64 };

/* NULL: it runs none. */
static const char *python_of(uint32_t v, char text[PYTHON_TEXT])
{
    snprintf(text, PYTHON_TEXT, "%u.%u.%u", v >> 24, v >> 16 & 0xff, v >> 8 & 0xff);
    return v ? text : NULL;
}

static json_t *counted_spaces(const struct seep_process *e, bool gone, bool *failed)
{
    json_t *spaces = json_object();

    for (int i = 0; i < SEEP_COUNTED_SPACES && seep_unprofiled_is_counted(e); i++) {
        struct seep_totals totals = seep_count_totals(&e->counts[i], gone);
        if (totals.allocations || totals.allocated_bytes)
            seep_json_set(spaces, seep_space_class_name((enum seep_space_class)i),
                          SEEP_REPORT_JSON(space, SEEP_REPORT_TOTALS(&totals), .retained_bytes = -1,
                                           .capacity_bytes = -1),
                          failed);
    }
    return spaces;
}

static json_t *spaces_of(const struct seep_report_pieces *pieces,
                         const struct seep_model_process *p, bool *failed)
{
    const struct seep_model *m = pieces->code->model;
    const struct seep_lane_growth *growths =
        pieces->growths->of_process + (size_t)(p - m->processes) * m->n_spaces;
    json_t *spaces = p->entry && seep_unprofiled_is_counted(p->entry)
                         ? counted_spaces(p->entry, false, failed)
                         : json_object();

    for (int i = 0; i < SEEP_MAX_SPACES; i++) {
        if (p->space_of[i])
            seep_json_set(spaces, m->spaces[p->space_of[i] - 1].name.text,
                          seep_json_space(&p->spaces[i], &growths[p->space_of[i] - 1], 0), failed);
    }
    return spaces;
}

/* Pages that are the process's alone, by the first look and by the last one. */
static json_t *private_json(const struct seep_model *m, const struct seep_model_process *p)
{
    const struct seep_process *e = p->entry;

    if (!e || !e->private_first_bytes || e->private_last_period <= e->private_first_period)
        return json_null();
    return SEEP_REPORT_JSON(
        private_pages, .first_step = json_integer(seep_model_step(m, p, e->private_first_period)),
        .first_bytes = e->private_first_bytes,
        .last_step = json_integer(seep_model_step(m, p, e->private_last_period)),
        .last_bytes = e->private_last_bytes);
}

static json_t *seconds_or_null(uint64_t ns)
{
    return ns ? seep_json_real((double)ns / 1e9) : json_null();
}

static json_t *process_json(const struct seep_report_pieces *pieces,
                            const struct seep_model_process *p)
{
    const struct seep_model *m = pieces->code->model;
    const struct seep_process_identity *id = &p->id;
    const uint64_t ns_a_step = m->step_source == SEEP_STEP_TIME ? 0 : p->cpu_ns_a_step;
    char python[PYTHON_TEXT];
    bool failed = false;
    json_t *json = SEEP_REPORT_JSON(
        process, .pid = id->pid, .ppid = id->ppid, .role = seep_process_role_name(p->role),
        .rank = id->rank, .local_rank = id->local_rank,
        .node = seep_json_made(seep_json_count_or_null(id->node), &failed),
        .world_size = seep_json_made(seep_json_count_or_null(id->world_size), &failed),
        .local_size = seep_json_made(seep_json_count_or_null(id->local_size), &failed),
        .job_id = seep_json_made(seep_json_text_or_null(id->job_id), &failed),
        .restart = seep_json_made(seep_json_count_or_null(id->restart), &failed),
        .argv = seep_json_argv(id->argv, id->argv_bytes),
        .python = python_of(id->python_version, python), .exit = json_exit(&p->ended),
        .steps = p->steps, .spaces = spaces_of(pieces, p, &failed),
        .rss_peak_bytes = p->rss_peak_bytes,
        .pss_peak_bytes = seep_count_if(p->pss_peak_bytes, p->pss_peak_bytes),
        .cpu_s = seep_json_made(seconds_or_null(p->cpu_ns), &failed),
        .cpu_s_per_step = seep_json_made(seconds_or_null(ns_a_step), &failed),
        .private = seep_json_made(private_json(m, p), &failed),
        .exe = seep_json_made(seep_json_text(id->exe), &failed), .host = id->host,
        .started_unix_s = (double)id->start_unix_ns / 1e9,
        .duration_s = (double)(p->end_ns - p->start_ns) / 1e9,
        .rss = seep_json_made(seep_json_rss(&pieces->rss->of_process[p - m->processes]), &failed),
        .exec = p->execed,
        .timeline =
            pieces->series ? seep_json_made(seep_json_process_timeline(pieces, p), &failed) : NULL);
    return seep_json_whole(json, failed);
}

static json_t *bare_process_json(const struct seep_model *m,
                                 const struct seep_unprofiled_process *bare)
{
    const struct seep_process *e = bare->entry;
    struct seep_process_end end = {.kind = SEEP_ENDED_UNKNOWN};
    bool failed = false;

    if (seep_status_is_known(e))
        end = seep_process_end_of(e->wait_status);
    seep_process_end_blame(m, bare->job, e->ppid, 0, &end);
    json_t *json = SEEP_REPORT_JSON(
        process, .pid = e->pid, .ppid = e->ppid, .role = seep_process_role_name(SEEP_ROLE_HELPER),
        .rank = -1, .local_rank = -1, .node = json_null(), .world_size = json_null(),
        .local_size = json_null(), .job_id = json_null(), .restart = json_null(),
        .argv = seep_json_argv(e->name, (uint32_t)strlen(e->name)), .exit = json_exit(&end),
        .steps = e->steps, .spaces = counted_spaces(e, false, &failed),
        .rss_peak_bytes = e->rss_peak_bytes,
        .pss_peak_bytes = seep_count_if(e->pss_peak_bytes, e->pss_peak_bytes),
        .host = bare->job->host, .started_unix_s = NAN, .duration_s = NAN);
    return seep_json_whole(json, failed);
}

static void add_bare_processes(const struct seep_model *m, json_t *list, bool *failed)
{
    for (size_t i = 0; i < m->n_unprofiled && !*failed; i++)
        seep_json_append(list, bare_process_json(m, &m->unprofiled[i]), failed);
}

static json_t *folded_json(const struct seep_folded *folded)
{
    struct seep_process as_process = {.flags = SEEP_PROCESS_COUNTED};
    bool failed = false;

    memcpy(as_process.counts, folded->counts, sizeof as_process.counts);
    json_t *json = SEEP_REPORT_JSON(helper, .name = folded->name, .processes = folded->n,
                                    .rss_peak_bytes = folded->rss_peak_bytes,
                                    .spaces = counted_spaces(&as_process, true, &failed));
    return seep_json_whole(json, failed);
}

json_t *seep_json_folded(const struct seep_report_pieces *pieces)
{
    const struct seep_model *m = pieces->code->model;
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < m->n_jobs; i++) {
        for (int k = 0; m->jobs[i] && k < SEEP_MAX_FOLDED && !failed; k++) {
            const struct seep_folded *folded = &m->jobs[i]->folded[k];
            if (folded->n)
                seep_json_append(list, folded_json(folded), &failed);
        }
    }
    return seep_json_whole(list, failed);
}

json_t *seep_json_processes(const struct seep_report_pieces *pieces)
{
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < pieces->code->model->n_processes && !failed; i++)
        seep_json_append(list, process_json(pieces, &pieces->code->model->processes[i]), &failed);
    add_bare_processes(pieces->code->model, list, &failed);
    return seep_json_whole(list, failed);
}

/* ---- timeline ---------------------------------------------------------------------------- */

/* With those that `seep run` saw between them, there may be more than a process writes. */
static size_t thin_rows(const struct seep_model_process *p, uint64_t t[SEEP_TIMELINE_ROWS])
{
    const uint32_t gap = (p->n_rows + SEEP_TIMELINE_ROWS - 1) / SEEP_TIMELINE_ROWS;
    size_t n = 0;

    for (uint32_t i = 0; i < p->n_rows; i++)
        if ((p->n_rows - 1 - i) % gap == 0)
            t[n++] = p->row_t_ns[i];
    return n;
}

/* The times of the grid: rows of a single process, the last among them, else points spread over the
 * job. */
static size_t make_grid(const struct seep_model *m, uint64_t t[SEEP_TIMELINE_ROWS])
{
    if (m->n_processes == 1)
        return thin_rows(&m->processes[0], t);
    uint64_t span = m->end_ns - m->start_ns;
    for (size_t i = 0; i < GRID_POINTS; i++)
        t[i] = m->start_ns + (uint64_t)((double)span * (double)i / (GRID_POINTS - 1));
    return GRID_POINTS;
}

/* A column of the grid; NULL without memory, so that all columns have the same length. */
static json_t *live_column(const struct seep_model *m, uint16_t space, const uint64_t *t, size_t n)
{
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < n && !failed; i++) {
        uint64_t sum = 0;
        for (size_t p = 0; p < m->n_processes; p++)
            sum += space == UINT16_MAX ? seep_process_rss_at(&m->processes[p], t[i])
                                       : seep_process_live_at(&m->processes[p], space, t[i]);
        seep_json_append(list, seep_json_count(sum), &failed);
    }
    return seep_json_whole(list, failed);
}

static bool is_looked_at(const struct seep_model *m, unsigned device)
{
    uint64_t used;

    for (size_t i = 0; i < m->n_processes; i++)
        if (seep_process_used_at(&m->processes[i], device, UINT64_MAX, &used))
            return true;
    return false;
}

/* What the job's processes used of a device; null before the first look. */
static json_t *used_column(const struct seep_model *m, unsigned device, const uint64_t *t, size_t n)
{
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < n && !failed; i++) {
        uint64_t sum = 0, used;
        bool is_known = false;
        for (size_t p = 0; p < m->n_processes; p++) {
            is_known |= seep_process_used_at(&m->processes[p], device, t[i], &used);
            sum = seep_sum(sum, used);
        }
        seep_json_append(list, is_known ? seep_json_count(sum) : json_null(), &failed);
    }
    return seep_json_whole(list, failed);
}

static json_t *devices_over_time(const struct seep_model *m, const uint64_t *t, size_t n)
{
    json_t *devices = json_object();
    bool failed = false;
    char number[16];

    for (unsigned i = 0; i < SEEP_MAX_DEVICES; i++) {
        snprintf(number, sizeof number, "%u", i);
        if (is_looked_at(m, i))
            seep_json_set(devices, number,
                          SEEP_REPORT_JSON(used, .used_bytes = used_column(m, i, t, n)), &failed);
    }
    return seep_json_whole(devices, failed);
}

json_t *seep_json_timeline(const struct seep_report_pieces *pieces)
{
    const struct seep_model *m = pieces->code->model;
    uint64_t t[SEEP_TIMELINE_ROWS];
    size_t n = make_grid(m, t);
    json_t *times = json_array(), *steps = json_array(), *spaces = json_object();
    bool failed = false;

    for (size_t i = 0; i < n; i++) {
        uint64_t since = t[i] > m->start_ns ? t[i] - m->start_ns : 0;
        int32_t step = seep_model_step_at(m, t[i]);
        seep_json_append(times, seep_json_real((double)since / 1e9), &failed);
        seep_json_append(steps, json_integer(step > 0 ? step : 0), &failed);
    }
    for (uint16_t s = 0; s < m->n_spaces; s++) {
        if (seep_report_lists_space(pieces, s))
            seep_json_set(spaces, m->spaces[s].name.text,
                          SEEP_REPORT_JSON(levels, .live_bytes = live_column(m, s, t, n)), &failed);
    }
    json_t *json = SEEP_REPORT_JSON(
        timeline, .t_s = times, .step = steps, .spaces = spaces,
        .devices = seep_json_made(devices_over_time(m, t, n), &failed),
        .rss_bytes = live_column(m, UINT16_MAX, t, n),
        .epoch_steps = pieces->series ? seep_json_made(seep_json_epoch_steps(m), &failed) : NULL);
    return seep_json_whole(json, failed);
}

/* ---- as a whole -------------------------------------------------------------------------- */

/* If nobody knows how a process ended, the record of `seep run` that the job has ended must do. */
static bool has_ended(const struct seep_model_process *p)
{
    if (p->ended.kind == SEEP_ENDED_UNKNOWN)
        return p->job && p->job->ended_ns;
    return p->ended.kind != SEEP_ENDED_RUNNING;
}

bool seep_report_is_complete(const struct seep_model *m)
{
    if (m->n_not_read)
        return false;
    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        if (p->truncated || p->orphaned || !(has_ended(p) || p->ended.untold))
            return false;
    }
    for (size_t i = 0; i < m->n_unprofiled; i++) {
        const struct seep_unprofiled_process *bare = &m->unprofiled[i];
        if (!bare->entry->exec_entry &&
            !(seep_unprofiled_was_counted(bare->entry) && seep_unprofiled_has_ended(bare)))
            return false;
    }
    return true;
}

uint64_t seep_report_dropped(const struct seep_model *m)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < m->n_processes; i++) {
        for (int k = 0; k < SEEP_N_DROPS; k++)
            sum += k == SEEP_DROP_FREE_UNKNOWN ? 0 : m->processes[i].recording.dropped[k];
    }
    return sum;
}
