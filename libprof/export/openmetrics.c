/* This file writes a job's totals as OpenMetrics text (1.0), with gauges only: for gauges the
 * format is the same as Prometheus's older text format, so node_exporter's textfile collector
 * accepts it. */
#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/base/error.h"
#include "libprof/base/text.h"
#include "libprof/export/sites.h"
#include "libprof/report_read/holder_view.h"
#include "libprof/report_read/report_view.h"

/* OpenMetrics text, one family of samples after the other. All labels are bounded: names of a job
 * come from anybody, and a monitoring system keeps every text that it ever saw. */

/* Bytes of a label's value; longer ones are cut between two characters. */
enum { SEEP_METRIC_LABEL_BYTES = 120 };

struct seep_metrics {
    FILE *out;
    const char *profile; /* labels of every sample; job_id: NULL if no launcher told one */
    const char *job_id;
};

struct seep_metric_label {
    const char *name, *text; /* NULL or "": this label is left out */
};

/* unit: "", or the end of the name. */
static void metric_family(const struct seep_metrics *m, const char *name, const char *unit,
                          const char *help)
{
    fprintf(m->out, "# TYPE %s gauge\n", name);
    if (*unit)
        fprintf(m->out, "# UNIT %s %s\n", name, unit);
    fprintf(m->out, "# HELP %s %s\n", name, help);
}

/* UTF-8: a byte 10xxxxxx continues a character. */
static size_t length_of(const char *text)
{
    size_t n = strnlen(text, SEEP_METRIC_LABEL_BYTES + 1);

    if (n <= SEEP_METRIC_LABEL_BYTES)
        return n;
    for (n--; n && (text[n] & 0xc0) == 0x80;)
        n--;
    return n;
}

/* Copies a text, cut to what a label has room for: texts that differ only behind that are one
 * label. Returns `to`. */
static const char *metric_label_text(const char *text, char to[SEEP_METRIC_LABEL_BYTES + 1])
{
    const size_t n = length_of(text);

    memcpy(to, text, n);
    to[n] = '\0';
    return to;
}

static void put_label(FILE *out, const char *before, const char *name, const char *text)
{
    const size_t n = length_of(text);

    fprintf(out, "%s%s=\"", before, name);
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\n')
            fputs("\\n", out);
        else if (text[i] == '"' || text[i] == '\\')
            fprintf(out, "\\%c", text[i]);
        else
            fputc(text[i], out);
    }
    fputc('"', out);
}

/* labels: n of them besides those of every sample. */
static void metric_put(const struct seep_metrics *m, const char *name,
                       const struct seep_metric_label *labels, size_t n, double value)
{
    fprintf(m->out, "%s{", name);
    put_label(m->out, "", "profile", m->profile);
    if (m->job_id)
        put_label(m->out, ",", "job_id", m->job_id);
    for (size_t i = 0; i < n; i++) {
        if (labels[i].text && labels[i].text[0])
            put_label(m->out, ",", labels[i].name, labels[i].text);
    }
    if (fabs(value) < 0x1p53 && value == trunc(value))
        fprintf(m->out, "} %.0f\n", value);
    else
        fprintf(m->out, "} %.17g\n", value);
}

/* The same with one label, or with none (NULL). */
static void metric_put_one(const struct seep_metrics *m, const char *name, const char *label,
                           const char *text, double value)
{
    const struct seep_metric_label one = {label, text};

    metric_put(m, name, &one, label ? 1 : 0, value);
}

/* ---- parts -------------------------------------------------------------------------------- */

