/* Scenario minkowski: variable-length sparse tensors on a caching allocator. What is live stays
 * level; what the allocator has taken from the driver climbs, because the sizes that came back
 * never quite fit.
 *
 * Sizes of one fixed distribution alone reach a level after some dozens of steps in this model: the
 * largest of t draws rises with log t. What makes the reserve climb is that the mix of sizes moves:
 * scenes come in the order of their list, from cluttered to open, so that the finer levels' tensors
 * become larger and the coarser ones' smaller, and their sum is made to stay. The climb is that of
 * the first pass over the list, and ends with it: later passes ask for what is there.
 */
#include "kernels/lab/rows.h"
#include "kernels/lab/scenario.h"
#include "kernels/lab/scenarios/cached_gpu.h"
#include "kernels/lab/scenarios/sparse_network.h"
#include "libprof/base/statistics.h"
#include "preload/seep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ScanNet's 1,201 scenes in batches of six; a run is one pass unless it is told otherwise, at any
 * scale: its sizes are the real ones. */
enum { EPOCH_STEPS = 200, EMPTY_EVERY = 10, WARM_SHARE = 10 };

/* Voxels of a batch: lognormal. Both are made up. */
static const double mean_points = 150000, sigma_points = 0.08;

enum variant { NONE, EMPTY_EVERY_10, BUCKETED, EXPANDABLE };

static const struct seep_variant variants[] = {
    [NONE] = {.name = "none",
              .summary = "the unchanged allocator: reserved memory climbs, live memory does not",
              .pattern = "allocator-cache",
              .severity = "pressure",
              .function = "take_segment"},
    [EMPTY_EVERY_10] = {.name = "empty-every-10",
                        .summary = "the cache is emptied every 10 steps (the document's fix)",
                        .cured = "allocator-cache"},
    [BUCKETED] = {.name = "bucketed",
                  .summary = "sizes are padded to powers of two, so freed blocks fit again",
                  .cured = "allocator-cache"},
    [EXPANDABLE] = {.name = "expandable",
                    .summary = "each pool is one segment that grows (expandable_segments)",
                    .cured = "allocator-cache"},
    {0},
};

static const struct seep_fix fixes[] = {
    {.before = "none", .after = "empty-every-10"},
    {.before = "none", .after = "bucketed"},
    {.before = "none", .after = "expandable"},
    {0},
};

struct training {
    enum variant variant;
    struct seep_cached_gpu gpu;
    struct seep_sparse_network *net;
    struct seep_chance chance;
    unsigned n_steps;
    double *live, *reserved; /* a step: highest live; reserved at its end, before it is emptied */
};

/* ---- training -------------------------------------------------------------------------------- */

static int load(struct training *t, unsigned step)
{
    double points = mean_points * exp(sigma_points * seep_chance_normal(&t->chance) -
                                      sigma_points * sigma_points / 2);

    double progress = (double)(step % EPOCH_STEPS) / EPOCH_STEPS;

    return seep_sparse_network_load(t->net, points, progress, &t->chance);
}

static int train(struct training *t)
{
    int rc = load(t, 0);

    for (unsigned step = 0; step < t->n_steps && !rc; step++) {
        seep_caching_reset_peak(t->gpu.allocator);
        rc = seep_sparse_network_step(t->net);
        if (!rc)
            rc = load(t, step + 1);
        struct seep_caching_counts counts = seep_caching_counts(t->gpu.allocator);
        t->live[step] = (double)counts.peak_bytes;
        t->reserved[step] = (double)counts.reserved_bytes;
        if (t->variant == EMPTY_EVERY_10 && (step + 1) % EMPTY_EVERY == 0)
            seep_caching_empty(t->gpu.allocator);
        seep_step();
        if ((step + 1) % EPOCH_STEPS == 0)
            seep_epoch();
    }
    return rc;
}

static int prepare(struct training *t, const struct seep_scenario_options *o,
                   struct seep_error *err)
{
    t->n_steps = (o->epochs ? o->epochs : 1) * EPOCH_STEPS;
    t->chance.state = o->seed;
    t->live = calloc(t->n_steps, sizeof *t->live);
    t->reserved = calloc(t->n_steps, sizeof *t->reserved);
    if (!t->live || !t->reserved)
        return -SEEP_ENOMEM;
    /* A segment from cudaMalloc cannot grow: that variant uses the stand-in on every device. */
    bool expandable = t->variant == EXPANDABLE;
    int rc =
        seep_cached_gpu_init(&t->gpu, expandable ? SEEP_DEVICE_CPU : o->device, expandable, err);
    return rc ? rc : seep_sparse_network_create(t->gpu.allocator, t->variant == BUCKETED, &t->net);
}

static void finish(struct training *t)
{
    seep_sparse_network_destroy(t->net);
    seep_cached_gpu_fini(&t->gpu);
    free(t->live);
    free(t->reserved);
}

/* ---- figures --------------------------------------------------------------------------------- */

/* Slope over the first pass after its first tenth, at evenly spread points. */
static struct seep_slope slope_of(const double *values)
{
    double y[SEEP_STATISTICS_MAX];
    struct seep_slope slope = {NAN, NAN, NAN};
    unsigned from = EPOCH_STEPS / WARM_SHARE, points = SEEP_STATISTICS_MAX;
    double dx = (double)(EPOCH_STEPS - 1 - from) / (points - 1);

    for (unsigned i = 0; i < points; i++)
        y[i] = values[from + (unsigned)(i * dx)];
    if (seep_slope_estimate(y, 1, points, dx, &slope))
        slope = (struct seep_slope){NAN, NAN, NAN};
    return slope;
}

