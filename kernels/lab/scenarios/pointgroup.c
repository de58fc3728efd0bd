/* PointGroup's ScanNet loader: all scenes up front, a scene at a time in the training thread, or a
 * scene at a time in 16 workers. Author's figures: 25 GB, 4 GB and 14 GB. After each epoch comes a
 * validation; each pass over a loader has workers of its own. */
#include "kernels/compute/stopwatch.h"
#include "kernels/lab/scenario.h"
#include "kernels/lab/scenarios/pointgroup_judge.h"
#include "kernels/lab/scenarios/pointgroup_loader.h"
#include "kernels/lab/scenarios/pointgroup_pinning.h"
#include "libprof/base/statistics.h"
#include "preload/seep.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum { PROGRESS_STEPS = 10, EPOCHS = 1 };

/* Workers that end with their pass have handed out all by then. In a pass that is shorter than what
 * they have ready they keep it for all of their lives. */
static const char short_passes[] = "worker-multiplication";
/* From here on a pass is much longer than that, and the workers' collating, too, goes through it.
 * Before, it depends on how far ahead they get whether its spike is one of many steps. */
#define LONG_PASSES 0.01

static const struct seep_variant variants[] = {
    [SEEP_POINTGROUP_EAGER] = {.name = "eager",
                               .summary = "all scenes are read before step 1; the workers collate",
                               .pattern = "eager-retention",
                               .severity = "retention",
                               .function = "dataset_keep",
                               .others = short_passes},
    [SEEP_POINTGROUP_IN_THREAD] =
        {.name = "in-thread",
         .summary = "workers hand out ids only: the training thread reads each batch's scenes",
         .pattern = "size-spike",
         .severity = "pressure",
         .function = "collate_voxel_map"},
    [SEEP_POINTGROUP_WORKER] = {.name = "worker",
                                .summary =
                                    "16 workers read each batch's scenes, each two batches ahead",
                                .pattern = "size-spike",
                                .severity = "pressure",
                                .function = "collate_voxel_map",
                                .others = short_passes,
                                .least_scale = LONG_PASSES},
    [SEEP_POINTGROUP_PERSISTENT] =
        {.name = "worker-persistent",
         .summary = "as worker, but the workers live on, and so does what they have ready",
         .pattern = "worker-multiplication",
         .severity = "retention",
         .function = "seep_pointgroup_batch_pack"},
    [SEEP_POINTGROUP_PINNED] =
        {.name = "pinned",
         .summary = "as worker; a thread copies what is ready into pinned memory (pin_memory)",
         .pattern = "pinned-pool",
         .severity = "pressure",
         .function = "pin_block"},
    {0},
};

/* The document's fix is "worker"; its price is seen where workers live on. Predicted savings cover
 * only what a finding names: with ids only the workers' own memory and all parcels vanish, too. */
static const struct seep_fix fixes[] = {
    {.before = "eager",
     .after = "in-thread",
     .vanishes = "eager-retention",
     .least_scale = LONG_PASSES},
    {.before = "eager",
     .after = "worker",
     .vanishes = "eager-retention",
     .least_scale = LONG_PASSES},
    {.before = "eager",
     .after = "worker-persistent",
     .vanishes = "eager-retention",
     .leaves = "worker-multiplication",
     .least_scale = LONG_PASSES},
    {.before = "worker-persistent",
     .after = "in-thread",
     .vanishes = "worker-multiplication",
     .leaves = "size-spike",
     .least_scale = LONG_PASSES},
    {0},
};

/* How a variant differs from `worker`. */
static const struct way {
    bool reads_all; /* scenes, before the first step */
    bool ids_only, pins;
    bool persists; /* one pass over the training's loader, which the end of the job cuts short */
} ways[SEEP_POINTGROUP_VARIANTS] = {
    [SEEP_POINTGROUP_EAGER] = {.reads_all = true},
    [SEEP_POINTGROUP_IN_THREAD] = {.ids_only = true},
    [SEEP_POINTGROUP_WORKER] = {0},
    [SEEP_POINTGROUP_PERSISTENT] = {.persists = true},
    [SEEP_POINTGROUP_PINNED] = {.pins = true},
};

struct job {
    const struct seep_scenario_options *options;
    const struct way *way;
    struct seep_pointgroup_scenes scenes;
    struct seep_pointgroup_maker maker;
    struct seep_pointgroup_trainer trainer;
    struct seep_pointgroup_loader loader;
    struct seep_pointgroup_pass *lasting; /* where it persists */
    size_t n_epochs, n_steps, n_done;
    /* [n_steps] each, of a step with the wait for its batch: by the wall's clock, and what the
     * training thread computed, which a busy machine changes less. */
    double *seconds, *own_seconds;
    /* of the training's batches, as the trainer gets them */
    double bytes, points, voxels;
    size_t widest_row, largest_map_bytes, largest_piece;
    double train_loss, first_validation_loss; /* of the last step; mean of the first validation */
    size_t n_validated;
};

