#include "libprof/digest/fill/digest_fill.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/base/json_build.h"
#include "libprof/code/code.h"
#include "libprof/digest/digest.h"
#include "libprof/digest/digest_fit.h"
#include "libprof/digest/digest_names.h"
#include "libprof/digest/digest_rows.h"
#include "libprof/digest/digest_words.h"
#include "libprof/model/live_level.h"
#include "libprof/report_read/report_fields.h"
#include "libprof/verdict/finding.h"
#include "libprof/words/parts.h"

/* What filling a digest needs throughout. */

struct seep_digest_fill {
    struct seep_digest *d;
    const struct seep_code *code;
    const struct seep_findings *findings;
    const json_t *report;
    uint64_t *growth; /* [n_processes] of leaks and retentions, in thousandths of bytes a step */
    uint64_t *collective;    /* [n_processes] the sum of the peaks of lines in collectives */
    struct seep_level level; /* scratch */
};

/* ---- courses ----------------------------------------------------------------------------- */

/* Bytes times steps. */
struct seep_digest_area {
    unsigned __int128 cells[SEEP_DIGEST_COURSE];
};

/* ---- what all of it uses ----------------------------------------------------------------- */

/* The process by name, with a value. */
static struct seep_digest_who digest_fill_who(struct seep_digest_fill *f, uint32_t process,
                                              uint64_t value)
{
    const struct seep_process_identity *id = &f->code->model->processes[process].id;

    return (struct seep_digest_who){
        .value = value < SEEP_DIGEST_MOST ? value : SEEP_DIGEST_MOST,
        .rank = id->rank,
        .local_rank = id->local_rank,
        .pid = id->pid,
        .host = seep_digest_clean_text(f->d, id->host, SEEP_DIGEST_HOST_TEXT)};
}

/* enum seep_digest_role: a trainer that is a rank of several is one. */
static uint8_t digest_fill_role(const struct seep_model_process *p)
{
    if (p->role == SEEP_ROLE_TRAINER && p->id.rank >= 0 && p->id.world_size > 1)
        return SEEP_DIGEST_ROLE_RANK;
    return (uint8_t)p->role;
}

/* Adds a row of one process with a value, by its kind and what it is about. `course` and `found`
 * may be NULL. */
static void digest_fill_row(struct seep_digest_fill *f, struct seep_digest_key key,
                            uint32_t process, uint64_t value, const uint64_t *course,
                            const struct seep_digest_found *found)
{
    struct seep_digest_row row = {.key = key, .n = 1};

    row.key.role = digest_fill_role(&f->code->model->processes[process]);
    row.max = digest_fill_who(f, process, value);
    row.sum = row.max.value;
    if (course)
        memcpy(row.course, course, sizeof row.course);
    if (!f->d->failed)
        seep_digest_add_row(f->d, &row, found, f->d->step_shift);
}

/* The text of a frame of the report. One that is too long to be kept has at least its function. */
static uint32_t digest_fill_frame(struct seep_digest_fill *f, const json_t *frame)
{
    char *text = json_dumps(frame, JSON_COMPACT | JSON_SORT_KEYS);
    uint32_t id = 0;

    if (text && strlen(text) >= SEEP_DIGEST_TEXT) {
        free(text);
        text = strdup("{\"file\":null,\"function\":null,\"kind\":\"native\",\"line\":null}");
    }
    if (text)
        id = seep_digest_text(f->d, text);
    else
        f->d->failed = true;
    free(text);
    return id;
}

/* ---- the job ----------------------------------------------------------------------------- */

/* Of a recorded folder: its host, and when and by whom it was begun. */
static uint64_t source_of(const struct seep_model *m, size_t folder)
{
    const struct seep_job *job = m->jobs[folder];
    uint64_t id = 0;

    if (job)
        return seep_hash_two(seep_hash_bytes(job->host, strnlen(job->host, sizeof job->host)),
                             seep_hash_two(job->started_unix_ns, job->launcher_pid));
    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_process_identity *its = &m->processes[i].id;
        if (m->processes[i].folder == folder)
            id += seep_hash_two(seep_hash_bytes(its->host, strlen(its->host)),
                                seep_hash_two(its->start_unix_ns, its->pid));
    }
    return id;
}

