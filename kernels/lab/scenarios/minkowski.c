/* Scenario minkowski: the document's training of a small sparse network on scenes of ever other
 * sizes, through a caching allocator, on a GPU that can be full. Each step would fit; what earlier
 * steps left behind, cut to their sizes, does not fit together with it. Scenes are read, quantised
 * and collated; the network's memory is modelled (sparse_network.h), on a GPU that is, or is not
 * (cached_gpu.h). */
#include "kernels/lab/judges.h"
#include "kernels/lab/rows.h"
#include "kernels/lab/scenario.h"
#include "kernels/lab/scenarios/ranks.h"
#include "kernels/lab/scenarios/sparse_loader.h"
#include "kernels/lab/scenarios/sparse_survey.h"
#include "preload/seep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NONE,
    EMPTY_EVERY_10,
    EMPTY_EVERY_STEP,
    EXPANDABLE,
    PADDED,
    DDP,
    ROOMY,
    ROOMY_EXPANDABLE,
    N_VARIANTS
};

static const struct seep_variant variants[] = {
    [NONE] = {.name = "none",
              .summary = "the unchanged allocator: out of memory in a step that would have fitted",
              .pattern = "out-of-memory",
              .severity = "pressure",
              .function = "out_of_memory",
              .fails = true},
    [EMPTY_EVERY_10] = {.name = "empty-every-10",
                        .summary = "the cache is emptied every 10 steps (the document's fix)",
                        .may_fail = true},
    [EMPTY_EVERY_STEP] = {.name = "empty-every-step",
                          .summary = "the cache is emptied in every step",
                          .may_fail = true},
    [EXPANDABLE] = {.name = "expandable",
                    .summary = "each pool is one segment that grows (expandable_segments)",
                    .may_fail = true},
    [PADDED] = {.name = "padded",
                .summary = "sizes are padded to powers of two: soon a step is too large",
                .pattern = "out-of-memory",
                .severity = "pressure",
                .function = "out_of_memory",
                .fails = true},
    [DDP] = {.name = "ddp",
             .summary = "as expandable, by two ranks with a GPU each: each has half of the scenes",
             .may_fail = true},
    [ROOMY] = {.name = "roomy",
               .summary = "as none, on a GPU half as large again: seep warns before it is full",
               .pattern = "allocator-cache",
               .severity = "pressure"},
    [ROOMY_EXPANDABLE] = {.name = "roomy-expandable",
                          .summary = "as expandable, on the same GPU",
                          .cured = "allocator-cache"},
    {0},
};

static const struct way {
    struct seep_sparse_cure cure;
    unsigned ranks;
    double room; /* its GPU, as a share of the one of the others */
} ways[N_VARIANTS] = {
    [NONE] = {.ranks = 1, .room = 1},
    [EMPTY_EVERY_10] = {{.empty_every = 10}, 1, 1},
    [EMPTY_EVERY_STEP] = {{.empty_every = 1}, 1, 1},
    [EXPANDABLE] = {{.expandable = true}, 1, 1},
    [PADDED] = {{.padded = true}, 1, 1},
    [DDP] = {{.expandable = true}, 2, 1},
    [ROOMY] = {.ranks = 1, .room = 1.5},
    [ROOMY_EXPANDABLE] = {{.expandable = true}, 1, 1.5},
};
enum { MOST_RANKS = 2 };

/* `seep verify` compares runs of about as many steps: what died cannot be compared with what did
 * not. */
static const struct seep_fix fixes[] = {
    {.before = "none", .after = "expandable", .vanishes = "out-of-memory", .least_scale = 0.01},
    {.before = "none",
     .after = "empty-every-10",
     .leaves = "out-of-memory", /* later */
     .least_scale = 0.01},
    {.before = "roomy", .after = "roomy-expandable", .vanishes = "allocator-cache"},
    {0},
};

struct job {
    const struct seep_scenario_options *options;
    const struct way *way;
    unsigned rank;
    struct seep_ranks *ranks; /* NULL: it is alone */
    struct seep_sparse_loader loader;
    struct seep_sparse_batch batch;
};

