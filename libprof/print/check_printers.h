/* A check (gate.h) is printed in several forms, for people and for other programs. All texts in it
 * are treated as untrusted. Each returns 0, -SEEP_EIO or -SEEP_ENOMEM; only text has a colour. */
#ifndef SEEP_LIBPROF_PRINT_CHECK_PRINTERS_H
#define SEEP_LIBPROF_PRINT_CHECK_PRINTERS_H

#include "libprof/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* For a terminal. */
int seep_check_text(const json_t *check, FILE *out, bool colour);

/* GitHub's Markdown, for a job's summary: a table of the budgets, one of the findings, details. */
int seep_check_markdown(const json_t *check, FILE *out, bool colour);

/* JUnit's XML as Ant writes it and CI servers read it: a testcase for every budget and finding. */
int seep_check_junit(const json_t *check, FILE *out, bool colour);

/* SARIF 2.1.0 (OASIS): a result for every finding, at its file and line, and for every budget that
 * is violated, at the line that does most for it. Files are relative to the job's working folder,
 * SRCROOT. */
int seep_check_sarif(const json_t *check, FILE *out, bool colour);

#endif