static void add_command(struct seep_digest_fill *f)
{
    enum { MOST = SEEP_DIGEST_TEXT / 4 };
    const json_t *list = seep_report_job_read(json_object_get(f->report, "job")).command, *word;
    char text[MOST] = "";
    size_t i, n = 0;

    json_array_foreach (list, i, word) {
        const char *its = json_string_value(word);
        if (its && n + 1 < MOST)
            n += (size_t)snprintf(text + n, MOST - n, "%s%s", n ? " " : "", its);
    }
    seep_digest_add_text(f->d, &f->d->commands, seep_digest_clean_text(f->d, text, MOST),
                         SEEP_DIGEST_FEW);
}

static void add_text(struct seep_digest_fill *f, struct seep_digest_set *set, const char *text,
                     size_t bytes)
{
    if (text)
        seep_digest_add_text(f->d, set, seep_digest_clean_text(f->d, text, bytes), SEEP_DIGEST_FEW);
}

static void add_texts(struct seep_digest_fill *f)
{
    const struct seep_model *m = f->code->model;
    const struct seep_report_job job = seep_report_job_read(json_object_get(f->report, "job"));

    add_command(f);
    add_text(f, &f->d->cwds, job.cwd, SEEP_DIGEST_TEXT / 4);
    add_text(f, &f->d->step_sources, job.step_source, SEEP_DIGEST_HOST_TEXT);
    add_text(f, &f->d->versions, json_string_value(json_object_get(f->report, "seep")),
             SEEP_DIGEST_HOST_TEXT);
    for (size_t i = 0; i < m->n_processes && !f->d->failed; i++) {
        const struct seep_process_identity *id = &m->processes[i].id;
        if (id->host[0])
            seep_digest_add_text(f->d, &f->d->hosts,
                                 seep_digest_clean_text(f->d, id->host, SEEP_DIGEST_HOST_TEXT),
                                 SEEP_DIGEST_HOSTS);
        if (id->job_id[0])
            seep_digest_add_text(f->d, &f->d->job_ids,
                                 seep_digest_clean_text(f->d, id->job_id, SEEP_DIGEST_HOST_TEXT),
                                 SEEP_DIGEST_FEW);
    }
}

static uint64_t count_of(const json_t *object, const char *key)
{
    const double value = json_number_value(json_object_get(object, key));

    return value > 0 && value < 9e18 ? (uint64_t)value : 0;
}

static void add_numbers(struct seep_digest_fill *f)
{
    const struct seep_model *m = f->code->model;
    const struct seep_report_job job = seep_report_job_read(json_object_get(f->report, "job"));
    const double ended = job.started_unix_s + job.duration_s;
    const uint64_t limit = job.limit_bytes > 0 ? (uint64_t)job.limit_bytes : 0;
    const json_t *helper;
    const bool by_time = m->step_source == SEEP_STEP_TIME;
    uint64_t n_bare = m->n_unprofiled;
    size_t i;

    json_array_foreach (json_object_get(f->report, "helpers"), i, helper)
        n_bare += count_of(helper, "processes");
    const struct {
        enum seep_digest_number number;
        uint64_t value;
    } numbers[] = {
        {SEEP_DIGEST_NUMBER_FOLDERS, m->n_jobs},
        {SEEP_DIGEST_NUMBER_COMPLETE, job.complete ? m->n_jobs : 0},
        {SEEP_DIGEST_NUMBER_PROCESSES, m->n_processes},
        {SEEP_DIGEST_NUMBER_BARE, n_bare},
        {SEEP_DIGEST_NUMBER_NOT_READ, m->n_not_read},
        {SEEP_DIGEST_NUMBER_DROPPED, job.dropped_events},
        {SEEP_DIGEST_NUMBER_OOM_KILLS, job.oom_kills},
        {SEEP_DIGEST_NUMBER_STEPS_LEAST, by_time ? 0 : m->n_steps},
        {SEEP_DIGEST_NUMBER_STEPS_MOST, by_time ? 0 : m->n_steps},
        {SEEP_DIGEST_NUMBER_SLICES_MOST, by_time ? m->n_steps : 0},
        {SEEP_DIGEST_NUMBER_JUDGED_MOST, job.judged_steps},
        {SEEP_DIGEST_NUMBER_NEEDED, job.judged_steps_needed},
        {SEEP_DIGEST_NUMBER_BY_TIME, by_time ? m->n_jobs : 0},
        {SEEP_DIGEST_NUMBER_LIMIT_LEAST, limit},
        {SEEP_DIGEST_NUMBER_LIMIT_MOST, limit},
        {SEEP_DIGEST_NUMBER_STARTED, job.started_unix_s > 0 ? (uint64_t)job.started_unix_s : 0},
        {SEEP_DIGEST_NUMBER_ENDED, ended > 0 && ended < 9e18 ? (uint64_t)ceil(ended) : 0},
    };
    for (i = 0; i < sizeof numbers / sizeof *numbers; i++)
        seep_digest_add_to(f->d, numbers[i].number, numbers[i].value);
    for (i = 0; i < m->n_jobs; i++)
        seep_digest_add_number(f->d, &f->d->sources, source_of(m, i) & SEEP_DIGEST_MOST,
                               SEEP_DIGEST_SOURCES);
}

