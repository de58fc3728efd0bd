/* What kernels did to the stand-in's memory: figures that a GPU's time depends on, exact and the
 * same in every run. */
#ifndef SEEP_TESTS_CUDA_ON_CPU_COUNTS_H
#define SEEP_TESTS_CUDA_ON_CPU_COUNTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Since the process began. */
struct cuda_on_cpu_counts {
    uint64_t launches, blocks;
    uint64_t atomics; /* on global memory, one for each thread that asks */
    uint64_t bytes;   /* read and written by __ldg(), __ldcs(), __stcs(), by each thread */
    uint64_t sectors; /* of 32 bytes, that a thread went to so, and not just before */
    uint64_t longest; /* the most of those reads and writes that one thread of a block did */
    uint64_t sorted;  /* pairs of key and value given to CUB's sorts */
};

struct cuda_on_cpu_counts cuda_on_cpu_counts(void);

#ifdef __cplusplus
}
#endif
#endif
