/* Scenario featdepth: a distributed training in the style of mmcv. What a log buffer and a
 * validation keep, how gradients are gathered for the reduction, how many loader workers a rank
 * has, and on which GPU it runs each cost memory. */
#include "kernels/lab/judges.h"
#include "kernels/lab/rows.h"
#include "kernels/lab/scenario.h"
#include "kernels/lab/scenarios/featdepth_rank.h"

#include <stdio.h>
#include <string.h>

enum {
    LOG_NODE = SEEP_FEATDEPTH_LOG_NODE,
    LOG_SCALAR = SEEP_FEATDEPTH_LOG_SCALAR,
    BUCKET_ALL = SEEP_FEATDEPTH_BUCKET_ALL,
    BUCKET_25 = SEEP_FEATDEPTH_BUCKET_25,
    WRONG_DEVICE = SEEP_FEATDEPTH_WRONG_DEVICE,
    VAL_GRAPHS = SEEP_FEATDEPTH_VAL_GRAPHS,
    LOADERS = SEEP_FEATDEPTH_LOADERS,
    RIGHT = SEEP_FEATDEPTH_RIGHT,
    N_VARIANTS = SEEP_FEATDEPTH_N_VARIANTS,
    RANKS = SEEP_FEATDEPTH_RANKS
};

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
    [VAL_GRAPHS] = {.name = "val-graphs",
                    .summary =
                        "validation without no_grad() keeps its predictions, and their graphs",
                    .pattern = "graph-retention",
                    .severity = "leak",
                    .function = "autograd_node_make"},
    [LOADERS] = {.name = "loaders",
                 .summary = "each rank has four loader workers with two batches ahead",
                 .pattern = "worker-multiplication",
                 .severity = "retention",
                 .function = "make_parcel"},
    [RIGHT] = {.name = "right", .summary = "each rank sets its device first"},
    {0},
};

static const struct seep_fix fixes[] = {
    /* The peak falls by what is kept, more or less what two ranks have at once of their steps. */
    {.before = "log-node", .after = "log-scalar"},
    {.before = "bucket-all",
     .after = "bucket-25"}, /* the prediction is for the whole buffer, but a piece stays */
    {.before = "wrong-device", .after = "right", .as_predicted = true},
    {.before = "val-graphs", .after = "right"},
    {.before = "loaders", .after = "right"},
    {0},
};

static void measure(const struct seep_featdepth_job *job, const struct seep_featdepth_result *all,
                    json_t *measured)
{
    const struct seep_featdepth_result *r = &all[RANKS - 1];
    const struct seep_featdepth_size *size = &job->size;
    const struct {
        const char *name;
        double value;
    } figures[] = {
        {"steps", r->steps},
        {"steps_an_epoch", (double)size->train_steps},
        {"validation_steps_an_epoch", (double)size->val_steps},
        {"nodes_kept_per_step", r->nodes_live / r->steps},
        {"nodes_kept_per_validation_step", r->nodes_live / (double)(job->epochs * size->val_steps)},
        {"gradient_bytes", r->gradient_bytes},
        {"transient_bytes", r->largest_buffer_bytes},
        {"transient_over_gradients", r->largest_buffer_bytes / r->gradient_bytes},
        {"rank_1_bytes_on_device_0", r->device0_bytes},
        {"context_bytes", r->context_bytes},
        {"batch_bytes", r->batch_bytes},
        {"validation_sample_over_one_frame",
         (double)seep_depth_picture_bytes(SEEP_FEATDEPTH_FRAMES, size->side) /
             (double)seep_depth_picture_bytes(1, size->side)},
        {"loss_first", r->loss_first},
        {"loss_last", r->loss_last},
        {"validation_loss", r->validation_loss},
        {"own_loss_between_ranks", fabs(all[0].own_loss - all[1].own_loss)},
        {"logged_loss_between_ranks", fabs(all[0].loss_last - all[1].loss_last)},
        {"mean_of_own_losses", (all[0].own_loss + all[1].own_loss) / 2},
        {"own_statistics_between_ranks", fabs(all[0].statistics[0] - all[1].statistics[0])},
        {"synchronised_statistics_between_ranks",
         fabs(all[0].statistics[1] - all[1].statistics[1])},
        {"epochs_in_the_same_order", r->same_order},
        {"epochs_in_the_same_order_without_set_epoch", r->same_order_without},
        {"samples_of_both_ranks", r->shared_samples},
    };

    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        json_object_set_new(measured, figures[i].name, json_real(figures[i].value));
}

