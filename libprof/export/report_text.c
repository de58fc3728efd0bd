#include "libprof/export/report_text.h"

#include "libprof/base/text.h"
#include "libprof/export/rss_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_SHOWN_PROCESSES = 8,
    MAX_SHOWN_SITES = 8,
    MAX_SHOWN_GAPS = 8,
    MAX_PIDS = 4,
    WIDTH = 96,
    NOTABLE_BYTES = 32 << 20
};

struct page {
    FILE *out;
    bool colour;
    const char *cwd;  /* of the job: paths below it are shown without it */
    json_t *roles;    /* by pid, as text */
    const char *unit; /* what growth is told by: "step" or "time slice" */
    bool all;         /* each process's RSS */
    bool running;     /* some process was alive when the report was made */
};

static void paint(const struct page *p, const char *code)
{
    if (p->colour)
        fprintf(p->out, "\033[%sm", code);
}

static void put(const struct page *p, const char *text)
{
    char *clean = seep_text_clean(text, strlen(text));

    if (clean)
        fputs(clean, p->out);
    free(clean);
}

static const char *text_of(const json_t *object, const char *key, const char *missing)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : missing;
}

static double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* "1 step", "2 steps" */
static void put_count(const struct page *p, double n, const char *unit)
{
    fprintf(p->out, "%.0f %s%s", n, unit, n == 1 ? "" : "s");
}

static void put_size(const struct page *p, double bytes)
{
    char size[SEEP_SIZE_TEXT];

    fputs(seep_text_size(bytes, size), p->out);
}

