#include "libprof/digest/digest_report.h"

#include "libprof/base/json_build.h"
#include "libprof/digest/digest_write.h"
#include "libprof/digest/many_parts.h"
#include "libprof/report_read/report_fields.h"
#include "libprof/words/exit_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SEEP_VERSION
#define SEEP_VERSION "0"
#endif

enum { MAX_LISTED = 64 };

static json_t *unknown_exit(void)
{
    return SEEP_REPORT_JSON(exit, .kind = "unknown", .value = -1, .text = SEEP_ENDED_UNSEEN_TEXT);
}

/* ---- the job ----------------------------------------------------------------------------- */

static int severity_of_end(const char *text)
{
    return strncmp(text, "signal ", 7) == 0 ? 4
           : strcmp(text, "running") == 0   ? 2
           : strcmp(text, "unknown") == 0   ? 1
           : strcmp(text, "exit 0") == 0    ? 0
                                            : 3;
}

/* As the worst of its trainers and ranks ended, or of all where it has none. */
static json_t *exit_json(const struct seep_digest *d)
{
    const struct seep_digest_row *worst = NULL;
    int rank = -1;

    for (size_t i = 0; i < d->n_rows; i++) {
        const struct seep_digest_row *row = &d->rows[i];
        const bool trains =
            row->key.role == SEEP_DIGEST_ROLE_RANK || row->key.role == SEEP_DIGEST_ROLE_TRAINER;
        if (row->key.kind != SEEP_DIGEST_ENDS)
            continue;
        const int its = severity_of_end(d->texts[row->key.subject]) + (trains ? 10 : 0);
        if (its > rank ||
            (its == rank && strcmp(d->texts[row->key.subject], d->texts[worst->key.subject]) < 0)) {
            rank = its;
            worst = row;
        }
    }
    const char *text = worst ? d->texts[worst->key.subject] : "unknown";
    const int value = strchr(text, ' ') ? atoi(strchr(text, ' ') + 1) : 0;
    char words[SEEP_EXIT_TEXT] = SEEP_ENDED_UNSEEN_TEXT;
    if (strncmp(text, "signal ", 7) == 0)
        seep_exit_signal_text(value, words);
    else if (strncmp(text, "exit ", 5) == 0)
        snprintf(words, sizeof words, value ? SEEP_ENDED_STATUS_TEXT : SEEP_ENDED_WELL_TEXT, value);
    else if (strcmp(text, "running") == 0)
        snprintf(words, sizeof words, SEEP_ENDED_RUNNING_TEXT);
    const int word = (int)strcspn(text, " ");
    char kind[16];
    snprintf(kind, sizeof kind, "%.*s", word, text);
    return SEEP_REPORT_JSON(exit, .kind = kind, .value = text[word] ? value : -1,
                            .failed = text[word] && value, .text = words);
}

static double duration_of(const struct seep_digest *d)
{
    const uint64_t start = d->numbers[SEEP_DIGEST_NUMBER_STARTED];
    const uint64_t end = d->numbers[SEEP_DIGEST_NUMBER_ENDED];

    return end > start ? (double)(end - start) : 0;
}

/* The first of these that any folder has; time slices only if there is nothing else. */
static const char *step_source(const struct seep_digest *d)
{
    static const char *const sources[] = {"api", "nvtx", "optimizer", "batch", "loop", "task"};

    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        for (size_t k = 0; k < d->step_sources.n; k++)
            if (strcmp(d->texts[d->step_sources.list[k]], sources[i]) == 0)
                return sources[i];
    return "time";
}

