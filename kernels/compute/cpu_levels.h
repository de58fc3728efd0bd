/* One loop, compiled for several instruction sets, one of which is chosen at run time. It is
 * written once as an always-inlined function. Products and sums may be fused where the processor
 * can: files that allow it say so, and their results differ in the last bits from set to set. The
 * plain set exists for correctness: GCC splits vectors wider than a register, and a picture takes
 * about ten times as long. */
#ifndef SEEP_KERNELS_CPU_LEVELS_H
#define SEEP_KERNELS_CPU_LEVELS_H

#include "libprof/arch/arch.h"

#define SEEP_INLINE static inline __attribute__((always_inline))

enum seep_cpu_level { SEEP_CPU_BASE, SEEP_CPU_AVX2, SEEP_CPU_AVX512, SEEP_CPU_LEVELS };

/* The best level of this processor, limited by seep_cpu_level_allow(). Threads: safe. */
enum seep_cpu_level seep_cpu_level(void);

/* For tests: uses nothing better than `most` from now on. */
void seep_cpu_level_allow(enum seep_cpu_level most);

/* Defines name##_levels[SEEP_CPU_LEVELS], pointers to functions of `parameters` that call body
 * `arguments`. */
#if SEEP_ARCH_AVX
#define SEEP_LEVELS(name, body, parameters, arguments)                                             \
    static void name##_base parameters                                                             \
    {                                                                                              \
        body arguments;                                                                            \
    }                                                                                              \
    __attribute__((target("avx2,fma"))) static void name##_avx2 parameters                         \
    {                                                                                              \
        body arguments;                                                                            \
    }                                                                                              \
    __attribute__((target(                                                                         \
        "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw"))) static void name##_avx512 parameters      \
    {                                                                                              \
        body arguments;                                                                            \
    }                                                                                              \
    static void(*const name##_levels[SEEP_CPU_LEVELS])                                             \
        parameters = {name##_base, name##_avx2, name##_avx512}
#else
#define SEEP_LEVELS(name, body, parameters, arguments)                                             \
    static void name##_base parameters                                                             \
    {                                                                                              \
        body arguments;                                                                            \
    }                                                                                              \
    static void(*const name##_levels[SEEP_CPU_LEVELS])                                             \
        parameters = {name##_base, name##_base, name##_base}
#endif

#endif
