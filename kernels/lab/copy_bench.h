/* The speed of the device's memory: the upper limit of every kernel that is bound by memory. */
#ifndef SEEP_KERNELS_COPY_BENCH_H
#define SEEP_KERNELS_COPY_BENCH_H

#include "kernels/compute/stream.h"

#include <jansson.h>

/* Adds { "kernel": "copy", "input", "bytes_moved" (read and written), "median_ms", "gb_per_s" } to
 * the array `results`, for blocks in cache and beyond it. `data` and `err` are not used. 0,
 * -SEEP_ENOMEM, -SEEP_EDEVICE. */
SEEP_MUST_CHECK int seep_copy_bench(json_t *results, const char *data, struct seep_stream *stream,
                                    struct seep_error *err);

#endif
