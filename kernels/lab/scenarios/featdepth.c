/* Scenario featdepth: a distributed training in the style of mmcv. What a log buffer keeps, how
 * gradients are gathered for the reduction, and on which GPU a rank runs each cost memory.
 *
 * The GPUs are only announced, whatever the device: contexts, weights and batches are announced to
 * seep where a rank would have them, and the arithmetic runs on the CPU. */
#include "kernels/lab/judges.h"
#include "kernels/lab/rows.h"
#include "kernels/lab/scenario.h"
#include "kernels/lab/scenarios/depth_network.h"
#include "kernels/lab/scenarios/ranks.h"
#include "preload/seep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 2, BATCH = 4, STEPS_AN_EPOCH = 40, EPOCHS = 3, GRAPH_NODES = 7 };

/* At scale 1: 35 million weights (ResNet-50, its decoder and the pose network), samples of four
 * frames × colour and augmented × 3 × 320 × 1024 floats, pieces of 25 MB (mmcv's bucket_size_mb =
 * 25). */
static const double full_weights = 35e6, full_sample_bytes = 31457280, full_piece_bytes = 25e6;

/* Below that seep does not report the buffer: the network never gets smaller, at any scale. */
static const double least_weights = 350e3;

/* What CUDA's context takes of a GPU, whatever the job's size: measured figures lie between 300 and
 * 550 MB. */
static const size_t context_bytes = 450000000;

enum variant { LOG_NODE, LOG_SCALAR, BUCKET_ALL, BUCKET_25, WRONG_DEVICE, RIGHT, N_VARIANTS };

static const struct seep_variant variants[] = {
    [LOG_NODE] = {.name = "log-node",
                  .summary = "the log buffer keeps each step's loss, and with it the graph",
                  .pattern = "graph-retention",
                  .severity = "leak",
                  .function = "autograd_node_make",
                  .others = "unbounded-growth"}, /* the target, which the loss's node holds */
    [LOG_SCALAR] = {.name = "log-scalar",
                    .summary = "the log buffer keeps each step's loss as a number"},
    [BUCKET_ALL] = {.name = "bucket-all",
                    .summary = "all gradients are copied into one array for the reduction",
                    .pattern = "collective-buffer",
                    .severity = "pressure",
                    .function = "allreduce_coalesced"},
    [BUCKET_25] = {.name = "bucket-25",
                   .summary = "gradients are reduced in pieces of 25 MB",
                   .cured = "collective-buffer"},
    [WRONG_DEVICE] = {.name = "wrong-device",
                      .summary =
                          "rank 1 never sets its device, so its context and batches are on GPU 0",
                      .pattern = "wrong-device",
                      .severity = "retention",
                      .function = "set_up_devices"},
    [RIGHT] = {.name = "right", .summary = "each rank sets its device first"},
    {0},
};

static const struct seep_fix fixes[] = {
    /* The peak falls by what is kept, more or less what two ranks have at once of their steps. */
    {.before = "log-node", .after = "log-scalar"},
    {.before = "bucket-all",
     .after = "bucket-25"}, /* the prediction is for the whole buffer, but a piece stays */
    {.before = "wrong-device", .after = "right", .as_predicted = true},
    {0},
};

/* What a rank tells its parent. */
struct result {
    double steps, nodes_live;
    double gradient_bytes, largest_buffer_bytes;
    double device0_bytes;
    double loss_first, loss_last;
};

struct job {
    enum variant variant;
    double scale;
    uint64_t seed;
    unsigned n_steps;
};