static void set_slope(json_t *measured, const char *key, struct seep_slope slope)
{
    json_object_set_new(
        measured, key,
        json_pack("{s:f, s:f, s:f}", "value", slope.value, "low", slope.low, "high", slope.high));
}

static void measure(const struct training *t, json_t *measured)
{
    unsigned n = t->n_steps, tail = 10;
    double live = 0, highest = 0;

    for (unsigned i = n - tail; i < n; i++)
        live += t->live[i] / tail;
    for (unsigned i = n / WARM_SHARE; i < n; i++)
        highest = fmax(highest, t->reserved[i] / t->live[i]);
    struct seep_caching_counts counts = seep_caching_counts(t->gpu.allocator);
    json_object_set_new(measured, "steps", json_integer(n));
    json_object_set_new(measured, "live_bytes", json_real(live));
    json_object_set_new(measured, "reserved_bytes", json_real(t->reserved[n - 1]));
    json_object_set_new(measured, "reserved_bytes_warm", json_real(t->reserved[n / WARM_SHARE]));
    json_object_set_new(measured, "reserved_over_live", json_real(t->reserved[n - 1] / live));
    json_object_set_new(measured, "reserved_over_live_highest", json_real(highest));
    json_object_set_new(measured, "driver_calls_per_step",
                        json_real((double)counts.driver_calls / n));
    set_slope(measured, "live_bytes_per_step", slope_of(t->live));
    set_slope(measured, "reserved_bytes_per_step", slope_of(t->reserved));
}

static int run(const struct seep_scenario_options *o, json_t *measured, struct seep_error *err)
{
    struct training t = {0};

    for (int v = NONE; v <= EXPANDABLE; v++) {
        if (strcmp(variants[v].name, o->variant) == 0)
            t.variant = (enum variant)v;
    }
    int rc = prepare(&t, o, err);
    if (!rc)
        rc = train(&t);
    if (!rc)
        measure(&t, measured);
    finish(&t);
    return rc;
}

/* ---- judgement ------------------------------------------------------------------------------- */

static double of(const struct seep_outcome *outcomes, enum variant v, const char *path)
{
    return seep_rows_number(outcomes[v].measured, path);
}

/* Noise has a slope, too: that of live memory may be up to a twentieth of the climb. */
static const double level_share = 0.05;

static void judge_none(const struct seep_outcome *outcomes, struct seep_rows *rows)
{
    const json_t *report = outcomes[NONE].report;
    double live = of(outcomes, NONE, "live_bytes_per_step.value");
    double climb = of(outcomes, NONE, "reserved_bytes_per_step.low");
    double tensors = seep_rows_number(report, "spaces.tensor:0.growth_bytes_per_step.value");
    double segments = seep_rows_number(report, "spaces.device:0.growth_bytes_per_step.low");

    seep_rows_add(rows, climb > 0, "none: reserved memory climbs over the first pass",
                  "lower bound of the slope > 0", "%.3g MB a step (lower bound %.3g)",
                  of(outcomes, NONE, "reserved_bytes_per_step.value") / 1e6, climb / 1e6);
    seep_rows_add(rows, climb > 0 && fabs(live) <= level_share * climb,
                  "none: slope of live memory over that of reserved memory", "at most 5 %",
                  "%.2g %%", 100 * live / climb);
    seep_rows_add(rows, segments > 0 && fabs(tensors) <= level_share * segments,
                  "none: growth of tensors on GPU 0 over that of GPU 0, as seep sees it",
                  "at most 5 %", "%.3g of %.3g MB a step", tensors / 1e6, segments / 1e6);
}

/* Highest reserved as seep saw it, beside what `none` comes to. Emptying costs what ten steps leave
 * behind, an expandable segment little beside what is live; padding to powers of two wastes up to
 * half of each block, and a quarter on average. */
static void judge_cures(const struct seep_outcome *outcomes, struct seep_rows *rows)
{
    static const double bounds[] = {[EMPTY_EVERY_10] = 0.8, [BUCKETED] = 0.9, [EXPANDABLE] = 0.5};
    static const char path[] = "spaces.device:0.peak_bytes";
    double none = seep_rows_number(outcomes[NONE].report, path);

    for (int v = EMPTY_EVERY_10; v <= EXPANDABLE; v++) {
        char name[96], expected[32];
        double most = seep_rows_number(outcomes[v].report, path);
        snprintf(name, sizeof name, "%s: peak of reserved memory over that of none",
                 variants[v].name);
        snprintf(expected, sizeof expected, "<= %.0f %%", 100 * bounds[v]);
        seep_rows_add(rows, most <= bounds[v] * none, name, expected,
                      "%.0f %%, %.2f times its live memory", 100 * most / none,
                      of(outcomes, v, "reserved_over_live_highest"));
    }
}

static void judge(const struct seep_outcome *outcomes, double scale, struct seep_rows *rows)
{
    (void)scale;
    judge_none(outcomes, rows);
    double none = of(outcomes, NONE, "reserved_over_live");
    double calls = of(outcomes, NONE, "driver_calls_per_step");
    double emptied = of(outcomes, EMPTY_EVERY_10, "driver_calls_per_step");

    seep_rows_add(rows, none >= 2, "none: reserved / live memory at the end", ">= 2", "%.2f", none);
    judge_cures(outcomes, rows);
    seep_rows_add(rows, emptied > 5 * calls, "driver calls a step, empty-every-10 over none",
                  "> 5 times", "%.2f and %.2f", emptied, calls);
}

const struct seep_scenario seep_minkowski = {
    .name = "minkowski",
    .summary = "MinkowskiEngine: sparse tensors of ever new sizes on a caching allocator",
    .variants = variants,
    .fixes = fixes,
    .uses_device = true,
    .run = run,
    .judge = judge,
};
