/* Timings of the splatting kernels for `seep-lab bench`. */
#ifndef SEEP_KERNELS_SPLAT_BENCH_H
#define SEEP_KERNELS_SPLAT_BENCH_H

#include "kernels/compute/stream.h"

#include <jansson.h>

/* What of a data folder is timed. */
#define SEEP_SPLAT_BENCH_FILE "garden.npz"

/* Appends an object for each kernel and input to the array `results`:
 *   kernel        "project", "bin", "render", "forward" (those three), "backward"
 *   input, gaussians, pairs
 *   median_ms     of whole calls, until the results are there
 *   bytes_held    all arrays and scratch
 *   baseline, baseline_ms, baseline_pairs, speedup  of "forward" on a CPU: over the
 *                 double-precision reference on one thread, in the same run, with the tiles of the
 *                 whole 3 sigma square
 *   tight_baseline_ms, tight_baseline_pairs, tight_speedup  over the reference with the tiles that
 *                 the kernels have
 *   bytes_moved, copy_ms  on CUDA: what must be read and written at least, and a copy of as many
 *
 * Inputs: data_folder's garden.npz, where that is not NULL, with colours of degree 3; made-up
 * Gaussians: 100,000 at 640 × 360 on a CPU, 2.8 M at 1920 × 1080 on CUDA. 0, -SEEP_ENOMEM,
 * -SEEP_EDEVICE, or what seep_npz_read() says. */
SEEP_MUST_CHECK int seep_splat_bench(json_t *results, const char *data_folder,
                                     struct seep_stream *stream, struct seep_error *err);

#endif
