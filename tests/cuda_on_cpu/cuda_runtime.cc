/* Launches and memory of the device that is not there. */
#include "tests/cuda_on_cpu/cuda_runtime.h"

#include "tests/cuda_on_cpu/caller.h"
#include "tests/cuda_on_cpu/counts.h"

#include <cstdlib>
#include <map>
#include <set>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, bytes)   ((void)(p), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(p, bytes) ((void)(p), (void)(bytes))
#endif

/* Of all kernels' __shared__ variables; without any there is no such section. */
extern "C" {
extern char __start_cuda_shared[] __attribute__((weak));
extern char __stop_cuda_shared[] __attribute__((weak));
}

struct CUstream_st {
    int device;
};

namespace
{

enum { NEVER_WRITTEN = 0xff, DEVICES = 2 }; /* as floats: NaN; as indices: too large */
enum { SECTOR_BYTES = 32, MAX_THREADS = 1024 };

thread_local int current_device;
cudaStream_t last_stream;
cudaError_t last_error;
uint64_t n_launches;

/* Fibres are threads to the thread sanitizer: all changes are atomic. */
struct cuda_on_cpu_counts counts;
uintptr_t last_sectors[MAX_THREADS]; /* of each thread */
uint64_t blocks_run, last_blocks[MAX_THREADS], accesses[MAX_THREADS];

/* Of the thread in its block. */
void count_access(unsigned thread)
{
    uint64_t before = __atomic_exchange_n(&last_blocks[thread], blocks_run, __ATOMIC_RELAXED);
    uint64_t n = before == blocks_run ? __atomic_load_n(&accesses[thread], __ATOMIC_RELAXED) : 0;

    __atomic_store_n(&accesses[thread], n + 1, __ATOMIC_RELAXED);
    if (n + 1 > __atomic_load_n(&counts.longest, __ATOMIC_RELAXED))
        __atomic_store_n(&counts.longest, n + 1, __ATOMIC_RELAXED);
}

/* All memory of the device. The host must not touch it: between calls it is poisoned, which the
 * address sanitizer reports as a GPU's machine would. */
std::map<void *, size_t> &blocks()
{
    static std::map<void *, size_t> all;

    return all;
}

std::set<cudaStream_t> &streams()
{
    static std::set<cudaStream_t> all;

    return all;
}

/* The default stream is every device's. */
bool is_usable(cudaStream_t stream)
{
    return !stream || (streams().count(stream) && stream->device == current_device);
}

struct device_in_use {
    device_in_use()
    {
        for (auto &block : blocks())
            ASAN_UNPOISON_MEMORY_REGION(block.first, block.second);
    }
    ~device_in_use()
    {
        for (auto &block : blocks())
            ASAN_POISON_MEMORY_REGION(block.first, block.second);
    }
};

cudaError_t fail(cudaError_t error)
{
    return last_error = error;
}

/* Word by word: between the variables lie what the address sanitizer keeps between them. */
__attribute__((no_sanitize("address"))) void fill_shared()
{
    for (volatile char *p = __start_cuda_shared; p < __stop_cuda_shared; p += sizeof(uint64_t))
        *(volatile uint64_t *)p = ~(uint64_t)0;
}

/* Whether all of it lies in one block of the device's memory. */
bool is_on_device(const void *p, size_t bytes)
{
    auto after = blocks().upper_bound(const_cast<void *>(p));

    if (after == blocks().begin())
        return false;
    const auto &block = *--after;
    size_t at = (size_t)((const char *)p - (const char *)block.first);
    return at < block.second && bytes <= block.second - at;
}

} // namespace

bool cuda_on_cpu_is_shared(const void *p)
{
    return (const char *)p >= __start_cuda_shared && (const char *)p < __stop_cuda_shared;
}

void cuda_on_cpu_count_atomic()
{
    __atomic_fetch_add(&counts.atomics, 1, __ATOMIC_RELAXED);
}

void cuda_on_cpu_count_sorted(size_t pairs)
{
    __atomic_fetch_add(&counts.sorted, pairs, __ATOMIC_RELAXED);
}

