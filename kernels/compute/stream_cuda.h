/* The CUDA side of streams. A build without CUDA cannot create any. All other CUDA code is in .cu
 * files. */
#ifndef SEEP_KERNELS_STREAM_CUDA_H
#define SEEP_KERNELS_STREAM_CUDA_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NULL, or why it cannot be. */
const char *seep_cuda_stream_create(int device, void **stream);
void seep_cuda_stream_destroy(void *stream);

/* Makes the device the calling thread's current one, which all other calls use. */
void seep_cuda_use(int device);

/* 0, -SEEP_EDEVICE, -SEEP_ENOMEM. seep_cuda_free() waits for work that may use the block. */
int seep_cuda_stream_wait(void *stream);
int seep_cuda_alloc(size_t bytes, void **out);
void seep_cuda_free(void *block);
int seep_cuda_copy(void *stream, void *to, const void *from, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
