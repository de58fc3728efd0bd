/* This printer shows the spaces of two reports (report_pairs.h) side by side. */
#ifndef SEEP_LIBPROF_PRINT_SPACES_TEXT_H
#define SEEP_LIBPROF_PRINT_SPACES_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* `unit`: what growth is told by, "step" or "time slice". */
void seep_spaces_text(const json_t *spaces, FILE *out, const char *unit);

#endif