static int run(const struct seep_scenario_options *o, json_t *measured, struct seep_error *err)
{
    struct seep_featdepth_job job = {.size = seep_featdepth_size(o->scale),
                                     .seed = o->seed,
                                     .epochs = o->epochs ? o->epochs : SEEP_FEATDEPTH_EPOCHS};
    struct seep_featdepth_result results[RANKS];

    for (int v = 0; v < N_VARIANTS; v++) {
        if (strcmp(variants[v].name, o->variant) == 0)
            job.variant = (enum seep_featdepth_variant)v;
    }
    int rc = seep_ranks_run(RANKS, seep_featdepth_train, &job, results, sizeof *results, err);
    if (!rc)
        measure(&job, results, measured);
    return rc;
}

/* ---- judgement: figures of the documents, whatever the job's own constants are --------------- */

static double of(const struct seep_outcome *outcomes, int v, const char *path)
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

static double found(const struct seep_outcome *outcomes, int v, const char *key)
{
    return seep_rows_number(seep_trial_finding(outcomes[v].report, variants[v].pattern), key);
}

/* Four frames in colour and augmented, 3 × 320 × 1024 floats; from 1:200 on. */
static double sample_bytes(double scale)
{
    return 31457280 * fmax(scale, 0.005);
}

static void judge_devices(const struct seep_outcome *outcomes, double scale, struct seep_rows *rows)
{
    const double context = of(outcomes, RIGHT, "context_bytes");

    seep_rows_add(rows, context >= 300e6 && context <= 550e6, "context of a GPU",
                  "300 to 550 MB, as measured on GPUs", "%.4g MB", context / 1e6);
    seep_rows_add_near(rows, "wrong-device: memory of rank 1 on GPU 0",
                       seen_on_device_0(outcomes[WRONG_DEVICE].report),
                       context + 4 * sample_bytes(scale), 0.01, "MB");
    seep_rows_add_near(rows, "a batch of four samples", of(outcomes, RIGHT, "batch_bytes"),
                       4 * sample_bytes(scale), 0.05, "MB");
    seep_rows_add(rows,
                  seen_on_device_0(outcomes[RIGHT].report) == 0 &&
                      of(outcomes, RIGHT, "rank_1_bytes_on_device_0") == 0,
                  "right: memory of rank 1 on GPU 0", "nothing", "%.4g MB",
                  seen_on_device_0(outcomes[RIGHT].report) / 1e6);
}

static void judge_reduction(const struct seep_outcome *outcomes, double scale,
                            struct seep_rows *rows)
{
    const double gradients = fmax(140e6 * scale, 1.4e6);

    seep_rows_add_near(rows, "gradients of 35 million weights, from 1:100 on",
                       of(outcomes, BUCKET_ALL, "gradient_bytes"), gradients, 0.02, "MB");
    seep_rows_add_near(rows, "bucket-all: transient buffer / gradients",
                       of(outcomes, BUCKET_ALL, "transient_over_gradients"), 1, 0.001, "times");
    seep_rows_add_near(rows, "bucket-all: transient buffer that seep finds",
                       found(outcomes, BUCKET_ALL, "saving_bytes"),
                       of(outcomes, BUCKET_ALL, "transient_bytes"), 0.01, "MB");
    seep_rows_add_near(rows, "bucket-25: transient buffer / gradients",
                       of(outcomes, BUCKET_25, "transient_over_gradients"),
                       fmin(25e6 * scale / gradients, 1), 0.02, "times");
}

static void judge_data(const struct seep_outcome *outcomes, double scale, struct seep_rows *rows)
{
    const double repeats = of(outcomes, RIGHT, "epochs_in_the_same_order");
    const double without = of(outcomes, RIGHT, "epochs_in_the_same_order_without_set_epoch");
    const double shared = of(outcomes, RIGHT, "samples_of_both_ranks");

    seep_rows_add_near(rows, "steps an epoch: 39,810 samples by eight, or 40",
                       of(outcomes, RIGHT, "steps_an_epoch"), fmax(39810 * scale / 8, 40), 0.02,
                       "steps");
    seep_rows_add_near(rows, "validation steps: 4,424 samples by eight, or 4",
                       of(outcomes, RIGHT, "validation_steps_an_epoch"), fmax(4424 * scale / 8, 4),
                       0.1, "steps");
    seep_rows_add_near(rows, "validation with all frames: bytes of a sample over one frame's",
                       of(outcomes, RIGHT, "validation_sample_over_one_frame"), 4, 0, "times");
    seep_rows_add(rows, repeats == 0 && without > 0 && shared == 0,
                  "set_epoch(): epochs in the first one's order, with and without",
                  "none and all; no sample of both ranks", "%g and %g; %g", repeats, without,
                  shared);
}

