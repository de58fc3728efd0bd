#include "libprof/print/report_text.h"

#include "libprof/base/text.h"
#include "libprof/print/put_text.h"
#include "libprof/print/text_parts.h"
#include "libprof/report_read/device_view.h"
#include "libprof/report_read/holder_view.h"
#include "libprof/report_read/report_view.h"
#include "libprof/words/step_words.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SHOWN_PROCESSES = 8, MAX_SHOWN_SITES = 8, MAX_SHOWN_GAPS = 8 };

static const double MOST_OF_IT = 0.8;

struct page {
    FILE *out;
    const char *cwd;  /* of the job: paths below it are shown without it */
    double steps;     /* that it finished */
    const char *unit; /* what growth is told by: "step" or "time slice" */
    bool all;         /* each process's RSS */
    bool is_one;      /* one process, whose resident memory is the job's */
    bool running;     /* some process was alive when the report was made */
};

/* ---- the job ----------------------------------------------------------------------------- */

static void put_command(const struct page *p, const json_t *job)
{
    size_t i, column = 9;
    json_t *word;

    fputs("command  ", p->out);
    json_array_foreach (json_object_get(job, "command"), i, word) {
        const char *text = json_string_value(word) ? json_string_value(word) : "?";
        column += strlen(text) + 1;
        if (column > SEEP_PUT_WIDTH && i > 0) {
            fputs(" ...", p->out);
            break;
        }
        fputs(i ? " " : "", p->out);
        seep_put_text(p->out, text);
    }
    fputc('\n', p->out);
}

static void put_job(const struct page *p, const json_t *job)
{
    put_command(p, job);
    fputs("job      ", p->out);
    seep_put_steps(p->out, job);
    if (json_is_number(json_object_get(job, "epochs"))) {
        fputs(", ", p->out);
        seep_put_epochs(p->out, job);
    }
    fprintf(p->out, ", %.1f s", seep_get_number(job, "duration_s"));
    seep_put_end(p->out, job, ", ");
    if (!json_is_true(json_object_get(job, "complete")))
        fputs(", incomplete", p->out);
    if (seep_get_number(job, "dropped_events") > 0) {
        fputs(", ", p->out);
        seep_put_count(p->out, seep_get_number(job, "dropped_events"), "event");
        fputs(" dropped", p->out);
    }
    fputc('\n', p->out);
}

/* Where it is not what a reader would expect. */
static void put_why(const struct page *p, const json_t *job)
{
    const char *source = seep_get_text(job, "step_source", "time");
    const char *why = seep_get_text(job, "step_why", "");

    if (!*why || strcmp(why, SEEP_WHY_OPTIMIZER_TEXT) == 0 || strcmp(source, "time") == 0 ||
        strcmp(source, "api") == 0 || strcmp(source, "nvtx") == 0)
        return;
    fputs("steps    ", p->out);
    seep_put_wrapped(p->out, why, 9, 9);
}

static void put_spaces(const struct page *p, const json_t *report)
{
    const char *key, *label = "memory ";
    char when[SEEP_WHEN_TEXT];
    json_t *totals;

    json_object_foreach (json_object_get(report, "spaces"), key, totals) {
        fprintf(p->out, "%s  ", label);
        seep_put_text(p->out, key);
        fputs(": peak ", p->out);
        seep_put_size(p->out, seep_get_number(totals, "peak_bytes"));
        fprintf(p->out, " %s, ",
                seep_get_when(p->unit, seep_get_number(totals, "peak_step"), p->steps, when));
        seep_put_size(p->out, seep_get_number(totals, "live_bytes"));
        fputs(p->running ? " live now, " : " live at exit, ", p->out);
        seep_put_count(p->out, seep_get_number(totals, "allocations"), "allocation");
        fputc('\n', p->out);
        label = "       ";
    }
}

static void put_devices(const struct page *p, const json_t *report)
{
    json_t *device;
    size_t i;

    json_array_foreach (json_object_get(report, "devices"), i, device) {
        char *text = seep_device_text(device);
        fputs(i ? "         " : "devices  ", p->out);
        seep_put_wrapped(p->out, text ? text : "?", 9, 9);
        free(text);
    }
}

