/* This printer shows a report on a terminal: first what to look at, then the job as a whole. */
#ifndef SEEP_LIBPROF_PRINT_REPORT_TEXT_H
#define SEEP_LIBPROF_PRINT_REPORT_TEXT_H

#include "libprof/base/json_stream.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct seep_report_look {
    bool colour; /* ANSI colours are allowed */
    bool all;    /* show what RSS is made of in every process, not only in notable ones */
    bool brief;  /* a job that leaves the question open is told in few lines (seep_brief_text()) */
    const char *folder; /* of the profile, for `seep view`; NULL: there is no single one */
};

/* Prints a report (version 1 or 2) with these sites (NULL: those that are in it) as text, as wide
 * as seep_put_width() says: findings, most severe first; then job, memory, processes, the largest
 * lines without a finding, and what could not be seen; finally the findings again, one per line.
 * Whatever the strings contain, no control character but newline and our own colours reaches `out`;
 * fields that are missing or of another type are printed as unknown. Returns 0; -SEEP_EINVAL if it
 * is no report; -SEEP_EIO if `out` fails. */
SEEP_MUST_CHECK int seep_report_text(const json_t *report, struct seep_json_stream *sites,
                                     FILE *out, const struct seep_report_look *look);

#endif