static void put_growth(const struct seep_metrics *m, const json_t *spaces, double step_s)
{
    struct seep_slope growth;
    const char *space;
    json_t *totals;

    metric_family(m, "seep_growth_bytes_per_step", "bytes_per_step",
                  "Slope of the live bytes over the judged steps, by space.");
    json_object_foreach ((json_t *)spaces, space, totals) {
        if (seep_get_slope(totals, "growth_bytes_per_step", &growth))
            metric_put_one(m, "seep_growth_bytes_per_step", "space", space, growth.value);
    }
    metric_family(m, "seep_growth_bytes_per_second", "bytes_per_second",
                  "The same slope at the present pace of the steps.");
    json_object_foreach ((json_t *)spaces, space, totals) {
        if (step_s > 0 && seep_get_slope(totals, "growth_bytes_per_step", &growth))
            metric_put_one(m, "seep_growth_bytes_per_second", "space", space,
                           growth.value / step_s);
    }
}

static void put_spaces(const struct seep_metrics *m, const json_t *spaces)
{
    static const struct {
        const char *key, *name, *help;
    } table[] = {
        {"live_bytes", "seep_live_bytes",
         "Bytes that were live as the job ended, or are now, by space."},
        {"peak_bytes", "seep_peak_bytes", "Bytes that were live at most, by space."},
        {"retained_bytes", "seep_retained_bytes",
         "Bytes that were live at the end of the last judged step, by space."},
    };
    const char *space;
    json_t *totals;

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        metric_family(m, table[i].name, "bytes", table[i].help);
        json_object_foreach ((json_t *)spaces, space, totals) {
            if (json_is_number(json_object_get(totals, table[i].key)))
                metric_put_one(m, table[i].name, "space", space,
                               seep_get_number(totals, table[i].key));
        }
    }
}

/* Where another machine wrote the profile, nobody knows whether the job runs. */
static void put_state(const struct seep_metrics *m, const json_t *report)
{
    const bool runs = seep_get_runs(report);

    metric_family(m, "seep_complete", "", "1 where every process has ended and was read whole.");
    metric_put_one(m, "seep_complete", NULL, NULL, seep_get_job(report).complete);
    metric_family(m, "seep_running", "", "1 where a process of the job runs.");
    if (runs || seep_get_ended(report))
        metric_put_one(m, "seep_running", NULL, NULL, runs);
}

/* RSS, and the limit that it has. */
static void put_resident(const struct seep_metrics *m, const json_t *report)
{
    const struct seep_report_job job = seep_get_job(report);
    const json_t *rss = json_object_get(json_object_get(report, "timeline"), "rss_bytes");
    const size_t n = json_array_size(rss);

    metric_family(m, "seep_rss_bytes", "bytes", "RSS of all processes as last seen.");
    if (n)
        metric_put_one(m, "seep_rss_bytes", NULL, NULL,
                       json_number_value(json_array_get(rss, n - 1)));
    metric_family(m, "seep_limit_bytes", "bytes",
                  "Limit on host memory, of the main process's machine.");
    if (job.limit_bytes >= 0)
        metric_put_one(m, "seep_limit_bytes", "kind", job.limit_kind ? job.limit_kind : "",
                       (double)job.limit_bytes);
}

static void put_job(const struct seep_metrics *m, const json_t *job)
{
    static const struct {
        const char *key, *name, *unit, *help;
    } table[] = {
        {"steps", "seep_steps", "",
         "Training steps that have ended; time slices where none were found."},
        {"epochs", "seep_epochs", "", "Epochs that have begun."},
        {"duration_s", "seep_duration_seconds", "seconds", "How long the job has run."},
        {"started_unix_s", "seep_start_time_seconds", "seconds",
         "When the job began, in Unix time."},
        {"dropped_events", "seep_dropped_events", "",
         "Allocations and frees that could not be recorded."},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (!json_is_number(json_object_get(job, table[i].key)))
            continue;
        metric_family(m, table[i].name, table[i].unit, table[i].help);
        metric_put_one(m, table[i].name, NULL, NULL, seep_get_number(job, table[i].key));
    }
}

