/* The document's training: epochs of shuffled batches, each followed by a validation, on a GPU that
 * can be full. With scenes that are read (the job) or whose sizes are known (the survey). */
#ifndef SEEP_KERNELS_SPARSE_TRAINING_H
#define SEEP_KERNELS_SPARSE_TRAINING_H

#include "kernels/lab/scenarios/cached_gpu.h"
#include "kernels/lab/scenarios/sparse_network.h"
#include "kernels/lab/scenarios/sparse_sampler.h"

/* The document's batch_size and val_batch_size. */
enum { SEEP_SPARSE_BATCH = 12, SEEP_SPARSE_VAL_BATCH = 6 };

/* What is done about the cache. */
struct seep_sparse_cure {
    unsigned empty_every; /* steps; 0: never */
    bool padded, expandable;
};

struct seep_sparse_plan {
    struct seep_sparse_cure cure;
    struct seep_cached_gpu_kind gpu;
    struct seep_sparse_sampler train, validation;
    size_t n_steps;
    /* A step with a batch of that size comes before all others and is not counted; zeros: none. */
    struct seep_sparse_size first;

    /* The batch of these n scenes; kept until the next call. 0 or a negative SEEP_E…, *err. */
    int (*load)(void *context, const uint32_t *ids, size_t n, struct seep_sparse_size *size,
                struct seep_error *err);
    void (*stepped)(void *context); /* a step of the training has ended; NULL: nothing */
    void (*passed)(void *context);  /* so has an epoch with its validation */
    void *context;
};

/* Plain numbers: it may lie in shared memory. Those of steps grow as they end. */
struct seep_sparse_outcome {
    size_t steps_per_epoch, steps, validation_steps;
    size_t scenes;                         /* that were trained on, each time */
    double live_bytes, largest_bytes;      /* of the most that each step had: sum and maximum */
    double voxels, voxels_squared, coarse; /* sums over the steps' batches */
    double shares, shares_squared;         /* of the coarse ones in each: likewise */
    double weight_bytes;                   /* with their gradients */
    struct seep_caching_counts counts;
    bool is_full;      /* a request found no room: counts.refused */
    bool fits_alone;   /* that step, on a GPU of its own of the same size and kind */
    double need_bytes; /* the most that is live in it there, or was when that was full */
};

size_t seep_sparse_steps_per_epoch(const struct seep_sparse_plan *plan);

/* Trains plan->n_steps, or until the GPU is full, which is no error: outcome->is_full, and the text
 * of PyTorch's in *err. 0; what load() returned; -SEEP_ENOMEM, -SEEP_EDEVICE, -SEEP_EINVAL. */
SEEP_MUST_CHECK int seep_sparse_training_run(const struct seep_sparse_plan *plan,
                                             struct seep_sparse_outcome *outcome,
                                             struct seep_error *err);

/* One step with a batch of that size where nothing has been before: on plan->gpu with plan->cure,
 * but without memory and without a word. Sets fits_alone and need_bytes of *out. 0, -SEEP_ENOMEM.
 */
SEEP_MUST_CHECK int seep_sparse_step_alone(const struct seep_sparse_plan *plan,
                                           struct seep_sparse_size size, bool trains,
                                           struct seep_sparse_outcome *out, struct seep_error *err);

#endif