/* Levels over the steps as courses. */

/* The least shift with which the course has room for the steps. */
static uint32_t digest_shift_of(uint32_t n_steps)
{
    uint32_t shift = 0;

    while (n_steps && (n_steps - 1) >> shift >= SEEP_DIGEST_COURSE)
        shift++;
    return shift;
}

/* So much was held at the ends of steps [from, to]; steps below 1 and above n_steps do not count.
 */
static void digest_area_add(const struct seep_digest_fill *f, struct seep_digest_area *area,
                            int64_t from, int64_t to, uint64_t bytes)
{
    const uint32_t shift = f->d->step_shift;
    const int64_t last = f->code->model->n_steps;

    from = from < 1 ? 1 : from;
    to = to > last ? last : to;
    while (bytes && from <= to) {
        const int64_t cell = (from - 1) >> shift, end = (cell + 1) << shift;
        const int64_t stop = end < to ? end : to;
        area->cells[cell] += (unsigned __int128)bytes * (uint64_t)(stop - from + 1);
        from = stop + 1;
    }
}

static void digest_area_course(const struct seep_digest_area *area,
                               uint64_t course[SEEP_DIGEST_COURSE])
{
    for (size_t i = 0; i < SEEP_DIGEST_COURSE; i++) {
        const unsigned __int128 kib = area->cells[i] >> 10;
        course[i] =
            seep_digest_course_sum(kib > SEEP_DIGEST_MOST ? SEEP_DIGEST_MOST : (uint64_t)kib, 0);
    }
}

/* The course of a level. */
static void digest_level_course(const struct seep_digest_fill *f, const struct seep_level *level,
                                uint64_t course[SEEP_DIGEST_COURSE])
{
    struct seep_digest_area area = {0};

    for (size_t i = 0; i < level->n; i++) {
        const struct seep_level_point *p = &level->points[i];
        const int64_t to = i + 1 < level->n ? (int64_t)level->points[i + 1].step - 1 : INT32_MAX;
        digest_area_add(f, &area, p->step, to, p->bytes > 0 ? (uint64_t)p->bytes : 0);
    }
    digest_area_course(&area, course);
}

/* Findings, by what they are about and by process. */

/* ---- an example -------------------------------------------------------------------------- */

static void copy_fields(const json_t *finding, json_t *to, bool *failed)
{
    static const char *const fields[] = {"title",       "advice",
                                         "confidence",  "confidence_word",
                                         "live_bytes",  "peak_bytes",
                                         "count",       "saving_bytes",
                                         "evidence",    "plateau_step",
                                         "limit_bytes", "steps_to_limit",
                                         "first_step",  "growth_bytes_per_step"};

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        json_t *value = json_object_get(finding, fields[i]);
        if (value)
            seep_json_set(to, fields[i], json_deep_copy(value), failed);
    }
}

/* Who holds most of it, in words. */
static void add_holder(const json_t *finding, json_t *to, bool *failed)
{
    const json_t *paths = json_object_get(json_object_get(finding, "holders"), "paths");
    const char *text = json_string_value(json_object_get(json_array_get(paths, 0), "text"));

    if (text)
        seep_json_set(to, "held_by", seep_json_text_n(text, strnlen(text, 400)), failed);
}

