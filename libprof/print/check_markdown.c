/* This file prints a check as Markdown for the summary of a CI job. */
#include "libprof/base/text.h"
#include "libprof/print/check_printers.h"
#include "libprof/print/put_text.h"
#include "libprof/report_read/holder_view.h"
#include "libprof/report_read/report_view.h"

#include <stdlib.h>
#include <string.h>

/* Escapes text so that it appears literally, also in table cells and HTML. */
static void put(FILE *out, const char *text)
{
    char *clean = seep_text_clean(text, strlen(text));

    for (const char *p = clean ? clean : ""; *p; p++) {
        switch (*p) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '@': /* would notify a user */
            fputs("&#64;", out);
            break;
        case '|':
        case '\\':
        case '`':
        case '*':
        case '_':
        case '[':
        case ']':
        case '#':
        case '~':
            fputc('\\', out);
            fputc(*p, out);
            break;
        default:
            fputc(*p, out);
        }
    }
    free(clean);
}

static void put_key(FILE *out, const json_t *object, const char *key)
{
    put(out, seep_get_text(object, key, ""));
}

static void put_frame(FILE *out, const json_t *entry, const char *cwd)
{
    char *text = seep_get_frame_text(json_object_get(entry, "frame"), cwd);

    put(out, text ? text : "?");
    free(text);
}

/* A budget that holds is good; a finding that is only allowed is not. */
static const char *mark(const json_t *object, const char *holds)
{
    const char *verdict = seep_get_text(object, "verdict", "");

    return strcmp(verdict, "violated") == 0  ? "❌"
           : strcmp(verdict, "ignored") == 0 ? "➖"
           : strcmp(verdict, "noise") == 0   ? "⚠️"
                                             : holds;
}

static void put_lines(FILE *out, const json_t *lines, const char *cwd)
{
    json_t *line;
    size_t i;

    if (!json_array_size(lines))
        return;
    fputs("| | budget | measured | most of it |\n| --- | --- | --- | --- |\n", out);
    json_array_foreach (lines, i, line) {
        fprintf(out, "| %s | ", mark(line, "✅"));
        put_key(out, line, "name");
        fputs(" | ", out);
        put_key(out, line, "text");
        fputs(" | ", out);
        if (json_object_get(line, "frame"))
            put_frame(out, line, cwd);
        fputs(" |\n", out);
    }
    fputc('\n', out);
}

static void put_place(FILE *out, const struct seep_report_finding *f, const char *cwd)
{
    char *text = seep_get_finding_place(f, cwd);

    put(out, text ? text : "?");
    free(text);
}

static void put_row(FILE *out, const json_t *finding, const char *cwd)
{
    const struct seep_report_finding f = seep_report_finding_read(finding);
    const double growth = f.growth_bytes_per_step.value;
    char live[SEEP_SIZE_TEXT], grows[SEEP_SIZE_TEXT];

    fprintf(out, "| %s | ", mark(finding, ""));
    put(out, f.id);
    fputs(" | ", out);
    put(out, f.pattern);
    fprintf(out, " | %s | ", seep_severity_name(f.severity));
    put_place(out, &f, cwd);
    fprintf(out, " | %s | %s |\n", seep_text_size((double)f.live_bytes, live),
            growth > 0 ? seep_text_size(growth, grows) : "");
}

static void put_details(FILE *out, const json_t *finding, const char *cwd)
{
    const struct seep_report_finding f = seep_report_finding_read(finding);
    json_t *line;
    char *held;
    size_t i;

    fputs("<details><summary>", out);
    put(out, f.id);
    fputs(": ", out);
    put(out, f.title);
    fputs("</summary>\n\n", out);
    json_array_foreach (f.evidence, i, line) {
        fputs("- ", out);
        put(out, json_string_value(line) ? json_string_value(line) : "");
        fputc('\n', out);
    }
    for (i = 0; (held = seep_get_holders_line(&f, cwd, i)); i++) {
        fputs("- ", out);
        put(out, held);
        fputc('\n', out);
        free(held);
    }
    fputs("\n**To do:** ", out);
    put(out, f.advice);
    if (json_object_get(finding, "reason")) {
        fputs("\n\n**Ignored:** ", out);
        put_key(out, finding, "reason");
    }
    fputs("\n\n</details>\n\n", out);
}

int seep_check_markdown(const json_t *check, FILE *out, bool colour)
{
    const struct seep_report_job job = seep_get_job(check);
    const json_t *findings = json_object_get(check, "findings");
    const char *verdict = seep_get_text(check, "verdict", ""),
               *why = seep_get_text(check, "reason", "");
    json_t *one;
    size_t i;

    (void)colour;
    fprintf(out, "### seep: memory budget %s\n\n", *why ? "not shown to hold" : verdict);
    seep_put_steps(out, &job);
    seep_put_ending(out, json_object_get(check, "job"), ", ");
    fputs("\n\n", out);
    if (*why) {
        fputs("❓ ", out);
        put(out, why);
        fputs("\n\n", out);
    }
    put_lines(out, json_object_get(check, "lines"), job.cwd);
    if (json_array_size(findings))
        fprintf(out,
                "| | | pattern | severity | line | kept | growth a %s |\n"
                "| --- | --- | --- | --- | --- | --- | --- |\n",
                seep_get_step_unit(&job));
    json_array_foreach (findings, i, one)
        put_row(out, one, job.cwd);
    if (json_array_size(findings))
        fputc('\n', out);
    json_array_foreach (findings, i, one)
        put_details(out, one, job.cwd);
    json_array_foreach (json_object_get(check, "notes"), i, one) {
        fputs("> ", out);
        put(out, json_string_value(one) ? json_string_value(one) : "");
        fputs("\n\n", out);
    }
    return ferror(out) ? -SEEP_EIO : 0;
}
