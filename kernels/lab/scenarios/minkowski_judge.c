/* Rows of minkowski's variants: what the document claims, what seep says of it, and what the scenes
 * and the network are. */
#include "kernels/lab/scenarios/minkowski_judge.h"

#include "kernels/lab/judges.h"
#include "kernels/lab/scenarios/pointgroup_scenes.h"
#include "kernels/lab/scenarios/sparse_survey.h"
#include "kernels/lab/scenarios/sparse_training.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double of(const struct seep_outcome *outcomes, unsigned v, const char *path)
{
    return seep_rows_number(outcomes[v].measured, path);
}

/* What the step that failed needs is less than the GPU has. */
static void judge_failure(const struct seep_outcome *outcomes, struct seep_rows *rows)
{
    double asked = of(outcomes, SEEP_MINKOWSKI_NONE, "refused_bytes");
    double idle = of(outcomes, SEEP_MINKOWSKI_NONE, "refused_reserved_bytes") -
                  of(outcomes, SEEP_MINKOWSKI_NONE, "refused_live_bytes");

    seep_rows_add(rows, of(outcomes, SEEP_MINKOWSKI_NONE, "fits_alone") == 1,
                  "none: the step that failed, on an empty GPU of that size", "fits",
                  "needs %.0f of %.0f MB", of(outcomes, SEEP_MINKOWSKI_NONE, "need_bytes") / 1e6,
                  of(outcomes, SEEP_MINKOWSKI_NONE, "capacity_bytes") / 1e6);
    seep_rows_add(rows, idle >= asked, "none: reserved but unallocated when it failed",
                  "at least what was requested", "%.0f MB of %.0f MB", idle / 1e6, asked / 1e6);
    seep_rows_add(rows, of(outcomes, SEEP_MINKOWSKI_PADDED, "fits_alone") == 0,
                  "padded: the step that failed, on an empty GPU of that size", "does not fit",
                  "needs more than %.0f of %.0f MB",
                  of(outcomes, SEEP_MINKOWSKI_PADDED, "need_bytes") / 1e6,
                  of(outcomes, SEEP_MINKOWSKI_PADDED, "capacity_bytes") / 1e6);
}

/* seep's account of it is the job's. */
static void judge_account(const struct seep_outcome *outcomes, struct seep_rows *rows)
{
    const json_t *finding =
        seep_trial_finding(outcomes[SEEP_MINKOWSKI_NONE].report, "out-of-memory");
    const char *cause = seep_rows_text(finding, "shortage.cause");
    double live = of(outcomes, SEEP_MINKOWSKI_NONE, "refused_live_bytes");

    seep_rows_add(rows, cause && strcmp(cause, "fragmented") == 0,
                  "none: why, as seep sees it: reserved, in pieces that are too small",
                  "fragmented", "%s", cause ? cause : "unknown");
    seep_rows_add_near(rows, "none: requested, as seep sees it",
                       seep_rows_number(finding, "shortage.asked_bytes"),
                       of(outcomes, SEEP_MINKOWSKI_NONE, "refused_bytes"), 0, "MB");
    seep_rows_add_near(rows, "none: live, as seep sees it",
                       seep_rows_number(finding, "shortage.allocated_bytes"), live, 0, "MB");
    seep_rows_add_near(rows, "none: reserved but unallocated, as seep sees it",
                       seep_rows_number(finding, "shortage.unallocated_bytes"),
                       of(outcomes, SEEP_MINKOWSKI_NONE, "refused_reserved_bytes") - live, 0, "MB");
    seep_rows_add_near(
        rows, "none: capacity, as seep sees it",
        seep_rows_number(outcomes[SEEP_MINKOWSKI_NONE].report, "spaces.device:0.capacity_bytes"),
        of(outcomes, SEEP_MINKOWSKI_NONE, "capacity_bytes"), 0, "MB");
}

/* How long a cure that only empties the cache keeps the job alive is chance (the survey's rows have
 * it), but not of what it dies: each step fits. */
static void judge_emptied(const struct seep_outcome *outcomes, unsigned v, const char *variant,
                          struct seep_rows *rows)
{
    double full = of(outcomes, v, "out_of_memory");
    char name[96];

