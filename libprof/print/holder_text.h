/* This printer says who holds what a finding's line made, and where they got it, on a terminal. */
#ifndef SEEP_LIBPROF_PRINT_HOLDER_TEXT_H
#define SEEP_LIBPROF_PRINT_HOLDER_TEXT_H

#include <jansson.h>
#include <stdio.h>

/* "held by local 'history' …" and "kept at train.py:42 …", indented by `indent`; nothing where it
 * is not known. `cwd`: of the job. */
void seep_holder_text(const json_t *finding, const char *cwd, FILE *out, int indent);

#endif