static void put_devices(const struct seep_metrics *m, const json_t *devices)
{
    static const struct {
        const char *key, *name, *help;
    } table[] = {
        {"capacity_bytes", "seep_device_capacity_bytes", "Memory of a GPU."},
        {"used_peak_bytes", "seep_device_used_peak_bytes",
         "Bytes of a GPU that the job's processes used at most, contexts and code included."},
        {"reserved_bytes", "seep_device_reserved_bytes",
         "Bytes of a GPU that PyTorch's allocator had taken by its last report."},
    };
    json_t *device;
    size_t i;

    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        metric_family(m, table[k].name, "bytes", table[k].help);
        json_array_foreach (devices, i, device) {
            char number[24];
            snprintf(number, sizeof number, "%lld", (long long)seep_count_of(device, "device"));
            if (json_is_number(json_object_get(device, table[k].key)))
                metric_put_one(m, table[k].name, "device", number,
                               seep_get_number(device, table[k].key));
        }
    }
}

/* ---- all of it ---------------------------------------------------------------------------- */

static size_t first_at(const json_t *column, double least)
{
    size_t i = 0;

    while (i < json_array_size(column) && json_number_value(json_array_get(column, i)) < least)
        i++;
    return i;
}

/* Seconds that a step took lately: over the later half of the steps; 0: not known. The last step
 * may last: what comes after its begin does not count. */
static double metric_step_s(const json_t *report)
{
    const json_t *timeline = json_object_get(report, "timeline");
    const json_t *t_s = json_object_get(timeline, "t_s"), *step = json_object_get(timeline, "step");
    const size_t n = json_array_size(step);

    if (!n)
        return 0;
    const double last = json_number_value(json_array_get(step, n - 1));
    const size_t from = first_at(step, last / 2), to = first_at(step, last);
    const double steps = last - json_number_value(json_array_get(step, from));
    const double s =
        json_number_value(json_array_get(t_s, to)) - json_number_value(json_array_get(t_s, from));
    return steps > 0 && s > 0 ? s / steps : 0;
}

/* What the findings of a report say to a monitoring system: how many there are, which lines grow
 * without an end, and when a limit is reached. */

/* Lines with series of their own: the most severe. */
enum { MAX_LINES = 16 };

/* ---- counts ------------------------------------------------------------------------------ */

static void put_severities(const struct seep_metrics *m, const json_t *report)
{
    double n[SEEP_N_SEVERITIES] = {0};
    json_t *finding;
    size_t i;

    json_array_foreach (json_object_get(report, "findings"), i, finding)
        n[seep_report_finding_read(finding).severity]++;
    metric_family(m, "seep_findings", "", "Findings, by severity.");
    for (int k = 0; k < SEEP_N_SEVERITIES; k++)
        metric_put_one(m, "seep_findings", "severity", seep_severities[k],
                       n[k] + seep_get_left_out(report, k));
}

/* Adds to, or with `least` lowers, a number of an object. */
static int note(json_t *object, const char *key, double value, bool least)
{
    const json_t *before = json_object_get(object, key);
    const double old = json_number_value(before);

    if (before)
        value = least ? fmin(old, value) : old + value;
    return json_object_set_new(object, key, json_real(value)) ? -SEEP_ENOMEM : 0;
}

static int put_patterns(const struct seep_metrics *m, const json_t *report)
{
    json_t *counts = json_object(), *finding, *n;
    const char *pattern;
    size_t i;
    int r = counts ? 0 : -SEEP_ENOMEM;

    json_array_foreach (json_object_get(report, "findings"), i, finding) {
        if (!r)
            r = note(counts, seep_report_finding_read(finding).pattern, 1, false);
    }
    metric_family(m, "seep_pattern_findings", "", "Findings that the report lists, by pattern.");
    json_object_foreach (counts, pattern, n)
        metric_put_one(m, "seep_pattern_findings", "pattern", pattern, json_real_value(n));
    json_decref(counts);
    return r;
}

static void put_kills(const struct seep_metrics *m, const json_t *job)
{
    const json_t *kills = json_object_get(job, "oom_kills");

    if (!json_is_number(kills))
        return;
    metric_family(m, "seep_oom_kills", "",
                  "Processes of the job that the kernel killed for lack of memory.");
    metric_put_one(m, "seep_oom_kills", NULL, NULL, json_number_value(kills));
}

