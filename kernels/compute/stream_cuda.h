/* The CUDA side of streams. A build without CUDA cannot create any. All other CUDA code is in .cu
 * files. Whatever `device` is, the calling thread's current device is the same afterwards. */
#ifndef SEEP_KERNELS_STREAM_CUDA_H
#define SEEP_KERNELS_STREAM_CUDA_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NULL, or why kernels cannot run on the device. */
const char *seep_cuda_check(int device);

/* NULL, or why it cannot be. */
const char *seep_cuda_stream_create(int device, void **stream);
void seep_cuda_stream_destroy(int device, void *stream);

/* 0, -SEEP_EDEVICE, -SEEP_ENOMEM. seep_cuda_free() waits for work that may use the block. */
int seep_cuda_stream_wait(int device, void *stream);
int seep_cuda_alloc(int device, size_t bytes, void **out);
void seep_cuda_free(int device, void *block);
int seep_cuda_copy(int device, void *stream, void *to, const void *from, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
