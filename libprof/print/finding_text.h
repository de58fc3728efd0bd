/* This printer shows the findings of a report on a terminal. */
#ifndef SEEP_LIBPROF_PRINT_FINDING_TEXT_H
#define SEEP_LIBPROF_PRINT_FINDING_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Prints how many there are, and then each with its line, what it holds, evidence and advice. */
void seep_findings_text(const json_t *report, FILE *out, bool colour);

#endif
