/* This printer shows a report on a terminal: what to look at first, then the job as a whole. */
#ifndef SEEP_LIBPROF_PRINT_REPORT_TEXT_H
#define SEEP_LIBPROF_PRINT_REPORT_TEXT_H

#include "libprof/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Prints a report (version 1 or 2) as text: findings, most severe first, then job, memory,
 * processes, the largest sites, and what could not be seen. `colour` allows ANSI colours. Whatever
 * the strings hold, no control character but newline and, with `colour`, our own reaches `out`;
 * fields that are missing or of another type print as unknown. Returns 0; -SEEP_EINVAL when it is
 * no report; -SEEP_EIO when `out` fails. */
SEEP_MUST_CHECK int seep_report_text(const json_t *report, FILE *out, bool colour);

/* Prints the same, and what resident memory is made of for every process, not only where much of it
 * is not explained. */
SEEP_MUST_CHECK int seep_report_text_all(const json_t *report, FILE *out, bool colour);

#endif
