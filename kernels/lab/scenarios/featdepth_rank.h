/* A rank of the featdepth scenario: its data, its network, what it logs and what it tells. */
#ifndef SEEP_KERNELS_FEATDEPTH_RANK_H
#define SEEP_KERNELS_FEATDEPTH_RANK_H

#include "kernels/lab/scenarios/depth_network.h"
#include "kernels/lab/scenarios/depth_sampler.h"
#include "kernels/lab/scenarios/ranks.h"
#include "kernels/lab/scenarios/worker_queue.h"

#include <math.h>

/* The configuration of FeatDepth's authors: pictures of 320 × 1024 (depth_network.c), the frames
 * 0, −1, 1 and the stereo pair. Two GPUs with four pictures each: chosen. */
enum {
    SEEP_FEATDEPTH_RANKS = 2,
    SEEP_FEATDEPTH_BATCH = 4,
    SEEP_FEATDEPTH_FRAMES = 4,
    SEEP_FEATDEPTH_EPOCHS = 6,  /* enough for seep to see what grows once an epoch */
    SEEP_FEATDEPTH_WORKERS = 4, /* a rank, where it has loader workers: chosen */
    SEEP_FEATDEPTH_PREFETCH = 2 /* PyTorch's default */
};

enum seep_featdepth_variant {
    SEEP_FEATDEPTH_LOG_NODE,
    SEEP_FEATDEPTH_LOG_SCALAR,
    SEEP_FEATDEPTH_BUCKET_ALL,
    SEEP_FEATDEPTH_BUCKET_25,
    SEEP_FEATDEPTH_WRONG_DEVICE,
    SEEP_FEATDEPTH_VAL_GRAPHS,
    SEEP_FEATDEPTH_LOADERS,
    SEEP_FEATDEPTH_RIGHT,
    SEEP_FEATDEPTH_N_VARIANTS
};

/* What hangs on the scale alone. */
struct seep_featdepth_size {
    double side;    /* of a picture, of the full one's */
    size_t weights; /* of the network */
    size_t piece_bytes;
    size_t n_train, n_val;         /* samples */
    size_t train_steps, val_steps; /* an epoch */
};

struct seep_featdepth_size seep_featdepth_size(double scale);

/* What a rank tells its parent. */
struct seep_featdepth_result {
    double steps, nodes_live;
    double gradient_bytes, largest_buffer_bytes;
    double device0_bytes, batch_bytes, context_bytes;
    double loss_first, loss_last; /* logged: means over ranks, over the first and the last epoch */
    double own_loss;              /* of this rank alone, over the last epoch */
    double validation_loss;       /* of the last epoch */
    double statistics[2];         /* sums over the last batch: this rank's, all ranks' (SyncBN) */
    double same_order, same_order_without; /* epochs with the first one's order: with set_epoch()
                                            * and without it */
    double shared_samples;                 /* in the first epoch, of both ranks */
};

struct seep_featdepth_job {
    enum seep_featdepth_variant variant;
    struct seep_featdepth_size size;
    uint64_t seed;
    unsigned epochs;
};

/* seep_rank_work. arg: the job; result: struct seep_featdepth_result. */
int seep_featdepth_train(struct seep_ranks *ranks, unsigned number, void *arg, void *result,
                         struct seep_error *err);

#endif