/* The finding as compact JSON, with less evidence if it is long; 0 if it is too long even so. */
static uint32_t example_of(struct seep_digest_fill *f, const json_t *finding)
{
    json_t *example = json_object();
    uint32_t id = 0;
    char *text = NULL;
    bool failed = false;

    copy_fields(finding, example, &failed);
    add_holder(finding, example, &failed);
    json_t *evidence = json_object_get(example, "evidence");
    do {
        free(text);
        text = failed ? NULL : json_dumps(example, JSON_COMPACT | JSON_SORT_KEYS);
    } while (text && strlen(text) >= SEEP_DIGEST_EXAMPLE_TEXT &&
             !json_array_remove(evidence, json_array_size(evidence) - 1));
    if (!text)
        f->d->failed = true;
    else if (strlen(text) < SEEP_DIGEST_EXAMPLE_TEXT)
        id = seep_digest_text(f->d, text);
    free(text);
    json_decref(example);
    return id;
}

/* ---- contributions ----------------------------------------------------------------------- */

/* What a process has of a finding. The finding's own figures are shared out by what each process's
 * part of its sites does, because each pattern has its own way to count them. */
struct share {
    uint64_t held, rise; /* at the end of the last judged step, and since the first one */
    uint64_t course[SEEP_DIGEST_COURSE];
};

static uint64_t at(const struct seep_level *level, int32_t step)
{
    const int64_t bytes = seep_level_at(level, step).bytes;

    return bytes > 0 ? (uint64_t)bytes : 0;
}

/* A finding without sites is about what no line made: processes have equal parts of it. */
static void share_of(struct seep_digest_fill *f, const struct seep_finding *finding,
                     uint32_t process, struct share *share)
{
    const struct seep_span *span = &f->findings->span;

    *share = (struct share){.held = 1, .rise = 1};
    if (!finding->n_sites)
        return;
    if (seep_level_resident(f->code->model, finding->sites, finding->n_sites, process, &f->level)) {
        f->d->failed = true;
        return;
    }
    const uint64_t low = at(&f->level, span->judge);
    share->held = at(&f->level, span->last);
    share->rise = share->held > low ? share->held - low : 0;
    if (!share->held)
        share->held = (uint64_t)seep_level_highest(&f->level).bytes;
    digest_level_course(f, &f->level, share->course);
}

