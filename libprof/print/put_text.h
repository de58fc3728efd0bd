/* What printers for a terminal share. Texts are untrusted: none of their control characters reach
 * the stream. Failures show in ferror(out). */
#ifndef SEEP_LIBPROF_PRINT_PUT_TEXT_H
#define SEEP_LIBPROF_PRINT_PUT_TEXT_H

#include "libprof/report_read/report_fields.h"

#include <stdio.h>

void seep_put_text(FILE *out, const char *text);
void seep_put_colour(FILE *out, bool colour, const char *code); /* an ANSI colour; "0" ends it */
void seep_put_severity(FILE *out, bool colour, int severity);   /* in its colour, as on the page */
void seep_put_size(FILE *out, double bytes);
void seep_put_change(FILE *out, double bytes);              /* with its sign */
void seep_put_count(FILE *out, double n, const char *unit); /* "1 step", "2 steps" */
/* "100 steps by optimizer", "50 time slices", or with the loop */
void seep_put_steps(FILE *out, const struct seep_report_job *job);
void seep_put_epochs(FILE *out, const struct seep_report_job *job); /* … and their source */
/* ", ended with status 1", after `before`; nothing if an older report has no words for it. */
void seep_put_ending(FILE *out, const json_t *job_or_process, const char *before);
void seep_put_frame(FILE *out, const json_t *frame, const char *cwd);
/* The lines to look at. */
void seep_put_place(FILE *out, const struct seep_report_finding *f, const char *cwd);
void seep_put_notes(FILE *out, const json_t *notes); /* one per line */

/* How many columns a text on `out` may have: COLUMNS, else the terminal's width, at least 60;
 * `otherwise` if it is no terminal. */
int seep_put_width(FILE *out, int otherwise);
enum { SEEP_PUT_WIDTH = 96, SEEP_PUT_LABEL = 9 /* the width of labels */ };

/* Breaks a text at blanks to that width or SEEP_PUT_WIDTH, and ends the line. The first line begins
 * at `column`; further lines are indented by `indent`. */
void seep_put_wrapped(FILE *out, const char *text, int column, int indent);

/* The same for a stream: whatever is written between seep_put_begin() and seep_put_end() is
 * wrapped. Our colours in it take no columns; write untrusted texts by the functions above. */
struct seep_paragraph {
    FILE *out, *stream; /* NULL without memory: then text goes to `out` unbroken */
    char *text;
    size_t n;
    int column, indent;
};
FILE *seep_put_begin(struct seep_paragraph *paragraph, FILE *out, int column, int indent);
void seep_put_end(struct seep_paragraph *paragraph);

#endif
