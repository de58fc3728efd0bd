/* The GPUs are only announced, whatever the device: contexts, weights and batches are announced to
 * seep where a rank would have them, and the arithmetic runs on the CPU. */
#include "kernels/lab/scenarios/featdepth_rank.h"

#include "preload/seep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* At scale 1: 35 million weights (ResNet-50, its decoder and the pose network), and pieces of 25 MB
 * (mmcv's bucket_size_mb = 25). */
static const double full_weights = 35e6, full_piece_bytes = 25e6;

/* Below that seep does not report the buffer: the network never gets smaller, at any scale. */
static const double least_weights = 350e3;

/* Likewise the batches of loader workers, by the scale of their pictures. */
static const double least_picture_scale = 0.005;

/* KITTI raw in the split of Zhou et al., "Unsupervised Learning of Depth and Ego-Motion from
 * Video", CVPR 2017. Fewer steps would be too few for seep to judge. */
static const double full_train = 39810, full_val = 4424;
enum { MIN_TRAIN_STEPS = 40, MIN_VAL_STEPS = 4 };

/* What CUDA's context takes of a GPU, whatever the job's size: measured figures lie between 300 and
 * 550 MB. */
static const size_t context_bytes = 450000000;

static const float learning_rate = 0.003f;

/* ---- sizes ----------------------------------------------------------------------------------- */

static size_t steps_of(double samples, double least)
{
    return (size_t)fmax(ceil(samples / (SEEP_FEATDEPTH_RANKS * SEEP_FEATDEPTH_BATCH)), least);
}

struct seep_featdepth_size seep_featdepth_size(double scale)
{
    struct seep_featdepth_size s = {
        .side = sqrt(fmax(scale, least_picture_scale)),
        .weights = (size_t)fmax(full_weights * scale, least_weights),
        .piece_bytes = (size_t)(full_piece_bytes * scale),
        .train_steps = steps_of(full_train * scale, MIN_TRAIN_STEPS),
        .val_steps = steps_of(full_val * scale, MIN_VAL_STEPS),
    };

    s.n_train = s.train_steps * SEEP_FEATDEPTH_RANKS * SEEP_FEATDEPTH_BATCH;
    s.n_val = s.val_steps * SEEP_FEATDEPTH_RANKS * SEEP_FEATDEPTH_BATCH;
    return s;
}

/* ---- a rank ---------------------------------------------------------------------------------- */

struct rank {
    const struct seep_featdepth_job *job;
    struct seep_ranks *ranks;
    unsigned number;
    struct seep_depth_network net;
    struct seep_depth_sampler train, val;
    float *pictures, *features, *depths; /* of a batch */
    size_t n_in, n_out;                  /* of a sample */
    float *sums;                         /* [2 * n_in] SyncBN's */
    struct {                             /* a loss a step: the graph's root, or its number */
        struct seep_graph_node *node;
        float number, own;
    } * log;
    size_t n_log, n_steps;
    struct seep_graph_node **predicted; /* what validation keeps */
    size_t n_predicted, n_val_steps;
    struct seep_worker_queue *queue;
    struct seep_featdepth_result *result;
};

/* ---- devices --------------------------------------------------------------------------------- */

/* Stands in for cudaMalloc(): allocates nothing, and the address belongs to nobody. */
static __attribute__((noinline)) void device_alloc(struct rank *r, unsigned device,
                                                   uintptr_t number, size_t bytes)
{
    char space[24];

    snprintf(space, sizeof space, "device:%u", device);
    seep_block_made(space, (void *)(uintptr_t)(number << 40), bytes);
    if (device == 0)
        r->result->device0_bytes += (double)bytes;
}

static size_t batch_bytes(const struct rank *r)
{
    return SEEP_FEATDEPTH_BATCH *
           seep_depth_picture_bytes(SEEP_FEATDEPTH_FRAMES, r->job->size.side);
}

enum { CONTEXT = 1, WEIGHTS, GRADIENTS, MOMENTUM, IMAGES };

/* cuda() without torch.cuda.set_device() goes to GPU 0, and creates a context there; the network
 * was moved to its GPU by number. */
static __attribute__((noinline)) void set_up_devices(struct rank *r)
{
    unsigned own = r->number, current = r->job->variant == SEEP_FEATDEPTH_WRONG_DEVICE ? 0 : own;
    size_t bytes = r->net.n_values * sizeof(float);

    device_alloc(r, own, CONTEXT, context_bytes);
    if (current != own)
        device_alloc(r, current, CONTEXT, context_bytes);
    device_alloc(r, own, WEIGHTS, bytes);
    device_alloc(r, own, GRADIENTS, bytes);
    device_alloc(r, own, MOMENTUM, bytes);
    device_alloc(r, current, IMAGES, batch_bytes(r));
    r->result->context_bytes = (double)context_bytes;
    r->result->batch_bytes = (double)batch_bytes(r);
}

/* ---- batches --------------------------------------------------------------------------------- */

/* A sample is the same whoever reads it, and whenever. */
static int read_sample(const struct rank *r, uint32_t sample, uint64_t of, float *pictures,
                       float *features, float *depths)
{
    struct seep_chance chance = seep_chance_of(r->job->seed + of, sample);

    return seep_depth_sample(&r->net, SEEP_FEATDEPTH_FRAMES, r->job->size.side, &chance, pictures,
                             features, depths);
}

enum { OF_TRAIN = 1, OF_VAL = 2 };

static size_t floats_of_sample(const struct rank *r)
{
    return batch_bytes(r) / sizeof(float) / SEEP_FEATDEPTH_BATCH;
}

static int read_batch(struct rank *r, const struct seep_depth_sampler *sampler, uint64_t of,
                      size_t step)
{
    int rc = 0;

    for (size_t i = 0; i < SEEP_FEATDEPTH_BATCH && !rc; i++)
        rc = read_sample(
            r, seep_depth_sampler_take(sampler, r->number, step * SEEP_FEATDEPTH_BATCH + i), of,
            r->pictures + i * floats_of_sample(r), r->features + i * r->n_in,
            r->depths + i * r->n_out);
    return rc;
}

static size_t floats_of_batch(const struct rank *r)
{
    return SEEP_FEATDEPTH_BATCH * (r->n_in + r->n_out);
}

/* A loader worker's task: the batch as the trainer gets it, pictures and all. */
static int make_parcel(void *arg, uint64_t task, struct seep_parcel *out, struct seep_error *err)
{
    struct rank *r = arg;
    const size_t steps = r->job->size.train_steps, floats = floats_of_batch(r),
                 a_sample = floats_of_sample(r);
    int rc = seep_parcel_alloc(floats * sizeof(float) + batch_bytes(r), out);

    (void)err;
    seep_depth_sampler_begin(&r->train, (unsigned)(task / steps));
    for (size_t i = 0; i < SEEP_FEATDEPTH_BATCH && !rc; i++) {
        float *features = out->bytes, *depths = features + SEEP_FEATDEPTH_BATCH * r->n_in;
        rc = read_sample(
            r,
            seep_depth_sampler_take(&r->train, r->number, task % steps * SEEP_FEATDEPTH_BATCH + i),
            OF_TRAIN, features + floats + i * a_sample, features + i * r->n_in,
            depths + i * r->n_out);
    }
    return rc;
}

static int take_parcel(struct rank *r, struct seep_error *err)
{
    struct seep_parcel parcel = {.fd = -1};
    int rc = seep_worker_queue_take(r->queue, &parcel, err);

    if (rc)
        return rc;
    memcpy(r->features, parcel.bytes, SEEP_FEATDEPTH_BATCH * r->n_in * sizeof *r->features);
    memcpy(r->depths, (float *)parcel.bytes + SEEP_FEATDEPTH_BATCH * r->n_in,
           SEEP_FEATDEPTH_BATCH * r->n_out * sizeof *r->depths);
    seep_worker_queue_release(r->queue, &parcel);
    return 0;
}

/* As torch.nn.SyncBatchNorm: mean and variance are those of the samples of all ranks. */
static void normalise(struct rank *r)
{
    double own = 0, all = 0;

    for (size_t k = 0; k < r->n_in; k++) {
        r->sums[k] = r->sums[r->n_in + k] = 0;
        for (size_t i = 0; i < SEEP_FEATDEPTH_BATCH; i++) {
            const float x = r->features[i * r->n_in + k];
            r->sums[k] += x / SEEP_FEATDEPTH_BATCH;
            r->sums[r->n_in + k] += x * x / SEEP_FEATDEPTH_BATCH;
        }
        own += r->sums[k];
    }
    seep_ranks_mean(r->ranks, r->number, r->sums, 2 * r->n_in);
    for (size_t k = 0; k < r->n_in; k++) {
        const float mean = r->sums[k], variance = r->sums[r->n_in + k] - mean * mean;
        for (size_t i = 0; i < SEEP_FEATDEPTH_BATCH; i++)
            r->features[i * r->n_in + k] =
                (r->features[i * r->n_in + k] - mean) / sqrtf(fmaxf(variance, 0) + 1e-5f);
        all += mean;
    }
    r->result->statistics[0] = own;
    r->result->statistics[1] = all;
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* mmcv's allreduce_grads(coalesce=True): gradients of a type are copied into one flat array, which
 * is reduced and copied back; `piece` values at a time. */
static __attribute__((noinline)) int allreduce_coalesced(struct rank *r, size_t piece)
{
    float *gradients = r->net.gradients;

    for (size_t at = 0; at < r->net.n_values; at += piece) {
        size_t n = r->net.n_values - at < piece ? r->net.n_values - at : piece;
        float *flat = malloc(n * sizeof *flat);
        if (!flat)
            return -SEEP_ENOMEM;
        memcpy(flat, gradients + at, n * sizeof *flat);
        seep_ranks_mean(r->ranks, r->number, flat, n);
        memcpy(gradients + at, flat, n * sizeof *flat);
        free(flat);
        r->result->largest_buffer_bytes =
            fmax(r->result->largest_buffer_bytes, (double)(n * sizeof *flat));
    }
    return 0;
}

/* The mean over all ranks, as the document prints it; by a copy: its div_() in place would scale
 * the gradients, too. */
static float mean_over_ranks(struct rank *r, const struct seep_graph_node *loss)
{
    float number = seep_graph_value(loss)[0];

    seep_ranks_mean(r->ranks, r->number, &number, 1);
    return number;
}

/* The runner's log buffer. A node references everything that led to it. */
static void log_buffer_add(struct rank *r, struct seep_graph_node *loss)
{
    r->log[r->n_log].own = seep_graph_value(loss)[0];
    r->log[r->n_log].number = mean_over_ranks(r, loss);
    if (r->job->variant == SEEP_FEATDEPTH_LOG_NODE)
        r->log[r->n_log].node = seep_graph_keep(loss);
    r->n_log++;
}

static int train_step(struct rank *r, size_t step, struct seep_error *err)
{
    size_t piece = r->net.n_values;
    struct seep_graph_node *loss = NULL;
    int rc = r->queue ? take_parcel(r, err) : read_batch(r, &r->train, OF_TRAIN, step);

    if (r->job->variant != SEEP_FEATDEPTH_BUCKET_ALL)
        piece = r->job->size.piece_bytes / sizeof(float) + 1;
    if (!rc) {
        normalise(r);
        rc = seep_depth_forward(&r->net, r->features, r->depths, SEEP_FEATDEPTH_BATCH, &loss);
    }
    if (!rc)
        rc = seep_graph_backward(loss);
    if (!rc)
        rc = allreduce_coalesced(r, piece);
    if (!rc) {
        seep_depth_update(&r->net, learning_rate);
        log_buffer_add(r, loss);
    }
    seep_graph_drop(loss);
    return rc;
}

/* One batch of it. Predicted depths are kept for the metrics; without no_grad() each holds its
 * graph, on which no backward() runs, down to the pictures that the first layer was given. */
static int validation_step(struct rank *r, size_t step, double *sum)
{
    const bool with_graphs = r->job->variant == SEEP_FEATDEPTH_VAL_GRAPHS;
    struct seep_graph_node *pictures = NULL, *depths = NULL, *loss = NULL;
    int rc = read_batch(r, &r->val, OF_VAL, step);

    if (!rc && with_graphs)
        rc = seep_graph_input(r->pictures, SEEP_FEATDEPTH_BATCH, floats_of_sample(r), &pictures);
    if (!rc) {
        normalise(r);
        rc = seep_depth_predict(&r->net, pictures, r->features, SEEP_FEATDEPTH_BATCH, &depths);
    }
    if (!rc)
        rc = seep_graph_loss(depths, r->depths, &loss);
    if (!rc) {
        *sum += mean_over_ranks(r, loss);
        if (with_graphs)
            r->predicted[r->n_predicted++] = seep_graph_keep(depths);
    }
    seep_graph_drop(loss);
    seep_graph_drop(depths);
    seep_graph_drop(pictures);
    return rc;
}

/* The document's validation: all frames are read and the loss is computed, as in training. */
static int validate(struct rank *r)
{
    double sum = 0;
    int rc = 0;

    for (size_t step = 0; step < r->job->size.val_steps && !rc; step++)
        rc = validation_step(r, step, &sum);
    r->result->validation_loss = sum / (double)r->job->size.val_steps;
    return rc;
}

/* ---- from beginning to end ------------------------------------------------------------------- */

static int start_workers(struct rank *r, struct seep_error *err)
{
    const struct seep_worker_job worker = {.arg = r, .make = make_parcel};

    if (r->job->variant != SEEP_FEATDEPTH_LOADERS)
        return 0;
    return seep_worker_queue_create(&worker, SEEP_FEATDEPTH_WORKERS, SEEP_FEATDEPTH_PREFETCH,
                                    &r->queue, err);
}

static int prepare_rank(struct rank *r)
{
    const struct seep_featdepth_job *job = r->job;
    /* The same weights in each rank, other samples. */
    int rc = seep_depth_init(&r->net, job->size.weights, job->seed);

    if (!rc)
        rc = seep_depth_sampler_init(&r->train, job->size.n_train, SEEP_FEATDEPTH_RANKS, job->seed,
                                     true);
    if (!rc)
        rc = seep_depth_sampler_init(&r->val, job->size.n_val, SEEP_FEATDEPTH_RANKS, job->seed,
                                     false);
    if (rc)
        return rc;
    r->n_in = r->net.layers[0].n_in;
    r->n_out = r->net.layers[SEEP_DEPTH_LAYERS - 1].n_out;
    r->n_steps = job->epochs * job->size.train_steps;
    r->n_val_steps = job->epochs * job->size.val_steps;
    r->pictures = malloc(batch_bytes(r));
    r->features = calloc(SEEP_FEATDEPTH_BATCH * r->n_in, sizeof *r->features);
    r->depths = calloc(SEEP_FEATDEPTH_BATCH * r->n_out, sizeof *r->depths);
    r->sums = calloc(2 * r->n_in, sizeof *r->sums);
    r->log = calloc(r->n_steps, sizeof *r->log);
    r->predicted = calloc(r->n_val_steps, sizeof *r->predicted);
    return r->pictures && r->features && r->depths && r->sums && r->log && r->predicted
               ? 0
               : -SEEP_ENOMEM;
}

static void finish_rank(struct rank *r)
{
    seep_worker_queue_destroy(r->queue);
    for (size_t i = 0; r->log && i < r->n_log; i++)
        seep_graph_drop(r->log[i].node);
    for (size_t i = 0; i < r->n_predicted; i++)
        seep_graph_drop(r->predicted[i]);
    free(r->log);
    free(r->predicted);
    free(r->pictures);
    free(r->features);
    free(r->depths);
    free(r->sums);
    seep_depth_sampler_fini(&r->train);
    seep_depth_sampler_fini(&r->val);
    seep_depth_fini(&r->net);
}

/* Epochs after the first one that have its order. */
static int count_repeats(const struct rank *r, bool sets_epoch, double *repeats)
{
    struct seep_depth_sampler s, first;
    const size_t n = r->job->size.n_train;
    int rc = seep_depth_sampler_init(&s, n, SEEP_FEATDEPTH_RANKS, r->job->seed, sets_epoch);

    if (!rc)
        rc = seep_depth_sampler_init(&first, n, SEEP_FEATDEPTH_RANKS, r->job->seed, sets_epoch);
    for (unsigned epoch = 1; epoch < r->job->epochs && !rc; epoch++) {
        seep_depth_sampler_begin(&s, epoch);
        *repeats += memcmp(s.order, first.order, n * sizeof *s.order) == 0;
    }
    /* What both ranks take in the first epoch. */
    for (size_t i = 0; i < n / SEEP_FEATDEPTH_RANKS && !rc && sets_epoch; i++)
        for (size_t k = 0; k < n / SEEP_FEATDEPTH_RANKS; k++)
            r->result->shared_samples +=
                seep_depth_sampler_take(&first, 0, i) == seep_depth_sampler_take(&first, 1, k);
    seep_depth_sampler_fini(&s);
    if (!rc)
        seep_depth_sampler_fini(&first);
    return rc;
}

/* Means over an epoch: single batches differ. */
static int take_result(struct rank *r)
{
    const size_t n = r->n_steps, span = r->job->size.train_steps;

    r->result->steps = (double)n;
    r->result->nodes_live = (double)seep_graph_live();
    r->result->gradient_bytes = (double)(r->net.n_values * sizeof(float));
    for (size_t i = 0; i < span; i++) {
        r->result->loss_first += (double)r->log[i].number / (double)span;
        r->result->loss_last += (double)r->log[n - 1 - i].number / (double)span;
        r->result->own_loss += (double)r->log[n - 1 - i].own / (double)span;
    }
    int rc = count_repeats(r, true, &r->result->same_order);
    return rc ? rc : count_repeats(r, false, &r->result->same_order_without);
}

static int train_epoch(struct rank *r, unsigned epoch, struct seep_error *err)
{
    int rc = 0;

    seep_depth_sampler_begin(&r->train, epoch);
    for (size_t step = 0; step < r->job->size.train_steps && !rc; step++) {
        rc = train_step(r, step, err);
        seep_step();
    }
    if (!rc)
        rc = validate(r);
    seep_epoch();
    return rc;
}

int seep_featdepth_train(struct seep_ranks *ranks, unsigned number, void *arg, void *result,
                         struct seep_error *err)
{
    const struct seep_featdepth_job *job = arg;
    struct rank r = {.job = job, .ranks = ranks, .number = number, .result = result};
    int rc = prepare_rank(&r);

    if (!rc)
        rc = start_workers(&r, err);
    if (!rc)
        set_up_devices(&r);
    for (unsigned epoch = 0; epoch < job->epochs && !rc; epoch++)
        rc = train_epoch(&r, epoch, err);
    if (!rc)
        rc = take_result(&r);
    finish_rank(&r);
    return rc;
}