    snprintf(name, sizeof name, "%s: the step that failed, if any, on an empty GPU of that size",
             variant);
    if (full == 0)
        seep_rows_add(rows, of(outcomes, v, "steps") >= SEEP_SPARSE_STEPS, name, "fits",
                      "none failed of %.0f", of(outcomes, v, "steps"));
    else
        seep_rows_add(rows, of(outcomes, v, "fits_alone") == 1, name, "fits",
                      "needs %.0f of %.0f MB", of(outcomes, v, "need_bytes") / 1e6,
                      of(outcomes, v, "capacity_bytes") / 1e6);
}

static void judge_cures(const struct seep_outcome *outcomes, struct seep_rows *rows)
{
    double none = of(outcomes, SEEP_MINKOWSKI_NONE, "steps"),
           each = of(outcomes, SEEP_MINKOWSKI_EXPANDABLE, "steps_per_epoch");
    double part = of(outcomes, SEEP_MINKOWSKI_DDP, "steps_per_epoch");

    judge_emptied(outcomes, SEEP_MINKOWSKI_EMPTY_EVERY_10, "empty-every-10", rows);
    judge_emptied(outcomes, SEEP_MINKOWSKI_EMPTY_EVERY_STEP, "empty-every-step", rows);
    seep_rows_add(rows, of(outcomes, SEEP_MINKOWSKI_EXPANDABLE, "steps") > none,
                  "expandable: steps survived, beside those of none", "more", "%.0f and %.0f",
                  of(outcomes, SEEP_MINKOWSKI_EXPANDABLE, "steps"), none);
    seep_rows_add(rows,
                  of(outcomes, SEEP_MINKOWSKI_EMPTY_EVERY_STEP, "driver_calls_per_step") >= 20,
                  "empty-every-step: driver calls a step", ">= 20", "%.1f, and %.1f every 10 steps",
                  of(outcomes, SEEP_MINKOWSKI_EMPTY_EVERY_STEP, "driver_calls_per_step"),
                  of(outcomes, SEEP_MINKOWSKI_EMPTY_EVERY_10, "driver_calls_per_step"));
    seep_rows_add(rows, of(outcomes, SEEP_MINKOWSKI_EXPANDABLE, "driver_calls_per_step") < 1,
                  "expandable: driver calls a step", "< 1", "%.2g",
                  of(outcomes, SEEP_MINKOWSKI_EXPANDABLE, "driver_calls_per_step"));
    seep_rows_add(rows, fabs(2 * part - each) <= 1,
                  "ddp: steps of a rank in an epoch, beside those of one process alone", "half",
                  "%.0f and %.0f", part, each);
}

