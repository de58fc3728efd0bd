/* Kernels that are wrong on purpose, and the same put right: what the stand-in must tell apart. */
#ifndef SEEP_TESTS_CUDA_ON_CPU_PLANTED_H
#define SEEP_TESTS_CUDA_ON_CPU_PLANTED_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each launches a kernel some times over and returns how many numbers came out wrong. */
int planted_block_reversal(bool with_barrier); /* through shared memory */
int planted_warp_reversal(bool with_barrier);
int planted_sum(bool cleared); /* of memory that is set to 0 before, or not */
int planted_block_sum(void);   /* all kinds of meetings, none left out */

/* Half of a warp leaves before the other half meets it. */
void planted_parting(void);

/* 0: a launch of nothing, and one of blocks too large, are refused and then forgotten. */
int planted_launches(void);

#ifdef __cplusplus
}
#endif
#endif
