/* This file prints a check for a terminal. */
#include "libprof/print/check_printers.h"
#include "libprof/print/put_text.h"
#include "libprof/print/text_parts.h"
#include "libprof/report_read/report_view.h"

#include <string.h>

static void put_line(FILE *out, const json_t *line, const char *cwd, bool colour)
{
    const char *verdict = seep_get_text(line, "verdict", "");
    bool bad = strcmp(verdict, "violated") == 0;

    seep_put_colour(out, colour, bad ? "1;31" : "32");
    fputs(bad ? "  FAIL  " : "  ok    ", out);
    seep_put_colour(out, colour, "0");
    seep_put_text(out, seep_get_text(line, "name", ""));
    fputs("\n        ", out);
    seep_put_text(out, seep_get_text(line, "text", ""));
    fputc('\n', out);
    if (!json_object_get(line, "frame") || strcmp(seep_get_text(line, "kind", ""), "baseline") == 0)
        return;
    fputs("        most of it: ", out);
    seep_put_frame(out, json_object_get(line, "frame"), cwd);
    fputc('\n', out);
}

static void put_finding(FILE *out, const json_t *finding, const char *cwd, bool colour)
{
    const struct seep_report_finding f = seep_report_finding_read(finding);
    const char *verdict = seep_get_text(finding, "verdict", "");
    bool bad = strcmp(verdict, "violated") == 0;

    fputs("\n  ", out);
    seep_put_colour(out, colour, bad ? "1;31" : "1;33");
    seep_put_text(out, f.id);
    fputs("  ", out);
    seep_put_text(out, f.pattern);
    seep_put_colour(out, colour, "0");
    fprintf(out, " (%s%s)  ", seep_severity_name(f.severity),
            strcmp(verdict, "ignored") == 0 ? ", ignored" : "");
    seep_put_place(out, &f, cwd);
    fputs("\n      ", out);
    seep_put_text(out, f.title);
    fputc('\n', out);
    seep_holder_text(&f, cwd, out, 6);
    if (json_object_get(finding, "reason")) {
        fputs("      ignored: ", out);
        seep_put_text(out, seep_get_text(finding, "reason", ""));
    } else {
        fputs("      to do: ", out);
        seep_put_text(out, f.advice);
    }
    fputc('\n', out);
}

int seep_check_text(const json_t *check, FILE *out, bool colour)
{
    const struct seep_report_job job = seep_get_job(check);
    const json_t *lines = json_object_get(check, "lines"), *notes = json_object_get(check, "notes");
    const char *verdict = seep_get_text(check, "verdict", ""),
               *why = seep_get_text(check, "reason", ""); /* the caller tells it */
    json_t *one;
    size_t i;

    seep_put_colour(out, colour,
                    strcmp(verdict, "violated") == 0 ? "1;31"
                    : *why                           ? "1;33"
                                                     : "1;32");
    fprintf(out, "seep check: %s", *why ? "cannot tell" : verdict);
    seep_put_colour(out, colour, "0");
    fputs(", ", out);
    seep_put_steps(out, &job);
    seep_put_ending(out, json_object_get(check, "job"), ", ");
    fputs(json_array_size(lines) ? "\n\n" : "\n", out);
    json_array_foreach (lines, i, one)
        put_line(out, one, job.cwd, colour);
    json_array_foreach (json_object_get(check, "findings"), i, one) {
        put_finding(out, one, job.cwd, colour);
    }
    if (json_array_size(notes))
        fputc('\n', out);
    seep_put_notes(out, notes);
    return ferror(out) ? -SEEP_EIO : 0;
}
