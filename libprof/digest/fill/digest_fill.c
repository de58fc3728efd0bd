#include "libprof/digest/fill/digest_fill.h"

#include "libprof/digest/digest_fit.h"
#include "libprof/digest/digest_names.h"
#include "libprof/digest/digest_rows.h"
#include "libprof/digest/digest_words.h"
#include "libprof/digest/fill/fill_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the files share ---------------------------------------------------------------- */

struct seep_digest_who seep_digest_fill_who(struct seep_digest_fill *f, uint32_t process,
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

uint8_t seep_digest_fill_role(const struct seep_model_process *p)
{
    if (p->role == SEEP_ROLE_TRAINER && p->id.rank >= 0 && p->id.world_size > 1)
        return SEEP_DIGEST_ROLE_RANK;
    return (uint8_t)p->role;
}

void seep_digest_fill_row(struct seep_digest_fill *f, struct seep_digest_key key, uint32_t process,
                          uint64_t value, const uint64_t *course,
                          const struct seep_digest_found *found)
{
    struct seep_digest_row row = {.key = key, .n = 1};

    row.key.role = seep_digest_fill_role(&f->code->model->processes[process]);
    row.max = seep_digest_fill_who(f, process, value);
    row.sum = row.max.value;
    if (course)
        memcpy(row.course, course, sizeof row.course);
    if (!f->d->failed)
        seep_digest_add_row(f->d, &row, found, f->d->step_shift);
}

/* One that is too long to be kept has at least its function. */
uint32_t seep_digest_fill_frame(struct seep_digest_fill *f, const json_t *frame)
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
    const json_t *list = json_object_get(json_object_get(f->report, "job"), "command"), *word;
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

static void add_text(struct seep_digest_fill *f, struct seep_digest_set *set, const json_t *text,
                     size_t bytes)
{
    if (json_is_string(text))
        seep_digest_add_text(f->d, set,
                             seep_digest_clean_text(f->d, json_string_value(text), bytes),
                             SEEP_DIGEST_FEW);
}

static void add_texts(struct seep_digest_fill *f)
{
    const struct seep_model *m = f->code->model;
    const json_t *job = json_object_get(f->report, "job");

    add_command(f);
    add_text(f, &f->d->cwds, json_object_get(job, "cwd"), SEEP_DIGEST_TEXT / 4);
    add_text(f, &f->d->step_sources, json_object_get(job, "step_source"), SEEP_DIGEST_HOST_TEXT);
    add_text(f, &f->d->versions, json_object_get(f->report, "seep"), SEEP_DIGEST_HOST_TEXT);
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
    const json_t *job = json_object_get(f->report, "job"), *helper;
    const double ended = json_number_value(json_object_get(job, "started_unix_s")) +
                         json_number_value(json_object_get(job, "duration_s"));
    const bool by_time = m->step_source == SEEP_STEP_TIME;
    uint64_t n_bare = m->n_bares;
    size_t i;

    json_array_foreach (json_object_get(f->report, "helpers"), i, helper)
        n_bare += count_of(helper, "processes");
    const struct {
        enum seep_digest_number number;
        uint64_t value;
    } numbers[] = {
        {SEEP_DIGEST_NUMBER_FOLDERS, m->n_jobs},
        {SEEP_DIGEST_NUMBER_COMPLETE,
         json_is_true(json_object_get(job, "complete")) ? m->n_jobs : 0},
        {SEEP_DIGEST_NUMBER_PROCESSES, m->n_processes},
        {SEEP_DIGEST_NUMBER_BARE, n_bare},
        {SEEP_DIGEST_NUMBER_NOT_READ, m->n_not_read},
        {SEEP_DIGEST_NUMBER_DROPPED, count_of(job, "dropped_events")},
        {SEEP_DIGEST_NUMBER_OOM_KILLS, count_of(job, "oom_kills")},
        {SEEP_DIGEST_NUMBER_STEPS_LEAST, by_time ? 0 : m->n_steps},
        {SEEP_DIGEST_NUMBER_STEPS_MOST, by_time ? 0 : m->n_steps},
        {SEEP_DIGEST_NUMBER_SLICES_MOST, by_time ? m->n_steps : 0},
        {SEEP_DIGEST_NUMBER_JUDGED_MOST, count_of(job, "judged_steps")},
        {SEEP_DIGEST_NUMBER_NEEDED, count_of(job, "judged_steps_needed")},
        {SEEP_DIGEST_NUMBER_BY_TIME, by_time ? m->n_jobs : 0},
        {SEEP_DIGEST_NUMBER_LIMIT_LEAST, count_of(job, "limit_bytes")},
        {SEEP_DIGEST_NUMBER_LIMIT_MOST, count_of(job, "limit_bytes")},
        {SEEP_DIGEST_NUMBER_STARTED, count_of(job, "started_unix_s")},
        {SEEP_DIGEST_NUMBER_ENDED, ended > 0 && ended < 9e18 ? (uint64_t)ceil(ended) : 0},
    };
    for (i = 0; i < sizeof numbers / sizeof *numbers; i++)
        seep_digest_add_to(f->d, numbers[i].number, numbers[i].value);
    for (i = 0; i < m->n_jobs; i++)
        seep_digest_add_number(f->d, &f->d->sources, source_of(m, i) & SEEP_DIGEST_MOST,
                               SEEP_DIGEST_SOURCES);
}

int seep_digest_fill(struct seep_digest *d, const struct seep_code *code,
                     const struct seep_findings *findings, const json_t *report)
{
    struct seep_digest_fill f = {.d = d, .code = code, .findings = findings, .report = report};

    f.growth = calloc(code->model->n_processes + 1, sizeof *f.growth);
    f.collective = calloc(code->model->n_processes + 1, sizeof *f.collective);
    d->failed |= !f.growth || !f.collective;
    d->step_shift = seep_digest_shift_of(code->model->n_steps);
    if (!d->failed) {
        seep_digest_fill_findings(&f); /* the first two are told of processes */
        seep_digest_fill_collectives(&f);
    }
    if (!d->failed)
        seep_digest_fill_processes(&f);
    if (!d->failed)
        seep_digest_fill_cells(&f);
    if (!d->failed)
        seep_digest_fill_sites(&f);
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
