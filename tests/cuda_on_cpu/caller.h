/* CUDA's runtime as a program sees it that calls kernels, for tests in C. Without NVIDIA's header:
 * statuses are int, streams are pointers. */
#ifndef SEEP_TESTS_CUDA_ON_CPU_CALLER_H
#define SEEP_TESTS_CUDA_ON_CPU_CALLER_H

#ifdef __cplusplus
extern "C" {
#else
int cudaSetDevice(int device);
int cudaGetDevice(int *device);
int cudaStreamCreateWithFlags(void **stream, unsigned flags);
int cudaStreamDestroy(void *stream);
int cudaGetLastError(void);
#endif

/* That of the last kernel. */
void *cuda_on_cpu_last_stream(void);

#ifdef __cplusplus
}
#endif
#endif
