#include "libprof/print/report_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/base/text.h"
#include "libprof/print/put_text.h"
#include "libprof/print/text_parts.h"
#include "libprof/report_read/holder_view.h"
#include "libprof/report_read/report_view.h"
#include "libprof/words/space.h"
#include "libprof/words/step_words.h"

static void put_side(FILE *out, const json_t *side, const char *unit)
{
    char interval[SEEP_INTERVAL_TEXT];
    struct seep_slope growth;

    if (!json_is_object(side)) {
        fputs("not used", out);
        return;
    }
    fputs("peak ", out);
    seep_put_size(out, seep_get_number(side, "peak_bytes"));
    if (!seep_get_slope(side, "growth_bytes_per_step", &growth)) {
        fprintf(out, "; too few %ss to tell growth", unit);
        return;
    }
    fputs(", ", out);
    seep_put_change(out, growth.value);
    fprintf(out, " a %s%s", unit,
            seep_text_interval("", growth.value, growth.low, growth.high, interval));
}

void seep_spaces_text(const json_t *spaces, FILE *out, const char *unit)
{
    json_t *space;
    size_t i;

    json_array_foreach (spaces, i, space) {
        const json_t *before = json_object_get(space, "before"),
                     *after = json_object_get(space, "after");
        fputs("  ", out);
        seep_put_text(out, seep_get_text(space, "space", "?"));
        fputs("\n    before  ", out);
        put_side(out, before, unit);
        fputs("\n    after   ", out);
        put_side(out, after, unit);
        double change =
            seep_get_number(after, "peak_bytes") - seep_get_number(before, "peak_bytes");
        if (change != 0) {
            fputs("\n    peak    ", out);
            seep_put_change(out, change);
        }
        fputc('\n', out);
    }
}

enum { NOTABLE_BYTES = 32 << 20, NOTABLE_OWN_BYTES = 16 << 20, NOTABLE_OWN_PARTS = 50 };

/* Parts below this share of RSS are not worth printing. */
static const double least_part = 0.005;

static void put_part(FILE *out, double bytes, double all, const char *what, bool *any)
{
    char size[SEEP_SIZE_TEXT];

    if (bytes < all * least_part)
        return;
    fprintf(out, "%s%s %s", *any ? ", " : "", seep_text_size(bytes, size), what);
    *any = true;
}

static void put_growth(FILE *out, bool grows, const struct seep_slope *growth, const char *what,
                       const char *unit)
{
    char size[SEEP_SIZE_TEXT];

    if (grows)
        fprintf(out, "; %s by %s a %s", what, seep_text_size(growth->value, size), unit);
}

static double known(int64_t bytes)
{
    return bytes > 0 ? (double)bytes : 0;
}

/* A part that is a space has the space's words. */
static void put_parts(FILE *out, const struct seep_report_rss *rss, double all)
{
    const struct seep_report_explained its = seep_report_explained_read(rss->explained);
    const struct {
        uint64_t bytes;
        const char *space, *what;
    } parts[] = {{its.heap_live, "host", ""}, {its.heap_free, "", "free in malloc's arenas"},
                 {its.maps, "mmap", ""},      {its.shm, "shm", ""},
                 {its.stacks, "", "stacks"},  {its.files, "", "mapped files"}};
    char words[SEEP_SPACE_WORDS];
    bool any = false;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        put_part(out, (double)parts[i].bytes, all,
                 *parts[i].space ? seep_space_words(parts[i].space, words) : parts[i].what, &any);
    }
    put_part(out, known(rss->seep_bytes), all, "seep's own", &any);
}

static void put_own(FILE *out, double own, double all)
{
    if (own > NOTABLE_OWN_BYTES && own * NOTABLE_OWN_PARTS > all)
        fputs("; seep takes less with --sample 64KiB or a smaller --max-profile", out);
}

