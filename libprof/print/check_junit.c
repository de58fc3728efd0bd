/* This file prints a check as JUnit's XML, in the form of Ant's JUnit task, the strictest in use:
 * all required attributes and elements are there, in its order, so that all readers accept it. */
#include "libprof/base/text.h"
#include "libprof/print/check_printers.h"
#include "libprof/report_read/holder_view.h"
#include "libprof/report_read/report_view.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* XML cannot represent control characters and U+FFFE, U+FFFF. */
static void put(FILE *out, const char *text)
{
    char *clean = seep_text_clean(text, strlen(text));

    for (const char *p = clean ? clean : ""; *p; p++) {
        if (*p == '&')
            fputs("&amp;", out);
        else if (*p == '<')
            fputs("&lt;", out);
        else if (*p == '>')
            fputs("&gt;", out);
        else if (*p == '"')
            fputs("&quot;", out);
        else if (strncmp(p, "\xef\xbf\xbe", 3) == 0 || strncmp(p, "\xef\xbf\xbf", 3) == 0) {
            fputc('?', out);
            p += 2;
        } else
            fputc(*p, out);
    }
    free(clean);
}

static void put_attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    put(out, value);
    fputc('"', out);
}

static bool is(const json_t *object, const char *verdict)
{
    return strcmp(seep_get_text(object, "verdict", ""), verdict) == 0;
}

static void begin_case(FILE *out, const char *class, const char *name)
{
    fputs("    <testcase", out);
    put_attribute(out, "classname", class);
    put_attribute(out, "name", name);
    fputs(" time=\"0\"", out);
}

static void put_line(FILE *out, const json_t *line, const char *cwd)
{
    begin_case(out, "seep.budget", seep_get_text(line, "name", "?"));
    if (!is(line, "violated")) {
        fputs("/>\n", out);
        return;
    }
    fputs(">\n      <failure type=\"budget\"", out);
    put_attribute(out, "message", seep_get_text(line, "text", ""));
    fputc('>', out);
    put(out, seep_get_text(line, "text", ""));
    if (json_object_get(line, "frame")) {
        char *frame = seep_get_frame_text(json_object_get(line, "frame"), cwd);
        fputs("\nmost of it: ", out);
        put(out, frame ? frame : "?");
        free(frame);
    }
    fputs("</failure>\n    </testcase>\n", out);
}

static void put_failure(FILE *out, const struct seep_report_finding *f, const char *frame,
                        const char *cwd)
{
    json_t *line;
    char *held;
    size_t i;

    fputs(">\n      <failure", out);
    put_attribute(out, "type", f->pattern);
    put_attribute(out, "message", f->title);
    fputc('>', out);
    put(out, frame);
    json_array_foreach (f->evidence, i, line) {
        fputs("\n- ", out);
        put(out, json_string_value(line) ? json_string_value(line) : "");
    }
    for (i = 0; (held = seep_get_holders_line(f, cwd, i)); i++) {
        fputs("\n- ", out);
        put(out, held);
        free(held);
    }
    fputs("\nto do: ", out);
    put(out, f->advice);
    fputs("</failure>\n    </testcase>\n", out);
}

static void put_finding(FILE *out, const json_t *finding, const char *cwd)
{
    const struct seep_report_finding f = seep_report_finding_read(finding);
    char *frame = seep_get_frame_text(seep_get_line_to_change(&f), cwd);
    char *name = seep_text_format("%s at %s", f.pattern, frame ? frame : "?");

    begin_case(out, "seep.finding", name ? name : "?");
    if (is(finding, "ignored")) {
        fputs(">\n      <skipped", out);
        put_attribute(out, "message", seep_get_text(finding, "reason", ""));
        fputs("/>\n    </testcase>\n", out);
    } else if (is(finding, "violated")) {
        put_failure(out, &f, frame ? frame : "?", cwd);
    } else {
        fputs("/>\n", out);
    }
    free(name);
    free(frame);
}

/* Neither passed nor failed. */
static void put_doubt(FILE *out, const json_t *check)
{
    begin_case(out, "seep", "the run can be judged");
    fputs(">\n      <error type=\"unknown\"", out);
    put_attribute(out, "message", seep_get_text(check, "reason", ""));
    fputs("/>\n    </testcase>\n", out);
}

static size_t count(const json_t *list, const char *verdict)
{
    size_t i, n = 0;
    json_t *one;

    json_array_foreach (list, i, one)
        n += is(one, verdict);
    return n;
}

static void begin_suite(FILE *out, const json_t *check)
{
    const struct seep_report_job job = seep_get_job(check);
    const json_t *lines = json_object_get(check, "lines"),
                 *findings = json_object_get(check, "findings");
    const double started = job.started_unix_s;
    time_t t = started > 0 && started < 1e11 ? (time_t)started : 0;
    char stamp[40] = "1970-01-01T00:00:00";
    const int is_unknown = is(check, "unknown");
    struct tm tm;

    if (gmtime_r(&t, &tm))
        strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &tm);
    fputs("  <testsuite name=\"seep\" package=\"seep\" id=\"0\"", out);
    put_attribute(out, "timestamp", stamp);
    put_attribute(out, "hostname", *job.host ? job.host : "localhost");
    fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%d\" skipped=\"%zu\" time=\"%.3f\">\n",
            json_array_size(lines) + json_array_size(findings) + (size_t)is_unknown,
            count(lines, "violated") + count(findings, "violated"), is_unknown,
            count(findings, "ignored"), job.duration_s);
    fputs("    <properties>\n      <property name=\"seep\"", out);
    put_attribute(out, "value", seep_get_text(check, "seep", ""));
    fprintf(out, "/>\n      <property name=\"steps\" value=\"%.0f\"/>\n    </properties>\n",
            (double)job.steps);
}

int seep_check_junit(const json_t *check, FILE *out, bool colour)
{
    const char *cwd = seep_get_job(check).cwd;
    json_t *one;
    size_t i;

    (void)colour;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n", out);
    begin_suite(out, check);
    if (is(check, "unknown"))
        put_doubt(out, check);
    json_array_foreach (json_object_get(check, "lines"), i, one)
        put_line(out, one, cwd);
    json_array_foreach (json_object_get(check, "findings"), i, one)
        put_finding(out, one, cwd);
    fputs("    <system-out>", out);
    json_array_foreach (json_object_get(check, "notes"), i, one) {
        put(out, json_string_value(one) ? json_string_value(one) : "");
        fputc('\n', out);
    }
    fputs("</system-out>\n    <system-err/>\n  </testsuite>\n</testsuites>\n", out);
    return ferror(out) ? -SEEP_EIO : 0;
}
