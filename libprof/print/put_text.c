#include "libprof/print/put_text.h"

#include "libprof/base/text.h"
#include "libprof/report_read/holder_view.h"
#include "libprof/report_read/report_view.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

enum { MIN_WIDTH = 60 };

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

void seep_put_severity(FILE *out, bool colour, int severity)
{
    /* Of 256 colours, those nearest to the page's (viewer/page/page.css), bold for important
     * ones. */
    static const char *const codes[SEEP_N_SEVERITIES] = {"1;38;5;166", "1;38;5;178", "1;38;5;31",
                                                         "38;5;245"};

    seep_put_colour(out, colour, codes[severity]);
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

void seep_put_steps(FILE *out, const struct seep_report_job *job)
{
    const char *source = job->step_source;

    if (json_is_object(job->step_line)) {
        seep_put_count(out, (double)job->steps, "iteration");
        fputs(" of the loop at ", out);
        seep_put_frame(out, job->step_line, job->cwd);
        return;
    }
    seep_put_count(out, (double)job->steps, seep_get_step_unit(job));
    if (!*source || strcmp(source, "time") == 0)
        return;
    fputs(" by ", out);
    seep_put_text(out, source);
}

void seep_put_epochs(FILE *out, const struct seep_report_job *job)
{
    const char *source = json_string_value(job->epoch_source);

    seep_put_count(out, job->epochs > 0 ? (double)job->epochs : 0, "epoch");
    if (!source || strcmp(source, "loop") != 0)
        return;
    fputs(" of a loop", out);
    if (json_is_object(job->epoch_line)) {
        fputs(" at ", out);
        seep_put_frame(out, job->epoch_line, job->cwd);
    }
}

void seep_put_ending(FILE *out, const json_t *job_or_process, const char *before)
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

void seep_put_place(FILE *out, const struct seep_report_finding *f, const char *cwd)
{
    char *text = seep_get_finding_place(f, cwd);

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

int seep_put_width(FILE *out, int otherwise)
{
    const char *told = getenv("COLUMNS");
    struct winsize window = {0};
    int columns = told ? atoi(told) : 0;

    if (columns <= 0 && ioctl(fileno(out), TIOCGWINSZ, &window) == 0)
        columns = window.ws_col;
    if (columns <= 0)
        return otherwise;
    return columns < MIN_WIDTH ? MIN_WIDTH : columns;
}

/* Columns of a text: one per UTF-8 character, none for "\033[…m". */
static int columns_of(const char *text, size_t n)
{
    int columns = 0;

    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\033')
            while (i < n && text[i] != 'm')
                i++;
        else
            columns += (text[i] & 0xc0) != 0x80;
    }
    return columns;
}

/* The length of the word that a text begins with; a number and its unit are one word. */
static size_t word_length(const char *text)
{
    static const char *const units[] = {"%", "B", "KiB", "MiB", "GiB", "TiB", "s", "steps"};
    size_t n = strcspn(text, " ");

    if (!n || !isdigit((unsigned char)text[n - 1]) || text[n] != ' ')
        return n;
    size_t unit = strspn(text + n + 1, "%ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i]) == unit && strncmp(text + n + 1, units[i], unit) == 0)
            return n + 1 + strcspn(text + n + 1, " ");
    }
    return n;
}

static void put_broken(FILE *out, const char *text, int column, int indent)
{
    const int width = seep_put_width(out, SEEP_PUT_WIDTH);

    while (*text) {
        size_t blanks = strspn(text, " "), word = word_length(text + blanks);
        int columns = (int)blanks + columns_of(text + blanks, word);
        if (column > indent && word && column + columns > width) {
            fprintf(out, "\n%*s", indent, "");
            text += blanks;
            columns -= (int)blanks;
            column = indent;
            blanks = 0;
        }
        fwrite(text, 1, blanks + word, out);
        column += columns;
        text += blanks + word;
    }
    fputc('\n', out);
}

void seep_put_wrapped(FILE *out, const char *text, int column, int indent)
{
    char *clean = seep_text_clean(text, strlen(text));

    put_broken(out, clean ? clean : "", column, indent);
    free(clean);
}

FILE *seep_put_begin(struct seep_paragraph *paragraph, FILE *out, int column, int indent)
{
    *paragraph = (struct seep_paragraph){.out = out, .column = column, .indent = indent};
    paragraph->stream = open_memstream(&paragraph->text, &paragraph->n);
    return paragraph->stream ? paragraph->stream : out;
}

void seep_put_end(struct seep_paragraph *paragraph)
{
    if (paragraph->stream && fclose(paragraph->stream) == 0)
        put_broken(paragraph->out, paragraph->text, paragraph->column, paragraph->indent);
    else
        fputc('\n', paragraph->out);
    free(paragraph->text);
}