static void put_composition(FILE *out, const struct seep_report_rss *rss, const char *unit)
{
    double all = known(rss->peak_bytes), rest = known(rss->unexplained_bytes);
    char size[SEEP_SIZE_TEXT], when[SEEP_WHEN_TEXT];

    if (!(all > 0)) {
        fputs("no sample near the peak shows what RSS was made of", out);
    } else {
        fprintf(out, "RSS %s, %s: ", seep_get_when(unit, known(rss->step), INFINITY, when),
                seep_text_size(all, size));
        put_parts(out, rss, all);
        fprintf(out, "; %s (%.0f %%) unexplained", seep_text_size(rest, size), 100 * rest / all);
    }
    put_own(out, known(rss->seep_bytes), all);
    put_growth(out, rss->heap_free_grows, &rss->heap_free_growth_bytes_per_step,
               "free memory in malloc's arenas grows", unit);
    put_growth(out, rss->maps_grow, &rss->maps_growth_bytes_per_step,
               "the touched part of earlier mappings grows", unit);
    put_growth(out, rss->unexplained_grows, &rss->unexplained_growth_bytes_per_step,
               "the unexplained part grows", unit);
}

/* What resident memory was made of, from the `rss` of a report or of a process: "RSS in step 40,
 * 1.0 GiB: 700.0 MiB malloc'd memory, …; 12.0 MiB (1 %) unexplained; the unexplained part grows by
 * …"; says if nobody looked near its peak. Allocates the result (free() it); NULL without
 * memory. */
static char *rss_text(const struct seep_report_rss *rss, const char *unit)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    if (!out)
        return NULL;
    put_composition(out, rss, unit);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* "PSS peak 323.0 MiB, RSS peak 1002.0 MiB". RSS counts shared memory in each process, so PSS comes
 * first if known (not 0). An RSS peak below it was not sampled at its highest and is left out.
 * `together`: of several processes. Allocates the result (free() it); NULL without memory. */
static char *resident_peaks_text(double pss_bytes, double rss_bytes, bool together)
{
    const char *note = together ? " (shared pages count in each process)" : "";
    char pss[SEEP_SIZE_TEXT], rss[SEEP_SIZE_TEXT];

    seep_text_size(pss_bytes, pss);
    seep_text_size(rss_bytes, rss);
    if (!(pss_bytes > 0))
        return seep_text_format("RSS peak %s%s", rss, note);
    return rss_bytes < pss_bytes ? seep_text_format("PSS peak %s", pss)
                                 : seep_text_format("PSS peak %s, RSS peak %s%s", pss, rss, note);
}

/* Whether much of it is unexplained, or the unexplained part grows. */
static bool rss_is_notable(const struct seep_report_rss *rss)
{
    double rest = known(rss->unexplained_bytes);

    return rss->unexplained_grows || (rest > NOTABLE_BYTES && rest * 10 > known(rss->peak_bytes));
}

/* Requests for memory that failed. */

/* For the host, the outcome decides, which `retried` says. */
static const char *oom_ends_text(const struct seep_report_refusal *its)
{
    if (its->retried)
        return ". The program then asked for less and got it.";
    return strcmp(its->source, "runtime") == 0
               ? ". The CUDA runtime refused it; the caller may have tried again."
               : "";
}

static void put_oom(const struct seep_report_job *job, FILE *to,
                    const struct seep_report_refusal *its)
{
    char words[SEEP_SPACE_WORDS], when[SEEP_WHEN_TEXT];

    seep_space_words(its->space, words);
    if (strcmp(its->source, "host") == 0)
        fputs("Out of host memory: ", to);
    else
        fprintf(to, "%s (%s): ",
                strcmp(its->source, "program") == 0 ? "Out of memory" : "CUDA out of memory",
                words);
    seep_put_size(to, (double)its->asked_bytes);
    fprintf(to, " requested %s",
            seep_get_when(seep_get_step_unit(job), (double)its->step, (double)job->steps, when));
    if (json_is_object(its->frame)) {
        fputs(", ", to);
        seep_put_frame(to, its->frame, job->cwd);
    }
    if (strcmp(its->source, "allocator") != 0 && !its->reserved_bytes) {
        fputs(oom_ends_text(its), to);
        return;
    }
    fputs("; ", to);
    seep_put_size(to, (double)its->allocated_bytes);
    fputs(" of ", to);
    seep_put_size(to, (double)its->reserved_bytes);
    fputs(" reserved were in use", to);
}

void seep_ooms_text(const json_t *report, FILE *out, bool last_only)
{
    const struct seep_report_job job = seep_get_job(report);
    const json_t *all = json_object_get(report, "out_of_memory");
    const size_t n = json_array_size(all);

    for (size_t i = last_only && n ? n - 1 : 0; i < n; i++) {
        const struct seep_report_refusal its = seep_report_refusal_read(json_array_get(all, i));
        struct seep_paragraph line;
        put_oom(&job, seep_put_begin(&line, out, 0, SEEP_PUT_LABEL), &its);
        seep_put_end(&line);
    }
}

