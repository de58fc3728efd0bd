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

#define SEEP_CHECK_FORMAT(name) int seep_check_##name(const json_t *check, FILE *out, bool colour);
#include "libprof/print/check_formats.def"
#undef SEEP_CHECK_FORMAT

#endif