/* One rank's. */
struct rank {
    const struct job *job;
    struct seep_ranks *ranks;
    unsigned number;
    struct seep_depth_network net;
    struct seep_chance chance;
    float *features, *depths; /* of a batch */
    struct {                  /* a loss a step: the graph's root, or its number */
        struct seep_graph_node *node;
        float number;
    } * log;
    size_t n_log;
    struct result *result;
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

enum { CONTEXT = 1, WEIGHTS, GRADIENTS, MOMENTUM, IMAGES };

/* cuda() without torch.cuda.set_device() goes to GPU 0, and creates a context there; the network
 * was moved to its GPU by number. */
static __attribute__((noinline)) void set_up_devices(struct rank *r, size_t sample_bytes)
{
    unsigned own = r->number, current = r->job->variant == WRONG_DEVICE ? 0 : own;
    size_t bytes = r->net.n_values * sizeof(float);

    device_alloc(r, own, CONTEXT, context_bytes);
    if (current != own)
        device_alloc(r, current, CONTEXT, context_bytes);
    device_alloc(r, own, WEIGHTS, bytes);
    device_alloc(r, own, GRADIENTS, bytes);
    device_alloc(r, own, MOMENTUM, bytes);
    device_alloc(r, current, IMAGES, BATCH * sample_bytes);
}

/* ---- a step ---------------------------------------------------------------------------------- */

static int dataset_batch(struct rank *r, size_t sample_bytes)
{
    size_t n_in = r->net.layers[0].n_in, n_out = r->net.layers[SEEP_DEPTH_LAYERS - 1].n_out;
    int rc = 0;

    for (size_t i = 0; i < BATCH && !rc; i++)
        rc = seep_depth_sample(&r->net, sample_bytes, &r->chance, r->features + i * n_in,
                               r->depths + i * n_out);
    return rc;
}

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

/* The runner's log buffer. A node references everything that led to it. */
static void log_buffer_add(struct rank *r, struct seep_graph_node *loss)
{
    r->log[r->n_log].number = seep_graph_value(loss)[0];
    if (r->job->variant == LOG_NODE)
        r->log[r->n_log].node = seep_graph_keep(loss);
    r->n_log++;
}

static int train_step(struct rank *r, size_t sample_bytes)
{
    size_t piece = r->net.n_values;
    struct seep_graph_node *loss = NULL;
    int rc = dataset_batch(r, sample_bytes);

    if (r->job->variant != BUCKET_ALL)
        piece = (size_t)(full_piece_bytes * r->job->scale) / sizeof(float) + 1;
    if (!rc)
        rc = seep_depth_forward(&r->net, r->features, r->depths, BATCH, &loss);
    if (!rc)
        rc = seep_graph_backward(loss);
    if (!rc)
        rc = allreduce_coalesced(r, piece);
    if (!rc) {
        seep_depth_update(&r->net, 0.01f);
        log_buffer_add(r, loss);
    }
    seep_graph_drop(loss);
    return rc;
}

/* ---- a rank ---------------------------------------------------------------------------------- */

static int prepare_rank(struct rank *r)
{
    double weights = fmax(full_weights * r->job->scale, least_weights);
    /* The same weights in each rank, other samples. */
    int rc = seep_depth_init(&r->net, (size_t)weights, r->job->seed);

    if (rc)
        return rc;
    r->chance.state = r->job->seed + 1 + r->number;
    r->features = calloc(BATCH * r->net.layers[0].n_in, sizeof *r->features);
    r->depths = calloc(BATCH * r->net.layers[SEEP_DEPTH_LAYERS - 1].n_out, sizeof *r->depths);
    r->log = calloc(r->job->n_steps, sizeof *r->log);
    return r->features && r->depths && r->log ? 0 : -SEEP_ENOMEM;
}

static void finish_rank(struct rank *r)
{
    for (size_t i = 0; r->log && i < r->n_log; i++)
        seep_graph_drop(r->log[i].node);
    free(r->log);
    free(r->features);
    free(r->depths);
    seep_depth_fini(&r->net);
}

/* Means over an epoch: single batches differ. */
static void take_result(struct rank *r)
{
    unsigned n = r->job->n_steps, span = n < STEPS_AN_EPOCH ? n : STEPS_AN_EPOCH;

    r->result->steps = n;
    r->result->nodes_live = (double)seep_graph_live();
    r->result->gradient_bytes = (double)(r->net.n_values * sizeof(float));
    for (unsigned i = 0; i < span; i++) {
        r->result->loss_first += (double)r->log[i].number / span;
        r->result->loss_last += (double)r->log[n - 1 - i].number / span;
    }
}

static int train_rank(struct seep_ranks *ranks, unsigned number, void *arg, void *result,
                      struct seep_error *err)
{
    const struct job *job = arg;
    struct rank r = {.job = job, .ranks = ranks, .number = number, .result = result};
    size_t sample_bytes = (size_t)(full_sample_bytes * job->scale);
    int rc = prepare_rank(&r);

