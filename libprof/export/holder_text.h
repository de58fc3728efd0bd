/* This printer says who holds what a finding's line made, on a terminal. */
#ifndef SEEP_LIBPROF_EXPORT_HOLDER_TEXT_H
#define SEEP_LIBPROF_EXPORT_HOLDER_TEXT_H

#include <jansson.h>
#include <stdio.h>

/* "held by local 'history' …", indented by `indent`; nothing where it is not known. */
void seep_holder_text(const json_t *finding, FILE *out, int indent);

#endif
