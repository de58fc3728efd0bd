/* What can be seen of one line, computed once, by code that may fail, before any pattern is tried.
 * A pattern is then a predicate over these signs that cannot fail. */
#ifndef SEEP_LIBPROF_SIGNS_SIGNS_H
#define SEEP_LIBPROF_SIGNS_SIGNS_H

#include "libprof/signs/case.h"

/* Computes the signs of a case whose other fields are all set. Returns 0 or -SEEP_ENOMEM.
 * Allocates: *signs, which the next call reuses: zero-initialise once, seep_signs_fini() at the
 * end. */
SEEP_MUST_CHECK int seep_signs_compute(struct seep_case *c, struct seep_signs *signs);
void seep_signs_fini(struct seep_signs *signs);

#endif