/* ---- training -------------------------------------------------------------------------------- */

static int load(void *context, const uint32_t *ids, size_t n, struct seep_sparse_size *size,
                struct seep_error *err)
{
    struct job *job = context;
    struct seep_sparse_batch batch;
    int rc = seep_sparse_loader_batch(&job->loader, ids, n, &batch, err);

    if (rc)
        return rc;
    seep_sparse_batch_fini(&job->batch); /* the loop has its next one */
    job->batch = batch;
    *size = batch.size;
    return 0;
}

static void stepped(void *context)
{
    const struct job *job = context;
    float gradient = 0; /* none is computed, but here ranks wait for each other */

    if (job->ranks)
        seep_ranks_mean(job->ranks, job->rank, &gradient, 1);
    seep_step();
}

static void passed(void *context)
{
    (void)context;
    seep_epoch();
}

static size_t capacity_of(const struct job *job)
{
    uint64_t given = job->options->capacity_bytes;

    return (size_t)((double)(given ? given : seep_sparse_capacity_bytes) * job->way->room);
}

static struct seep_sparse_plan plan_of(struct job *job)
{
    const struct seep_scenario_options *o = job->options;
    const struct seep_pointgroup_scenes *scenes = &job->loader.scenes;
    const struct seep_sparse_cure *cure = &job->way->cure;
    /* A segment from cudaMalloc cannot grow, and a machine may have one GPU only: what needs more
     * uses the stand-in. */
    bool is_real = !cure->expandable && !job->ranks;
    struct seep_sparse_plan plan = {.cure = *cure,
                                    .gpu = {.device = is_real ? o->device : SEEP_DEVICE_CPU,
                                            .capacity_bytes = capacity_of(job),
                                            .number = job->rank},
                                    .train = {.n = scenes->n_train,
                                              .shuffles = true,
                                              .seed = o->seed,
                                              .rank = job->rank,
                                              .ranks = job->way->ranks},
                                    .validation = {.first = (uint32_t)scenes->n_train,
                                                   .n = scenes->n - scenes->n_train,
                                                   .rank = job->rank,
                                                   .ranks = job->way->ranks},
                                    .load = load,
                                    .stepped = stepped,
                                    .passed = passed,
                                    .context = job};

    plan.n_steps = o->epochs ? o->epochs * seep_sparse_steps_per_epoch(&plan)
                             : SEEP_SPARSE_STEPS / job->way->ranks;
    return plan;
}

/* The whole training of one process. */
static int train(struct job *job, struct seep_sparse_outcome *outcome, struct seep_error *err)
{
    int rc = seep_sparse_loader_init(&job->loader, job->options->data, job->options->scale, err);

    if (!rc) {
        struct seep_sparse_plan plan = plan_of(job);
        rc = seep_sparse_training_run(&plan, outcome, err);
    }
    seep_sparse_batch_fini(&job->batch);
    seep_sparse_loader_fini(&job->loader);
    return rc ? rc : outcome->is_full ? -SEEP_EVARIANT : 0;
}

static int work(struct seep_ranks *ranks, unsigned rank, void *arg, void *result,
                struct seep_error *err)
{
    struct job *job = arg; /* a copy: ranks are forks */

    job->ranks = ranks;
    job->rank = rank;
    return train(job, result, err);
}

/* ---- figures --------------------------------------------------------------------------------- */

static void set(json_t *measured, const char *key, double value)
{
    json_object_set_new(measured, key, json_real(value));
}