enum { MAX_SHOWN_PROCESSES = 8, MAX_SHOWN_GAPS = 8 };

enum { LABEL = SEEP_PUT_LABEL };

struct page {
    FILE *out;
    const char *cwd;  /* of the job: paths below it are shown without it */
    double steps;     /* that the job finished */
    const char *unit; /* the unit of growth: "step" or "time slice" */
    bool all;         /* each process's RSS */
    bool is_one;      /* one process, whose resident memory is the job's */
    bool is_spread;   /* over several hosts */
    bool running;     /* some process was alive when the report was made */
    bool of_torch;    /* nothing but PyTorch's memory snapshots was read */
};

/* "label    …", continued below its text; "" to continue the previous label. */
static FILE *begin(struct seep_paragraph *line, const struct page *p, const char *label)
{
    fprintf(p->out, "%-*s", LABEL, label);
    return seep_put_begin(line, p->out, LABEL, LABEL);
}

/* ---- the job --------------------------------------------------------------------------------- */

static void put_command(const struct page *p, const json_t *command)
{
    const int width = seep_put_width(p->out, SEEP_PUT_WIDTH) - (int)strlen(" ...");
    int column = LABEL;
    json_t *word;
    size_t i;

    if (!json_array_size(command))
        return;
    fprintf(p->out, "%-*s", LABEL, "command");
    json_array_foreach (command, i, word) {
        const char *text = json_string_value(word) ? json_string_value(word) : "?";
        column += (int)strnlen(text, SEEP_PUT_WIDTH * 8) + 1;
        if (column > width && i > 0) {
            fputs(" ...", p->out);
            break;
        }
        fputs(i ? " " : "", p->out);
        seep_put_text(p->out, text);
    }
    fputc('\n', p->out);
}

static void put_job(const struct page *p, const json_t *report)
{
    const struct seep_report_job its = seep_get_job(report);
    struct seep_paragraph line;
    FILE *to = begin(&line, p, "job");

    seep_put_steps(to, &its);
    if (its.epochs >= 0) {
        fputs(", ", to);
        seep_put_epochs(to, &its);
    }
    fprintf(to, ", %.1f s", its.duration_s);
    seep_put_ending(to, json_object_get(report, "job"), ", ");
    if (!its.complete)
        fputs(", incomplete", to);
    if (its.dropped_events) {
        fputs(", ", to);
        seep_put_count(to, (double)its.dropped_events, "event");
        fputs(" dropped", to);
    }
    seep_put_end(&line);
}

static void put_ranks(const struct page *p, const json_t *report)
{
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    const bool shown = to && seep_ranks_text(report, to);

    if (to && fclose(to) == 0 && shown) {
        fprintf(p->out, "%-*s", LABEL, "ranks");
        seep_put_wrapped(p->out, text, LABEL, LABEL);
    }
    free(text);
}

/* Printed if it is not what a reader would expect. */
static void put_why(const struct page *p, const struct seep_report_job *job)
{
    const char *source = job->step_source, *why = job->step_why;

    if (!why || !*why || strcmp(why, SEEP_WHY_OPTIMIZER_TEXT) == 0 || !*source ||
        strcmp(source, "time") == 0 || strcmp(source, "api") == 0 || strcmp(source, "nvtx") == 0)
        return;
    fprintf(p->out, "%-*s", LABEL, "steps");
    seep_put_wrapped(p->out, why, LABEL, LABEL);
}

/* Of a digest, which knows neither when nor how often. */
static void put_space_of_many(const struct page *p, FILE *to, const json_t *totals)
{
    struct seep_slope slope = {0};

    fputs(": peaks ", to);
    seep_put_size(to, seep_get_number(totals, "peak_bytes"));
    fputs(" in sum, ", to);
    seep_put_size(to, seep_get_number(totals, "live_bytes"));
    fputs(" live near the end", to);
    if (seep_get_slope(totals, "growth_bytes_per_step", &slope) && slope.low > 0) {
        fputs(", growing by ", to);
        seep_put_size(to, slope.value);
        fprintf(to, " a %s", p->unit);
    }
}