/* ---- lines ------------------------------------------------------------------------------- */

struct line {
    const char *pattern, *severity, *space;
    char text[SEEP_METRIC_LABEL_BYTES + 1];
    double growth, live;
};

/* As `seep.monitor()` has it: an accusation that has not levelled off and surely grows. */
static double growth_without_end(const struct seep_report_finding *f)
{
    return f->severity == SEEP_LEAK && f->growth_bytes_per_step.low > 0 && f->plateau_step < 0
               ? f->growth_bytes_per_step.value
               : 0;
}

static bool is_same_line(const struct line *a, const struct line *b)
{
    return strcmp(a->pattern, b->pattern) == 0 && strcmp(a->severity, b->severity) == 0 &&
           strcmp(a->space, b->space) == 0 && strcmp(a->text, b->text) == 0;
}

/* Returns how many lines there are, or -SEEP_ENOMEM. Findings with the same labels are one. */
static int list_lines(const json_t *report, struct line lines[MAX_LINES])
{
    const char *cwd = seep_get_job(report).cwd;
    json_t *finding;
    size_t i;
    int n = 0, k;

    json_array_foreach (json_object_get(report, "findings"), i, finding) {
        if (n == MAX_LINES)
            break;
        const struct seep_report_finding f = seep_report_finding_read(finding);
        struct line *line = &lines[n];
        char *text = seep_get_frame_text(seep_get_line_to_change(&f), cwd);
        if (!text)
            return -SEEP_ENOMEM;
        *line = (struct line){.pattern = f.pattern,
                              .severity = seep_severity_name(f.severity),
                              .space = f.space,
                              .growth = growth_without_end(&f),
                              .live = (double)f.live_bytes};
        metric_label_text(text, line->text);
        free(text);
        for (k = 0; k < n && !is_same_line(&lines[k], line);)
            k++;
        if (k < n) {
            lines[k].growth += line->growth;
            lines[k].live += line->live;
        } else
            n++;
    }
    return n;
}

static int put_lines(const struct seep_metrics *m, const json_t *report)
{
    struct line lines[MAX_LINES];
    const int n = list_lines(report, lines);

    for (int growth = 0; growth < 2 && n >= 0; growth++) {
        const char *name =
            growth ? "seep_finding_growth_bytes_per_step" : "seep_finding_live_bytes";
        metric_family(m, name, growth ? "bytes_per_step" : "bytes",
                      growth ? "Growth of a leak that never levelled off; 0 of other findings."
                             : "Bytes that a finding is about, at the last finished step.");
        for (int i = 0; i < n; i++) {
            const struct seep_metric_label labels[] = {{"severity", lines[i].severity},
                                                       {"pattern", lines[i].pattern},
                                                       {"space", lines[i].space},
                                                       {"line", lines[i].text}};
            metric_put(m, name, labels, 4, growth ? lines[i].growth : lines[i].live);
        }
    }
    return n < 0 ? n : 0;
}

/* ---- limits ------------------------------------------------------------------------------ */

/* Of a job that has ended nothing comes nearer to a limit. */
static int put_nearest_limits(const struct seep_metrics *m, const json_t *report)
{
    const double step_s = metric_step_s(report);
    json_t *nearest = json_object(), *finding, *steps;
    const char *space;
    size_t i;
    int r = nearest ? 0 : -SEEP_ENOMEM;

    json_array_foreach (json_object_get(report, "findings"), i, finding) {
        const struct seep_report_finding f = seep_report_finding_read(finding);
        if (!r && f.steps_to_limit >= 0)
            r = note(nearest, f.space, (double)f.steps_to_limit, true);
    }
    metric_family(m, "seep_limit_steps", "",
                  "Steps until the growth of a space reaches its limit.");
    json_object_foreach (nearest, space, steps)
        metric_put_one(m, "seep_limit_steps", "space", space, json_real_value(steps));
    metric_family(m, "seep_limit_seconds", "seconds",
                  "Seconds until the growth of a space reaches its limit, at the present pace.");
    json_object_foreach (nearest, space, steps) {
        if (step_s > 0)
            metric_put_one(m, "seep_limit_seconds", "space", space,
                           json_real_value(steps) * step_s);
    }
    json_decref(nearest);
    return r;
}