static json_t *job_json(const struct seep_digest *d)
{
    const uint64_t *numbers = d->numbers;
    const char *source = step_source(d);
    const bool by_time = strcmp(source, "time") == 0;
    const uint64_t limit = numbers[SEEP_DIGEST_NUMBER_LIMIT_LEAST];
    json_t *command = json_array();
    bool failed = false;

    if (d->commands.n)
        seep_json_append(command, json_string(d->texts[d->commands.list[0]]), &failed);
    json_t *json = SEEP_REPORT_JSON(
        job, .command = command, .cwd = d->cwds.n == 1 ? d->texts[d->cwds.list[0]] : "",
        .host = d->hosts.n ? d->texts[d->hosts.list[0]] : "",
        .job_ids = seep_json_made(seep_digest_texts_json(d, &d->job_ids), &failed),
        .started_unix_s = (double)numbers[SEEP_DIGEST_NUMBER_STARTED], .duration_s = duration_of(d),
        .exit = seep_json_made(exit_json(d), &failed),
        .oom_kills = numbers[SEEP_DIGEST_NUMBER_OOM_KILLS],
        .complete = numbers[SEEP_DIGEST_NUMBER_COMPLETE] == numbers[SEEP_DIGEST_NUMBER_FOLDERS] &&
                    !numbers[SEEP_DIGEST_NUMBER_NOT_MERGED],
        .dropped_events = numbers[SEEP_DIGEST_NUMBER_DROPPED], .step_source = source,
        .steps = numbers[by_time ? SEEP_DIGEST_NUMBER_SLICES_MOST : SEEP_DIGEST_NUMBER_STEPS_MOST],
        .judged_steps = numbers[SEEP_DIGEST_NUMBER_JUDGED_MOST],
        .judged_steps_needed = numbers[SEEP_DIGEST_NUMBER_NEEDED], .epochs = -1,
        .limit_bytes = seep_count_if(limit, limit), .pss_peak_bytes = -1);
    return seep_json_whole(json, failed);
}

/* ---- processes --------------------------------------------------------------------------- */

/* The outermost processes: by one, what is known of it. */
static json_t *find_process(json_t *list, const struct seep_digest *d,
                            const struct seep_digest_who *who)
{
    json_t *one;
    size_t i;

    json_array_foreach (list, i, one) {
        const json_t *rank = json_object_get(one, "rank");
        if (json_integer_value(json_object_get(one, "pid")) == (json_int_t)who->pid &&
            strcmp(json_string_value(json_object_get(one, "host")), d->texts[who->host]) == 0 &&
            (json_is_integer(rank) ? json_integer_value(rank) : -1) == who->rank)
            return one;
    }
    return NULL;
}

static json_t *new_process(const struct seep_digest *d, uint8_t role,
                           const struct seep_digest_who *who)
{
    return SEEP_REPORT_JSON(process, .pid = who->pid, .role = seep_digest_roles[role],
                            .rank = who->rank, .local_rank = who->local_rank, .argv = json_array(),
                            .exit = unknown_exit(), .spaces = json_object(), .pss_peak_bytes = -1,
                            .host = d->texts[who->host], .started_unix_s = NAN, .duration_s = NAN);
}

static void add_process(json_t *list, const struct seep_digest *d, uint8_t role, uint32_t subject,
                        const struct seep_digest_who *who, bool *failed)
{
    json_t *process = find_process(list, d, who);
    const char *measure = d->texts[subject];

    if (!process && json_array_size(list) >= MAX_LISTED)
        return;
    if (!process) {
        process = new_process(d, role, who);
        seep_json_append(list, process, failed);
    }
    if (strcmp(measure, seep_digest_measures[SEEP_DIGEST_MEASURE_RSS]) == 0)
        seep_json_set(process, "rss_peak_bytes", seep_json_count(who->value), failed);
    else if (strcmp(measure, seep_digest_measures[SEEP_DIGEST_MEASURE_STEPS]) == 0)
        seep_json_set(process, "steps", seep_json_count(who->value), failed);
}

static json_t *processes_json(const struct seep_digest *d)
{
    json_t *list = json_array();
    bool failed = false;

    for (uint32_t place = 0; place < SEEP_DIGEST_TOPS; place++) /* the outermost of each first */
        for (size_t i = 0; i < d->n_tops && !failed; i++)
            if (place < d->extremes[i].n)
                add_process(list, d, d->extremes[i].role, d->extremes[i].subject,
                            &d->extremes[i].who[place], &failed);
    return seep_json_whole(list, failed);
}