static void measure(const struct seep_sparse_outcome *o, json_t *measured)
{
    double n = (double)(o->steps ? o->steps : 1), mean = o->voxels / n, share = o->shares / n;

    set(measured, "steps", (double)o->steps);
    set(measured, "steps_per_epoch", (double)o->steps_per_epoch);
    set(measured, "validation_steps", (double)o->validation_steps);
    set(measured, "scenes", (double)o->scenes);
    set(measured, "voxels_per_scene", o->voxels / (double)(o->scenes ? o->scenes : 1));
    set(measured, "batch_spread", sqrt(fmax(0, o->voxels_squared / n - mean * mean)) / mean);
    set(measured, "coarse_share", o->coarse / o->voxels);
    set(measured, "coarse_spread", sqrt(fmax(0, o->shares_squared / n - share * share)) / share);
    set(measured, "weight_bytes", o->weight_bytes);
    set(measured, "live_bytes_per_voxel", (o->live_bytes - n * o->weight_bytes) / o->voxels);
    set(measured, "live_bytes", o->live_bytes / n);
    set(measured, "reserved_bytes", (double)o->counts.reserved_bytes);
    set(measured, "driver_calls_per_step", (double)o->counts.driver_calls / n);
    set(measured, "out_of_memory", o->is_full);
    if (!o->is_full)
        return;
    set(measured, "fits_alone", o->fits_alone);
    set(measured, "need_bytes", o->need_bytes);
    set(measured, "refused_bytes", (double)o->counts.refused.bytes);
    set(measured, "refused_live_bytes", (double)o->counts.refused.live_bytes);
    set(measured, "refused_reserved_bytes", (double)o->counts.refused.reserved_bytes);
}

/* The rank that ended the job, or else the first. */
static const struct seep_sparse_outcome *first_full(const struct seep_sparse_outcome *outcomes,
                                                    unsigned ranks)
{
    for (unsigned r = 0; r < ranks; r++) {
        if (outcomes[r].is_full)
            return &outcomes[r];
    }
    return outcomes;
}

static int run(const struct seep_scenario_options *o, json_t *measured, struct seep_error *err)
{
    struct seep_sparse_outcome outcomes[MOST_RANKS] = {{0}};
    struct job job = {.options = o};
    int rc;

    for (unsigned v = 0; v < N_VARIANTS; v++) {
        if (strcmp(variants[v].name, o->variant) == 0)
            job.way = &ways[v];
    }
    if (job.way->ranks > 1)
        rc = seep_ranks_run(job.way->ranks, work, &job, outcomes, sizeof *outcomes, err);
    else
        rc = train(&job, outcomes, err);
    set(measured, "capacity_bytes", (double)capacity_of(&job));
    measure(first_full(outcomes, job.way->ranks), measured);
    return rc;
}

/* ---- judgement ------------------------------------------------------------------------------- */

static double of(const struct seep_outcome *outcomes, unsigned v, const char *path)
{
    return seep_rows_number(outcomes[v].measured, path);
}

/* What the step that failed needs is less than the GPU has. */
static void judge_failure(const struct seep_outcome *outcomes, struct seep_rows *rows)
{
    double asked = of(outcomes, NONE, "refused_bytes");
    double idle =
        of(outcomes, NONE, "refused_reserved_bytes") - of(outcomes, NONE, "refused_live_bytes");

    seep_rows_add(rows, of(outcomes, NONE, "fits_alone") == 1,
                  "none: the step that failed, on an empty GPU of that size", "fits",
                  "needs %.0f of %.0f MB", of(outcomes, NONE, "need_bytes") / 1e6,
                  of(outcomes, NONE, "capacity_bytes") / 1e6);
    seep_rows_add(rows, idle >= asked, "none: reserved but unallocated when it failed",
                  "at least what was requested", "%.0f MB of %.0f MB", idle / 1e6, asked / 1e6);
    seep_rows_add(rows, of(outcomes, PADDED, "fits_alone") == 0,
                  "padded: the step that failed, on an empty GPU of that size", "does not fit",
                  "needs more than %.0f of %.0f MB", of(outcomes, PADDED, "need_bytes") / 1e6,
                  of(outcomes, PADDED, "capacity_bytes") / 1e6);
}

