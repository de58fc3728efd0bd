#include <stdlib.h>
#include <string.h>

#include "libprof/print/put_text.h"
#include "libprof/print/text_parts.h"
#include "libprof/report_read/holder_view.h"
#include "libprof/report_read/report_view.h"
#include "libprof/words/space.h"

static const char HELD[] = "held by  ", KEPT[] = "kept at  ", PASSED[] = "goes to  ";

static void put_path(FILE *out, const json_t *holders, const json_t *path, int column)
{
    char *words = seep_get_path_words(holders, path);

    seep_put_wrapped(out, words ? words : "?", column, column);
    free(words);
}

typedef char *get_line(const struct seep_report_finding *f, const char *cwd, size_t i);

/* The statements that put it there, or pass it on, one per line. */
static void put_lines(const struct seep_report_finding *f, const char *cwd, FILE *out, int indent,
                      const char *label, get_line *get)
{
    const int column = indent + (int)strlen(label);
    char *words = get(f, cwd, 0), *more = words ? get(f, cwd, 1) : NULL;
    const bool several = more != NULL;

    free(more);
    if (words)
        fprintf(out, "%*s%s%s", indent, "", label, several ? "one of\n" : "");
    for (size_t i = 1; words; words = get(f, cwd, i++)) {
        if (several)
            fprintf(out, "%*s", column, "");
        seep_put_wrapped(out, words, column, column + 2);
        free(words);
    }
}

void seep_holders_text(const json_t *any, FILE *out, int indent)
{
    const json_t *holders = seep_get_holders(any);
    const char *words = seep_get_holders_words(holders);
    const int column = indent + (int)strlen(HELD);
    json_t *path;
    size_t i;

    if (!*words && !json_array_size(json_object_get(holders, "paths")))
        return;
    fprintf(out, "%*s%s", indent, "", HELD);
    if (*words)
        seep_put_wrapped(out, words, column, column);
    json_array_foreach (json_object_get(holders, "paths"), i, path) {
        if (*words)
            fprintf(out, "%*s- ", column, "");
        else if (i)
            fprintf(out, "%*s", column, "");
        put_path(out, holders, path, *words ? column + 2 : column);
    }
}

void seep_holder_text(const struct seep_report_finding *f, const char *cwd, FILE *out, int indent)
{
    put_lines(f, cwd, out, indent, KEPT, seep_get_kept_words);
    put_lines(f, cwd, out, indent, PASSED, seep_get_passed_words);
    seep_holders_text(f->holders, out, indent);
}

enum { MAX_PIDS = 4 };

struct page {
    FILE *out;
    bool colour;
    const char *cwd;  /* of the job: paths below it are shown without it */
    const char *unit; /* the unit of growth: "step" or "time slice" */
    json_t *roles;    /* by pid, as text */
};

static const char *pid_text(const json_t *pid, char text[24])
{
    snprintf(text, 24, "%lld", (long long)json_integer_value(pid));
    return text;
}

/* The role of each pid. A process that exec'd has several entries: the last one counts. */
static json_t *roles_of(const json_t *report)
{
    json_t *roles = json_object(), *process;
    char pid[24];
    size_t i;

    json_array_foreach (json_object_get(report, "processes"), i, process) {
        json_object_set_new(roles, pid_text(json_object_get(process, "pid"), pid),
                            json_string(seep_get_text(process, "role", "process")));
    }
    return roles;
}

/* The pids that are not yet in `seen` and have that role (NULL: any), as many as fit: "trainer
 * process 2817", "loader-worker processes 12 13". */
static void put_role(const struct page *p, FILE *to, const char *before, const json_t *pids,
                     const char *role, json_t *seen)
{
    const char *its = NULL;
    char shown[MAX_PIDS * 24] = "", pid[24];
    size_t i, n = 0, length = 0;
    json_t *one;

    json_array_foreach (pids, i, one) {
        const char *of = seep_get_text(p->roles, pid_text(one, pid), "process");
        if ((role && strcmp(of, role) != 0) || json_object_get(seen, pid))
            continue;
        json_object_set_new(seen, pid, json_true());
        if (json_object_size(seen) > MAX_PIDS)
            continue;
        its = its ? its : of;
        length += (size_t)snprintf(shown + length, sizeof shown - length, " %s", pid);
        n++;
    }
    if (!n)
        return;
    fputs(before, to);
    if (strcmp(its, "process") != 0) {
        seep_put_text(to, its);
        fputc(' ', to);
    }
    fprintf(to, "%s%s", n == 1 ? "process" : "processes", shown);
}

