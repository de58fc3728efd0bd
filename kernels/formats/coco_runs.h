/* Run lengths as pycocotools writes them in "counts": a string of 6-bit digits, '0' … 'o'. */
#ifndef SEEP_KERNELS_COCO_RUNS_H
#define SEEP_KERNELS_COCO_RUNS_H

#include "libprof/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* *runs (NULL for no run) is free()d by the caller. 0, -SEEP_EFORMAT, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_coco_runs_from_text(const char *text, size_t n_text, uint32_t **runs,
                                             size_t *n_runs);

/* The string of run lengths, ended by 0; free()d by the caller. NULL: no memory. */
char *seep_coco_runs_to_text(const uint32_t *runs, size_t n_runs);

#endif
