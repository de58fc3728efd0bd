/* The ways to group points beside plain C, for `seep-lab bench`. */
#ifndef SEEP_KERNELS_VOXEL_RACE_H
#define SEEP_KERNELS_VOXEL_RACE_H

#include "kernels/compute/stream.h"

#include <jansson.h>

/* Both append an object for "voxelize" and "sparse_quantize" of each input (voxel_inputs.h) to the
 * array `results`. Times are the least of some rounds in which everybody has a turn.
 *
 *   kernel, input, points, voxels
 *   plain_ms                           voxel_baseline.h
 *   chosen_ms, way                     what the kernel does, and which way it chooses
 *   of_best                            chosen_ms / the least of plain_ms and the ways; of these,
 *                                      with one thread, only those for any number of threads,
 *                                      which were the only ones once
 *   plain_median_ms, chosen_median_ms
 *   NAME_ms                            each way, where it is possible
 *
 * Nothing on a CUDA stream. Both return as seep_voxel_input_open(). */

/* CPU time, one thread, whatever the stream has. */
SEEP_MUST_CHECK int seep_voxel_race_one(json_t *results, const char *data_folder,
                                        struct seep_stream *stream, struct seep_error *why);

/* Wall time, the stream's threads. Nothing if it has only one. */
SEEP_MUST_CHECK int seep_voxel_race_all(json_t *results, const char *data_folder,
                                        struct seep_stream *stream, struct seep_error *why);

#endif
