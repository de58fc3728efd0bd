#include "viewer/top/top_view.h"

#include "libprof/base/text.h"
#include "libprof/report_read/report_view.h"
#include "libprof/words/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_TEXT = 1000,    /* bytes of a name that are shown: no terminal is wider */
    RECENT_SHARE = 16,  /* the rate of steps is taken over this last part of the time, */
    RECENT_SECONDS = 30 /* or over this many seconds */
};

static double last_of(const json_t *array)
{
    size_t n = json_array_size(array);

    return n ? json_number_value(json_array_get(array, n - 1)) : 0;
}

static double highest_of(const json_t *array)
{
    double highest = 0;
    json_t *one;
    size_t i;

    json_array_foreach (array, i, one)
        highest = fmax(highest, json_number_value(one));
    return highest;
}

/* A program's name and arguments; as much as is ever shown. */
static char *command_of(const json_t *argv)
{
    char text[MAX_TEXT + 1] = "";
    size_t n = 0;
    json_t *one;
    size_t i;

    json_array_foreach (argv, i, one) {
        const char *word = json_string_value(one) ? json_string_value(one) : "";
        int more = snprintf(text + n, sizeof text - n, "%s%s", i ? " " : "", word);
        n += more > 0 ? (size_t)more : 0;
        if (n >= sizeof text)
            break;
    }
    return seep_text_clean(text, strlen(text));
}

/* The rate of steps since the first recent point of the timeline: none where all points are
 * older. */
static void read_rate(struct seep_top_view *view)
{
    const json_t *steps = json_object_get(json_object_get(view->report, "timeline"), "step");
    size_t n = json_array_size(view->times);
    double end = view->since_s;
    double begin = end - fmax(RECENT_SECONDS, end / RECENT_SHARE);

    view->steps_per_s = -1;
    if (n < 2 || json_array_size(steps) != n || strcmp(view->step_unit, "step") != 0)
        return;
    if (last_of(view->times) < begin)
        view->steps_per_s = 0;
    for (size_t i = 0; i + 1 < n && view->steps_per_s < 0; i++) {
        double t = json_number_value(json_array_get(view->times, i));
        double step = json_number_value(json_array_get(steps, i));
        if (t >= begin && t < end && step >= 1) /* step 0 is everything before the training */
            view->steps_per_s = fmax(0, last_of(steps) - step) / (end - t);
    }
}

static void read_job(struct seep_top_view *view, double now_unix_s)
{
    const struct seep_report_job job = seep_get_job(view->report);

    view->command = command_of(job.command);
    view->steps = (double)job.steps;
    view->step_unit = seep_get_step_unit(&job);
    view->running = seep_get_runs(view->report);
    view->since_s = job.duration_s; /* until its last sign of life */
    if (view->running)
        view->since_s = fmax(view->since_s, now_unix_s - job.started_unix_s);
    view->ended = seep_get_ended(view->report);
    view->cwd = job.cwd;
    view->times = json_object_get(json_object_get(view->report, "timeline"), "t_s");
    read_rate(view);
}

/* The limit of a space's memory: the host's, a device's, or 0 where none is known. */
static double limit_of(const json_t *report, const char *space)
{
    struct seep_space_name name = seep_space_parse(space);
    json_t *device;
    size_t i;

    if (name.class == SEEP_CLASS_OTHER)
        return seep_get_number(json_object_get(json_object_get(report, "spaces"), space),
                               "capacity_bytes");
    if (name.class != SEEP_CLASS_DEVICE && name.class != SEEP_CLASS_TENSOR)
        return fmax(0, (double)seep_get_job(report).limit_bytes);
    json_array_foreach (json_object_get(report, "devices"), i, device) {
        if (seep_get_number(device, "device") == name.device)
            return seep_get_number(device, "capacity_bytes");
    }
    return 0;
}

/* Steps per second, or time slices where there are no steps; 0: unknown. */
static double pace_of(const struct seep_top_view *view)
{
    if (strcmp(view->step_unit, "step") == 0)
        return fmax(0, view->steps_per_s);
    return view->since_s > 0 ? view->steps / view->since_s : 0;
}

/* All resident memory fills the host, not one of its spaces alone. */
static double full_in_s(const struct seep_top_view *view, const struct seep_top_space *space,
                        const struct seep_slope *growth, double resident)
{
    bool of_host = space->limit == limit_of(view->report, "host");
    double level = of_host ? fmax(space->live, resident) : space->live, pace = pace_of(view);

    if (!view->running || !space->has_growth || !(growth->low > 0) || !(space->limit > level) ||
        !(pace > 0))
        return -1;
    return (space->limit - level) / growth->value / pace;
}

static int read_spaces(struct seep_top_view *view)
{
    const json_t *timeline = json_object_get(view->report, "timeline");
    const json_t *rss = json_object_get(timeline, "rss_bytes");
    json_t *spaces = json_object_get(view->report, "spaces"), *space;
    struct seep_slope growth = {0};
    const char *name;

    view->spaces = calloc(json_object_size(spaces) + 1, sizeof *view->spaces);
    if (!view->spaces)
        return -1;
    json_object_foreach (spaces, name, space) {
        const json_t *course = json_object_get(json_object_get(timeline, "spaces"), name);
        struct seep_top_space *s = &view->spaces[view->n_spaces++];
        s->name = name;
        s->live = seep_get_number(space, "live_bytes");
        s->peak = seep_get_number(space, "peak_bytes");
        s->has_growth = seep_get_slope(space, "growth_bytes_per_step", &growth);
        s->growth = s->has_growth ? growth.value : 0;
        s->limit = limit_of(view->report, name);
        s->full_in_s = full_in_s(view, s, &growth, last_of(rss));
        s->levels = json_object_get(course, "live_bytes");
    }
    if (json_array_size(rss))
        view->spaces[view->n_spaces++] =
            (struct seep_top_space){.name = "resident",
                                    .live = view->running ? last_of(rss) : 0,
                                    .peak = highest_of(rss),
                                    .full_in_s = -1,
                                    .limit = limit_of(view->report, "host"),
                                    .levels = rss};
    return 0;
}