static const char *short_path(const struct page *p, const char *path)
{
    size_t n = strlen(p->cwd);

    return n > 1 && strncmp(path, p->cwd, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

/* "train.py:40 in collate", or the module for native code without lines. */
static void put_frame(const struct page *p, const json_t *frame)
{
    const char *file = text_of(frame, "file", NULL);
    const char *function = text_of(frame, "function", NULL);
    const char *module = text_of(frame, "module", NULL);

    if (file) {
        put(p, short_path(p, file));
        if (number_of(frame, "line") > 0)
            fprintf(p->out, ":%.0f", number_of(frame, "line"));
    } else if (module) {
        put(p, seep_text_base(module));
        fprintf(p->out, "+0x%llx", (unsigned long long)number_of(frame, "offset"));
    }
    if (function) {
        fputs(file || module ? " in " : "", p->out);
        put(p, function);
    }
    if (!file && !module && !function)
        fputs("unknown code", p->out);
}

/* Breaks at spaces; continuation lines are indented by `indent`, the first begins at `column`. */
static void put_wrapped(const struct page *p, const char *text, int column, int indent)
{
    char *clean = seep_text_clean(text, strlen(text)), *at = clean;

    while (at && *at) {
        size_t word = strcspn(at, " ");
        if (column > indent && column + 1 + (int)word > WIDTH) {
            fprintf(p->out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', p->out);
            column++;
        }
        fwrite(at, 1, word, p->out);
        column += (int)word;
        at += word;
        at += strspn(at, " ");
    }
    free(clean);
    fputc('\n', p->out);
}

/* ---- findings ---------------------------------------------------------------------------- */

static bool any_runs(const json_t *report)
{
    size_t i;
    json_t *process;

    json_array_foreach (json_object_get(report, "processes"), i, process) {
        if (strcmp(text_of(json_object_get(process, "exit"), "kind", ""), "running") == 0)
            return true;
    }
    return false;
}

static const char *pid_text(const json_t *pid, char text[24])
{
    snprintf(text, 24, "%lld", (long long)json_integer_value(pid));
    return text;
}

/* What every pid was. One whose program was replaced has several entries: the last holds. */
static json_t *roles_of(const json_t *report)
{
    json_t *roles = json_object(), *process;
    char pid[24];
    size_t i;

    json_array_foreach (json_object_get(report, "processes"), i, process) {
        json_object_set_new(roles, pid_text(json_object_get(process, "pid"), pid),
                            json_string(text_of(process, "role", "process")));
    }
    return roles;
}

/* Those of pids that are not in `seen` yet and had that role (NULL: any), as many as have room. */
static void put_role(const struct page *p, const json_t *pids, const char *role, json_t *seen)
{
    bool first = true;
    json_t *one;
    char pid[24];
    size_t i;

    json_array_foreach (pids, i, one) {
        const char *its = text_of(p->roles, pid_text(one, pid), "process");
        if ((role && strcmp(its, role) != 0) || json_object_get(seen, pid))
            continue;
        json_object_set_new(seen, pid, json_true());
        if (json_object_size(seen) > MAX_PIDS)
            continue;
        if (first) {
            fputs(", ", p->out);
            put(p, its);
        }
        fprintf(p->out, " %s", pid);
        first = false;
    }
}

static void put_processes_of(const struct page *p, const json_t *pids)
{
    static const char *const roles[] = {"trainer", "rank", "loader-worker", "helper", NULL};
    json_t *seen = json_object();

    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        put_role(p, pids, roles[i], seen);
    if (json_object_size(seen) > MAX_PIDS)
        fprintf(p->out, " and %zu more", json_object_size(seen) - MAX_PIDS);
    json_decref(seen);
}

static void put_growth(const struct page *p, const json_t *finding, const char *unit)
{
    const json_t *growth = json_object_get(finding, "growth_bytes_per_step");
    double value = number_of(growth, "value");
    double half = (number_of(growth, "high") - number_of(growth, "low")) / 2;

    if (!(value > 0))
        return;
    fputs(", +", p->out);
    put_size(p, value);
    if (half >= 1) {
        fputs(" ± ", p->out);
        put_size(p, half);
    }
    fprintf(p->out, " a %s", unit);
}

static void put_limit(const struct page *p, const json_t *finding, const char *unit)
{
    const json_t *left = json_object_get(finding, "steps_to_limit");

    if (!json_is_number(left))
        return;
    fputs("    limit  ", p->out);
    put_size(p, number_of(finding, "limit_bytes"));
    fputs(", reached in about ", p->out);
    put_count(p, json_number_value(left), unit);
    fputs(" at this pace\n", p->out);
}

static void put_saving(const struct page *p, const json_t *finding)
{
    double saving = number_of(finding, "saving_bytes");

    if (!(saving > 0))
        return;
    fputs("    saves  ", p->out);
    put_size(p, saving);
    fputs(" of a run like this one, once it is fixed\n", p->out);
}

/* What nobody recorded has no line. */
static bool is_unseen(const json_t *finding)
{
    return json_is_null(json_object_get(finding, "frame")) &&
           json_array_size(json_object_get(finding, "sites")) == 0;
}

static void put_finding(const struct page *p, const json_t *finding, const char *unit)
{
    const char *severity = text_of(finding, "severity", "info");
    size_t i;
    json_t *line;

    paint(p, strcmp(severity, "leak") == 0 ? "1;31" : "1;33");
    put(p, text_of(finding, "id", "F?"));
    fputs("  ", p->out);
    put(p, text_of(finding, "pattern", "undetermined"));
    paint(p, "0");
    fputs("  ", p->out);
    paint(p, "1");
    if (is_unseen(finding))
        fputs("memory that was not recorded", p->out);
    else
        put_frame(p, json_object_get(finding, "frame"));
    paint(p, "0");
    fputs("\n    ", p->out);
    if (number_of(finding, "count") > 0) {
        put_size(p, number_of(finding, "live_bytes"));
        fputs(" kept in ", p->out);
        put_count(p, number_of(finding, "count"), "block");
        fputs(" of ", p->out);
    } else if (is_unseen(finding)) {
        put_size(p, number_of(finding, "live_bytes"));
        fputs(" of ", p->out);
    } else {
        fputs("nothing kept in ", p->out);
    }
    put(p, text_of(finding, "space", "?"));
    put_growth(p, finding, unit);
    put_processes_of(p, json_object_get(finding, "processes"));
    fputs("\n    ", p->out);
    put_wrapped(p, text_of(finding, "title", ""), 4, 4);
    json_array_foreach (json_object_get(finding, "evidence"), i, line) {
        fputs("    - ", p->out);
        put_wrapped(p, json_string_value(line) ? json_string_value(line) : "", 6, 6);
    }
    put_limit(p, finding, unit);
    put_saving(p, finding);
    paint(p, "32");
    fputs("    to do: ", p->out);
    put_wrapped(p, text_of(finding, "advice", ""), 11, 11);
    paint(p, "0");
    fputc('\n', p->out);
}

static void put_findings(const struct page *p, const json_t *report, const char *unit)
{
    const json_t *job = json_object_get(report, "job");
    const json_t *findings = json_object_get(report, "findings");
    size_t n = json_array_size(findings), i;
    json_t *one;

    paint(p, "1");
    if (n)
        fprintf(p->out, "seep: %zu finding%s", n, n == 1 ? "" : "s");
    else
        fputs("seep: no finding", p->out);
    paint(p, "0");
    fputs(" in ", p->out);
    put_count(p, number_of(job, "steps"), unit);
    fputs(p->running ? " so far\n\n" : "\n\n", p->out);
    json_array_foreach (findings, i, one)
        put_finding(p, one, unit);
}

/* ---- the job ----------------------------------------------------------------------------- */

static void put_command(const struct page *p, const json_t *job)
{
    size_t i, column = 9;
    json_t *word;

    fputs("command  ", p->out);
    json_array_foreach (json_object_get(job, "command"), i, word) {
        const char *text = json_string_value(word) ? json_string_value(word) : "?";
        column += strlen(text) + 1;
        if (column > WIDTH && i > 0) {
            fputs(" ...", p->out);
            break;
        }
        fputs(i ? " " : "", p->out);
        put(p, text);
    }
    fputc('\n', p->out);
}

static void put_job(const struct page *p, const json_t *job)
{
    const char *source = text_of(job, "step_source", "time");

    put_command(p, job);
    fputs("job      ", p->out);
    put_count(p, number_of(job, "steps"), "step");
    fputs(" by ", p->out);
    put(p, strcmp(source, "time") == 0 ? "time slices" : source);
    if (json_is_number(json_object_get(job, "epochs"))) {
        fputs(", ", p->out);
        put_count(p, number_of(job, "epochs"), "epoch");
    }
    fprintf(p->out, ", %.1f s%s", number_of(job, "duration_s"),
            p->running ? ", still running" : "");
    if (!json_is_true(json_object_get(job, "complete")))
        fputs(", incomplete", p->out);
    if (number_of(job, "dropped_events") > 0) {
        fputs(", ", p->out);
        put_count(p, number_of(job, "dropped_events"), "event");
        fputs(" dropped", p->out);
    }
    fputc('\n', p->out);
}

static void put_spaces(const struct page *p, const json_t *report)
{
    const char *key, *label = "memory ";
    json_t *totals;

    json_object_foreach (json_object_get(report, "spaces"), key, totals) {
        fprintf(p->out, "%s  ", label);
        put(p, key);
        fputs(": peak ", p->out);
        put_size(p, number_of(totals, "peak_bytes"));
        fprintf(p->out, " in step %.0f, ", number_of(totals, "peak_step"));
        put_size(p, number_of(totals, "live_bytes"));
        fputs(p->running ? " live now, " : " live at exit, ", p->out);
        put_count(p, number_of(totals, "allocations"), "allocation");
        fputc('\n', p->out);
        label = "       ";
    }
}

/* ---- resident memory --------------------------------------------------------------------- */

static void put_rss(const struct page *p, const json_t *rss, double highest, int column)
{
    char *text = seep_rss_text(rss, highest, p->unit);

    if (text)
        put_wrapped(p, text, column, column);
    free(text);
}

static void put_rss_of_job(const struct page *p, const json_t *report)
{
    const json_t *rss = json_object_get(json_object_get(report, "coverage"), "rss");
    json_t *process;
    double highest = 0;
    size_t i;

    if (!json_is_object(rss))
        return;
    json_array_foreach (json_object_get(report, "processes"), i, process) {
        if (json_is_object(json_object_get(process, "rss")))
            highest += number_of(process, "rss_peak_bytes");
    }
    fputs("RSS      ", p->out);
    put_rss(p, rss, highest, 9);
}

static void put_rss_of(const struct page *p, const json_t *process)
{
    const json_t *rss = json_object_get(process, "rss");

    if (!json_is_object(rss) || !(p->all || seep_rss_is_notable(rss)))
        return;
    fputs("           RSS ", p->out);
    put_rss(p, rss, number_of(process, "rss_peak_bytes"), 15);
}

/* ---- processes --------------------------------------------------------------------------- */

static void put_process(const struct page *p, const json_t *process)
{
    const json_t *exit = json_object_get(process, "exit");
    const char *kind = text_of(exit, "kind", "unknown");

    fprintf(p->out, "%.0f ", number_of(process, "pid"));
    put(p, text_of(process, "role", "?"));
    if (json_is_number(json_object_get(process, "rank")))
        fprintf(p->out, " (rank %.0f)", number_of(process, "rank"));
    fputs(": ", p->out);
    put(p, kind);
    if (json_is_number(json_object_get(exit, "value")))
        fprintf(p->out, " %.0f", number_of(exit, "value"));
    fputs(", RSS peak ", p->out);
    put_size(p, number_of(process, "rss_peak_bytes"));
    if (json_is_number(json_object_get(process, "pss_peak_bytes"))) {
        fputs(", PSS peak ", p->out);
        put_size(p, number_of(process, "pss_peak_bytes"));
    }
    const char *python = text_of(process, "python", NULL);
    if (python) {
        fputs(", Python ", p->out);
        put(p, python);
    }
    fputc('\n', p->out);
}

static bool is_helper(const json_t *process)
{
    return strcmp(text_of(process, "role", "helper"), "helper") == 0;
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
                seep_text_size(number_of(site, "peak_bytes"), size));
        put(p, text_of(site, "space", "?"));
        fputs("  ", p->out);
        put_frame(p, json_array_get(stack, at > 0 ? (size_t)at : 0));
        fputc('\n', p->out);
    }
}

static void put_gaps(const struct page *p, const json_t *report)
{
    const json_t *gaps = json_object_get(json_object_get(report, "coverage"), "not_seen");
    size_t n = json_array_size(gaps);

    for (size_t i = 0; i < n && i < MAX_SHOWN_GAPS; i++) {
        const char *text = json_string_value(json_array_get(gaps, i));
        fputs(i ? "         " : "not seen ", p->out);
        put_wrapped(p, text ? text : "?", 9, 9);
    }
    if (n > MAX_SHOWN_GAPS)
        fprintf(p->out, "         and %zu more\n", n - MAX_SHOWN_GAPS);
}

static int print_report(const json_t *report, FILE *out, bool colour, bool all)
{
    const json_t *job = json_object_get(report, "job");

    if (!json_is_object(job) || strcmp(text_of(report, "format", ""), "seep-report") != 0)
        return -SEEP_EINVAL;
    struct page page = {.out = out,
                        .colour = colour,
                        .cwd = text_of(job, "cwd", ""),
                        .roles = roles_of(report),
                        .all = all,
                        .running = any_runs(report)};
    const char *unit =
        strcmp(text_of(job, "step_source", "time"), "time") == 0 ? "time slice" : "step";
    page.unit = unit;
    put_findings(&page, report, unit);
    put_job(&page, job);
    put_spaces(&page, report);
    put_rss_of_job(&page, report);
    put_processes(&page, report);
    put_sites(&page, report);
    put_gaps(&page, report);
    json_decref(page.roles);
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
