/* Roots inside the interpreter. */
#ifndef SEEP_LIBPROF_WHO_WAYS_PY_ROOTS_H
#define SEEP_LIBPROF_WHO_WAYS_PY_ROOTS_H

#include "libprof/who/ways/root.h"

void seep_python_roots_walk(struct seep_heap *heap, seep_root_taker *begin);

#endif