    (void)err;
    if (!rc)
        set_up_devices(&r, sample_bytes);
    for (unsigned step = 0; step < job->n_steps && !rc; step++) {
        rc = train_step(&r, sample_bytes);
        seep_step();
        if ((step + 1) % STEPS_AN_EPOCH == 0)
            seep_epoch();
    }
    if (!rc)
        take_result(&r);
    finish_rank(&r);
    return rc;
}

static void measure(const struct result *all, json_t *measured)
{
    const struct result *r = &all[RANKS - 1];

    json_object_set_new(measured, "steps", json_real(r->steps));
    json_object_set_new(measured, "nodes_kept_per_step", json_real(r->nodes_live / r->steps));
    json_object_set_new(measured, "gradient_bytes", json_real(r->gradient_bytes));
    json_object_set_new(measured, "transient_bytes", json_real(r->largest_buffer_bytes));
    json_object_set_new(measured, "transient_over_gradients",
                        json_real(r->largest_buffer_bytes / r->gradient_bytes));
    json_object_set_new(measured, "rank_1_bytes_on_device_0", json_real(r->device0_bytes));
    json_object_set_new(measured, "loss_first", json_real(r->loss_first));
    json_object_set_new(measured, "loss_last", json_real(r->loss_last));
}

static int run(const struct seep_scenario_options *o, json_t *measured, struct seep_error *err)
{
    struct job job = {.scale = o->scale, .seed = o->seed};
    struct result results[RANKS];

    for (int v = 0; v < N_VARIANTS; v++) {
        if (strcmp(variants[v].name, o->variant) == 0)
            job.variant = (enum variant)v;
    }
    job.n_steps = (o->epochs ? o->epochs : EPOCHS) * STEPS_AN_EPOCH;
    int rc = seep_ranks_run(RANKS, train_rank, &job, results, sizeof *results, err);
    if (!rc)
        measure(results, measured);
    return rc;
}

/* ---- judgement ------------------------------------------------------------------------------- */

static double of(const struct seep_outcome *outcomes, enum variant v, const char *path)
{
    return seep_rows_number(outcomes[v].measured, path);
}

/* What seep saw of rank 1 on GPU 0. */
static double seen_on_device_0(const json_t *report)
{
    const json_t *process;
    double bytes = 0;
    size_t i;

    json_array_foreach (json_object_get(report, "processes"), i, process) {
        double peak = seep_rows_number(process, "spaces.device:0.peak_bytes");
        if (seep_rows_number(process, "rank") > 0 && peak > 0)
            bytes += peak;
    }
    return bytes;
}

static double found(const struct seep_outcome *outcomes, enum variant v, const char *key)
{
    return seep_rows_number(seep_trial_finding(outcomes[v].report, variants[v].pattern), key);
}

static void judge_devices(const struct seep_outcome *outcomes, struct seep_rows *rows)
{
    for (int v = WRONG_DEVICE; v <= RIGHT; v++) {
        char name[96];
        double told = of(outcomes, v, "rank_1_bytes_on_device_0");
        double seen = seen_on_device_0(outcomes[v].report);
        snprintf(name, sizeof name, "%s: memory of rank 1 on GPU 0", variants[v].name);
        bool some = v == WRONG_DEVICE;
        seep_rows_add(rows, seen == told && (told >= (double)context_bytes) == some, name,
                      some ? "a context and a batch" : "nothing", "%.4g MB announced, %.4g MB seen",
                      told / 1e6, seen / 1e6);
    }
}

static void judge(const struct seep_outcome *outcomes, double scale, struct seep_rows *rows)
{
    double piece = fmin(full_piece_bytes * scale / of(outcomes, BUCKET_25, "gradient_bytes"), 1);
    double last = of(outcomes, RIGHT, "loss_last"), worst = 0;

    seep_rows_add_near(rows, "log-node: graph nodes kept a step",
                       of(outcomes, LOG_NODE, "nodes_kept_per_step"), GRAPH_NODES, 0, "nodes");
    seep_rows_add(rows, of(outcomes, LOG_SCALAR, "nodes_kept_per_step") == 0,
                  "log-scalar: graph nodes kept a step", "0", "%g",
                  of(outcomes, LOG_SCALAR, "nodes_kept_per_step"));
    seep_rows_add_near(rows, "bucket-all: transient buffer / gradients",
                       of(outcomes, BUCKET_ALL, "transient_over_gradients"), 1, 0.001, "times");
    seep_rows_add_near(rows, "bucket-all: transient buffer that seep finds",
                       found(outcomes, BUCKET_ALL, "saving_bytes"),
                       of(outcomes, BUCKET_ALL, "transient_bytes"), 0.01, "MB");
    seep_rows_add_near(rows, "bucket-25: transient buffer / gradients",
                       of(outcomes, BUCKET_25, "transient_over_gradients"), piece, 0.01, "times");
    judge_devices(outcomes, rows);
    for (int v = 0; v < N_VARIANTS; v++) {
        double apart = fabs(of(outcomes, v, "loss_last") / last - 1);
        worst = isnan(apart) || apart > worst ? apart : worst; /* NAN stays */
    }
    seep_rows_add(rows, worst < 1e-6, "all variants train alike", "loss within 1e-6", "within %.1g",
                  worst);
    seep_rows_add(rows, last < of(outcomes, RIGHT, "loss_first"), "the loss falls",
                  "below the first epoch's", "%.4g after %.4g", last,
                  of(outcomes, RIGHT, "loss_first"));
}

const struct seep_scenario seep_featdepth = {
    .name = "featdepth",
    .summary = "FeatDepth: two ranks that log, reduce gradients and choose a GPU",
    .variants = variants,
    .fixes = fixes,
    .run = run,
    .judge = judge,
};
