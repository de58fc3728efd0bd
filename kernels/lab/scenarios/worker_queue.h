/* Loader workers as PyTorch's DataLoader has them: forked processes that take tasks round robin,
 * and hand their results over in shared memory. Results come back in the order of the tasks, so a
 * slow worker holds up the others; each worker has up to `depth` tasks ahead of the trainer
 * (prefetch_factor), and keeps the results mapped until the trainer lets go of them.
 * A queue is for one pass over a loader, as the DataLoader's iterators are. Or tasks go on without
 * an end, as with persistent_workers: the trainer stops when it has enough, and then the queue is
 * full. */
#ifndef SEEP_KERNELS_WORKER_QUEUE_H
#define SEEP_KERNELS_WORKER_QUEUE_H

#include "libprof/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { SEEP_WORKER_QUEUE_MAX_WORKERS = 256, SEEP_WORKER_QUEUE_MAX_DEPTH = 64 };

/* A result: a map of a memory file that worker and trainer share. */
struct seep_parcel {
    void *bytes; /* page aligned, zeros at first */
    size_t n;
    uint64_t task;
    int fd; /* −1 in the trainer */
};

struct seep_worker_job {
    void *arg;           /* each worker has the fork's copy of what it points at */
    uint64_t first, end; /* tasks first … end − 1; end 0: first and on without an end */

    /* Once in each worker before its first task; NULL: nothing. */
    int (*begin)(void *arg, unsigned worker, struct seep_error *err);

    /* Makes a task's result with seep_parcel_alloc(). An error ends the worker, and is what the
     * trainer's take() gives. */
    int (*make)(void *arg, uint64_t task, struct seep_parcel *out, struct seep_error *err);
};

/* A shared memory file of n > 0 bytes, mapped. 0, -SEEP_EINVAL, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_parcel_alloc(size_t n, struct seep_parcel *out);

/* Unmaps and closes; a parcel of zeros is nothing. */
void seep_parcel_drop(struct seep_parcel *parcel);

struct seep_worker_queue;

/* Forks n_workers (1 … MAX_WORKERS) with up to `depth` (1 … MAX_DEPTH) tasks each, and hands out
 * the first ones. To be called with no threads running but this one. 0, -SEEP_EINVAL, -SEEP_ENOMEM,
 * -SEEP_EIO (no process, no socket). */
SEEP_MUST_CHECK int seep_worker_queue_create(const struct seep_worker_job *job, unsigned n_workers,
                                             unsigned depth, struct seep_worker_queue **out,
                                             struct seep_error *err);

/* Waits for the next task's result, and hands its worker a further task. One parcel is out at a
 * time. 0, the worker's error, -SEEP_EIO where the worker is gone, -SEEP_EINVAL where one is still
 * out or there is no further task. */
SEEP_MUST_CHECK int seep_worker_queue_take(struct seep_worker_queue *queue, struct seep_parcel *out,
                                           struct seep_error *err);

/* take() in two parts, for a thread that receives ahead of the trainer, as pin_memory=True has one:
 * what the trainer has not asked for by refill() is not made. One thread may receive and release
 * while another refills; _stop() ends a wait of the first, and the queue's use. */
SEEP_MUST_CHECK int seep_worker_queue_receive(struct seep_worker_queue *queue,
                                              struct seep_parcel *out, struct seep_error *err);
void seep_worker_queue_refill(struct seep_worker_queue *queue);
void seep_worker_queue_stop(struct seep_worker_queue *queue);

/* The trainer is done with the parcel; its worker unmaps it, too. */
void seep_worker_queue_release(struct seep_worker_queue *queue, struct seep_parcel *parcel);

/* Ends the workers and waits for them. NULL: nothing. Parcels that are out stay mapped. */
void seep_worker_queue_destroy(struct seep_worker_queue *queue);

#endif