static void put_spaces(const struct page *p, const json_t *report)
{
    const bool is_digest = json_is_object(json_object_get(report, "digest"));
    const char *key, *label = "memory";
    char when[SEEP_WHEN_TEXT];
    json_t *totals;

    json_object_foreach (json_object_get(report, "spaces"), key, totals) {
        struct seep_paragraph line;
        FILE *to = begin(&line, p, label);
        seep_put_text(to, key);
        label = "";
        if (is_digest) {
            put_space_of_many(p, to, totals);
            seep_put_end(&line);
            continue;
        }
        fputs(": peak ", to);
        seep_put_size(to, seep_get_number(totals, "peak_bytes"));
        fprintf(to, " %s, ",
                seep_get_when(p->unit, seep_get_number(totals, "peak_step"), p->steps, when));
        seep_put_size(to, seep_get_number(totals, "live_bytes"));
        fputs(p->running    ? " live now, "
              : p->of_torch ? " live at its end, "
                            : " live at exit, ",
              to);
        seep_put_count(to, seep_get_number(totals, "allocations"), "allocation");
        seep_put_end(&line);
    }
}

static void put_devices(const struct page *p, const json_t *report)
{
    json_t *device;
    size_t i;

    json_array_foreach (json_object_get(report, "devices"), i, device) {
        char *text = seep_device_text(device);
        fprintf(p->out, "%-*s", LABEL, i ? "" : "devices");
        seep_put_wrapped(p->out, text ? text : "?", LABEL, LABEL);
        free(text);
    }
}

/* Printed if --gpu=cupti records; otherwise the list of what was not seen says so. */
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
    fprintf(p->out, "%-*srecorded in %.0f process%s\n", LABEL, "cupti", n, n > 1 ? "es" : "");
}

/* ---- resident memory ------------------------------------------------------------------------- */

static void put_rss(const struct page *p, const struct seep_report_rss *rss, int column)
{
    char *text = rss_text(rss, p->unit);

    if (text)
        seep_put_wrapped(p->out, text, column, column);
    free(text);
}

/* pss_bytes: negative if that is not known. */
static void put_peaks(FILE *to, int64_t pss_bytes, uint64_t rss_bytes, bool together)
{
    const double pss = pss_bytes > 0 ? (double)pss_bytes : 0;
    char *text = resident_peaks_text(pss, (double)rss_bytes, together);

    fputs(text ? text : "?", to);
    free(text);
}

/* For several processes together: the instant at which their sum was highest. A single process
 * shares nothing within the job, so its RSS says it all; and the kernel knows the exact peak of
 * RSS, whereas PSS is only sampled. */
static void put_resident(const struct page *p, const json_t *report)
{
    const json_t *json = json_object_get(json_object_get(report, "coverage"), "rss");
    const struct seep_report_rss rss = seep_report_rss_read(json);
    struct seep_paragraph line;

    if (!json_is_object(json))
        return;
    put_peaks(begin(&line, p, "resident"), p->is_one ? -1 : seep_get_job(report).pss_peak_bytes,
              rss.highest_bytes, !p->is_one);
    seep_put_end(&line);
    fprintf(p->out, "%*s", LABEL, "");
    put_rss(p, &rss, LABEL);
}

static void put_rss_of(const struct page *p, const json_t *process)
{
    const json_t *json = json_object_get(process, "rss");
    const struct seep_report_rss rss = seep_report_rss_read(json);

    if (!json_is_object(json) || p->is_one || !(p->all || rss_is_notable(&rss)))
        return;
    fprintf(p->out, "%*s", LABEL + 2, "");
    put_rss(p, &rss, LABEL + 2);
}

/* ---- processes ------------------------------------------------------------------------------- */

/* ", 2.5 s of CPU, 10 ms a step" */
static void put_cpu(FILE *to, const struct seep_report_process *process)
{
    const double all = json_number_value(process->cpu_s);
    const double step = json_number_value(process->cpu_s_per_step);

    if (!(all > 0))
        return;
    fprintf(to, ", %.*f s of CPU", all < 10 ? 1 : 0, all);
    if (step >= 1)
        fprintf(to, ", %.*f s a step", step < 10 ? 1 : 0, step);
    else if (step > 0)
        fprintf(to, ", %.3g ms a step", step * 1e3);
}