static void put_processes_of(const struct page *p, FILE *to, bool grows, const json_t *pids)
{
    static const char *const roles[] = {"trainer", "rank", "loader-worker", "helper", NULL};
    json_t *seen = json_object();

    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        put_role(p, to,
                 json_object_size(seen) ? ", "
                 : grows                ? ", in "
                                        : " in ",
                 pids, roles[i], seen);
    if (json_object_size(seen) > MAX_PIDS)
        fprintf(to, " and %zu more", json_object_size(seen) - MAX_PIDS);
    json_decref(seen);
}

/* Memory that nobody recorded has no line. */
static bool is_unseen(const struct seep_report_finding *f)
{
    return json_is_null(f->frame) && json_array_size(f->sites) == 0;
}

/* "F1  unbounded-growth  train.py:40 in collate" */
static void put_heading(const struct page *p, const struct seep_report_finding *f)
{
    struct seep_paragraph line;
    FILE *to = seep_put_begin(&line, p->out, 0, 4);

    seep_put_severity(to, p->colour, f->severity);
    seep_put_text(to, f->id);
    fputs("  ", to);
    seep_put_text(to, f->pattern);
    seep_put_colour(to, p->colour, "0");
    fputs("  ", to);
    seep_put_colour(to, p->colour, "1");
    seep_put_place(to, f, p->cwd);
    seep_put_colour(to, p->colour, "0");
    seep_put_end(&line);
}

static bool put_growth(const struct page *p, FILE *to, const struct seep_slope *growth)
{
    double half = (growth->high - growth->low) / 2;

    if (!(growth->value > 0))
        return false;
    fputs(", grows by ", to);
    seep_put_size(to, growth->value);
    if (half >= 1) {
        fputs(" ± ", to);
        seep_put_size(to, half);
    }
    fprintf(to, " a %s", p->unit);
    return true;
}

/* "Keeps 73.8 MiB (600 blocks, host memory), grows by 1.0 MiB a step, in trainer process 2817" */
static void put_amount(const struct page *p, const struct seep_report_finding *f)
{
    char words[SEEP_SPACE_WORDS];
    struct seep_paragraph line;
    FILE *to = seep_put_begin(&line, p->out, 0, 4);

    fputs("    Keeps ", to);
    if (f->count || is_unseen(f))
        seep_put_size(to, (double)f->live_bytes);
    else
        fputs("nothing", to);
    fputs(" (", to);
    if (f->count) {
        seep_put_count(to, (double)f->count, "block");
        fputs(", ", to);
    }
    fprintf(to, "%s)", seep_memory_words(f->space, words));
    bool grows = put_growth(p, to, &f->growth_bytes_per_step);
    put_processes_of(p, to, grows, f->processes);
    seep_put_end(&line);
}

static void put_limit(const struct page *p, const struct seep_report_finding *f)
{
    struct seep_paragraph line;

    if (f->steps_to_limit < 0)
        return;
    FILE *to = seep_put_begin(&line, p->out, 0, 11);
    fputs("    limit  ", to);
    seep_put_size(to, f->limit_bytes > 0 ? (double)f->limit_bytes : 0);
    fputs(", reached in about ", to);
    seep_put_count(to, (double)f->steps_to_limit, p->unit);
    fputs(" at this pace", to);
    seep_put_end(&line);
}

static void put_saving(const struct page *p, const struct seep_report_finding *f)
{
    struct seep_paragraph line;

    if (!f->saving_bytes)
        return;
    FILE *to = seep_put_begin(&line, p->out, 0, 11);
    fputs("    saves  ", to);
    seep_put_size(to, (double)f->saving_bytes);
    fputs(" in a run like this one, if fixed", to);
    seep_put_end(&line);
}

void seep_advice_text(const struct seep_report_finding *f, FILE *out, bool colour)
{
    struct seep_paragraph line;
    FILE *to = seep_put_begin(&line, out, 0, 11);

    seep_put_colour(to, colour, "32");
    fputs("    to do: ", to);
    seep_put_text(to, f->advice);
    seep_put_colour(to, colour, "0");
    seep_put_end(&line);
}