static void put_shortages(const struct page *p, const json_t *report)
{
    const char *cwd = seep_get_text(json_object_get(report, "job"), "cwd", "");
    char when[SEEP_WHEN_TEXT];
    json_t *its;
    size_t i;

    json_array_foreach (json_object_get(report, "out_of_memory"), i, its) {
        fputs("out of memory in ", p->out);
        seep_put_text(p->out, seep_get_text(its, "space", "?"));
        fputs(": ", p->out);
        seep_put_size(p->out, seep_get_number(its, "asked_bytes"));
        fprintf(p->out, " asked for %s",
                seep_get_when(p->unit, seep_get_number(its, "step"), p->steps, when));
        if (json_is_object(json_object_get(its, "frame"))) {
            fputs(", ", p->out);
            seep_put_frame(p->out, json_object_get(its, "frame"), cwd);
        }
        if (strcmp(seep_get_text(its, "source", "allocator"), "runtime") == 0) {
            fputs(", by the CUDA runtime: who called may have tried again\n", p->out);
            continue;
        }
        fputs("; in use were ", p->out);
        seep_put_size(p->out, seep_get_number(its, "allocated_bytes"));
        fputs(" of ", p->out);
        seep_put_size(p->out, seep_get_number(its, "reserved_bytes"));
        fputs(" taken from the device\n", p->out);
    }
}

/* Where --gpu=cupti is heard; where it is not, that is among what is not seen. */
static void put_cupti(const struct page *p, const json_t *report)
{
    const json_t *runtime = json_object_get(json_object_get(report, "coverage"), "runtime");
    double n = 0;
    json_t *its;
    size_t i;

    json_array_foreach (json_object_get(runtime, "cupti"), i, its)
        n += strcmp(seep_get_text(its, "state", ""), "listens") == 0;
    if (!(n > 0))
        return;
    fputs("cupti    listened to in ", p->out);
    fprintf(p->out, "%.0f process%s\n", n, n > 1 ? "es" : "");
}

/* ---- resident memory --------------------------------------------------------------------- */

static void put_rss(const struct page *p, const json_t *rss, int column)
{
    char *text = seep_rss_text(rss, p->unit);

    if (text)
        seep_put_wrapped(p->out, text, column, column);
    free(text);
}

static void put_peaks(const struct page *p, const json_t *pss, double rss_bytes, bool together)
{
    char *text = seep_resident_peaks_text(json_number_value(pss), rss_bytes, together);

    fputs(text ? text : "?", p->out);
    free(text);
}

/* Of the processes together: at the one instant at which that was most. One process alone shares
 * nothing within the job: its RSS says it all, and the kernel knows that peak better than PSS,
 * which is looked at now and then. */
static void put_resident(const struct page *p, const json_t *report)
{
    const json_t *rss = json_object_get(json_object_get(report, "coverage"), "rss");
    const json_t *pss = json_object_get(json_object_get(report, "job"), "pss_peak_bytes");

    if (!json_is_object(rss))
        return;
    fputs("resident ", p->out);
    put_peaks(p, p->is_one ? NULL : pss, seep_get_number(rss, "highest_bytes"), !p->is_one);
    fputs("\n         ", p->out);
    put_rss(p, rss, 9);
}

static void put_rss_of(const struct page *p, const json_t *process)
{
    const json_t *rss = json_object_get(process, "rss");

    if (!json_is_object(rss) || p->is_one || !(p->all || seep_rss_is_notable(rss)))
        return;
    fputs("           ", p->out);
    put_rss(p, rss, 11);
}

/* ---- processes --------------------------------------------------------------------------- */

static void put_process(const struct page *p, const json_t *process)
{
    fprintf(p->out, "%.0f ", seep_get_number(process, "pid"));
    seep_put_text(p->out, seep_get_text(process, "role", "?"));
    if (json_is_number(json_object_get(process, "rank")))
        fprintf(p->out, " (rank %.0f)", seep_get_number(process, "rank"));
    seep_put_end(p->out, process, ": ");
    if (!p->is_one) {
        fputs(", ", p->out);
        put_peaks(p, json_object_get(process, "pss_peak_bytes"),
                  seep_get_number(process, "rss_peak_bytes"), false);
    }
    const char *python = seep_get_text(process, "python", NULL);
    if (python) {
        fputs(", Python ", p->out);
        seep_put_text(p->out, python);
    }
    fputc('\n', p->out);
}

static bool is_helper(const json_t *process)
{
    return strcmp(seep_get_text(process, "role", "helper"), "helper") == 0;
}

/* Helpers come last: where there are many processes, they are not the ones to look at. */
static void put_processes(const struct page *p, const json_t *report)
{
    const json_t *processes = json_object_get(report, "processes");
    size_t n = json_array_size(processes), shown = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < n && shown < MAX_SHOWN_PROCESSES; i++) {
            const json_t *process = json_array_get(processes, i);
            if (is_helper(process) != (pass == 1))
                continue;
            fputs(shown ? "         " : "process  ", p->out);
            put_process(p, process);
            put_rss_of(p, process);
            shown++;
        }
    }
    if (n > shown)
        fprintf(p->out, "         and %zu more\n", n - shown);
}

