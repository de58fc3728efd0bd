/* This printer shows a report on a terminal: what to look at first, then the job as a whole. */
#ifndef SEEP_LIBPROF_PRINT_REPORT_TEXT_H
#define SEEP_LIBPROF_PRINT_REPORT_TEXT_H

#include "libprof/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct seep_report_look {
    bool colour;        /* ANSI's are allowed */
    bool all;           /* what resident memory is made of for every process, not only where much of
                           it is not explained */
    const char *folder; /* of its profile, which `seep view` is to be given; NULL: it has no one */
};

/* Prints a report (version 1 or 2) as text, as wide as seep_put_width() says: findings, most severe
 * first, then job, memory, processes, the largest lines that no finding is of, what could not be
 * seen, and at last the findings again, one a line. Whatever the strings hold, no control character
 * but newline and our own colours reaches `out`; fields that are missing or of another type print
 * as unknown. Returns 0; -SEEP_EINVAL when it is no report; -SEEP_EIO when `out` fails. */
SEEP_MUST_CHECK int seep_report_text(const json_t *report, FILE *out,
                                     const struct seep_report_look *look);

#endif
