#include "libprof/print/text_parts.h"

#include "libprof/print/put_text.h"
#include "libprof/report_read/report_view.h"

#include <string.h>

enum { MAX_PIDS = 4 };

struct page {
    FILE *out;
    bool colour;
    const char *cwd;  /* of the job: paths below it are shown without it */
    const char *unit; /* what growth is told by: "step" or "time slice" */
    json_t *roles;    /* by pid, as text */
};

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
                            json_string(seep_get_text(process, "role", "process")));
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
        const char *its = seep_get_text(p->roles, pid_text(one, pid), "process");
        if ((role && strcmp(its, role) != 0) || json_object_get(seen, pid))
            continue;
        json_object_set_new(seen, pid, json_true());
        if (json_object_size(seen) > MAX_PIDS)
            continue;
        if (first) {
            fputs(", ", p->out);
            seep_put_text(p->out, its);
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

static void put_growth(const struct page *p, const json_t *finding)
{
    const json_t *growth = json_object_get(finding, "growth_bytes_per_step");
    double value = seep_get_number(growth, "value");
    double half = (seep_get_number(growth, "high") - seep_get_number(growth, "low")) / 2;

    if (!(value > 0))
        return;
    fputs(", +", p->out);
    seep_put_size(p->out, value);
    if (half >= 1) {
        fputs(" ± ", p->out);
        seep_put_size(p->out, half);
    }
    fprintf(p->out, " a %s", p->unit);
}

static void put_limit(const struct page *p, const json_t *finding)
{
    const json_t *left = json_object_get(finding, "steps_to_limit");

    if (!json_is_number(left))
        return;
    fputs("    limit  ", p->out);
    seep_put_size(p->out, seep_get_number(finding, "limit_bytes"));
    fputs(", reached in about ", p->out);
    seep_put_count(p->out, json_number_value(left), p->unit);
    fputs(" at this pace\n", p->out);
}

static void put_saving(const struct page *p, const json_t *finding)
{
    double saving = seep_get_number(finding, "saving_bytes");

    if (!(saving > 0))
        return;
    fputs("    saves  ", p->out);
    seep_put_size(p->out, saving);
    fputs(" of a run like this one, once it is fixed\n", p->out);
}

/* What nobody recorded has no line. */
static bool is_unseen(const json_t *finding)
{
    return json_is_null(json_object_get(finding, "frame")) &&
           json_array_size(json_object_get(finding, "sites")) == 0;
}

/* "F1  unbounded-growth  train.py:40 in collate" */
static void put_heading(const struct page *p, const json_t *finding)
{
    const char *severity = seep_get_text(finding, "severity", "info");

    seep_put_colour(p->out, p->colour, strcmp(severity, "leak") == 0 ? "1;31" : "1;33");
    seep_put_text(p->out, seep_get_text(finding, "id", "F?"));
    fputs("  ", p->out);
    seep_put_text(p->out, seep_get_text(finding, "pattern", "undetermined"));
    seep_put_colour(p->out, p->colour, "0");
    fputs("  ", p->out);
    seep_put_colour(p->out, p->colour, "1");
    seep_put_place(p->out, finding, p->cwd);
    seep_put_colour(p->out, p->colour, "0");
}

/* "73.8 MiB kept in 600 blocks of host, +1.0 MiB a step, trainer 2817" */
static void put_amount(const struct page *p, const json_t *finding)
{
    double count = seep_get_number(finding, "count");

    if (count > 0 || is_unseen(finding)) {
        seep_put_size(p->out, seep_get_number(finding, "live_bytes"));
        if (count > 0) {
            fputs(" kept in ", p->out);
            seep_put_count(p->out, count, "block");
        }
        fputs(" of ", p->out);
    } else {
        fputs("nothing kept in ", p->out);
    }
    seep_put_text(p->out, seep_get_text(finding, "space", "?"));
    put_growth(p, finding);
    put_processes_of(p, json_object_get(finding, "processes"));
}

static void put_finding(const struct page *p, const json_t *finding)
{
    json_t *line;
    size_t i;

    put_heading(p, finding);
    fputs("\n    ", p->out);
    put_amount(p, finding);
    fputs("\n    ", p->out);
    seep_put_wrapped(p->out, seep_get_text(finding, "title", ""), 4, 4);
    json_array_foreach (json_object_get(finding, "evidence"), i, line) {
        fputs("    - ", p->out);
        seep_put_wrapped(p->out, json_string_value(line) ? json_string_value(line) : "", 6, 6);
    }
    seep_holder_text(finding, p->cwd, p->out, 4);
    put_limit(p, finding);
    put_saving(p, finding);
    seep_put_colour(p->out, p->colour, "32");
    fputs("    to do: ", p->out);
    seep_put_wrapped(p->out, seep_get_text(finding, "advice", ""), 11, 11);
    seep_put_colour(p->out, p->colour, "0");
    fputc('\n', p->out);
}

/* "and 8 more: 3 leak, 5 info: the list has a bound: fix these first, and run again" */
static void put_left_out(FILE *out, const json_t *report)
{
    const char *before = ": ";

    if (!(seep_get_all_left_out(report) > 0))
        return;
    fprintf(out, "and %.0f more", seep_get_all_left_out(report));
    for (int i = 0; i < 4; i++) {
        if (!(seep_get_left_out(report, i) > 0))
            continue;
        fprintf(out, "%s%.0f %s", before, seep_get_left_out(report, i), seep_severities[i]);
        before = ", ";
    }
    fputs(": the list has a bound: fix these first, and run again\n\n", out);
}

/* How many findings there are; of none, whether that says anything. */
static void put_result(const struct page *p, const json_t *report, size_t n)
{
    const json_t *job = json_object_get(report, "job");
    const bool runs = seep_get_runs(report), early = !n && seep_get_too_early(report);

    seep_put_colour(p->out, p->colour, "1");
    if (n)
        fprintf(p->out, "seep: %zu finding%s", n, n == 1 ? "" : "s");
    else if (early)
        fprintf(p->out, "seep: too %s to tell", runs ? "early" : "short");
    else
        fputs("seep: no finding", p->out);
    seep_put_colour(p->out, p->colour, "0");
    fputs(" in ", p->out);
    seep_put_count(p->out, seep_get_number(job, "steps"), p->unit);
    fputs(runs ? " so far\n" : "\n", p->out);
    if (early)
        fprintf(p->out, "Growth shows in %.0f %ss after the warm-up; this job has %.0f%s.\n",
                seep_get_number(job, "judged_steps_needed"), p->unit,
                seep_get_number(job, "judged_steps"), runs ? " so far" : "");
    fputc('\n', p->out);
}

void seep_findings_text(const json_t *report, FILE *out, bool colour)
{
    const json_t *job = json_object_get(report, "job");
    const json_t *findings = json_object_get(report, "findings");
    struct page page = {.out = out,
                        .colour = colour,
                        .cwd = seep_get_text(job, "cwd", ""),
                        .unit = seep_get_step_unit(job),
                        .roles = roles_of(report)};
    size_t n = json_array_size(findings), i;
    json_t *one;

    put_result(&page, report, n);
    json_array_foreach (findings, i, one)
        put_finding(&page, one);
    put_left_out(out, report);
    json_decref(page.roles);
}
