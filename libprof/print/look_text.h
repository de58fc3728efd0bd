/* A look at a process as text: what holds its memory, and what grows. */
#ifndef SEEP_LIBPROF_PRINT_LOOK_TEXT_H
#define SEEP_LIBPROF_PRINT_LOOK_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Prints a look document (`seep look --format json`). Returns 0. */
int seep_look_text(const json_t *look, FILE *out, bool colour);

#endif
