/* Timings of the voxel kernels for `seep-lab bench`. */
#ifndef SEEP_KERNELS_VOXEL_BENCH_H
#define SEEP_KERNELS_VOXEL_BENCH_H

#include "kernels/compute/stream.h"

#include <jansson.h>

/* Appends an object for each kernel and input to the array `results`:
 *   kernel, input, points, voxels, median_ms, points_per_s
 *   bytes_moved  the least that must be read and written
 *   copy_ms      for a copy that moves as many bytes on the same device
 *   baseline_ms, speedup  for "voxelize" on a CPU: compared with one thread of voxel_baseline.h
 *
 * Inputs: those of voxel_inputs.h. Times are medians of whole calls, until the results are
 * available. Returns 0, -SEEP_ENOMEM, -SEEP_EDEVICE, or the error of seep_npz_read(). */
SEEP_MUST_CHECK int seep_voxel_bench(json_t *results, const char *data_folder,
                                     struct seep_stream *stream, struct seep_error *why);

#endif