static void put_process(const struct page *p, const char *label, const json_t *json)
{
    const struct seep_report_process process = seep_report_process_read(json);
    struct seep_paragraph line;
    FILE *to = begin(&line, p, label);

    fprintf(to, "%llu ", (unsigned long long)process.pid);
    seep_put_text(to, process.role);
    if (process.rank >= 0)
        fprintf(to, " (rank %lld)", (long long)process.rank);
    if (p->is_spread) {
        fputs(" on ", to);
        seep_put_text(to, process.host);
    }
    seep_put_ending(to, json, ": ");
    if (!p->is_one && process.rss_peak_bytes) {
        fputs(", ", to);
        put_peaks(to, process.pss_peak_bytes, process.rss_peak_bytes, false);
    }
    if (process.python) {
        fputs(", Python ", to);
        seep_put_text(to, process.python);
    }
    put_cpu(to, &process);
    seep_put_end(&line);
}

static bool is_helper(const json_t *process)
{
    const char *role = seep_report_process_read(process).role;

    return !*role || strcmp(role, "helper") == 0;
}

/* Helpers come last: if there are many processes, helpers are not the ones to look at. */
static void put_processes(const struct page *p, const json_t *report)
{
    const json_t *processes = json_object_get(report, "processes");
    size_t n = json_array_size(processes), shown = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < n && shown < MAX_SHOWN_PROCESSES; i++) {
            const json_t *process = json_array_get(processes, i);
            if (is_helper(process) != (pass == 1))
                continue;
            put_process(p, shown ? "" : "process", process);
            put_rss_of(p, process);
            shown++;
        }
    }
    if (n > shown)
        fprintf(p->out, "%*sand %zu more\n", LABEL, "", n - shown);
}

/* What the snapshots for who holds memory cost. */
static void put_holders(const struct page *p, const json_t *report)
{
    const json_t *holders = json_object_get(report, "holders");

    if (!json_is_object(holders))
        return;
    struct seep_paragraph line;
    FILE *to = begin(&line, p, "holders");
    seep_put_count(to, seep_get_number(holders, "snapshots"), "snapshot");
    fprintf(to, " stopped the job for %.3f s, at most %.3f s at once, and took %.1f s of CPU",
            seep_get_number(holders, "stopped_s"), seep_get_number(holders, "longest_stop_s"),
            seep_get_number(holders, "reader_cpu_s"));
    seep_put_end(&line);
}

/* What seep itself cost the process that it slowed most. */
static void put_cost(const struct page *p, const json_t *report)
{
    const json_t *json = json_object_get(report, "cost");
    const struct seep_report_cost cost = seep_report_cost_read(json);
    struct seep_paragraph line;

    if (!json_is_object(json))
        return;
    FILE *to = begin(&line, p, "cost");
    fprintf(to, "seep cost %.1f s of %.1f s (%.1f %%), ", cost.felt_s, cost.of_s, 100 * cost.share);
    seep_put_size(to, (double)cost.own_bytes);
    if (cost.sample_bytes)
        fputs("; small blocks were sampled", to);
    seep_put_end(&line);
}

static void put_gaps(const struct page *p, const json_t *report)
{
    const json_t *gaps = json_object_get(json_object_get(report, "coverage"), "not_seen");
    size_t n = json_array_size(gaps);

    for (size_t i = 0; i < n && i < MAX_SHOWN_GAPS; i++) {
        const char *text = json_string_value(json_array_get(gaps, i));
        fprintf(p->out, "%-*s", LABEL, i ? "" : "not seen");
        seep_put_wrapped(p->out, text ? text : "?", LABEL, LABEL);
    }
    if (n > MAX_SHOWN_GAPS)
        fprintf(p->out, "%*sand %zu more\n", LABEL, "", n - MAX_SHOWN_GAPS);
}

static bool is_one(const json_t *report)
{
    return json_array_size(json_object_get(report, "processes")) == 1 &&
           json_is_object(json_object_get(json_object_get(report, "coverage"), "rss"));
}

static void put_job_parts(const struct page *p, const json_t *report)
{
    const struct seep_report_job job = seep_get_job(report);

    put_command(p, job.command);
    put_job(p, report);
    if (!seep_many_text(report, p->out))
        put_ranks(p, report);
    put_why(p, &job);
    put_spaces(p, report);
    put_devices(p, report);
    seep_ooms_text(report, p->out, false);
    put_cupti(p, report);
    put_resident(p, report);
    if (!json_is_object(json_object_get(report, "digest"))) /* which names the outermost ones */
        put_processes(p, report);
    put_holders(p, report);
    put_cost(p, report);
}

