/* Timings of the voxel kernels for `seep-lab bench`. */
#ifndef SEEP_KERNELS_VOXEL_BENCH_H
#define SEEP_KERNELS_VOXEL_BENCH_H

#include "kernels/compute/stream.h"

#include <jansson.h>

/* The file of a data folder that is timed. */
#define SEEP_VOXEL_BENCH_FILE "lidar-pc.npz"

/* Appends an object for each kernel and input to the array `results`:
 *   kernel, input, points, voxels, median_ms, points_per_s
 *   bytes_moved  the least that must be read and written
 *   copy_ms      for a copy that moves as many bytes on the same device
 *   baseline, baseline_ms, speedup  for "voxelize" on a CPU: compared with a serial hash map with
 *                a heap vector per voxel; makes both maps from given coordinates
 *
 * Inputs: 10^6 random points in boxes of several sizes; and lidar-pc.npz in data_folder (unless
 * that is NULL), at 5 cm. Times are medians of whole calls, until the results are available.
 * Returns 0, -SEEP_ENOMEM, -SEEP_EDEVICE, or the error of seep_npz_read(). */
SEEP_MUST_CHECK int seep_voxel_bench(json_t *results, const char *data_folder,
                                     struct seep_stream *stream, struct seep_error *why);

#endif
