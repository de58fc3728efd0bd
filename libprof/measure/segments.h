/* Segments: what a caching allocator takes from a GPU's driver to cut tensors from. In a profile
 * they are blocks of "device:N" like any others, and the tensors blocks of "tensor:N"; what tells
 * them is that an allocator asks for one in the midst of a request for a tensor. */
#ifndef SEEP_LIBPROF_MEASURE_SEGMENTS_H
#define SEEP_LIBPROF_MEASURE_SEGMENTS_H

#include "libprof/code/code.h"

/* The sites of a space, to sites[], which has room for all; how many. */
size_t seep_sites_of_space(const struct seep_model *m, uint16_t space, uint32_t *sites);

/* Which of the dictionary's stacks ask a device for segments, to marked[], all false before: those
 * through a place that tensors[0, n), sites, are asked for at, by the call that tensors are asked
 * for with; and those in PyTorch's allocator, where its names are known. Returns 0 or -SEEP_ENOMEM.
 */
SEEP_MUST_CHECK int seep_segments_mark(const struct seep_code *code, const uint32_t *tensors,
                                       size_t n, bool *marked);

/* The same of the tensors of all devices. */
SEEP_MUST_CHECK int seep_segments_mark_all(const struct seep_code *code, bool *marked);

#endif
