/* Segments: what a caching allocator takes from a GPU's driver to cut tensors from. In a profile
 * they are blocks of "device:N" like any others, and tensors are blocks of "tensor:N"; we recognise
 * segments by the allocator asking for one in the middle of a tensor's request. */
#ifndef SEEP_LIBPROF_MEASURE_SEGMENTS_H
#define SEEP_LIBPROF_MEASURE_SEGMENTS_H

#include "libprof/code/code.h"

/* Writes the sites of a space to sites[], which has room for all; returns how many. */
size_t seep_sites_of_space(const struct seep_model *m, uint16_t space, uint32_t *sites);

/* Sets marked[], all false before, for the dictionary's stacks that ask a device for segments:
 * those through a place where the sites tensors[0, n) request tensors, by the same call; and those
 * in PyTorch's allocator, where its names are known. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_segments_mark(const struct seep_code *code, const uint32_t *tensors,
                                       size_t n, bool *marked);

/* The same for the tensors of all devices. */
SEEP_MUST_CHECK int seep_segments_mark_all(const struct seep_code *code, bool *marked);

#endif
