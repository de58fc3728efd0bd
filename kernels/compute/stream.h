/* Where a kernel runs: a pool of CPU threads, or a stream of a CUDA device. Kernels take one and
 * start nothing of their own: threads and their stacks exist from _create to _destroy, so what a
 * scenario allocates is what its profile shows. */
#ifndef SEEP_KERNELS_STREAM_H
#define SEEP_KERNELS_STREAM_H

#include "libprof/base/error.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum seep_device { SEEP_DEVICE_CPU, SEEP_DEVICE_CUDA };

struct seep_stream;

/* A pool of n_threads (0: one for each CPU the process may use; at most 64), of which the caller is
 * one. Returns 0, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_stream_create_cpu(unsigned n_threads, struct seep_stream **out);

/* A new stream of CUDA device `device`, which does not wait for the default stream; a thread may
 * use streams of several devices. -SEEP_EDEVICE where there is none, or this build has no CUDA or
 * no code for it; *err says why. */
SEEP_MUST_CHECK int seep_stream_create_cuda(int device, struct seep_stream **out,
                                            struct seep_error *err);

/* The caller's own stream of CUDA device `device`, a cudaStream_t (NULL: the default one): kernels
 * run on it, in order with the caller's work. It stays the caller's and must live until _destroy.
 * Status as above. */
SEEP_MUST_CHECK int seep_stream_of_cuda(int device, void *cuda_stream, struct seep_stream **out,
                                        struct seep_error *err);

void seep_stream_destroy(struct seep_stream *stream); /* NULL: nothing */

enum seep_device seep_stream_device(const struct seep_stream *stream);

/* Waits until all work of the stream is done; 0 or -SEEP_EDEVICE. A CPU stream has none left. */
SEEP_MUST_CHECK int seep_stream_wait(struct seep_stream *stream);

/* CPU streams: `work` is called once by each thread, with thread 0 … n_threads − 1, and returns to
 * the caller when all have. Not reentrant. Allocates nothing. */
typedef void seep_stream_work(void *arg, unsigned thread, unsigned n_threads);
void seep_stream_run(struct seep_stream *stream, seep_stream_work *work, void *arg);
unsigned seep_stream_threads(const struct seep_stream *stream);

/* CUDA streams: the cudaStream_t, and the number of its device; else NULL and −1. Neither these nor
 * kernels change the calling thread's current device: it is the same when they return. */
void *seep_stream_cuda(const struct seep_stream *stream);
int seep_stream_cuda_device(const struct seep_stream *stream);

/* Memory of the stream's device: malloc (64-byte aligned), or cudaMalloc, announced to seep in the
 * space "device:N". Freeing waits for work on the block. Copies are in order with the stream's work
 * and done on return. 0, -SEEP_ENOMEM, -SEEP_EDEVICE. */
SEEP_MUST_CHECK int seep_stream_alloc(struct seep_stream *stream, size_t bytes, void **out);
void seep_stream_free(struct seep_stream *stream, void *block);
SEEP_MUST_CHECK int seep_stream_upload(struct seep_stream *stream, void *to, const void *from,
                                       size_t bytes);
SEEP_MUST_CHECK int seep_stream_download(struct seep_stream *stream, void *to, const void *from,
                                         size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
