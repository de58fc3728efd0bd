/* Timings of the voxel kernels for `seep-lab bench`. */
#ifndef SEEP_KERNELS_VOXEL_BENCH_H
#define SEEP_KERNELS_VOXEL_BENCH_H

#include "kernels/compute/stream.h"

#include <jansson.h>

/* What of a data folder is timed. */
#define SEEP_VOXEL_BENCH_FILE "lidar-pc.npz"

/* Appends an object for each kernel and input to the array `results`:
 *   kernel, input, points, voxels, median_ms, points_per_s
 *   bytes_moved  what must be read and written at least
 *   copy_ms      of a copy that moves as many bytes on the same device
 *   baseline, baseline_ms, speedup  of "voxelize" on a CPU: over a serial hash map with a heap
 *                vector a voxel; both maps are made, coordinates are given
 *
 * Inputs: 10^6 random points over boxes of several sizes; and data_folder's lidar-pc.npz, where
 * that is not NULL, at 5 cm. Times are medians of whole calls, until the results are there. 0,
 * -SEEP_ENOMEM, -SEEP_EDEVICE, or what seep_npz_read() says. */
SEEP_MUST_CHECK int seep_voxel_bench(json_t *results, const char *data_folder,
                                     struct seep_stream *stream, struct seep_error *why);

#endif