/* The parts of a report, one file for each. `report` is any JSON. Returns 0 or -SEEP_ENOMEM. */
static int metric_findings(const struct seep_metrics *m, const json_t *report)
{
    put_severities(m, report);
    put_kills(m, json_object_get(report, "job"));
    if (put_patterns(m, report) || put_lines(m, report))
        return -SEEP_ENOMEM;
    return seep_get_ended(report) ? 0 : put_nearest_limits(m, report);
}

/* The processes of a job as series of bounded number. A training has thousands of processes over
 * its time (workers of each epoch, helpers), and a monitoring system keeps every series. So the
 * ranks come first, then the largest that run; the rest is summed by role and host. */

static const char *const roles[] = {
#define SEEP_PROCESS_ROLE(id, name) name,
#include "libprof/words/process_roles.def"
#undef SEEP_PROCESS_ROLE
};
enum { N_ROLES = sizeof roles / sizeof *roles };

enum { MAX_OWN = 64, MAX_SUMS = 64, KEY_BYTES = 2 * SEEP_METRIC_LABEL_BYTES };

/* A process, or the sum of several (pid and rank are "" then). */
struct unit {
    char host[SEEP_METRIC_LABEL_BYTES + 1]; /* "": several */
    char pid[24], rank[24];
    const char *role;
    bool trains, runs;
    double order, rss_peak, rss, steps, n;
    json_t *live; /* bytes by space, of those that run; owned */
};

struct units {
    struct unit *list;
    size_t n;      /* processes, of which the first MAX_OWN are shown */
    size_t n_sums; /* behind these n */
    json_t *index; /* of a key: the place in the list */
};

/* ---- processes --------------------------------------------------------------------------- */

static bool is_known_to_have_ended(const json_t *process)
{
    const char *kind = seep_get_text(json_object_get(process, "exit"), "kind", "unknown");

    return strcmp(kind, "exit") == 0 || strcmp(kind, "signal") == 0;
}

static const char *role_of(const json_t *process)
{
    const char *role = seep_get_text(process, "role", "");

    for (int i = 0; i < N_ROLES; i++) {
        if (strcmp(role, roles[i]) == 0)
            return roles[i];
    }
    return "helper";
}

static double last_of(const json_t *column)
{
    const size_t n = json_array_size(column);

    return n ? json_number_value(json_array_get(column, n - 1)) : 0;
}

static int add_live(struct unit *to, const char *space, double bytes)
{
    const double before = json_number_value(json_object_get(to->live, space));

    return json_object_set_new(to->live, space, json_real(before + bytes)) ? -SEEP_ENOMEM : 0;
}

/* What is now belongs to the process that runs; the peak to all that had the pid, since a program
 * may have been replaced (exec) and pids are used again. */
static int take_process(struct unit *unit, const json_t *process)
{
    const json_t *rank = json_object_get(process, "rank");
    const char *space;
    json_t *totals;

    unit->role = role_of(process);
    unit->trains = strcmp(unit->role, "trainer") == 0 || strcmp(unit->role, "rank") == 0;
    unit->runs = !is_known_to_have_ended(process);
    unit->rss_peak = fmax(unit->rss_peak, seep_get_number(process, "rss_peak_bytes"));
    unit->steps = seep_get_number(process, "steps");
    unit->order = unit->trains && json_is_integer(rank) ? json_number_value(rank) : -1;
    if (json_is_integer(rank))
        snprintf(unit->rank, sizeof unit->rank, "%lld", (long long)json_integer_value(rank));
    json_object_clear(unit->live);
    unit->rss = 0;
    if (!unit->runs)
        return 0;
    unit->rss = last_of(json_object_get(json_object_get(process, "timeline"), "rss_bytes"));
    json_object_foreach (json_object_get(process, "spaces"), space, totals) {
        if (add_live(unit, space, seep_get_number(totals, "live_bytes")))
            return -SEEP_ENOMEM;
    }
    return 0;
}

