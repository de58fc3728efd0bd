/* CUDA C++ for a plain C++ compiler: as much of the language and the runtime as kernels/ use, so
 * that the CUDA twins are compiled, run and held against the references on machines without a GPU,
 * under the sanitizers. Sources: CUDA's programming guide and runtime API.
 *
 * Every thread of a block is a fibre, a block runs at a time (block.h), a stream does its work
 * at once. What a GPU leaves undefined is made to show: memory is filled with NaNs before its
 * first use, the order of threads and blocks changes, warps and blocks whose threads part ways at a
 * barrier end the program with a message, copies must be of the sides and sizes that they say, and
 * kernels and streams of the device that is current. There are two devices.
 *
 * Not seen: what blocks alone do to each other (one is over before the next begins), a pointer of
 * the host's that a kernel is given, a host that does not wait, one part of a scratch that runs
 * into the next, the rounding of approximate functions. */
#ifndef SEEP_TESTS_CUDA_RUNTIME_H
#define SEEP_TESTS_CUDA_RUNTIME_H

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>

#include "tests/cuda_on_cpu/block.h"

#define __host__
#define __device__
#define __global__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
/* A block's: blocks run one at a time. The section is filled anew before each. */
#define __shared__ static __attribute__((section("cuda_shared")))

using std::isfinite;

/* Of a number and a NaN: the number. */
static inline float max(float a, float b)
{
    return fmaxf(a, b);
}

static inline float min(float a, float b)
{
    return fminf(a, b);
}

static inline unsigned max(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

static inline unsigned min(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* ---- vectors ------------------------------------------------------------------------------ */

struct float2 {
    float x, y;
};
struct float3 {
    float x, y, z;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) int4 {
    int x, y, z, w;
};
struct alignas(8) ushort4 {
    unsigned short x, y, z, w;
};

static inline float2 make_float2(float x, float y)
{
    return {x, y};
}

static inline float3 make_float3(float x, float y, float z)
{
    return {x, y, z};
}

static inline float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}

static inline int4 make_int4(int x, int y, int z, int w)
{
    return {x, y, z, w};
}

static inline ushort4 make_ushort4(unsigned short x, unsigned short y, unsigned short z,
                                   unsigned short w)
{
    return {x, y, z, w};
}

/* ---- arithmetic --------------------------------------------------------------------------- */

static inline float __fmul_rn(float a, float b)
{
    return a * b;
}

static inline float __fmaf_rn(float a, float b, float c)
{
    return fmaf(a, b, c);
}

static inline float __fdiv_rn(float a, float b)
{
    return a / b;
}

static inline float __fdividef(float a, float b)
{
    return a / b;
}

static inline unsigned __float_as_uint(float f)
{
    unsigned u;

    memcpy(&u, &f, sizeof u);
    return u;
}

static inline int __ffs(int bits)
{
    return __builtin_ffs(bits);
}

static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((uint64_t)a * b >> 32);
}

/* ---- memory that threads share ------------------------------------------------------------- */

/* Whether p is a __shared__ variable's; all other memory that kernels change is the device's. */
bool cuda_on_cpu_is_shared(const void *p);
void cuda_on_cpu_count_atomic(void);
void cuda_on_cpu_count_sorted(size_t pairs);
void cuda_on_cpu_count_bytes(const void *p, size_t bytes);

template <class T> static inline T __ldcg(const T *p)
{
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}

/* Loads and stores that say how they use the caches: these are counted. */
template <class T> static inline T __ldg(const T *p)
{
    cuda_on_cpu_count_bytes(p, sizeof *p);
    return *p;
}

template <class T> static inline T __ldcs(const T *p)
{
    return __ldg(p);
}

template <class T> static inline void __stcs(T *p, T value)
{
    cuda_on_cpu_count_bytes(p, sizeof *p);
    *p = value;
}

/* p becomes change(p); its old value. */
template <class T, class Change> static inline T change_atomically(T *p, Change change)
{
    T old, next;

    if (!cuda_on_cpu_is_shared(p))
        cuda_on_cpu_count_atomic();
    __atomic_load(p, &old, __ATOMIC_RELAXED);
    do
        next = change(old);
    while (!__atomic_compare_exchange(p, &old, &next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}

template <class T> static inline T atomicAdd(T *p, T more)
{
    return change_atomically(p, [=](T old) { return (T)(old + more); });
}

template <class T> static inline T atomicExch(T *p, T other)
{
    return change_atomically(p, [=](T) { return other; });
}

template <class T> static inline T atomicMin(T *p, T other)
{
    return change_atomically(p, [=](T old) { return std::min(old, other); });
}

template <class T> static inline T atomicCAS(T *p, T expected, T wanted)
{
    return change_atomically(p, [=](T old) { return old == expected ? wanted : old; });
}

/* ---- runtime ------------------------------------------------------------------------------ */

enum cudaError_t {
    cudaSuccess,
    cudaErrorInvalidValue,
    cudaErrorMemoryAllocation,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400
};
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum { cudaStreamNonBlocking = 1 };
typedef struct CUstream_st *cudaStream_t;

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
};

struct cudaFuncAttributes {
    int binaryVersion;
};

struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    struct cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};

extern "C" {
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaGetLastError();
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaMalloc(void **p, size_t bytes);
cudaError_t cudaFree(void *p);
cudaError_t cudaMemsetAsync(void *p, int byte, size_t bytes, cudaStream_t stream);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
}

template <class Kernel>
static cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, Kernel *)
{
    *attributes = {90};
    return cudaSuccess;
}

/* Runs it; what cudaLaunchKernelEx comes to. */
cudaError_t cuda_on_cpu_launch(const cudaLaunchConfig_t &config,
                               const std::function<void()> &thread);

template <class... Parameters, class... Arguments>
static cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                                      void (*kernel)(Parameters...), Arguments &&...arguments)
{
    const std::tuple<Parameters...> given(arguments...);

    return cuda_on_cpu_launch(*config, [&] { std::apply(kernel, given); });
}

#endif
