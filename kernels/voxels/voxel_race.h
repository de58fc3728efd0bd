/* The ways to group points beside plain C, for `seep-lab bench`: CPU time, one thread. */
#ifndef SEEP_KERNELS_VOXEL_RACE_H
#define SEEP_KERNELS_VOXEL_RACE_H

#include "kernels/compute/stream.h"

#include <jansson.h>

/* Appends an object for "voxelize" and "sparse_quantize" of each input (voxel_inputs.h) to the
 * array `results`. Times are the least of some rounds in which everybody has a turn. kernel, input,
 * points, voxels plain_ms        voxel_baseline.h chosen_ms, way  what the kernel does, and which
 * way it chooses of_best         chosen_ms / the least of plain_ms and the ways for any number of
 * threads, which were the only ones once plain_median_ms, chosen_median_ms NAME_ms         each
 * way, where it is possible Nothing on a CUDA stream. Returns as seep_voxel_input_open(). */
SEEP_MUST_CHECK int seep_voxel_race(json_t *results, const char *data_folder,
                                    struct seep_stream *stream, struct seep_error *why);

#endif