/* The unit of a key, made where there is none yet. NULL without memory. */
static struct unit *unit_of(struct units *units, const char *key, size_t next)
{
    const json_t *place = json_object_get(units->index, key);
    struct unit *unit = &units->list[place ? (size_t)json_integer_value(place) : next];

    if (place)
        return unit;
    unit->live = json_object();
    if (!unit->live || json_object_set_new(units->index, key, json_integer((json_int_t)next))) {
        json_decref(unit->live);
        unit->live = NULL;
        return NULL;
    }
    return unit;
}

static int list_processes(struct units *units, const json_t *report)
{
    const char *host = seep_get_job(report).host;
    char key[KEY_BYTES], name[SEEP_METRIC_LABEL_BYTES + 1];
    json_t *process;
    size_t i;

    json_array_foreach (json_object_get(report, "processes"), i, process) {
        const json_int_t pid = json_integer_value(json_object_get(process, "pid"));
        metric_label_text(seep_get_text(process, "host", host), name);
        snprintf(key, sizeof key, "%lld@%s", (long long)pid, name);
        struct unit *unit = unit_of(units, key, units->n);
        if (!unit)
            return -SEEP_ENOMEM;
        units->n += unit == &units->list[units->n];
        memcpy(unit->host, name, sizeof name);
        snprintf(unit->pid, sizeof unit->pid, "%lld", (long long)pid);
        unit->n = 1;
        if (take_process(unit, process))
            return -SEEP_ENOMEM;
    }
    return 0;
}

static int compare(const void *left, const void *right)
{
    const struct unit *a = left, *b = right;

    if (a->trains != b->trains)
        return b->trains - a->trains;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    if (a->runs != b->runs)
        return b->runs - a->runs;
    if (a->rss_peak != b->rss_peak)
        return a->rss_peak > b->rss_peak ? -1 : 1;
    const int hosts = strcmp(a->host, b->host);
    return hosts ? hosts : strcmp(a->pid, b->pid);
}

/* ---- sums -------------------------------------------------------------------------------- */

static int add(struct unit *to, const struct unit *process)
{
    const char *space;
    json_t *bytes;

    to->rss_peak = fmax(to->rss_peak, process->rss_peak);
    if (!process->runs)
        return 0;
    to->runs = true;
    to->rss += process->rss;
    to->n++;
    json_object_foreach (process->live, space, bytes) {
        if (add_live(to, space, json_real_value(bytes)))
            return -SEEP_ENOMEM;
    }
    return 0;
}

/* Roles are few, hosts may be many: those that have no room are one. */
static int sum_rest(struct units *units)
{
    char key[KEY_BYTES];

    for (size_t i = MAX_OWN; i < units->n; i++) {
        const struct unit *process = &units->list[i];
        const char *host = process->host;
        snprintf(key, sizeof key, "%s@%s", process->role, host);
        if (!json_object_get(units->index, key) && units->n_sums >= MAX_SUMS) {
            snprintf(key, sizeof key, "%s", process->role);
            host = "";
        }
        struct unit *sum = unit_of(units, key, units->n + units->n_sums);
        if (!sum)
            return -SEEP_ENOMEM;
        if (!sum->role) {
            units->n_sums++;
            sum->role = process->role;
            memcpy(sum->host, host, strlen(host) + 1);
        }
        if (add(sum, process))
            return -SEEP_ENOMEM;
    }
    return 0;
}

/* ---- series ------------------------------------------------------------------------------ */

static void put(const struct seep_metrics *m, const char *name, const struct unit *unit,
                const char *space, double value)
{
    const struct seep_metric_label labels[] = {{"host", unit->host},
                                               {"role", unit->role},
                                               {"rank", unit->rank},
                                               {"pid", unit->pid},
                                               {"space", space}};

    metric_put(m, name, labels, sizeof labels / sizeof *labels, value);
}