/* ---- the job --------------------------------------------------------------------------------- */

static void note_batch(struct job *job, const struct seep_pointgroup_batch *batch)
{
    size_t map = batch->n_voxels * batch->row * sizeof *batch->voxel_points;

    size_t piece[SEEP_POINTGROUP_BATCH] = {0};

    for (size_t i = 0; i < batch->n_points; i++)
        piece[batch->points.locs[i][0]]++;
    for (size_t s = 0; s < SEEP_POINTGROUP_BATCH; s++)
        job->largest_piece = piece[s] > job->largest_piece ? piece[s] : job->largest_piece;
    job->bytes += (double)seep_pointgroup_batch_bytes(batch);
    job->points += (double)batch->n_points;
    job->voxels += (double)batch->n_voxels;
    job->widest_row = batch->row > job->widest_row ? batch->row : job->widest_row;
    job->largest_map_bytes = map > job->largest_map_bytes ? map : job->largest_map_bytes;
}

static int train_on_next(struct job *job, struct seep_pointgroup_pass *pass, struct seep_error *err)
{
    double start = seep_clock_s(CLOCK_MONOTONIC), own = seep_clock_s(CLOCK_THREAD_CPUTIME_ID);
    struct seep_pointgroup_batch *batch;
    int rc = seep_pointgroup_pass_next(pass, &batch, err);

    if (!rc) {
        note_batch(job, batch);
        seep_pointgroup_train(&job->trainer, batch);
        job->train_loss = job->trainer.loss;
    }
    seep_pointgroup_pass_release(pass);
    job->seconds[job->n_done] = seep_clock_s(CLOCK_MONOTONIC) - start;
    job->own_seconds[job->n_done++] = seep_clock_s(CLOCK_THREAD_CPUTIME_ID) - own;
    seep_step();
    if (job->options->progress && job->n_done % PROGRESS_STEPS == 1)
        fprintf(stderr, "\rpointgroup: step %zu of %zu, loss %.3f ", job->n_done, job->n_steps,
                job->train_loss);
    return rc;
}

/* train_epoch() */
static int train_epoch(struct job *job, size_t epoch, struct seep_error *err)
{
    size_t n = job->maker.steps_per_epoch;
    struct seep_pointgroup_pass *pass = job->lasting;
    int rc = 0;

    if (!pass)
        rc = seep_pointgroup_pass_begin(&job->loader, false, epoch * n,
                                        job->way->persists ? 0 : (epoch + 1) * n, &pass, err);
    for (size_t i = 0; i < n && !rc; i++)
        rc = train_on_next(job, pass, err);
    if (job->way->persists)
        job->lasting = pass;
    else
        seep_pointgroup_pass_end(pass);
    return rc;
}

/* eval_epoch() */
static int validate_epoch(struct job *job, size_t epoch, struct seep_error *err)
{
    struct seep_pointgroup_batch *batch;
    struct seep_pointgroup_pass *pass;
    size_t n = job->maker.validation_steps;

    if (!n)
        return 0;
    int rc = seep_pointgroup_pass_begin(&job->loader, true, 0, n, &pass, err);
    for (size_t i = 0; i < n && !rc; i++) {
        rc = seep_pointgroup_pass_next(pass, &batch, err);
        if (!rc)
            seep_pointgroup_validate(&job->trainer, batch);
        seep_pointgroup_pass_release(pass);
        job->first_validation_loss += epoch == 0 ? job->trainer.loss / (double)n : 0;
        job->n_validated += !rc;
    }
    seep_pointgroup_pass_end(pass);
    return rc;
}