static void read_memory(struct seep_top_process *p, json_t *spaces)
{
    double device = 0, tensors = 0;
    const char *name;
    json_t *space;

    json_object_foreach (spaces, name, space) {
        enum seep_space_class class = seep_space_parse(name).class;
        double live = seep_get_number(space, "live_bytes");
        if (class == SEEP_CLASS_DEVICE)
            device += live;
        else if (class == SEEP_CLASS_TENSOR)
            tensors += live;
        else if (class != SEEP_CLASS_OTHER)
            p->host += live;
    }
    p->device = device > 0 ? device : tensors;
}

static int read_process(struct seep_top_process *p, const json_t *json)
{
    const struct seep_report_process process = seep_report_process_read(json);
    const struct seep_report_exit exit = seep_report_exit_read(process.exit);
    const char *kind = *exit.kind ? exit.kind : "unknown";

    p->pid = (double)process.pid;
    p->steps = (double)process.steps;
    p->running = strcmp(kind, "running") == 0;
    p->rss = p->running ? last_of(json_object_get(process.timeline, "rss_bytes")) : 0;
    p->rss_peak = (double)process.rss_peak_bytes;
    p->cpu_step_s = json_number_value(process.cpu_s_per_step);
    snprintf(p->role, sizeof p->role, "%s", process.role);
    if (process.rank >= 0)
        snprintf(p->role, sizeof p->role, "rank %lld", (long long)process.rank);
    snprintf(p->state, sizeof p->state, "%s", kind);
    if (exit.value >= 0)
        snprintf(p->state, sizeof p->state, "%.10s %lld", kind, (long long)exit.value);
    p->failed = !p->running && strcmp(p->role, "helper") != 0 && seep_get_has_failed(json);
    if (p->running)
        read_memory(p, process.spaces);
    p->command = command_of(process.argv);
    return p->command ? 0 : -1;
}

/* Running ones first, then failed ones, trainers before their helpers, then the larger. */
static int compare_processes(const void *a, const void *b)
{
    const struct seep_top_process *p = a, *q = b;
    bool p_helps = strcmp(p->role, "helper") == 0, q_helps = strcmp(q->role, "helper") == 0;

    if (p->running != q->running)
        return q->running - p->running;
    if (p->failed != q->failed)
        return q->failed - p->failed;
    if (p_helps != q_helps)
        return p_helps - q_helps;
    if (p->rss_peak != q->rss_peak)
        return p->rss_peak < q->rss_peak ? 1 : -1;
    return (p->pid > q->pid) - (p->pid < q->pid);
}

static int read_processes(struct seep_top_view *view)
{
    const json_t *processes = json_object_get(view->report, "processes");
    json_t *process;
    size_t i;

    view->processes = calloc(json_array_size(processes) + 1, sizeof *view->processes);
    if (!view->processes)
        return -1;
    json_array_foreach (processes, i, process) {
        struct seep_top_process *p = &view->processes[view->n_processes++];
        if (read_process(p, process) < 0)
            return -1;
        view->n_ended += view->running && !p->running && !p->failed;
    }
    qsort(view->processes, view->n_processes, sizeof *view->processes, compare_processes);
    return 0;
}

/* In the report's order. */
static int name_spaces(struct seep_top_view *view)
{
    json_t *spaces = json_object_get(view->report, "spaces"), *space;
    const char *name;

    view->space_names = calloc(json_object_size(spaces) + 1, sizeof *view->space_names);
    if (!view->space_names)
        return -1;
    json_object_foreach (spaces, name, space) {
        bool used = false;
        for (size_t i = 0; i < view->n_lines && !used; i++)
            used = strcmp(view->lines[i].space, name) == 0;
        if (used)
            view->space_names[view->n_space_names++] = name;
    }
    return 0;
}

static int read_lines(struct seep_top_view *view)
{
    struct seep_json_stream_of_list sites;

    seep_json_stream_of_list(&sites, json_object_get(view->report, "sites"));
    if (seep_line_views_init(&view->all, view->report, &sites.stream, false) < 0)
        return -1;
    view->lines = view->all.lines;
    view->n_lines = view->all.n;
    return name_spaces(view);
}

const json_t *seep_top_site(const struct seep_top_view *view, const struct seep_line_view *line,
                            size_t i)
{
    return json_array_get(json_object_get(view->report, "sites"), line->sites[i]);
}

struct seep_top_view *seep_top_view_create(json_t *report, double now_unix_s)
{
    struct seep_top_view *view = calloc(1, sizeof *view);

    if (!view) {
        json_decref(report);
        return NULL;
    }
    view->report = report;
    view->holders = json_object_get(json_object_get(report, "holders"), "named");
    read_job(view, now_unix_s);
    if (!view->command || read_spaces(view) < 0 || read_processes(view) < 0 ||
        read_lines(view) < 0) {
        seep_top_view_destroy(view);
        return NULL;
    }
    return view;
}

void seep_top_view_destroy(struct seep_top_view *view)
{
    if (!view)
        return;
    for (size_t i = 0; i < view->n_processes; i++)
        free(view->processes[i].command);
    seep_line_views_fini(&view->all);
    free(view->command);
    free(view->spaces);
    free(view->processes);
    free(view->space_names);
    json_decref(view->report);
    free(view);
}
