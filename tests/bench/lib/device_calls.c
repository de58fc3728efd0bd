/* A runtime and an allocator that do next to nothing, and a package that calls them repeatedly: any
 * extra cost of a call under seep is seep's. Built twice: RUNTIME is what is called. */
#include <stdint.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default"), noipa))

#ifdef RUNTIME

static uint64_t at;

EXPORT int cudaMalloc(void **block, uint64_t bytes)
{
    at = (at + bytes) % ((uint64_t)1 << 32);
    *block = (void *)(0x7000000000 + at);
    return 0;
}

EXPORT int cudaFree(void *block)
{
    return block ? 0 : 1;
}

EXPORT void
report(void *block, int64_t bytes, uint64_t allocated, uint64_t reserved,
       uint16_t device) __asm__("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE");
void report(void *block, int64_t bytes, uint64_t allocated, uint64_t reserved, uint16_t device)
{
    (void)block, (void)bytes, (void)allocated, (void)reserved, (void)device;
}

#else

enum { HELD = 64, CUDA_1 = 1 };

extern int cudaMalloc(void **, uint64_t), cudaFree(void *);
extern void report(void *, int64_t, uint64_t, uint64_t,
                   uint16_t) __asm__("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE");

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Each returns the ns of a block that is made and a block that is freed. */
EXPORT double runtime_pairs(int n)
{
    static void *held[HELD];
    const double start = cpu_ns();
    for (int i = 0; i < n; i++) {
        if (held[i % HELD])
            cudaFree(held[i % HELD]);
        cudaMalloc(&held[i % HELD], 1 << 20);
    }
    return (cpu_ns() - start) / n;
}

EXPORT double tensor_pairs(int n)
{
    const double start = cpu_ns();
    for (int i = 0; i < n; i++) {
        void *block = (void *)(0x7000000000 + (uint64_t)(i % HELD) * 4096);
        report(block, 512, 512, 2 << 20, CUDA_1);
        report(block, -512, 0, 2 << 20, CUDA_1);
    }
    return (cpu_ns() - start) / n;
}

#endif
