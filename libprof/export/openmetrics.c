/* This file writes a job's totals as OpenMetrics text (1.0), with gauges only: for gauges the
 * format is the same as Prometheus's older text format, so node_exporter's textfile collector
 * accepts it. */
#include "libprof/export/metric_text.h"
#include "libprof/export/sites.h"
#include "libprof/report_read/report_view.h"

#include <stdlib.h>
#include <string.h>

/* ---- parts -------------------------------------------------------------------------------- */

static void put_growth(const struct seep_metrics *m, const json_t *spaces, double step_s)
{
    struct seep_slope growth;
    const char *space;
    json_t *totals;

    seep_metric_family(m, "seep_growth_bytes_per_step", "bytes_per_step",
                       "Slope of the live bytes over the judged steps, by space.");
    json_object_foreach ((json_t *)spaces, space, totals) {
        if (seep_get_slope(totals, "growth_bytes_per_step", &growth))
            seep_metric_put_one(m, "seep_growth_bytes_per_step", "space", space, growth.value);
    }
    seep_metric_family(m, "seep_growth_bytes_per_second", "bytes_per_second",
                       "The same slope at the present pace of the steps.");
    json_object_foreach ((json_t *)spaces, space, totals) {
        if (step_s > 0 && seep_get_slope(totals, "growth_bytes_per_step", &growth))
            seep_metric_put_one(m, "seep_growth_bytes_per_second", "space", space,
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
        seep_metric_family(m, table[i].name, "bytes", table[i].help);
        json_object_foreach ((json_t *)spaces, space, totals) {
            if (json_is_number(json_object_get(totals, table[i].key)))
                seep_metric_put_one(m, table[i].name, "space", space,
                                    seep_get_number(totals, table[i].key));
        }
    }
}

/* Where another machine wrote the profile, nobody knows whether the job runs. */
static void put_state(const struct seep_metrics *m, const json_t *report)
{
    const json_t *job = json_object_get(report, "job");
    const bool runs = seep_get_runs(report);

    seep_metric_family(m, "seep_complete", "",
                       "1 where every process has ended and was read whole.");
    seep_metric_put_one(m, "seep_complete", NULL, NULL,
                        json_is_true(json_object_get(job, "complete")));
    seep_metric_family(m, "seep_running", "", "1 where a process of the job runs.");
    if (runs || seep_get_ended(report))
        seep_metric_put_one(m, "seep_running", NULL, NULL, runs);
}

/* RSS, and the limit that it has. */
static void put_resident(const struct seep_metrics *m, const json_t *report)
{
    const json_t *job = json_object_get(report, "job");
    const json_t *rss = json_object_get(json_object_get(report, "timeline"), "rss_bytes");
    const size_t n = json_array_size(rss);

    seep_metric_family(m, "seep_rss_bytes", "bytes", "RSS of all processes as last seen.");
    if (n)
        seep_metric_put_one(m, "seep_rss_bytes", NULL, NULL,
                            json_number_value(json_array_get(rss, n - 1)));
    seep_metric_family(m, "seep_limit_bytes", "bytes",
                       "Limit on host memory, of the main process's machine.");
    if (json_is_number(json_object_get(job, "limit_bytes")))
        seep_metric_put_one(m, "seep_limit_bytes", "kind", seep_get_text(job, "limit_kind", ""),
                            seep_get_number(job, "limit_bytes"));
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
        seep_metric_family(m, table[i].name, table[i].unit, table[i].help);
        seep_metric_put_one(m, table[i].name, NULL, NULL, seep_get_number(job, table[i].key));
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
        seep_metric_family(m, table[k].name, "bytes", table[k].help);
        json_array_foreach (devices, i, device) {
            char number[24];
            snprintf(number, sizeof number, "%lld", (long long)seep_count_of(device, "device"));
            if (json_is_number(json_object_get(device, table[k].key)))
                seep_metric_put_one(m, table[k].name, "device", number,
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

/* The last step may last: what comes after its begin does not count. */
double seep_metric_step_s(const json_t *report)
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

int seep_export_openmetrics(const json_t *report, struct seep_json_stream *sites,
                            const struct seep_export_options *o, FILE *out)
{
    const struct seep_metrics m = {out, o->profile, seep_get_job_id(report)};
    const json_t *spaces = json_object_get(report, "spaces");

    (void)sites;
    put_spaces(&m, spaces);
    put_growth(&m, spaces, seep_metric_step_s(report));
    put_job(&m, json_object_get(report, "job"));
    put_state(&m, report);
    put_resident(&m, report);
    put_devices(&m, json_object_get(report, "devices"));
    if (o->read_unix_s > 0) {
        seep_metric_family(&m, "seep_read_time_seconds", "seconds",
                           "When the profile was read for this, in Unix time.");
        seep_metric_put_one(&m, "seep_read_time_seconds", NULL, NULL, o->read_unix_s);
    }
    if (seep_metric_findings(&m, report) || seep_metric_processes(&m, report))
        return -SEEP_ENOMEM;
    fputs("# EOF\n", out);
    return ferror(out) ? -SEEP_EIO : 0;
}
