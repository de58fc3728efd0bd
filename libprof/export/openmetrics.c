/* This file writes a job's totals as OpenMetrics text (1.0), with gauges only: for gauges the
 * format is the same as Prometheus's older text format, so node_exporter's textfile collector
 * accepts it. */
#include "libprof/export/sites.h"
#include "libprof/report_read/report_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct metrics {
    FILE *out;
    const char *profile;
};

/* unit: "", or the end of the name. */
static void begin_family(const struct metrics *m, const char *name, const char *unit,
                         const char *help)
{
    fprintf(m->out, "# TYPE %s gauge\n", name);
    if (*unit)
        fprintf(m->out, "# UNIT %s %s\n", name, unit);
    fprintf(m->out, "# HELP %s %s\n", name, help);
}

static void put_label(FILE *out, const char *name, const char *value)
{
    fprintf(out, "%s=\"", name);
    for (const char *p = value; *p; p++) {
        if (*p == '\n')
            fputs("\\n", out);
        else if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else
            fputc(*p, out);
    }
    fputc('"', out);
}

/* label: NULL, or the name of a label besides the profile's. */
static void put_sample(const struct metrics *m, const char *name, const char *label,
                       const char *text, double value)
{
    fprintf(m->out, "%s{", name);
    put_label(m->out, "profile", m->profile);
    if (label) {
        fputc(',', m->out);
        put_label(m->out, label, text);
    }
    if (fabs(value) < 0x1p53 && value == trunc(value))
        fprintf(m->out, "} %.0f\n", value);
    else
        fprintf(m->out, "} %.17g\n", value);
}

/* ---- parts -------------------------------------------------------------------------------- */

static void put_spaces(const struct metrics *m, const json_t *spaces)
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
    struct seep_slope growth;
    const char *space;
    json_t *totals;

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        begin_family(m, table[i].name, "bytes", table[i].help);
        json_object_foreach ((json_t *)spaces, space, totals) {
            if (json_is_number(json_object_get(totals, table[i].key)))
                put_sample(m, table[i].name, "space", space, seep_get_number(totals, table[i].key));
        }
    }
    begin_family(m, "seep_growth_bytes_per_step", "bytes_per_step",
                 "Slope of the live bytes over the judged steps, by space.");
    json_object_foreach ((json_t *)spaces, space, totals) {
        if (seep_get_slope(totals, "growth_bytes_per_step", &growth))
            put_sample(m, "seep_growth_bytes_per_step", "space", space, growth.value);
    }
}

static void put_job(const struct metrics *m, const json_t *job)
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
        begin_family(m, table[i].name, table[i].unit, table[i].help);
        put_sample(m, table[i].name, NULL, NULL, seep_get_number(job, table[i].key));
    }
    begin_family(m, "seep_complete", "", "1 where every process has ended and was read whole.");
    put_sample(m, "seep_complete", NULL, NULL, json_is_true(json_object_get(job, "complete")));
}

static void put_findings(const struct metrics *m, const json_t *report)
{
    double n[4] = {0};
    json_t *finding;
    size_t i;

    json_array_foreach (json_object_get(report, "findings"), i, finding)
        n[seep_get_severity(finding)]++;
    begin_family(m, "seep_findings", "", "Findings, by severity.");
    for (int k = 0; k < 4; k++)
        put_sample(m, "seep_findings", "severity", seep_severities[k],
                   n[k] + seep_get_left_out(report, k));
}

/* After an exec, or across hosts, several processes may have the same pid: the largest represents
 * them. */
static json_t *rss_by_pid(const json_t *report)
{
    json_t *peaks = json_object(), *process;
    size_t i;

    json_array_foreach (json_object_get(report, "processes"), i, process) {
        char pid[24];
        snprintf(pid, sizeof pid, "%lld", (long long)seep_count_of(process, "pid"));
        int64_t rss = seep_count_of(process, "rss_peak_bytes");
        if (rss >= json_integer_value(json_object_get(peaks, pid)) &&
            json_object_set_new(peaks, pid, json_integer(rss))) {
            json_decref(peaks);
            return NULL;
        }
    }
    return peaks;
}

static int put_processes(const struct metrics *m, const json_t *report)
{
    json_t *peaks = rss_by_pid(report), *rss;
    const char *pid;

    if (!peaks)
        return -SEEP_ENOMEM;
    begin_family(m, "seep_process_rss_peak_bytes", "bytes", "Highest RSS of a process.");
    json_object_foreach (peaks, pid, rss)
        put_sample(m, "seep_process_rss_peak_bytes", "pid", pid, json_number_value(rss));
    json_decref(peaks);
    return 0;
}

static void put_devices(const struct metrics *m, const json_t *devices)
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
        begin_family(m, table[k].name, "bytes", table[k].help);
        json_array_foreach (devices, i, device) {
            char number[24];
            snprintf(number, sizeof number, "%lld", (long long)seep_count_of(device, "device"));
            if (json_is_number(json_object_get(device, table[k].key)))
                put_sample(m, table[k].name, "device", number,
                           seep_get_number(device, table[k].key));
        }
    }
}

int seep_export_openmetrics(const json_t *report, const struct seep_export_options *o, FILE *out)
{
    const struct metrics m = {out, o->profile};

    put_spaces(&m, json_object_get(report, "spaces"));
    put_job(&m, json_object_get(report, "job"));
    put_findings(&m, report);
    put_devices(&m, json_object_get(report, "devices"));
    if (put_processes(&m, report))
        return -SEEP_ENOMEM;
    fputs("# EOF\n", out);
    return ferror(out) ? -SEEP_EIO : 0;
}
