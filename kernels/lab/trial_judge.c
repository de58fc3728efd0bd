#include "kernels/lab/judges.h"

#include "kernels/lab/lab.h"
#include "libprof/report_read/report_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { NAME_BYTES = 128, SHELL_SIGNAL = 128 };

const json_t *seep_trial_finding(const json_t *report, const char *pattern)
{
    const json_t *finding;
    size_t i;

    /* Most severe and largest first. */
    json_array_foreach (json_object_get(report, "findings"), i, finding) {
        if (strcmp(seep_get_text(finding, "pattern", ""), pattern) == 0)
            return finding;
    }
    return NULL;
}

static const char *function_of(const json_t *finding)
{
    return seep_get_text(json_object_get(finding, "frame"), "function", "");
}

static bool is_serious(const json_t *finding)
{
    const char *severity = seep_get_text(finding, "severity", "");

    return strcmp(severity, "leak") == 0 || strcmp(severity, "retention") == 0;
}

/* Whether `pattern` is a word of "first, second". */
static bool is_among(const char *pattern, const char *patterns)
{
    size_t n = strlen(pattern);

    for (const char *at = patterns; at && *at; at += strspn(at, ", ")) {
        size_t length = strcspn(at, ", ");
        if (length == n && strncmp(at, pattern, n) == 0)
            return true;
        at += length;
    }
    return false;
}

/* The finding that the variant is there for, or one that goes with it. */
static bool belongs(const struct seep_variant *v, const json_t *finding)
{
    const char *pattern = seep_get_text(finding, "pattern", "");

    if (is_among(pattern, v->others))
        return true;
    return v->pattern && strcmp(pattern, v->pattern) == 0 &&
           (!v->function || strcmp(function_of(finding), v->function) == 0);
}

typedef bool is_listed(const struct seep_variant *v, const json_t *finding);

static bool is_any(const struct seep_variant *v, const json_t *finding)
{
    (void)v, (void)finding;
    return true;
}

static bool is_further(const struct seep_variant *v, const json_t *finding)
{
    if (v->cured && strcmp(seep_get_text(finding, "pattern", ""), v->cured) == 0)
        return true;
    return is_serious(finding) && !belongs(v, finding);
}

/* "retention aliased-cache in collate_tensor, …", "none" without any.
 * Allocates the result (free() it); NULL without memory. */
static char *list_findings(const struct seep_outcome *o, is_listed *listed, size_t *n)
{
    const json_t *finding;
    char *text = NULL;
    size_t i, bytes;
    FILE *out = open_memstream(&text, &bytes);

    *n = 0;
    if (!out)
        return NULL;
    json_array_foreach (json_object_get(o->report, "findings"), i, finding) {
        if (!listed(o->variant, finding))
            continue;
        fprintf(out, "%s%s %s in %s", *n ? ", " : "", seep_get_text(finding, "severity", "?"),
                seep_get_text(finding, "pattern", "?"), function_of(finding));
        ++*n;
    }
    if (!*n)
        fputs("none", out);
    fclose(out);
    return text;
}

/* ---- the lines ------------------------------------------------------------------------------- */

/* `seep run` reports a job's end by a signal as shells do. */
static int signal_of(int status)
{
    if (WIFSIGNALED(status))
        return WTERMSIG(status);
    return WEXITSTATUS(status) > SHELL_SIGNAL ? WEXITSTATUS(status) - SHELL_SIGNAL : 0;
}

static void judge_status(const struct seep_outcome *o, struct seep_rows *rows)
{
    /* A job that must fail must do so by its own exit status, not by a crash. */
    const struct seep_variant *v = o->variant;
    int number = signal_of(o->status), ended = WEXITSTATUS(o->status);
    bool pass =
        WIFEXITED(o->status) &&
        ((ended == SEEP_LAB_UNEXPECTED && (v->fails || v->may_fail)) || (ended == 0 && !v->fails));
    const char *text = v->fails      ? "fails (status 1)"
                       : v->may_fail ? "ends with status 0, or fails (1)"
                                     : "ends with status 0";
    char name[NAME_BYTES];

    snprintf(name, sizeof name, "%s: the job", o->variant->name);
    if (number)
        seep_rows_add(rows, false, name, text, "signal %d ends it", number);
    else
        seep_rows_add(rows, pass, name, text, "ends with status %d", WEXITSTATUS(o->status));
}

static void judge_finding(const struct seep_outcome *o, struct seep_rows *rows)
{
    const struct seep_variant *v = o->variant;
    const json_t *finding = seep_trial_finding(o->report, v->pattern);
    const char *severity = seep_get_text(finding, "severity", "none");
    char name[NAME_BYTES], expected[NAME_BYTES];
    size_t n;
    char *all = list_findings(o, is_any, &n);

    snprintf(name, sizeof name, "%s: seep finds", v->name);
    snprintf(expected, sizeof expected, "%s, %s", v->pattern, v->severity);
    if (finding)
        seep_rows_add(rows, strcmp(severity, v->severity) == 0, name, expected, "%s, %s",
                      v->pattern, severity);
    else
        seep_rows_add(rows, false, name, expected, "%s", all ? all : "no memory");
    free(all);
    if (finding && v->function) {
        snprintf(name, sizeof name, "%s: in the function", v->name);
        seep_rows_add(rows, strcmp(function_of(finding), v->function) == 0, name, v->function, "%s",
                      function_of(finding));
    }
}

static void judge_further(const struct seep_outcome *o, struct seep_rows *rows)
{
    const struct seep_variant *v = o->variant;
    char name[NAME_BYTES], expected[NAME_BYTES];
    size_t n;
    char *further = list_findings(o, is_further, &n);

    snprintf(name, sizeof name, "%s: seep finds%s", v->name, v->pattern ? " as well" : "");
    snprintf(expected, sizeof expected, "no leak, no retention%s%s%s%s", v->others ? " but " : "",
             v->others ? v->others : "", v->cured ? ", no " : "", v->cured ? v->cured : "");
    seep_rows_add(rows, further && n == 0, name, expected, "%s", further ? further : "no memory");
    free(further);
}

bool seep_trial_judge(const struct seep_outcome *o, double scale, struct seep_rows *rows)
{
    unsigned before = rows->n_failed;
    char name[NAME_BYTES];

    judge_status(o, rows);
    if (!json_is_array(json_object_get(o->report, "findings"))) {
        snprintf(name, sizeof name, "%s: seep's report", o->variant->name);
        seep_rows_add(rows, false, name, "findings", "none: seep wrote no report");
    } else {
        if (o->variant->pattern && scale >= o->variant->least_scale)
            judge_finding(o, rows);
        judge_further(o, rows);
    }
    return rows->n_failed == before && !rows->lost;
}