/* Of no more than a sector, at a multiple of their size. */
void cuda_on_cpu_count_bytes(const void *p, size_t bytes)
{
    uintptr_t sector = (uintptr_t)p / SECTOR_BYTES;
    uintptr_t before =
        __atomic_exchange_n(&last_sectors[threadIdx.x % MAX_THREADS], sector, __ATOMIC_RELAXED);

    count_access(threadIdx.x % MAX_THREADS);
    __atomic_fetch_add(&counts.bytes, bytes, __ATOMIC_RELAXED);
    if (sector != before)
        __atomic_fetch_add(&counts.sectors, 1, __ATOMIC_RELAXED);
}

struct cuda_on_cpu_counts cuda_on_cpu_counts()
{
    return counts;
}

cudaError_t cudaSetDevice(int device)
{
    if (device < 0 || device >= DEVICES)
        return fail(cudaErrorInvalidDevice);
    current_device = device;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = current_device;
    return cudaSuccess;
}

void *cuda_on_cpu_last_stream()
{
    return last_stream;
}

cudaError_t cudaGetLastError()
{
    cudaError_t error = last_error;

    last_error = cudaSuccess;
    return error;
}

const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaErrorInvalidDevice ? "invalid device ordinal" : "an error of CUDA's";
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    *stream = new CUstream_st{current_device};
    streams().insert(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    if (!streams().erase(stream))
        return fail(cudaErrorInvalidResourceHandle);
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    return !stream || streams().count(stream) ? cudaSuccess : fail(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaMalloc(void **p, size_t bytes)
{
    if (posix_memalign(p, 256, bytes) != 0) {
        *p = nullptr;
        return fail(cudaErrorMemoryAllocation);
    }
    memset(*p, NEVER_WRITTEN, bytes);
    ASAN_POISON_MEMORY_REGION(*p, bytes);
    blocks()[*p] = bytes;
    return cudaSuccess;
}

cudaError_t cudaFree(void *p)
{
    auto found = blocks().find(p);

    if (!p)
        return cudaSuccess;
    if (found == blocks().end())
        return fail(cudaErrorInvalidValue);
    ASAN_UNPOISON_MEMORY_REGION(p, found->second);
    blocks().erase(found);
    free(p);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *p, int byte, size_t bytes, cudaStream_t)
{
    device_in_use device;

    if (bytes && !is_on_device(p, bytes))
        return fail(cudaErrorInvalidValue);
    memset(p, byte, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t)
{
    device_in_use device;
    bool to_device = is_on_device(to, bytes), from_device = is_on_device(from, bytes);

    if (bytes && kind != cudaMemcpyDefault &&
        (to_device != (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice) ||
         from_device != (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice)))
        return fail(cudaErrorInvalidValue);
    memmove(to, from, bytes);
    return cudaSuccess;
}

/* Blocks come in an order that changes from launch to launch. */
cudaError_t cuda_on_cpu_launch(const cudaLaunchConfig_t &config,
                               const std::function<void()> &thread)
{
    device_in_use device;
    unsigned n = config.gridDim.x;
    uint64_t launch = n_launches++;

    if (n == 0 || n > 0x7fffffff || config.gridDim.y != 1 || config.gridDim.z != 1 ||
        config.blockDim.x > 1024 || config.blockDim.y != 1 || config.blockDim.z != 1)
        return fail(cudaErrorInvalidConfiguration);
    if (!is_usable(config.stream))
        return fail(cudaErrorInvalidResourceHandle);
    last_stream = config.stream;
    blockDim = {config.blockDim.x, 1, 1};
    gridDim = {n, 1, 1};
    counts.launches++;
    counts.blocks += n;
    for (unsigned k = 0; k < n; k++) {
        unsigned from = (unsigned)(launch * 0x9e3779b9u % n);
        blockIdx = {(launch & 1 ? from + n - k : from + k) % n, 0, 0};
        fill_shared();
        blocks_run++;
        run_block(blockDim.x, launch * 8191 + blockIdx.x, thread);
    }
    return cudaSuccess;
}