/* The document's extensions of the log, and SyncBN. */
static void judge_ranks(const struct seep_outcome *outcomes, struct seep_rows *rows)
{
    const double own = of(outcomes, RIGHT, "own_loss_between_ranks");
    const double logged = of(outcomes, RIGHT, "logged_loss_between_ranks");
    const double mean = of(outcomes, RIGHT, "mean_of_own_losses");
    const double last = of(outcomes, RIGHT, "loss_last");
    const double apart = of(outcomes, RIGHT, "own_statistics_between_ranks");
    const double together = of(outcomes, RIGHT, "synchronised_statistics_between_ranks");

    seep_rows_add(rows, logged == 0 && own > 0 && fabs(mean / last - 1) < 1e-5,
                  "the logged loss is the mean over ranks", "alike in both, of losses that differ",
                  "%.4g, of losses %.2g apart", last, own);
    seep_rows_add(rows, together == 0 && apart > 0, "SyncBN: statistics of both ranks",
                  "alike, of batches that differ", "%g apart, %.2g without", together, apart);
}

static void judge_graphs(const struct seep_outcome *outcomes, struct seep_rows *rows)
{
    /* Its input, three layers with a nonlinearity after two of them, and the loss; of a prediction
     * the pictures instead. */
    enum { GRAPH_NODES = 7 };

    seep_rows_add_near(rows, "log-node: graph nodes kept a step",
                       of(outcomes, LOG_NODE, "nodes_kept_per_step"), GRAPH_NODES, 0, "nodes");
    seep_rows_add(rows, of(outcomes, LOG_SCALAR, "nodes_kept_per_step") == 0,
                  "log-scalar: graph nodes kept a step", "0", "%g",
                  of(outcomes, LOG_SCALAR, "nodes_kept_per_step"));
    seep_rows_add_near(rows, "val-graphs: graph nodes kept a validation step",
                       of(outcomes, VAL_GRAPHS, "nodes_kept_per_validation_step"), GRAPH_NODES, 0,
                       "nodes");
}

static void judge(const struct seep_outcome *outcomes, double scale, struct seep_rows *rows)
{
    double last = of(outcomes, RIGHT, "loss_last"), worst = 0;

    judge_graphs(outcomes, rows);
    judge_reduction(outcomes, scale, rows);
    judge_devices(outcomes, scale, rows);
    judge_data(outcomes, scale, rows);
    judge_ranks(outcomes, rows);
    /* Two ahead and one in the making, of each of the ranks' workers. */
    seep_rows_add_near(rows, "loaders: shared memory of 2 · 4 · 3 batches",
                       seep_rows_number(outcomes[LOADERS].report, "spaces.shm.peak_bytes"),
                       24 * 4 * sample_bytes(scale), 0.1, "MB");
    for (int v = 0; v < N_VARIANTS; v++) {
        double apart = fabs(of(outcomes, v, "loss_last") / last - 1);
        worst = isnan(apart) || apart > worst ? apart : worst; /* NAN stays */
    }
    seep_rows_add(rows, worst < 1e-6, "all variants train alike", "loss within 1e-6", "within %.1g",
                  worst);
    seep_rows_add(rows,
                  last < of(outcomes, RIGHT, "loss_first") &&
                      of(outcomes, RIGHT, "validation_loss") < of(outcomes, RIGHT, "loss_first"),
                  "the loss falls, in validation, too", "below the first epoch's",
                  "%.4g and %.4g after %.4g", last, of(outcomes, RIGHT, "validation_loss"),
                  of(outcomes, RIGHT, "loss_first"));
}

const struct seep_scenario seep_featdepth = {
    .name = "featdepth",
    .summary =
        "FeatDepth: two ranks that log, validate, reduce gradients, read data and choose a GPU",
    .variants = variants,
    .fixes = fixes,
    .run = run,
    .judge = judge,
};