/* The part of a total: part / all; 0 if there is nothing to go by. */
static uint64_t part_of(uint64_t total, uint64_t part, uint64_t all)
{
    return all ? (uint64_t)((unsigned __int128)total * part / all) : 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* `all`: the sums over the finding's processes. */
static void add_share(struct seep_digest_fill *f, const struct seep_finding *finding,
                      struct seep_digest_found found, uint32_t about, uint32_t process,
                      const struct share *share, const struct share *all)
{
    const struct seep_model_process *p = &f->code->model->processes[process];
    const uint64_t total = larger(finding->live_bytes, finding->asked_bytes);
    const uint64_t bytes = part_of(total, share->held, all->held);
    const double growth = finding->growth.value > 0 ? finding->growth.value * 1000 : 0;
    const struct seep_digest_key key = {
        .kind = SEEP_DIGEST_FINDINGS, .bucket = seep_digest_bucket(bytes), .about = about};

    found.growth_sum =
        part_of(growth < 9e18 ? (uint64_t)growth : SEEP_DIGEST_MOST, share->rise, all->rise);
    found.growth_most = found.growth_sum;
    found.blocks = part_of(finding->count, share->held, all->held);
    found.ranks = p->id.rank >= 0;
    found.least_rank = found.most_rank = p->id.rank;
    found.least_host = found.most_host = digest_fill_who(f, process, 0).host;
    if (finding->severity == SEEP_LEAK || finding->severity == SEEP_RETENTION)
        f->growth[process] = seep_digest_sum(f->growth[process], found.growth_sum);
    digest_fill_row(f, key, process, bytes, share->course, &found);
}

static void add_shares(struct seep_digest_fill *f, const struct seep_finding *finding,
                       const struct seep_digest_found *found, uint32_t about,
                       const uint32_t *processes, size_t n)
{
    struct share *shares = calloc(n, sizeof *shares), all = {0};

    f->d->failed |= !shares;
    for (size_t i = 0; i < n && !f->d->failed; i++) {
        share_of(f, finding, processes[i], &shares[i]);
        all.held = seep_digest_sum(all.held, shares[i].held);
        all.rise = seep_digest_sum(all.rise, shares[i].rise);
    }
    for (size_t i = 0; i < n && !f->d->failed; i++)
        add_share(f, finding, *found, about, processes[i], &shares[i], &all);
    free(shares);
}

static void add_finding(struct seep_digest_fill *f, const struct seep_finding *finding,
                        const json_t *json)
{
    const struct seep_model *m = f->code->model;
    const json_t *frame = json_object_get(json, "frame");
    const struct seep_digest_about about = {
        .pattern = (uint8_t)finding->pattern,
        .severity = (uint8_t)finding->severity,
        .part = (uint8_t)finding->part,
        .space = seep_digest_text(f->d, m->spaces[finding->space].name.text),
        .frame = json_is_object(frame) ? digest_fill_frame(f, frame) : 0};
    const struct seep_digest_found found = {
        .first_step = finding->first_step > 0 ? (uint64_t)finding->first_step : 0,
        .example = example_of(f, json)};
    const uint32_t id = seep_digest_about(f->d, &about);

    if (finding->n_processes)
        add_shares(f, finding, &found, id, finding->processes, finding->n_processes);
    else
        add_shares(f, finding, &found, id, &m->main, 1);
}

static void digest_fill_findings(struct seep_digest_fill *f)
{
    const json_t *list = json_object_get(f->report, "findings");

    for (size_t i = 0; i < f->findings->n && !f->d->failed; i++)
        add_finding(f, &f->findings->list[i], json_array_get(list, i));
}

/* What each process had as a whole: by measures, by spaces, and by its place in the job. */

static void add_measure(struct seep_digest_fill *f, uint32_t process,
                        enum seep_digest_measure measure, uint64_t value)
{
    const uint8_t role = digest_fill_role(&f->code->model->processes[process]);
    const uint32_t subject = seep_digest_text(f->d, seep_digest_measures[measure]);
    const struct seep_digest_who who = digest_fill_who(f, process, value);
    const struct seep_digest_key key = {
        .kind = SEEP_DIGEST_PROCESSES, .subject = subject, .bucket = seep_digest_bucket(value)};

    digest_fill_row(f, key, process, value, NULL, NULL);
    seep_digest_add_top(f->d, role, subject, false, &who);
    seep_digest_add_top(f->d, role, subject, true, &who);
}

static void add_end(struct seep_digest_fill *f, uint32_t process)
{
    const struct seep_process_end *end = &f->code->model->processes[process].ended;
    char text[24];

    if (end->kind == SEEP_ENDED_EXIT)
        snprintf(text, sizeof text, "exit %d", end->value & 255);
    else if (end->kind == SEEP_ENDED_SIGNAL)
        snprintf(text, sizeof text, "signal %d", end->value & 127);
    else
        snprintf(text, sizeof text, end->kind == SEEP_ENDED_RUNNING ? "running" : "unknown");
    const struct seep_digest_key key = {.kind = SEEP_DIGEST_ENDS,
                                        .subject = seep_digest_text(f->d, text)};
    digest_fill_row(f, key, process, 0, NULL, NULL);
}

/* ---- spaces ------------------------------------------------------------------------------ */

/* A row of the timeline holds until the next one. */
static void add_course(struct seep_digest_fill *f, const struct seep_model_process *p, int space,
                       uint64_t course[SEEP_DIGEST_COURSE])
{
    const struct seep_model *m = f->code->model;
    struct seep_digest_area area = {0};

    for (uint32_t i = 0; p->live && i < p->n_rows; i++) {
        const uint64_t bytes = p->live[(size_t)space * p->n_rows + i];
        const int64_t from = seep_model_step(m, p, p->row_period[i]);
        const int64_t end = p->gone ? p->end_step : INT32_MAX;
        const int64_t to =
            i + 1 < p->n_rows ? (int64_t)seep_model_step(m, p, p->row_period[i + 1]) - 1 : end;
        digest_area_add(f, &area, from, to, bytes);
    }
    digest_area_course(&area, course);
}

static void add_spaces(struct seep_digest_fill *f, uint32_t process)
{
    const struct seep_model *m = f->code->model;
    const struct seep_model_process *p = &m->processes[process];

    for (int i = 0; i < SEEP_MAX_SPACES && !f->d->failed; i++) {
        uint64_t course[SEEP_DIGEST_COURSE];
        if (!p->space_of[i])
            continue;
        const uint64_t peak = p->spaces[i].peak_bytes;
        const struct seep_digest_key key = {
            .kind = SEEP_DIGEST_SPACES,
            .subject = seep_digest_text(f->d, m->spaces[p->space_of[i] - 1].name.text),
            .bucket = seep_digest_bucket(peak)};
        add_course(f, p, i, course);
        digest_fill_row(f, key, process, peak, course, NULL);
    }
}

/* What was taken of GPUs; without the driver's figures, what tensors took. */
static uint64_t gpu_peak(const struct seep_model *m, const struct seep_model_process *p)
{
    uint64_t devices = 0, tensors = 0;

    for (int i = 0; i < SEEP_MAX_SPACES; i++) {
        const enum seep_space_class class =
            p->space_of[i] ? m->spaces[p->space_of[i] - 1].name.class : SEEP_CLASS_OTHER;
        if (class == SEEP_CLASS_DEVICE)
            devices = seep_digest_sum(devices, p->spaces[i].peak_bytes);
        if (class == SEEP_CLASS_TENSOR)
            tensors = seep_digest_sum(tensors, p->spaces[i].peak_bytes);
    }
    return devices ? devices : tensors;
}

static void digest_fill_processes(struct seep_digest_fill *f)
{
    const struct seep_model *m = f->code->model;

    for (uint32_t i = 0; i < m->n_processes && !f->d->failed; i++) {
        const struct seep_model_process *p = &m->processes[i];
        const uint64_t gpu = gpu_peak(m, p);
        add_measure(f, i, SEEP_DIGEST_MEASURE_RSS, p->rss_peak_bytes);
        if (gpu)
            add_measure(f, i, SEEP_DIGEST_MEASURE_DEVICE, gpu);
        if (f->growth[i])
            add_measure(f, i, SEEP_DIGEST_MEASURE_GROWTH, f->growth[i]);
        if (f->collective[i])
            add_measure(f, i, SEEP_DIGEST_MEASURE_COLLECTIVE, f->collective[i]);
        if (p->steps)
            add_measure(f, i, SEEP_DIGEST_MEASURE_STEPS, p->steps);
        add_end(f, i);
        add_spaces(f, i);
        if (p->id.rank >= 0)
            seep_digest_add_rank(f->d, (uint64_t)p->id.rank);
        if (p->id.world_size > 0)
            seep_digest_add_to(f->d, SEEP_DIGEST_NUMBER_WORLD, (uint64_t)p->id.world_size);
    }
}

/* ---- nodes and local ranks --------------------------------------------------------------- */

/* Launchers give neighbouring ranks to a node. Without their word, each rank is a node. */
static struct seep_digest_cell place_of(const struct seep_process_identity *id)
{
    struct seep_digest_cell cell = {.node = (uint32_t)id->rank, .n = 1};

    if (id->local_rank < 0)
        return cell;
    if (id->node >= 0)
        cell.node = (uint32_t)id->node;
    else if (id->local_size > 0)
        cell.node = (uint32_t)(id->rank / id->local_size);
    else
        return cell;
    cell.local_rank = (uint32_t)id->local_rank;
    return cell;
}

static int by_rank(const void *a, const void *b, void *context)
{
    const struct seep_model *m = context;
    const int32_t p = m->processes[*(const uint32_t *)a].id.rank;
    const int32_t q = m->processes[*(const uint32_t *)b].id.rank;

    return (p > q) - (p < q);
}

static void count_in(struct seep_digest_fill *f, struct seep_digest_cell *cell, uint32_t process)
{
    const struct seep_model *m = f->code->model;
    const struct seep_model_process *p = &m->processes[process];
    uint64_t *sum = cell->sum;

    sum[SEEP_DIGEST_MEASURE_RSS] = seep_digest_sum(sum[SEEP_DIGEST_MEASURE_RSS], p->rss_peak_bytes);
    sum[SEEP_DIGEST_MEASURE_DEVICE] =
        seep_digest_sum(sum[SEEP_DIGEST_MEASURE_DEVICE], gpu_peak(m, p));
    sum[SEEP_DIGEST_MEASURE_GROWTH] =
        seep_digest_sum(sum[SEEP_DIGEST_MEASURE_GROWTH], f->growth[process]);
    sum[SEEP_DIGEST_MEASURE_COLLECTIVE] =
        seep_digest_sum(sum[SEEP_DIGEST_MEASURE_COLLECTIVE], f->collective[process]);
    if (p->steps > sum[SEEP_DIGEST_MEASURE_STEPS])
        sum[SEEP_DIGEST_MEASURE_STEPS] = p->steps;
}

static void digest_fill_cells(struct seep_digest_fill *f)
{
    const struct seep_model *m = f->code->model;
    uint32_t *list = calloc(m->n_processes + 1, sizeof *list);

    f->d->failed |= !list;
    for (uint32_t i = 0; list && i < m->n_processes; i++)
        list[i] = i;
    if (list)
        qsort_r(list, m->n_processes, sizeof *list, by_rank, (void *)m);
    for (size_t i = 0; i < m->n_processes && !f->d->failed;) {
        const int32_t rank = m->processes[list[i]].id.rank;
        struct seep_digest_cell cell = place_of(&m->processes[list[i]].id);
        for (; i < m->n_processes && m->processes[list[i]].id.rank == rank; i++)
            count_in(f, &cell, list[i]);
        for (int k = 0; k < SEEP_N_DIGEST_MEASURES; k++)
            cell.most[k] = cell.sum[k];
        if (rank >= 0)
            seep_digest_add_cell(f->d, &cell);
    }
    free(list);
}

/* The sites that the report lists, by process; all others are the rest of their space. */

/* A part of a site in a thread of a process. */
struct part {
    uint32_t process, slot;
};

static int by_process(const void *a, const void *b)
{
    const struct part *p = a, *q = b;

    if (p->process != q->process)
        return p->process < q->process ? -1 : 1;
    return (p->slot > q->slot) - (p->slot < q->slot);
}

/* The index of a site of the report; SEEP_HASH_NONE if there is none of that name. */
static uint32_t number_of(const struct seep_model *m, const json_t *site)
{
    const char *id = json_string_value(json_object_get(site, "id"));
    const unsigned long number = id && *id == 'S' ? strtoul(id + 1, NULL, 10) : 0;

    return number && number <= m->n_sites ? (uint32_t)number - 1 : SEEP_HASH_NONE;
}

static uint32_t stack_of(struct seep_digest_fill *f, const json_t *site, uint8_t part)
{
    const json_t *list = json_object_get(site, "stack"), *look = json_object_get(site, "look_at");
    const size_t n =
        json_array_size(list) < SEEP_DIGEST_DEPTH ? json_array_size(list) : SEEP_DIGEST_DEPTH;
    struct seep_digest_stack stack = {.part = part, .look_at = -1, .n = (uint16_t)n};
    uint32_t frames[SEEP_DIGEST_DEPTH];

    for (size_t i = 0; i < n; i++)
        frames[i] = digest_fill_frame(f, json_array_get(list, i));
    if (json_is_integer(look) && (size_t)json_integer_value(look) < n)
        stack.look_at = (int16_t)json_integer_value(look);
    return seep_digest_stack(f->d, &stack, frames);
}

/* At least what it held at the end of any step, and what any one thread of it ever held. */
static uint64_t peak_of(const struct seep_digest_fill *f, const uint32_t *slots, size_t n)
{
    uint64_t peak = (uint64_t)seep_level_highest(&f->level).bytes;

    for (size_t i = 0; i < n; i++) {
        const uint64_t own = f->code->model->slots[slots[i]].peak_bytes;
        peak = own > peak ? own : peak;
    }
    return peak;
}

static void add_process(struct seep_digest_fill *f, struct seep_digest_key key, uint32_t process,
                        const uint32_t *slots, size_t n)
{
    uint64_t course[SEEP_DIGEST_COURSE];

    if (seep_level_sum_slots(f->code->model, slots, n, &f->level)) {
        f->d->failed = true;
        return;
    }
    const uint64_t peak = peak_of(f, slots, n);
    digest_level_course(f, &f->level, course);
    key.bucket = key.kind == SEEP_DIGEST_SITES ? seep_digest_bucket(peak) : 0;
    if (peak)
        digest_fill_row(f, key, process, peak, course, NULL);
}

/* Adds each process's part of a site to the row of the key. */
static void add_site(struct seep_digest_fill *f, uint32_t number, struct seep_digest_key key)
{
    const struct seep_model *m = f->code->model;
    size_t n = 0, capacity = 0, begin = 0;
    struct part *parts = NULL;
    uint32_t *slots = NULL;

    for (uint32_t k = m->sites[number].slots; k && !f->d->failed; k = m->slots[k - 1].next) {
        if (seep_grow(&parts, &capacity, n + 1, sizeof *parts))
            f->d->failed = true;
        else
            parts[n++] = (struct part){m->slots[k - 1].process, k - 1};
    }
    slots = calloc(n + 1, sizeof *slots);
    f->d->failed |= !slots;
    if (n && !f->d->failed)
        qsort(parts, n, sizeof *parts, by_process);
    for (size_t i = 0; i < n && !f->d->failed; i++) {
        slots[i - begin] = parts[i].slot;
        if (i + 1 < n && parts[i + 1].process == parts[begin].process)
            continue;
        add_process(f, key, parts[begin].process, slots, i + 1 - begin);
        begin = i + 1;
    }
    free(parts);
    free(slots);
}

static struct seep_digest_key key_of(struct seep_digest_fill *f, enum seep_digest_kind kind,
                                     uint32_t number)
{
    const struct seep_model *m = f->code->model;

    return (struct seep_digest_key){
        .kind = (uint8_t)kind,
        .subject = seep_digest_text(f->d, m->spaces[m->sites[number].space].name.text)};
}

/* Sites that the report does not list are too many to be added up step by step. */
static void add_rest(struct seep_digest_fill *f, const bool *listed)
{
    const struct seep_model *m = f->code->model;

    for (uint32_t i = 0; i < m->n_sites && !f->d->failed; i++) {
        if (listed[i])
            continue;
        const struct seep_digest_key key = key_of(f, SEEP_DIGEST_REST, i);
        for (uint32_t k = m->sites[i].slots; k && !f->d->failed; k = m->slots[k - 1].next)
            if (m->slots[k - 1].peak_bytes)
                digest_fill_row(f, key, m->slots[k - 1].process, m->slots[k - 1].peak_bytes, NULL,
                                NULL);
    }
}

/* sets `collective` */
static void digest_fill_collectives(struct seep_digest_fill *f)
{
    const struct seep_model *m = f->code->model;

    for (size_t i = 0; i < m->n_sites; i++) {
        if (f->code->lines->part[m->sites[i].stack] != SEEP_PART_COLLECTIVE)
            continue;
        for (uint32_t k = m->sites[i].slots; k; k = m->slots[k - 1].next) {
            uint64_t *sum = &f->collective[m->slots[k - 1].process];
            *sum = seep_digest_sum(*sum, m->slots[k - 1].peak_bytes);
        }
    }
}

static void digest_fill_sites(struct seep_digest_fill *f)
{
    const struct seep_model *m = f->code->model;
    bool *listed = calloc(m->n_sites + 1, sizeof *listed);
    const json_t *site;
    size_t i;

    f->d->failed |= !listed;
    json_array_foreach (json_object_get(f->report, "sites"), i, site) {
        const uint32_t number = number_of(m, site);
        if (number == SEEP_HASH_NONE || f->d->failed)
            continue;
        struct seep_digest_key key = key_of(f, SEEP_DIGEST_SITES, number);
        key.about = stack_of(f, site, f->code->lines->part[m->sites[number].stack]);
        listed[number] = true;
        if (!f->d->failed)
            add_site(f, number, key);
    }
    if (!f->d->failed)
        add_rest(f, listed);
    free(listed);
}

int seep_digest_fill(struct seep_digest *d, const struct seep_code *code,
                     const struct seep_findings *findings, const json_t *report)
{
    struct seep_digest_fill f = {.d = d, .code = code, .findings = findings, .report = report};

    f.growth = calloc(code->model->n_processes + 1, sizeof *f.growth);
    f.collective = calloc(code->model->n_processes + 1, sizeof *f.collective);
    d->failed |= !f.growth || !f.collective;
    d->step_shift = digest_shift_of(code->model->n_steps);
    if (!d->failed) {
        digest_fill_findings(&f); /* the first two are told of processes */
        digest_fill_collectives(&f);
    }
    if (!d->failed)
        digest_fill_processes(&f);
    if (!d->failed)
        digest_fill_cells(&f);
    if (!d->failed)
        digest_fill_sites(&f);
    if (!d->failed) {
        add_texts(&f);
        add_numbers(&f);
    }
    if (!d->failed)
        seep_digest_fit(d);
    seep_level_fini(&f.level);
    free(f.growth);
    free(f.collective);
    return d->failed ? -SEEP_ENOMEM : 0;
}
