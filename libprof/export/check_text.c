/* A check as text. */
#include "libprof/base/text.h"
#include "libprof/document/report_view.h"
#include "libprof/export/check_printers.h"

#include <stdlib.h>
#include <string.h>

static void put(FILE *out, const char *text)
{
    char *clean = seep_text_clean(text, strlen(text));

    if (clean)
        fputs(clean, out);
    free(clean);
}

static void paint(FILE *out, bool colour, const char *code)
{
    if (colour)
        fprintf(out, "\033[%sm", code);
}

static const char *frame_into(const json_t *owner, const char *cwd, char **text)
{
    *text = seep_get_frame_text(json_object_get(owner, "frame"), cwd);
    return *text ? *text : "?";
}

static void put_line(FILE *out, const json_t *line, const char *cwd, bool colour)
{
    const char *verdict = seep_get_text(line, "verdict", "");
    bool bad = strcmp(verdict, "violated") == 0;
    char *frame;

    paint(out, colour, bad ? "1;31" : "32");
    fputs(bad ? "  FAIL  " : "  ok    ", out);
    paint(out, colour, "0");
    put(out, seep_get_text(line, "name", ""));
    fputs("\n        ", out);
    put(out, seep_get_text(line, "text", ""));
    fputc('\n', out);
    if (!json_object_get(line, "frame") || strcmp(seep_get_text(line, "kind", ""), "baseline") == 0)
        return;
    fputs("        most of it: ", out);
    fputs(frame_into(line, cwd, &frame), out);
    fputc('\n', out);
    free(frame);
}

static void put_finding(FILE *out, const json_t *finding, const char *cwd, bool colour)
{
    const char *verdict = seep_get_text(finding, "verdict", "");
    bool bad = strcmp(verdict, "violated") == 0;
    char *frame;

    fputs("\n  ", out);
    paint(out, colour, bad ? "1;31" : "1;33");
    put(out, seep_get_text(finding, "id", "F?"));
    fputs("  ", out);
    put(out, seep_get_text(finding, "pattern", ""));
    paint(out, colour, "0");
    fprintf(out, " (%s%s)  ", seep_severities[seep_get_severity(finding)],
            strcmp(verdict, "ignored") == 0 ? ", ignored" : "");
    fputs(frame_into(finding, cwd, &frame), out);
    fputs("\n      ", out);
    put(out, seep_get_text(finding, "title", ""));
    if (json_object_get(finding, "reason")) {
        fputs("\n      ignored: ", out);
        put(out, seep_get_text(finding, "reason", ""));
    } else {
        fputs("\n      to do: ", out);
        put(out, seep_get_text(finding, "advice", ""));
    }
    fputc('\n', out);
    free(frame);
}

int seep_format_check_text(const json_t *check, FILE *out, bool colour)
{
    const json_t *job = json_object_get(check, "job"), *lines = json_object_get(check, "lines");
    const char *cwd = seep_get_text(job, "cwd", "");
    bool violated = strcmp(seep_get_text(check, "verdict", ""), "violated") == 0;
    json_t *one;
    size_t i;

    paint(out, colour, violated ? "1;31" : "1;32");
    fprintf(out, "seep check: %s", violated ? "violated" : "holds");
    paint(out, colour, "0");
    fprintf(out, ", %.0f steps by %s\n\n", seep_get_number(job, "steps"),
            seep_get_text(job, "step_source", "?"));
    json_array_foreach (lines, i, one)
        put_line(out, one, cwd, colour);
    json_array_foreach (json_object_get(check, "findings"), i, one) {
        put_finding(out, one, cwd, colour);
    }
    json_array_foreach (json_object_get(check, "notes"), i, one) {
        fputs(i ? "  note: " : "\n  note: ", out);
        put(out, json_string_value(one) ? json_string_value(one) : "");
        fputc('\n', out);
    }
    return ferror(out) ? -SEEP_EIO : 0;
}
