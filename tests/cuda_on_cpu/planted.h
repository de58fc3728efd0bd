/* Kernels with deliberate faults, and the correct versions: the stand-in must tell them apart. */
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
int planted_shuffles(void);    /* what stands for instructions that older GPUs lack */

/* Right by their values, on one CPU: for the thread sanitizer. */
void planted_plain_add(void);      /* many threads add to one number, not atomically */
void planted_ballot_barrier(void); /* shared memory handed on after a vote alone */

/* Shared memory read beyond the array's end: for the address sanitizer. */
void planted_overrun(void);

/* Half of a warp leaves before the other half meets it. */
void planted_parting(void);

/* 0: a launch of nothing, one of blocks too large, and copies of the wrong side or size are refused
 * and then forgotten. */
int planted_wrong_calls(void);

#ifdef __cplusplus
}
#endif
#endif