static int train(struct job *job, struct seep_error *err)
{
    int rc = 0;

    for (size_t e = 0; e < job->n_epochs && !rc; e++) {
        rc = train_epoch(job, e, err);
        if (!rc)
            rc = validate_epoch(job, e, err);
        if (!rc)
            seep_epoch();
    }
    seep_pointgroup_pass_end(job->lasting);
    if (job->options->progress)
        fputs("\r\033[K", stderr);
    return rc;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Of n ≥ 1 values, which it reorders: neighbours on the machine slow a thread's
 * own computing too, by way of its caches, but hardly nine steps of ten. */
static double lowest_decile(double *values, size_t n)
{
    qsort(values, n, sizeof *values, ascending);
    return values[n / 10];
}

static int fill_measured(const struct job *job, json_t *measured)
{
    double n = (double)job->n_steps, points = 0, largest = 0, smallest = INFINITY;
    struct seep_pinned_counts pinned = {0};

    if (job->loader.pool)
        pinned = seep_pinned_pool_counts(job->loader.pool);
    for (size_t i = 0; job->scenes.loaded && i < job->scenes.n; i++) {
        double n_points = (double)job->scenes.loaded[i].n;
        points += n_points;
        largest = fmax(largest, n_points);
        smallest = fmin(smallest, n_points);
    }
    json_t *figures = json_pack(
        "{s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:f, s:f, s:I, s:I, s:I, "
        "s:f, s:I}",
        "steps", (json_int_t)job->n_steps, "epochs", (json_int_t)job->n_epochs, "scenes",
        (json_int_t)job->scenes.n, "dataset_bytes", points * sizeof(struct seep_scannet_point),
        "batch_seconds", seep_median(job->seconds, job->n_steps), "own_batch_seconds",
        lowest_decile(job->own_seconds, job->n_steps), "batch_bytes", job->bytes / n,
        "voxels_per_point", job->voxels / fmax(job->points, 1), "densest_voxel",
        (json_int_t)job->widest_row - 1, "largest_map_bytes", (json_int_t)job->largest_map_bytes,
        "framework_bytes", (json_int_t)job->trainer.framework_bytes, "program_bytes",
        (json_int_t)job->trainer.program_bytes, "loss", job->train_loss, "validation_loss",
        job->first_validation_loss, "validated_batches", (json_int_t)job->n_validated,
        "pinned_bytes", (json_int_t)pinned.reserved_bytes, "pinned_asked_bytes",
        (json_int_t)pinned.peak_asked_bytes, "pinned_batches",
        (double)pinned.most_blocks_out / SEEP_POINTGROUP_ARRAYS, "largest_piece_points",
        (json_int_t)job->largest_piece);
    int rc = figures ? json_object_update(measured, figures) : -1;
    if (!rc) /* at full size */
        json_object_set_new(measured, "voxel_metres",
                            json_real(job->maker.cut.voxel *
                                      sqrt(seep_pointgroup_size(job->options->scale).points)));
    if (!rc && job->scenes.loaded) {
        json_object_set_new(measured, "largest_scene_points", json_real(largest));
        json_object_set_new(measured, "smallest_scene_points", json_real(smallest));
    }

    json_decref(figures);
    return rc ? -SEEP_ENOMEM : 0;
}

/* malloc maps blocks of their own above a threshold that follows what is freed, and so hangs on
 * what was read before the fork. It is held at 200 MB of full size, between a batch's points and
 * the largest padded map; malloc's own limit is 32 MiB. */
static void settle_malloc(double scale)
{
    double threshold = fmin(200e6 * seep_pointgroup_size(scale).points, 32 << 20);

    mallopt(M_MMAP_THRESHOLD, (int)threshold);
    mallopt(M_TRIM_THRESHOLD, 2 * (int)threshold);
}

static int prepare(struct job *job, struct seep_error *err)
{
    const struct seep_scenario_options *o = job->options;
    int rc = seep_pointgroup_scenes_open(o->data, &job->scenes, err);

    if (!rc)
        rc = seep_pointgroup_trainer_init(&job->trainer, o->scale, o->seed);
    if (!rc && job->way->reads_all)
        rc = seep_pointgroup_scenes_load(&job->scenes, err);
    if (!rc)
        rc = seep_pointgroup_maker_init(&job->maker, &job->scenes, o->scale, o->seed);
    job->loader = (struct seep_pointgroup_loader){.maker = &job->maker,
                                                  .trainer = &job->trainer,
                                                  .scale = o->scale,
                                                  .ids_only = job->way->ids_only};
    if (!rc && job->way->pins)
        rc = seep_pinned_pool_create(&job->loader.pool);
    if (rc)
        return rc;
    job->n_epochs = o->epochs ? o->epochs : EPOCHS;
    job->n_steps = job->maker.steps_per_epoch * job->n_epochs;
    job->seconds = calloc(job->n_steps, sizeof *job->seconds);
    job->own_seconds = calloc(job->n_steps, sizeof *job->own_seconds);
    return job->seconds && job->own_seconds ? 0 : -SEEP_ENOMEM;
}

static int run(const struct seep_scenario_options *options, json_t *measured,
               struct seep_error *err)
{
    struct job job = {.options = options};

    for (int v = 0; v < SEEP_POINTGROUP_VARIANTS; v++) {
        if (strcmp(variants[v].name, options->variant) == 0)
            job.way = &ways[v];
    }
    /* A process's memory must not depend on whether the kernel has a huge page available. */
    (void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    settle_malloc(options->scale);
    int rc = prepare(&job, err);
    if (!rc)
        rc = train(&job, err);
    if (!rc)
        rc = fill_measured(&job, measured);
    free(job.seconds);
    free(job.own_seconds);
    seep_pinned_pool_destroy(job.loader.pool);
    seep_pointgroup_maker_fini(&job.maker);
    seep_pointgroup_scenes_close(&job.scenes);
    seep_pointgroup_trainer_fini(&job.trainer);
    return rc;
}

const struct seep_scenario seep_pointgroup = {
    .name = "pointgroup",
    .summary = "PointGroup's ScanNet loader: 25, 4 or 14 GB for the same training",
    .machine_bytes = (uint64_t)16 << 30, /* the document's */
    .variants = variants,
    .fixes = fixes,
    .make_data = seep_pointgroup_make_data,
    .run = run,
    .judge = seep_pointgroup_judge,
};
