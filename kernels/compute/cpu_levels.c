#include "kernels/compute/cpu_levels.h"

#include <stdatomic.h>

static _Atomic int allowed = SEEP_CPU_LEVELS - 1;

static int level_here(void)
{
#if SEEP_ARCH_AVX
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return SEEP_CPU_BASE;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512bw"))
        return SEEP_CPU_AVX2;
    return SEEP_CPU_AVX512;
#else
    return SEEP_CPU_BASE;
#endif
}

enum seep_cpu_level seep_cpu_level(void)
{
    int here = level_here(), most = atomic_load_explicit(&allowed, memory_order_relaxed);

    return (enum seep_cpu_level)(here < most ? here : most);
}

void seep_cpu_level_allow(enum seep_cpu_level most)
{
    atomic_store_explicit(&allowed, (int)most, memory_order_relaxed);
}
