/* The thread of a DataLoader with pin_memory=True: it receives what the workers have made, copies
 * each array of a batch into pinned memory, and lets go of the shared memory. So batches that are
 * ready wait in pinned memory of the trainer. */
#ifndef SEEP_KERNELS_POINTGROUP_PINNING_H
#define SEEP_KERNELS_POINTGROUP_PINNING_H

#include "kernels/lab/scenarios/pinned_pool.h"
#include "kernels/lab/scenarios/pointgroup_batch.h"

/* Of a batch, each a block of the pool. */
enum { SEEP_POINTGROUP_ARRAYS = 9 };

struct seep_pointgroup_pinning;

/* For the `n` tasks of a queue, of which at most `ahead` are with the workers and this thread. The
 * queue and the pool must outlive it; from now on the trainer must not take or receive. 0,
 * -SEEP_ENOMEM, -SEEP_EIO (no thread). */
SEEP_MUST_CHECK int seep_pointgroup_pinning_start(struct seep_worker_queue *queue,
                                                  struct seep_pinned_pool *pool, size_t n,
                                                  size_t ahead,
                                                  struct seep_pointgroup_pinning **out,
                                                  struct seep_error *err);

/* Waits for the next batch, whose arrays are pinned; the workers get a further task. 0, what the
 * worker or the thread failed with. */
SEEP_MUST_CHECK int seep_pointgroup_pinning_next(struct seep_pointgroup_pinning *pinning,
                                                 struct seep_pointgroup_batch *out,
                                                 struct seep_error *err);

/* The trainer is done with its arrays. */
void seep_pointgroup_pinning_release(struct seep_pointgroup_pinning *pinning,
                                     const struct seep_pointgroup_batch *batch);

/* Ends the thread, and with it the queue's use, where not all batches were taken. NULL: nothing. */
void seep_pointgroup_pinning_stop(struct seep_pointgroup_pinning *pinning);

#endif