/* seep's account of it is the job's. */
static void judge_account(const struct seep_outcome *outcomes, struct seep_rows *rows)
{
    const json_t *finding = seep_trial_finding(outcomes[NONE].report, "out-of-memory");
    const char *cause = seep_rows_text(finding, "shortage.cause");
    double live = of(outcomes, NONE, "refused_live_bytes");

    seep_rows_add(rows, cause && strcmp(cause, "fragmented") == 0,
                  "none: why, as seep sees it: reserved, in pieces that are too small",
                  "fragmented", "%s", cause ? cause : "unknown");
    seep_rows_add_near(rows, "none: requested, as seep sees it",
                       seep_rows_number(finding, "shortage.asked_bytes"),
                       of(outcomes, NONE, "refused_bytes"), 0, "MB");
    seep_rows_add_near(rows, "none: live, as seep sees it",
                       seep_rows_number(finding, "shortage.allocated_bytes"), live, 0, "MB");
    seep_rows_add_near(rows, "none: reserved but unallocated, as seep sees it",
                       seep_rows_number(finding, "shortage.unallocated_bytes"),
                       of(outcomes, NONE, "refused_reserved_bytes") - live, 0, "MB");
    seep_rows_add_near(rows, "none: capacity, as seep sees it",
                       seep_rows_number(outcomes[NONE].report, "spaces.device:0.capacity_bytes"),
                       of(outcomes, NONE, "capacity_bytes"), 0, "MB");
}

static void judge_cures(const struct seep_outcome *outcomes, struct seep_rows *rows)
{
    double none = of(outcomes, NONE, "steps"), each = of(outcomes, EXPANDABLE, "steps_per_epoch");
    double part = of(outcomes, DDP, "steps_per_epoch");

    for (unsigned v = EMPTY_EVERY_10; v <= EXPANDABLE; v++) {
        char name[96];
        snprintf(name, sizeof name, "%s: steps survived, beside those of none", variants[v].name);
        seep_rows_add(rows, of(outcomes, v, "steps") >= none, name, "no fewer", "%.0f and %.0f",
                      of(outcomes, v, "steps"), none);
    }
    seep_rows_add(rows, of(outcomes, EMPTY_EVERY_STEP, "driver_calls_per_step") >= 20,
                  "empty-every-step: driver calls a step", ">= 20", "%.1f, and %.1f every 10 steps",
                  of(outcomes, EMPTY_EVERY_STEP, "driver_calls_per_step"),
                  of(outcomes, EMPTY_EVERY_10, "driver_calls_per_step"));
    seep_rows_add(rows, of(outcomes, EXPANDABLE, "driver_calls_per_step") < 1,
                  "expandable: driver calls a step", "< 1", "%.2g",
                  of(outcomes, EXPANDABLE, "driver_calls_per_step"));
    seep_rows_add(rows, fabs(2 * part - each) <= 1,
                  "ddp: steps of a rank in an epoch, beside those of one process alone", "half",
                  "%.0f and %.0f", part, each);
}

/* Each rank has a GPU, and no memory on the other one's. */
static void judge_ranks(const struct seep_outcome *outcomes, struct seep_rows *rows)
{
    const json_t *processes = json_object_get(outcomes[DDP].report, "processes"), *process;
    double own[2] = {NAN, NAN}, other[2] = {NAN, NAN};
    size_t i;

    json_array_foreach (processes, i, process) {
        double rank = seep_rows_number(process, "rank");
        if (rank != 0 && rank != 1)
            continue;
        const char *paths[] = {"spaces.device:0.peak_bytes", "spaces.device:1.peak_bytes"};
        own[(int)rank] = seep_rows_number(process, paths[(int)rank]);
        other[(int)rank] = seep_rows_number(process, paths[1 - (int)rank]);
    }
    seep_rows_add(rows, own[0] > 0 && own[1] > 0 && !(other[0] > 0) && !(other[1] > 0),
                  "ddp: the ranks' memory, as seep sees it", "each on its own GPU",
                  "%.0f MB of rank 0 on GPU 0, %.0f MB of rank 1 on GPU 1", own[0] / 1e6,
                  own[1] / 1e6);
}

/* The scenes are as the survey draws them: what is read, what is quantised, and how many make a
 * batch. An epoch's last batch is smaller, which adds a little to the spread; below 1:100 there are
 * too few scenes to tell it. */