/* What the snapshots of who holds what have cost. */
static void put_holders(const struct page *p, const json_t *report)
{
    const json_t *holders = json_object_get(report, "holders");

    if (!json_is_object(holders))
        return;
    fputs("holders  ", p->out);
    seep_put_count(p->out, seep_get_number(holders, "snapshots"), "snapshot");
    fprintf(p->out, ": stopped for %.3f s, at most %.3f s at once; %.1f s of CPU beside the job\n",
            seep_get_number(holders, "stopped_s"), seep_get_number(holders, "longest_stop_s"),
            seep_get_number(holders, "reader_cpu_s"));
}

static bool is_of_a_finding(const json_t *report, const char *site)
{
    json_t *finding, *one;
    size_t i, k;

    json_array_foreach (json_object_get(report, "findings"), i, finding) {
        json_array_foreach (json_object_get(finding, "sites"), k, one) {
            if (json_is_string(one) && strcmp(json_string_value(one), site) == 0)
                return true;
        }
    }
    return false;
}

/* Snapshots are of one instant, and of all that a line has then: who they name need not hold what a
 * site had at its peak. */
static void put_when_held(const struct page *p, const json_t *site)
{
    const json_t *holders = seep_get_holders(site);
    double peak = seep_get_number(site, "peak_bytes"), seen = seep_get_number(holders, "bytes"),
           least = seen < peak ? seen : peak;
    char size[SEEP_SIZE_TEXT], when[SEEP_WHEN_TEXT];

    if (!json_array_size(json_object_get(holders, "paths")) && !*seep_get_holders_words(holders))
        return;
    if (seen >= MOST_OF_IT * peak && seep_get_number(site, "held_bytes") >= MOST_OF_IT * least)
        return;
    fprintf(p->out, "%*sof %s that this line had %s:\n", 21, "", seep_text_size(seen, size),
            seep_get_when(p->unit, seep_get_number(holders, "step"), p->steps, when));
}

static void put_sites(const struct page *p, const json_t *report)
{
    const json_t *sites = json_object_get(report, "sites");
    size_t n = json_array_size(sites);

    for (size_t i = 0; i < n && i < MAX_SHOWN_SITES; i++) {
        const json_t *site = json_array_get(sites, i);
        const json_t *stack = json_object_get(site, "stack");
        json_int_t at = json_integer_value(json_object_get(site, "look_at"));
        char size[SEEP_SIZE_TEXT];
        fprintf(p->out, "%s  %10s  ", i ? "       " : "largest",
                seep_text_size(seep_get_number(site, "peak_bytes"), size));
        seep_put_text(p->out, seep_get_text(site, "space", "?"));
        fputs("  ", p->out);
        seep_put_frame(p->out, json_array_get(stack, at > 0 ? (size_t)at : 0), p->cwd);
        fputc('\n', p->out);
        if (is_of_a_finding(report, seep_get_text(site, "id", "")))
            continue;
        put_when_held(p, site);
        seep_holder_text(site, p->cwd, p->out, 21);
    }
}

static void put_gaps(const struct page *p, const json_t *report)
{
    const json_t *gaps = json_object_get(json_object_get(report, "coverage"), "not_seen");
    size_t n = json_array_size(gaps);

    for (size_t i = 0; i < n && i < MAX_SHOWN_GAPS; i++) {
        const char *text = json_string_value(json_array_get(gaps, i));
        fputs(i ? "         " : "not seen ", p->out);
        seep_put_wrapped(p->out, text ? text : "?", 9, 9);
    }
    if (n > MAX_SHOWN_GAPS)
        fprintf(p->out, "         and %zu more\n", n - MAX_SHOWN_GAPS);
}

static bool is_one(const json_t *report)
{
    return json_array_size(json_object_get(report, "processes")) == 1 &&
           json_is_object(json_object_get(json_object_get(report, "coverage"), "rss"));
}

static int print_report(const json_t *report, FILE *out, bool colour, bool all)
{
    const json_t *job = json_object_get(report, "job");

    if (!json_is_object(job) || strcmp(seep_get_text(report, "format", ""), "seep-report") != 0)
        return -SEEP_EINVAL;
    struct page page = {.out = out,
                        .cwd = seep_get_text(job, "cwd", ""),
                        .steps = seep_get_number(job, "steps"),
                        .unit = seep_get_step_unit(job),
                        .all = all,
                        .is_one = is_one(report),
                        .running = seep_get_runs(report)};
    seep_findings_text(report, out, colour);
    put_job(&page, job);
    put_why(&page, job);
    put_spaces(&page, report);
    put_devices(&page, report);
    put_shortages(&page, report);
    put_cupti(&page, report);
    put_resident(&page, report);
    put_processes(&page, report);
    put_holders(&page, report);
    put_sites(&page, report);
    put_gaps(&page, report);
    return ferror(out) ? -SEEP_EIO : 0;
}

int seep_report_text(const json_t *report, FILE *out, bool colour)
{
    return print_report(report, out, colour, false);
}

int seep_report_text_all(const json_t *report, FILE *out, bool colour)
{
    return print_report(report, out, colour, true);
}