/* The job's own last words stand above it. */
static void put_crash(const struct page *p, const json_t *report,
                      const struct seep_report_look *look)
{
    seep_verdict_text(report, p->out, look->colour);
    put_command(p, seep_get_job(report).command);
    put_job(p, report);
    seep_ooms_text(report, p->out, true);
    if (!look->folder)
        return;
    fprintf(p->out, "%-*sseep report --all ", LABEL, "details");
    seep_put_text(p->out, look->folder);
    fputc('\n', p->out);
}

int seep_report_text(const json_t *report, struct seep_json_stream *sites, FILE *out,
                     const struct seep_report_look *look)
{
    const struct seep_report_job job = seep_get_job(report);
    struct seep_json_stream_of_list own;

    seep_json_stream_of_list(&own, json_object_get(report, "sites"));
    if (!json_is_object(json_object_get(report, "job")) ||
        strcmp(seep_get_text(report, "format", ""), "seep-report") != 0)
        return -SEEP_EINVAL;
    struct page page = {.out = out,
                        .cwd = job.cwd,
                        .steps = (double)job.steps,
                        .unit = seep_get_step_unit(&job),
                        .all = look->all,
                        .is_one = is_one(report),
                        .is_spread = seep_hosts_count(report) > 1,
                        .running = seep_get_runs(report),
                        .of_torch = job.torch_snapshots};
    if (seep_get_crashed_at_once(report) && !look->all) {
        put_crash(&page, report, look);
        return ferror(out) ? -SEEP_EIO : 0;
    }
    if (look->brief && seep_get_unsettled(report)) {
        seep_brief_text(report, sites ? sites : &own.stream, out, look->colour, look->folder);
        return ferror(out) ? -SEEP_EIO : 0;
    }
    seep_findings_text(report, out, look->colour);
    put_job_parts(&page, report);
    seep_lines_text(report, sites ? sites : &own.stream, out);
    put_gaps(&page, report);
    seep_closing_text(report, out, look->colour, look->folder);
    return ferror(out) ? -SEEP_EIO : 0;
}

/* ---- the end of a report --------------------------------------------------------------------- */

enum {
    MAX_LINES = 16, /* with the lines around them they fit a screen of 24 rows */
    ID_COLUMNS = 4,
    SEVERITY_COLUMNS = 11,
    AMOUNT_COLUMNS = 18,
    OTHER_COLUMNS = ID_COLUMNS + SEVERITY_COLUMNS + AMOUNT_COLUMNS,
    MIN_PLACE = 24
};

struct closing {
    FILE *out;
    bool colour;
    struct seep_report_job job;
    int width, pattern; /* columns */
};

/* As much of a place as fits: folders are cut first, then the function. */
static void put_short_place(FILE *out, char *place, int room)
{
    char *in = strstr(place, " in "), *end = in ? in : place + strlen(place), *folder;

    while ((int)strlen(place) > room && (folder = memchr(place, '/', (size_t)(end - place))))
        place = folder + 1;
    if (in && (int)strlen(place) > room)
        *in = '\0';
    fputs(place, out);
}

static void put_cell(FILE *out, const char *text, int columns)
{
    seep_put_text(out, text);
    fprintf(out, "%*s", columns > (int)strlen(text) ? columns - (int)strlen(text) : 0, "");
}

/* "+64.3 KiB/step", "keeps 12.5 MiB" */
static void put_amount(FILE *out, const struct seep_report_finding *f, const char *unit)
{
    char text[AMOUNT_COLUMNS + 32], size[SEEP_SIZE_TEXT];

    if (f->growth_bytes_per_step.value > 0)
        snprintf(text, sizeof text, "+%s/%s", seep_text_size(f->growth_bytes_per_step.value, size),
                 strcmp(unit, "step") == 0 ? unit : "slice");
    else
        snprintf(text, sizeof text, "keeps %s", seep_text_size((double)f->live_bytes, size));
    put_cell(out, text, AMOUNT_COLUMNS);
}

/* The width of the column of patterns; 0 if that would leave too little for places. */
static int pattern_columns(const json_t *findings, int width)
{
    int longest = 0;
    json_t *one;
    size_t i;

    json_array_foreach (findings, i, one) {
        int n = (int)strlen(seep_report_finding_read(one).pattern) + 2;
        longest = i < MAX_LINES && n > longest ? n : longest;
    }
    return width - OTHER_COLUMNS - longest < MIN_PLACE ? 0 : longest;
}