/* The next one that is shown, from *at on; NULL after the last. */
static const struct unit *next(const struct units *units, size_t *at)
{
    if (*at == MAX_OWN && units->n > MAX_OWN)
        *at = units->n;
    return *at < units->n + units->n_sums ? &units->list[(*at)++] : NULL;
}

static void put_live(const struct seep_metrics *m, const struct units *units)
{
    const struct unit *unit;
    const char *space;
    json_t *bytes;

    metric_family(m, "seep_process_live_bytes", "bytes",
                  "Bytes that are live in a process that runs, by space.");
    for (size_t at = 0; (unit = next(units, &at));) {
        json_object_foreach (unit->live, space, bytes)
            put(m, "seep_process_live_bytes", unit, space, json_real_value(bytes));
    }
}

static void put_numbers(const struct seep_metrics *m, const struct units *units)
{
    const struct unit *unit;

    metric_family(m, "seep_process_rss_bytes", "bytes", "RSS of a process that runs.");
    for (size_t at = 0; (unit = next(units, &at));) {
        if (unit->runs)
            put(m, "seep_process_rss_bytes", unit, NULL, unit->rss);
    }
    metric_family(m, "seep_process_rss_peak_bytes", "bytes",
                  "Highest RSS of a process; without a pid, of any of them.");
    for (size_t at = 0; (unit = next(units, &at));)
        put(m, "seep_process_rss_peak_bytes", unit, NULL, unit->rss_peak);
    metric_family(m, "seep_process_steps", "", "Steps of a trainer or a rank.");
    for (size_t at = 0; (unit = next(units, &at));) {
        if (unit->trains && unit->pid[0])
            put(m, "seep_process_steps", unit, NULL, unit->steps);
    }
    metric_family(m, "seep_processes", "", "Processes that run.");
    for (size_t at = 0; (unit = next(units, &at));) {
        if (unit->runs)
            put(m, "seep_processes", unit, NULL, unit->n);
    }
}

static void units_fini(struct units *units, size_t n)
{
    for (size_t i = 0; units->list && i < n; i++)
        json_decref(units->list[i].live);
    free(units->list);
    json_decref(units->index);
}

static int metric_processes(const struct seep_metrics *m, const json_t *report)
{
    const size_t n = json_array_size(json_object_get(report, "processes")) + MAX_SUMS + N_ROLES;
    struct units units = {.list = calloc(n, sizeof *units.list), .index = json_object()};
    int r = units.list && units.index ? list_processes(&units, report) : -SEEP_ENOMEM;

    if (!r) {
        qsort(units.list, units.n, sizeof *units.list, compare);
        json_object_clear(units.index); /* places have changed */
        r = sum_rest(&units);
    }
    if (!r) {
        put_live(m, &units);
        put_numbers(m, &units);
    }
    units_fini(&units, n);
    return r;
}

int seep_export_openmetrics(const json_t *report, struct seep_json_stream *sites,
                            const struct seep_export_options *o, FILE *out)
{
    const struct seep_metrics m = {out, o->profile, seep_get_job_id(report)};
    const json_t *spaces = json_object_get(report, "spaces");

    (void)sites;
    put_spaces(&m, spaces);
    put_growth(&m, spaces, metric_step_s(report));
    put_job(&m, json_object_get(report, "job"));
    put_state(&m, report);
    put_resident(&m, report);
    put_devices(&m, json_object_get(report, "devices"));
    if (o->read_unix_s > 0) {
        metric_family(&m, "seep_read_time_seconds", "seconds",
                      "When the profile was read for this, in Unix time.");
        metric_put_one(&m, "seep_read_time_seconds", NULL, NULL, o->read_unix_s);
    }
    if (metric_findings(&m, report) || metric_processes(&m, report))
        return -SEEP_ENOMEM;
    fputs("# EOF\n", out);
    return ferror(out) ? -SEEP_EIO : 0;
}
