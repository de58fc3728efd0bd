/* Roots inside the interpreter. */
#ifndef SEEP_LIBPROF_PATHS_PY_ROOTS_H
#define SEEP_LIBPROF_PATHS_PY_ROOTS_H

#include "libprof/paths/root.h"

void seep_python_roots_walk(struct seep_heap *heap, seep_root_taker *begin);

#endif
