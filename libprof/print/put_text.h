/* Printers for a terminal share what they put on a stream. Texts are untrusted: no control
 * character of theirs reaches it. Failures show in ferror(out). */
#ifndef SEEP_LIBPROF_PRINT_PUT_TEXT_H
#define SEEP_LIBPROF_PRINT_PUT_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

void seep_put_text(FILE *out, const char *text);
void seep_put_colour(FILE *out, bool colour, const char *code); /* ANSI's; "0" ends it */
void seep_put_size(FILE *out, double bytes);
void seep_put_change(FILE *out, double bytes);              /* with its sign */
void seep_put_count(FILE *out, double n, const char *unit); /* "1 step", "2 steps" */
void seep_put_steps(
    FILE *out,
    const json_t *job); /* "100 steps by optimizer", "50 time slices", or with the loop */
void seep_put_epochs(FILE *out, const json_t *job); /* … and where they come from */
/* ", ended with status 1", behind `before`; nothing where an older report has no words for it. */
void seep_put_end(FILE *out, const json_t *job_or_process, const char *before);
void seep_put_frame(FILE *out, const json_t *frame, const char *cwd);
void seep_put_place(FILE *out, const json_t *finding, const char *cwd); /* the lines to look at */
void seep_put_notes(FILE *out, const json_t *notes);                    /* one a line */

/* Breaks at spaces; continuation lines are indented by `indent`, the first begins at `column`. */
enum { SEEP_PUT_WIDTH = 96 };
void seep_put_wrapped(FILE *out, const char *text, int column, int indent);

#endif