static void put_finding(const struct closing *p, const json_t *finding)
{
    const struct seep_report_finding f = seep_report_finding_read(finding);
    const json_t *frame = seep_get_line_to_change(&f);
    char *place = seep_get_frame_text(frame, p->job.cwd);

    put_cell(p->out, f.id, ID_COLUMNS);
    seep_put_severity(p->out, p->colour, f.severity);
    put_cell(p->out, seep_severity_name(f.severity), SEVERITY_COLUMNS);
    seep_put_colour(p->out, p->colour, "0");
    if (p->pattern)
        put_cell(p->out, f.pattern, p->pattern);
    put_amount(p->out, &f, seep_get_step_unit(&p->job));
    if (place && json_is_object(frame))
        put_short_place(p->out, place, p->width - OTHER_COLUMNS - p->pattern);
    fputc('\n', p->out);
    free(place);
}

static struct closing page_of(const json_t *report, FILE *out, bool colour)
{
    const int width = seep_put_width(out, SEEP_PUT_WIDTH);

    return (struct closing){.out = out,
                            .colour = colour,
                            .job = seep_get_job(report),
                            .width = width,
                            .pattern = pattern_columns(json_object_get(report, "findings"), width)};
}

/* Returns how many there are. */
static size_t put_findings(const struct closing *p, const json_t *report, size_t from, size_t most)
{
    const json_t *findings = json_object_get(report, "findings");
    const size_t n = json_array_size(findings);

    for (size_t i = from; i < n && i < most; i++)
        put_finding(p, json_array_get(findings, i));
    return n;
}

void seep_closing_text(const json_t *report, FILE *out, bool colour, const char *folder)
{
    const struct closing closing = page_of(report, out, colour);

    fputc('\n', out);
    seep_verdict_text(report, out, colour);
    const size_t n = put_findings(&closing, report, 0, MAX_LINES);
    if (n > MAX_LINES)
        fprintf(out, "and %zu more, above\n", n - MAX_LINES);
    if (!folder)
        return;
    fputs("\nIn a browser: seep view ", out);
    seep_put_text(out, folder);
    fputc('\n', out);
}

/* ---- the whole, in few lines ----------------------------------------------------------------- */

enum { BRIEF_FINDINGS = 2 };

/* The finding that comes first is fixed first, so only it has its advice here. */
static void put_brief_findings(const struct closing *p, const json_t *report)
{
    const struct seep_report_finding first =
        seep_report_finding_read(json_array_get(json_object_get(report, "findings"), 0));

    put_findings(p, report, 0, 1);
    seep_advice_text(&first, p->out, p->colour);
    const size_t n = put_findings(p, report, 1, BRIEF_FINDINGS);
    if (n > BRIEF_FINDINGS)
        fprintf(p->out, "and %zu more\n", n - BRIEF_FINDINGS);
}

static void put_what_it_had(const struct closing *p, const json_t *report,
                            struct seep_json_stream *sites)
{
    seep_largest_text(report, sites, p->out);
    if (seep_get_crashed(report) || !seep_get_too_early(report))
        return;
    fprintf(p->out, "%-*s", SEEP_PUT_LABEL, "to do");
    seep_put_wrapped(p->out,
                     strcmp(p->job.step_source, "time") == 0
                         ? "Run it longer, or call seep.step() (seep_step() in C) at the end of "
                           "each iteration."
                         : "Run it for more steps.",
                     SEEP_PUT_LABEL, SEEP_PUT_LABEL);
}

void seep_brief_text(const json_t *report, struct seep_json_stream *sites, FILE *out, bool colour,
                     const char *folder)
{
    const struct closing closing = page_of(report, out, colour);

    seep_verdict_text(report, out, colour);
    seep_ooms_text(report, out, true);
    if (json_array_size(json_object_get(report, "findings")))
        put_brief_findings(&closing, report);
    else
        put_what_it_had(&closing, report, sites);
    if (!folder)
        return;
    fprintf(out, "%-*sseep report ", SEEP_PUT_LABEL, "details");
    seep_put_text(out, folder);
    fputs(" (in a browser: seep view)\n", out);
}
