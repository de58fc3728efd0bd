/* Timings of the splatting kernels for `seep-lab bench`. */
#ifndef SEEP_KERNELS_SPLAT_BENCH_H
#define SEEP_KERNELS_SPLAT_BENCH_H

#include "kernels/compute/stream.h"

#include <jansson.h>

/* What of a data folder is timed. */
#define SEEP_SPLAT_BENCH_FILE "garden.npz"

/* Appends an object for each kernel and input to the array `results`:
 *   "kernel" ("project", "bin", "render", "forward", "backward"), "input", "gaussians", "pairs",
 * "median_ms" of whole calls, until the results are there; "bytes_held": all arrays and scratch;
 *   "forward" on a CPU also "baseline" ("double-precision reference, one thread"), "baseline_ms"
 * and "speedup", taken in the same run; on CUDA also "bytes_moved" (what must be read and written
 * at least) and "copy_ms" (a copy of as many bytes). Inputs: data_folder's garden.npz, where that
 * is not NULL, with colours of degree 3; made-up Gaussians: 100,000 at 640 × 360 on a CPU, 2.8 M at
 * 1920 × 1080 on CUDA. 0, -SEEP_ENOMEM, -SEEP_EDEVICE, or what seep_npz_read() says. */
SEEP_MUST_CHECK int seep_splat_bench(json_t *results, const char *data_folder,
                                     struct seep_stream *stream, struct seep_error *err);

#endif
