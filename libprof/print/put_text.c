#include "libprof/print/put_text.h"

#include "libprof/base/text.h"
#include "libprof/report_read/holder_view.h"
#include "libprof/report_read/report_view.h"

#include <stdlib.h>
#include <string.h>

void seep_put_text(FILE *out, const char *text)
{
    char *clean = seep_text_clean(text, strlen(text));

    if (clean)
        fputs(clean, out);
    free(clean);
}

void seep_put_colour(FILE *out, bool colour, const char *code)
{
    if (colour)
        fprintf(out, "\033[%sm", code);
}

void seep_put_size(FILE *out, double bytes)
{
    char size[SEEP_SIZE_TEXT];

    fputs(seep_text_size(bytes, size), out);
}

void seep_put_change(FILE *out, double bytes)
{
    fputs(bytes > 0 ? "+" : "", out);
    seep_put_size(out, bytes);
}

void seep_put_count(FILE *out, double n, const char *unit)
{
    fprintf(out, "%.0f %s%s", n, unit, n == 1 ? "" : "s");
}

void seep_put_steps(FILE *out, const json_t *job)
{
    const char *source = seep_get_text(job, "step_source", "time");
    const json_t *line = json_object_get(job, "step_line");

    if (json_is_object(line)) {
        seep_put_count(out, seep_get_number(job, "steps"), "iteration");
        fputs(" of the loop around ", out);
        seep_put_frame(out, line, seep_get_text(job, "cwd", ""));
        return;
    }
    seep_put_count(out, seep_get_number(job, "steps"), seep_get_step_unit(job));
    if (strcmp(source, "time") == 0)
        return;
    fputs(" by ", out);
    seep_put_text(out, source);
}

void seep_put_epochs(FILE *out, const json_t *job)
{
    const json_t *line = json_object_get(job, "epoch_line");

    seep_put_count(out, seep_get_number(job, "epochs"), "epoch");
    if (strcmp(seep_get_text(job, "epoch_source", ""), "loop") != 0)
        return;
    fputs(" by loop", out);
    if (json_is_object(line)) {
        fputs(" around ", out);
        seep_put_frame(out, line, seep_get_text(job, "cwd", ""));
    }
}

void seep_put_end(FILE *out, const json_t *job_or_process, const char *before)
{
    const char *text = seep_get_exit_text(job_or_process);

    fputs(*text ? before : "", out);
    seep_put_text(out, text);
}

void seep_put_frame(FILE *out, const json_t *frame, const char *cwd)
{
    char *text = seep_get_frame_text(frame, cwd);

    fputs(text ? text : "?", out);
    free(text);
}

void seep_put_place(FILE *out, const json_t *finding, const char *cwd)
{
    char *text = seep_get_finding_place(finding, cwd);

    fputs(text ? text : "?", out);
    free(text);
}

void seep_put_notes(FILE *out, const json_t *notes)
{
    json_t *one;
    size_t i;

    json_array_foreach (notes, i, one) {
        fputs("  note: ", out);
        seep_put_text(out, json_string_value(one) ? json_string_value(one) : "");
        fputc('\n', out);
    }
}

void seep_put_wrapped(FILE *out, const char *text, int column, int indent)
{
    char *clean = seep_text_clean(text, strlen(text)), *at = clean;

    while (at && *at) {
        size_t word = strcspn(at, " ");
        if (column > indent && column + 1 + (int)word > SEEP_PUT_WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fwrite(at, 1, word, out);
        column += (int)word;
        at += word;
        at += strspn(at, " ");
    }
    free(clean);
    fputc('\n', out);
}