static void judge_scenes(const struct seep_outcome *outcomes, double scale, struct seep_rows *rows)
{
    const struct seep_sparse_scenes *made = &seep_sparse_made_up;
    double scenes = exp(made->spread * made->spread) - 1;
    double shares = exp(made->coarse_scatter * made->coarse_scatter) - 1;

    seep_rows_add_near(rows, "expandable: voxels of a made-up scene",
                       of(outcomes, EXPANDABLE, "voxels_per_scene"), made->voxels, 0.05, "voxels");
    seep_rows_add_near(rows, "expandable: voxels of twice the edge, for each",
                       of(outcomes, EXPANDABLE, "coarse_share"), made->coarse, 0.05, "voxels");
    if (scale < 0.01)
        return;
    seep_rows_add_near(rows, "expandable: spread of the batches' voxels",
                       of(outcomes, EXPANDABLE, "batch_spread"), sqrt(scenes / 12), 0.25,
                       "of their mean");
    /* Each scene counts by its voxels. */
    seep_rows_add_near(rows,
                       "expandable: spread of the batches' voxels of twice the edge, for each",
                       of(outcomes, EXPANDABLE, "coarse_spread"), sqrt(shares * (1 + scenes) / 12),
                       0.3, "of their mean");
}

/* The document's network, counted: 3, 32, 64, 32 and 20 channels, kernels of 3 × 3 × 3 and at last
 * of
 * 1. A step has most when the gradient passes the third layer: of each voxel the batch's 8 floats,
 * a coordinate map of 56 bytes, kernel maps of 9 and 2.25 pairs of 8 bytes, two saved outputs of
 * the first and third layer each, and two gradients, with 32 channels; of each voxel of twice the
 * edge a coordinate map and two outputs with 64. */
static void judge_network(const struct seep_outcome *outcomes, struct seep_rows *rows)
{
    const double weights = 27 * 3 * 32 + 2 * 27 * 32 * 64 + 32 * 20;
    const double fine = 8 * 4 + 56 + (9 + 2.25) * 8 + 6 * 32 * 4, coarse = 56 + 2 * 64 * 4;

    seep_rows_add_near(rows, "expandable: weights and their gradients",
                       of(outcomes, EXPANDABLE, "weight_bytes"), 2 * 4 * weights, 0.002, "MB");
    seep_rows_add_near(rows, "expandable: the most that a step has live, for each voxel",
                       of(outcomes, EXPANDABLE, "live_bytes_per_voxel"),
                       fine + coarse * of(outcomes, EXPANDABLE, "coarse_share"), 0.01, "B");
}

/* ScanNet's 1,201 and 312 scenes, by the document's twelve and six; below 1:100 there are fewer. */
static void judge_batches(const struct seep_outcome *outcomes, double scale, struct seep_rows *rows)
{
    double each = of(outcomes, EXPANDABLE, "steps_per_epoch");
    double passes = floor(of(outcomes, EXPANDABLE, "steps") / each);

    if (scale < 0.01)
        return;
    seep_rows_add_near(rows, "expandable: steps an epoch, 1,201 scenes by twelve", each,
                       ceil(1201 / 12.0), 0, "steps");
    seep_rows_add_near(rows, "expandable: steps of a validation, 312 scenes by six",
                       of(outcomes, EXPANDABLE, "validation_steps") / passes, ceil(312 / 6.0), 0,
                       "steps");
}

static void judge(const struct seep_outcome *outcomes, double scale, struct seep_rows *rows)
{
    judge_scenes(outcomes, scale, rows);
    judge_network(outcomes, rows);
    judge_batches(outcomes, scale, rows);
    judge_failure(outcomes, rows);
    judge_account(outcomes, rows);
    judge_cures(outcomes, rows);
    judge_ranks(outcomes, rows);
}

const struct seep_scenario seep_minkowski = {
    .name = "minkowski",
    .summary = "MinkowskiEngine: sparse tensors of ever new sizes on a GPU that can be full",
    .variants = variants,
    .fixes = fixes,
    .uses_device = true,
    .has_capacity = true,
    .make_data = seep_pointgroup_make_rooms,
    .run = run,
    .judge = judge,
    .survey = seep_sparse_survey_judge,
};
