/* Ranks of a distributed training on one machine: forked processes that meet in shared memory. */
#ifndef SEEP_KERNELS_RANKS_H
#define SEEP_KERNELS_RANKS_H

#include "libprof/base/error.h"

#include <stddef.h>

enum { SEEP_MAX_RANKS = 8 };

struct seep_ranks;

/* The work of one rank, in its own process: 0 or a negative SEEP_E…, why in *err. `result` is
 * shared memory, zeros at first, which the parent reads afterwards. */
typedef int seep_rank_work(struct seep_ranks *ranks, unsigned rank, void *arg, void *result,
                           struct seep_error *err);

/* Forks n ranks, RANK and WORLD_SIZE set in each one's environment before it begins, and waits for
 * all. When one fails the others are ended. results [n][result_bytes] out, also where one failed.
 * 0; -SEEP_EINVAL (n); -SEEP_EIO, -SEEP_ENOMEM; what the failed rank returned, with its *err. */
SEEP_MUST_CHECK int seep_ranks_run(unsigned n, seep_rank_work *work, void *arg, void *results,
                                   size_t result_bytes, struct seep_error *err);

/* In a rank: values[0, n) become their mean over all ranks, the same bits in each. All ranks must
 * call it with the same n, in the same order; each waits for the others. Allocates nothing. */
void seep_ranks_mean(struct seep_ranks *ranks, unsigned rank, float *values, size_t n);

#endif
