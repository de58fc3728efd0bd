/* Printers for a terminal share what they put on a stream. Texts are untrusted: no control
 * character of theirs reaches it. Failures show in ferror(out). */
#ifndef SEEP_LIBPROF_PRINT_PUT_TEXT_H
#define SEEP_LIBPROF_PRINT_PUT_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

void seep_put_text(FILE *out, const char *text);
void seep_put_colour(FILE *out, bool colour, const char *code); /* ANSI's; "0" ends it */
void seep_put_severity(FILE *out, bool colour, int severity);   /* its colour, as the page has it */
void seep_put_size(FILE *out, double bytes);
void seep_put_change(FILE *out, double bytes);              /* with its sign */
void seep_put_count(FILE *out, double n, const char *unit); /* "1 step", "2 steps" */
void seep_put_steps(
    FILE *out,
    const json_t *job); /* "100 steps by optimizer", "50 time slices", or with the loop */
void seep_put_epochs(FILE *out, const json_t *job); /* … and where they come from */
/* ", ended with status 1", behind `before`; nothing where an older report has no words for it. */
void seep_put_ending(FILE *out, const json_t *job_or_process, const char *before);
void seep_put_frame(FILE *out, const json_t *frame, const char *cwd);
void seep_put_place(FILE *out, const json_t *finding, const char *cwd); /* the lines to look at */
void seep_put_notes(FILE *out, const json_t *notes);                    /* one a line */

/* How many columns a text on `out` may have: what COLUMNS says, else what the terminal has, 60 at
 * least; `otherwise`, where it is no terminal. */
int seep_put_width(FILE *out, int otherwise);
enum { SEEP_PUT_WIDTH = 96, SEEP_PUT_LABEL = 9 /* what lines of a report begin with */ };

/* Breaks a text at blanks, to that width or SEEP_PUT_WIDTH, and ends the line. The first line
 * begins at `column`; those that go on are indented by `indent`. */
void seep_put_wrapped(FILE *out, const char *text, int column, int indent);

/* The same of what is put on the stream that seep_put_begin() returns, until seep_put_end(). Our
 * colours in it take no column; untrusted texts come by the functions above. */
struct seep_paragraph {
    FILE *out, *stream; /* NULL without memory: then it goes to `out` unbroken */
    char *text;
    size_t n;
    int column, indent;
};
FILE *seep_put_begin(struct seep_paragraph *paragraph, FILE *out, int column, int indent);
void seep_put_end(struct seep_paragraph *paragraph);

#endif