/* Each rank has a GPU, and no memory on the other one's. */
static void judge_ranks(const struct seep_outcome *outcomes, struct seep_rows *rows)
{
    const json_t *processes = json_object_get(outcomes[SEEP_MINKOWSKI_DDP].report, "processes"),
                 *process;
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

static void judge_coordinates(const struct seep_outcome *outcomes, struct seep_rows *rows)
{
    const json_t *finding =
        seep_trial_finding(outcomes[SEEP_MINKOWSKI_COORDINATES_KEPT].report, "unbounded-growth");

    seep_rows_add_near(rows, "coordinates-kept: maps of what it has trained on, as seep sees them",
                       seep_rows_number(finding, "peak_bytes"),
                       of(outcomes, SEEP_MINKOWSKI_COORDINATES_KEPT, "trained_map_bytes"), 0.01,
                       "MB");
}

/* Deviation of an epoch's batches over their mean, of which the last is what is left of 12. */
static double spread_of_batches(void)
{
    const double log_spread = seep_sparse_made_up.spread,
                 of_scenes = expm1(log_spread * log_spread);
    const double full = SEEP_POINTGROUP_TRAIN / SEEP_SPARSE_BATCH;
    const double last = SEEP_POINTGROUP_TRAIN % SEEP_SPARSE_BATCH;
    const double mean = SEEP_POINTGROUP_TRAIN / (full + 1);
    const double squares =
        (full * SEEP_SPARSE_BATCH * SEEP_SPARSE_BATCH + last * last) / (full + 1);

    return sqrt(mean * of_scenes + squares - mean * mean) / mean;
}

/* The scenes are as the survey draws them: what is read, what is quantised, and how many make a
 * batch; and the GPU that they need is about the survey's. Below 1:100 there are too few scenes to
 * tell the batches' spread. */
static void judge_scenes(const struct seep_outcome *outcomes, double scale, struct seep_rows *rows)
{
    const struct seep_sparse_scenes *made = &seep_sparse_made_up;
    double scenes = exp(made->spread * made->spread) - 1;
    double shares = exp(made->coarse_scatter * made->coarse_scatter) - 1;

    seep_rows_add_near(rows, "expandable: voxels of a made-up scene",
                       of(outcomes, SEEP_MINKOWSKI_EXPANDABLE, "voxels_per_scene"), made->voxels,
                       0.05, "voxels");
    seep_rows_add_near(rows, "expandable: voxels of twice the edge, for each",
                       of(outcomes, SEEP_MINKOWSKI_EXPANDABLE, "coarse_share"), made->coarse, 0.05,
                       "voxels");
    seep_rows_add_near(rows, "expandable: the smallest GPU on which it ends",
                       of(outcomes, SEEP_MINKOWSKI_EXPANDABLE, "capacity_bytes"),
                       (double)seep_sparse_capacity_bytes, 0.15, "MB");
    if (scale < 0.01)
        return;
    seep_rows_add_near(rows, "expandable: spread of the batches' voxels",
                       of(outcomes, SEEP_MINKOWSKI_EXPANDABLE, "batch_spread"), spread_of_batches(),
                       0.15, "of their mean");
    /* Each scene counts by its voxels. */
    seep_rows_add_near(rows,
                       "expandable: spread of the batches' voxels of twice the edge, for each",
                       of(outcomes, SEEP_MINKOWSKI_EXPANDABLE, "coarse_spread"),
                       sqrt(shares * (1 + scenes) / 12), 0.3, "of their mean");
}

/* The document's network, counted: 3, 32, 64, 32 and 20 channels, kernels of 3 × 3 × 3 and at
 * last of 1. A step has most when the gradient passes the third layer: of each voxel the batch's 8
 * floats, a coordinate map of 56 bytes, kernel maps of 9 and 2.25 pairs of 8 bytes, two saved
 * outputs of the first and third layer each, and two gradients, with 32 channels; of each voxel of
 * twice the edge a coordinate map and two outputs with 64. */
static void judge_network(const struct seep_outcome *outcomes, struct seep_rows *rows)
{
    const double weights = 27 * 3 * 32 + 2 * 27 * 32 * 64 + 32 * 20;
    const double fine = 8 * 4 + 56 + (9 + 2.25) * 8 + 6 * 32 * 4, coarse = 56 + 2 * 64 * 4;

    seep_rows_add_near(rows, "expandable: weights and their gradients",
                       of(outcomes, SEEP_MINKOWSKI_EXPANDABLE, "weight_bytes"), 2 * 4 * weights,
                       0.002, "MB");
    seep_rows_add_near(rows, "expandable: the most that a step has live, for each voxel",
                       of(outcomes, SEEP_MINKOWSKI_EXPANDABLE, "live_bytes_per_voxel"),
                       fine + coarse * of(outcomes, SEEP_MINKOWSKI_EXPANDABLE, "coarse_share"),
                       0.01, "B");
}

/* ScanNet's 1,201 and 312 scenes, by the document's twelve and six; below 1:100 there are fewer. */
static void judge_batches(const struct seep_outcome *outcomes, double scale, struct seep_rows *rows)
{
    double each = of(outcomes, SEEP_MINKOWSKI_EXPANDABLE, "steps_per_epoch");
    double passes = floor(of(outcomes, SEEP_MINKOWSKI_EXPANDABLE, "steps") / each);

    if (scale < 0.01)
        return;
    seep_rows_add_near(rows, "expandable: steps an epoch, 1,201 scenes by twelve", each,
                       ceil(1201 / 12.0), 0, "steps");
    seep_rows_add_near(rows, "expandable: steps of a validation, 312 scenes by six",
                       of(outcomes, SEEP_MINKOWSKI_EXPANDABLE, "validation_steps") / passes,
                       ceil(312 / 6.0), 0, "steps");
}

void seep_minkowski_judge(const struct seep_outcome *outcomes, double scale, struct seep_rows *rows)
{
    judge_scenes(outcomes, scale, rows);
    judge_network(outcomes, rows);
    judge_batches(outcomes, scale, rows);
    judge_failure(outcomes, rows);
    judge_account(outcomes, rows);
    judge_cures(outcomes, rows);
    judge_ranks(outcomes, rows);
    judge_coordinates(outcomes, rows);
}