/* ---- spaces, sites, timeline ------------------------------------------------------------- */

static uint64_t last_level(const struct seep_digest *d, const uint64_t *course)
{
    double bytes[SEEP_DIGEST_COURSE];
    uint64_t step[SEEP_DIGEST_COURSE];
    const size_t n = seep_digest_levels(d, course, bytes, step);

    return n ? (uint64_t)bytes[n > 1 ? n - 2 : 0] : 0;
}

static json_t *space_json(const struct seep_digest *d, const struct seep_digest_group *g)
{
    const struct seep_slope slope = seep_digest_slope(d, g->course);
    const uint64_t live = last_level(d, g->course);
    bool failed = false;
    json_t *json =
        SEEP_REPORT_JSON(space, .live_bytes = live, .peak_bytes = g->sum,
                         .growth_bytes_per_step = seep_json_made(seep_json_slope(&slope), &failed),
                         .retained_bytes = seep_count_if(true, live), .capacity_bytes = -1);

    return seep_json_whole(json, failed);
}

static json_t *spaces_json(const struct seep_digest *d, const struct seep_digest_group *groups,
                           size_t n)
{
    json_t *json = json_object();
    bool failed = false;

    for (size_t i = 0; i < n; i++)
        seep_json_set(json, d->texts[groups[i].subject], space_json(d, &groups[i]), &failed);
    return seep_json_whole(json, failed);
}

static json_t *timeline_json(const struct seep_digest *d, const struct seep_digest_group *groups,
                             size_t n)
{
    json_t *t = json_array(), *steps = json_array(), *rss = json_array(), *spaces = json_object();
    const uint64_t none[SEEP_DIGEST_COURSE] = {0};
    double bytes[SEEP_DIGEST_COURSE];
    uint64_t step[SEEP_DIGEST_COURSE];
    const size_t n_cells = seep_digest_levels(d, none, bytes, step);
    bool failed = false;

    for (size_t i = 0; i < n_cells; i++) {
        seep_json_append(t, json_real(duration_of(d) * (double)step[i] / (double)step[n_cells - 1]),
                         &failed);
        seep_json_append(steps, seep_json_count(step[i]), &failed);
        seep_json_append(rss, json_integer(0), &failed); /* a digest has no course of it */
    }
    for (size_t k = 0; k < n; k++) {
        json_t *live = json_array();
        (void)seep_digest_levels(d, groups[k].course, bytes, step);
        for (size_t i = 0; i < n_cells; i++)
            seep_json_append(live, seep_json_count((uint64_t)bytes[i]), &failed);
        seep_json_set(spaces, d->texts[groups[k].subject],
                      SEEP_REPORT_JSON(levels, .live_bytes = live), &failed);
    }
    json_t *json =
        SEEP_REPORT_JSON(timeline, .t_s = t, .step = steps, .spaces = spaces,
                         .devices = seep_json_made(json_object(), &failed), .rss_bytes = rss);
    return seep_json_whole(json, failed);
}

static json_t *stack_json(const struct seep_digest *d, const struct seep_digest_stack *stack,
                          json_t **frames, bool *failed)
{
    json_t *list = json_array();

    for (size_t i = 0; i < stack->n; i++) {
        json_t **frame = &frames[d->stack_frames[stack->at + i]];
        if (!*frame)
            *frame = json_loads(d->texts[d->stack_frames[stack->at + i]], 0, NULL);
        seep_json_append(list, json_incref(*frame), failed);
    }
    return list;
}