static void put_finding(const struct page *p, const struct seep_report_finding *f)
{
    json_t *line;
    size_t i;

    put_heading(p, f);
    put_amount(p, f);
    fputs("    ", p->out);
    seep_put_wrapped(p->out, f->title, 4, 4);
    json_array_foreach (f->evidence, i, line) {
        fputs("    - ", p->out);
        seep_put_wrapped(p->out, json_string_value(line) ? json_string_value(line) : "", 6, 6);
    }
    seep_holder_text(f, p->cwd, p->out, 4);
    put_limit(p, f);
    put_saving(p, f);
    seep_advice_text(f, p->out, p->colour);
    fputc('\n', p->out);
}

/* "and 8 more (3 leak, 5 info): the list is bounded. Fix these first, then run again." */
static void put_left_out(FILE *out, const json_t *report)
{
    const char *before = " (";
    struct seep_paragraph line;

    if (!(seep_get_all_left_out(report) > 0))
        return;
    FILE *to = seep_put_begin(&line, out, 0, 0);
    fprintf(to, "and %.0f more", seep_get_all_left_out(report));
    for (int i = 0; i < SEEP_N_SEVERITIES; i++) {
        if (!(seep_get_left_out(report, i) > 0))
            continue;
        fprintf(to, "%s%.0f %s", before, seep_get_left_out(report, i), seep_severities[i]);
        before = ", ";
    }
    fputs("): the list is bounded. Fix these first, then run again.", to);
    seep_put_end(&line);
    fputc('\n', out);
}

/* What a job that died shows is not what its whole run would have shown. */
static void put_failure(FILE *out, const json_t *report, bool colour)
{
    const json_t *process = seep_get_crashed(report);
    const struct seep_report_job job = seep_get_job(report);
    const size_t n = json_array_size(json_object_get(report, "findings"));

    seep_put_colour(out, colour, "1");
    fputs("seep: the job failed (", out);
    seep_put_text(out, seep_get_exit_text(process));
    fputc(')', out);
    seep_put_colour(out, colour, "0");
    if (seep_get_crashed_at_once(report)) {
        fputs(" before its first step; nothing to judge\n", out);
        return;
    }
    fputs(" after ", out);
    seep_put_count(out, (double)job.steps, seep_get_step_unit(&job));
    if (n)
        fprintf(out, "; %zu finding%s\n", n, n == 1 ? "" : "s");
    else
        fputs("; no finding in them\n", out);
}

void seep_verdict_text(const json_t *report, FILE *out, bool colour)
{
    const size_t n = json_array_size(json_object_get(report, "findings"));
    const json_t *json = json_object_get(report, "job");
    const struct seep_report_job job = seep_report_job_read(json);
    const char *unit = seep_get_step_unit(&job);
    const bool runs = seep_get_runs(report), early = !n && seep_get_too_early(report);

    if (seep_get_crashed(report)) {
        put_failure(out, report, colour);
        return;
    }
    seep_put_colour(out, colour, "1");
    if (n)
        fprintf(out, "seep: %zu finding%s", n, n == 1 ? "" : "s");
    else if (early)
        fprintf(out, "seep: too %s to tell", runs ? "early" : "short");
    else
        fputs("seep: no finding", out);
    seep_put_colour(out, colour, "0");
    fputs(" in ", out);
    seep_put_count(out, (double)job.steps, unit);
    if (seep_get_undetermined(report))
        fputs(", undetermined", out);
    if (seep_get_has_failed(json)) { /* it was told to end */
        fputs(" (", out);
        seep_put_text(out, seep_get_exit_text(json));
        fputc(')', out);
    }
    fputs(runs ? " so far\n" : "\n", out);
    if (early)
        fprintf(out, "Growth shows in %.0f %ss after the warm-up; this job has %.0f%s.\n",
                (double)job.judged_steps_needed, unit, (double)job.judged_steps,
                runs ? " so far" : "");
}

void seep_findings_text(const json_t *report, FILE *out, bool colour)
{
    const struct seep_report_job job = seep_get_job(report);
    const json_t *findings = json_object_get(report, "findings");
    struct page page = {.out = out,
                        .colour = colour,
                        .cwd = job.cwd,
                        .unit = seep_get_step_unit(&job),
                        .roles = roles_of(report)};
    json_t *one;
    size_t i;

    seep_verdict_text(report, out, colour);
    fputc('\n', out);
    json_array_foreach (findings, i, one) {
        const struct seep_report_finding f = seep_report_finding_read(one);
        put_finding(&page, &f);
    }
    put_left_out(out, report);
    json_decref(page.roles);
}