/* The average over each part of the run, at its end. */
static json_t *series_json(const struct seep_digest *d, const struct seep_digest_group *g)
{
    double bytes[SEEP_DIGEST_COURSE];
    uint64_t step[SEEP_DIGEST_COURSE];
    const size_t n = seep_digest_levels(d, g->course, bytes, step);
    json_t *steps = json_array(), *live = json_array();
    bool failed = false;

    for (size_t i = 0; i < n; i++) {
        seep_json_append(steps, seep_json_count(step[i]), &failed);
        seep_json_append(live, seep_json_count((uint64_t)bytes[i]), &failed);
    }
    return seep_json_whole(SEEP_REPORT_JSON(series, .step = steps, .live_bytes = live), failed);
}

static json_t *site_json(const struct seep_digest *d, const struct seep_digest_group *g,
                         size_t number, json_t **frames, bool series)
{
    const struct seep_digest_stack *stack = &d->stacks[g->about - 1];
    const uint64_t live = last_level(d, g->course);
    bool failed = false;
    char id[24];

    snprintf(id, sizeof id, "S%zu", number);
    json_t *json = SEEP_REPORT_JSON(
        site, .id = id, .space = d->texts[g->subject], .part = seep_digest_parts[stack->part],
        .stack = stack_json(d, stack, frames, &failed), .look_at = stack->look_at,
        .live_bytes = live, .peak_bytes = g->sum,
        .growth_bytes_per_step = seep_digest_slope(d, g->course), .retained_bytes = live,
        .lifetime_steps = SEEP_REPORT_JSON(ages, .p50 = -1, .p99 = -1, .max = -1),
        .processes = json_pack("[I]", (json_int_t)g->max.pid),
        .n_processes = seep_count_if(true, g->n),
        .series = series ? seep_json_made(series_json(d, g), &failed) : NULL);
    return seep_json_whole(json, failed);
}

/* Largest first. */
static int by_sum(const void *a, const void *b)
{
    const struct seep_digest_group *p = a, *q = b;

    return (p->sum < q->sum) - (p->sum > q->sum);
}

static json_t *sites_json(const struct seep_digest *d, const struct seep_digest_group *groups,
                          size_t n, bool series)
{
    json_t *list = json_array(), **frames = calloc(d->n_texts + 1, sizeof *frames);
    bool failed = !frames;

    for (size_t i = 0; i < n && !failed; i++) {
        if (!d->stacks[groups[i].about - 1].n)
            continue;
        seep_json_append(list, site_json(d, &groups[i], i + 1, frames, series), &failed);
    }
    for (size_t i = 0; frames && i < d->n_texts; i++)
        json_decref(frames[i]);
    free(frames);
    return seep_json_whole(list, failed);
}

/* ---- as a whole -------------------------------------------------------------------------- */

int seep_digest_report(const struct seep_digest *d, bool series, json_t **report)
{
    struct seep_digest_group *spaces = NULL, *sites = NULL;
    size_t n_spaces = 0, n_sites = 0;
    bool failed = false;

    if (!d->n_tops)
        return -SEEP_ENODATA;
    if (seep_digest_groups(d, SEEP_DIGEST_SPACES, &spaces, &n_spaces) ||
        seep_digest_groups(d, SEEP_DIGEST_SITES, &sites, &n_sites)) {
        free(spaces);
        return -SEEP_ENOMEM;
    }
    if (n_sites)
        qsort(sites, n_sites, sizeof *sites, by_sum);
    json_t *json = SEEP_REPORT_JSON(
        report, .format = "seep-report", .version = 2, .seep = SEEP_VERSION, .job = job_json(d),
        .digest = seep_json_made(seep_digest_many_json(d), &failed), .processes = processes_json(d),
        .spaces = spaces_json(d, spaces, n_spaces),
        .findings = seep_digest_findings_json(d, sites, n_sites),
        .findings_left_out = seep_digest_left_out_json(d),
        .sites = sites_json(d, sites, n_sites, series),
        .timeline = timeline_json(d, spaces, n_spaces),
        .coverage = SEEP_REPORT_JSON(coverage, .hooks = json_array(),
                                     .not_seen = seep_digest_not_seen_json(d)));
    free(spaces);
    free(sites);
    *report = seep_json_whole(json, failed);
    return *report ? 0 : -SEEP_ENOMEM;
}
