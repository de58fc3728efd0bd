/* Scenario minkowski: variable-length sparse tensors on a caching allocator. What is live stays
 * level; what the allocator has taken from the driver climbs, because the sizes that came back
 * never quite fit.
 *
 * Sizes of one fixed distribution alone reach a level after some dozens of steps in this model: the
 * largest of t draws rises with log t. What keeps the reserve climbing, here as in training, is
 * that the mix of sizes moves: scenes come in the order of their list, from cluttered to open, so
 * that the finer levels' tensors become larger and the coarser ones' smaller, and their sum stays.
 */
#include "kernels/harness/rows.h"
#include "kernels/harness/scenario.h"
#include "kernels/scenarios/segment_driver.h"
#include "kernels/scenarios/sparse_network.h"
#include "libprof/statistics.h"
#include "preload/seep.h"

#include <stdlib.h>
#include <string.h>

/* At scale 1 the seed's training: some 20,000 steps. Fewer than 200 show no trend. */
enum { FULL_STEPS = 20000, LEAST_STEPS = 200, EMPTY_EVERY = 10, WARM_SHARE = 10 };

/* Voxels of a batch of four scenes at 5 cm: lognormal about 150,000. */
static const double mean_points = 150000, sigma_points = 0.08;

static const size_t capacity_bytes = (size_t)80 << 30; /* a large GPU's */

enum variant { NONE, EMPTY_EVERY_10, BUCKETED, EXPANDABLE };

static const struct seep_variant variants[] = {
    [NONE] = {.name = "none",
              .summary = "the allocator as it is: reserved climbs, live does not",
              .pattern = "allocator-cache",
              .severity = "pressure",
              .function = "take_segment"},
    [EMPTY_EVERY_10] = {.name = "empty-every-10",
                        .summary = "the cache is emptied every 10 steps (the seed's fix)"},
    [BUCKETED] = {.name = "bucketed",
                  .summary = "sizes are padded to powers of two: what comes back fits"},
    [EXPANDABLE] = {.name = "expandable",
                    .summary = "one segment a pool, which grows (expandable_segments)"},
    {0},
};

static const struct seep_fix fixes[] = {
    {"none", "empty-every-10"},
    {"none", "bucketed"},
    {"none", "expandable"},
    {NULL, NULL},
};

struct training {
    enum variant variant;
    struct seep_stream *stream; /* CUDA's, or NULL */
    struct seep_segment_driver *driver;
    struct seep_caching_allocator *allocator;
    struct seep_sparse_network *net;
    struct seep_chance chance;
    unsigned n_steps;
    double *live, *reserved; /* a step: highest live, reserved at its end */
};

/* ---- training
 * ------------------------------------------------------------------------------------ */

static int load(struct training *t, unsigned step)
{
    double points = mean_points * exp(sigma_points * seep_chance_normal(&t->chance) -
                                      sigma_points * sigma_points / 2);

    return seep_sparse_network_load(t->net, points, (double)step / t->n_steps, &t->chance);
}

static int train(struct training *t)
{
    int rc = load(t, 0);

    for (unsigned step = 0; step < t->n_steps && !rc; step++) {
        seep_caching_reset_peak(t->allocator);
        rc = seep_sparse_network_step(t->net);
        if (!rc)
            rc = load(t, step + 1);
        if (t->variant == EMPTY_EVERY_10 && (step + 1) % EMPTY_EVERY == 0)
            seep_caching_empty(t->allocator);
        struct seep_caching_counts counts = seep_caching_counts(t->allocator);
        t->live[step] = (double)counts.peak_bytes;
        t->reserved[step] = (double)counts.reserved_bytes;
        seep_step();
    }
    return rc;
}

static int prepare(struct training *t, const struct seep_scenario_options *o,
                   struct seep_error *err)
{
    double steps = FULL_STEPS * o->scale;

    t->n_steps = steps < LEAST_STEPS ? LEAST_STEPS : (unsigned)steps;
    t->chance.state = o->seed;
    t->live = calloc(t->n_steps, sizeof *t->live);
    t->reserved = calloc(t->n_steps, sizeof *t->reserved);
    if (!t->live || !t->reserved)
        return -SEEP_ENOMEM;
    /* What cudaMalloc gave cannot grow: that variant has the stand-in on every device. */
    bool real = o->device == SEEP_DEVICE_CUDA && t->variant != EXPANDABLE;
    int rc = real ? seep_stream_create_cuda(0, &t->stream, err) : 0;
    if (!rc)
        rc = seep_segment_driver_create(t->stream, capacity_bytes, &t->driver);
    if (rc)
        return rc;
    struct seep_caching_driver calls = seep_segment_driver_calls(t->driver);
    rc = seep_caching_create(&calls, t->variant == EXPANDABLE, "device:0", "tensor:0",
                             &t->allocator);
    return rc ? rc : seep_sparse_network_create(t->allocator, t->variant == BUCKETED, &t->net);
}

static void finish(struct training *t)
{
    seep_sparse_network_destroy(t->net);
    seep_caching_destroy(t->allocator);
    seep_segment_driver_destroy(t->driver);
    seep_stream_destroy(t->stream);
    free(t->live);
    free(t->reserved);
}

/* ---- figures
 * ------------------------------------------------------------------------------------- */

/* Slope over the steps after the first tenth, at evenly spread points. */
static struct seep_slope slope_of(const double *values, unsigned n)
{
    double y[SEEP_STATISTICS_MAX];
    struct seep_slope slope = {NAN, NAN, NAN};
    unsigned from = n / WARM_SHARE, points = SEEP_STATISTICS_MAX;
    double dx = (double)(n - 1 - from) / (points - 1);

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
    double live = 0, highest = 0, most = 0;

    for (unsigned i = n - tail; i < n; i++)
        live += t->live[i] / tail;
    for (unsigned i = n / WARM_SHARE; i < n; i++) {
        highest = fmax(highest, t->reserved[i] / t->live[i]);
        most = fmax(most, t->reserved[i]);
    }
    struct seep_caching_counts counts = seep_caching_counts(t->allocator);
    json_object_set_new(measured, "steps", json_integer(n));
    json_object_set_new(measured, "live_bytes", json_real(live));
    json_object_set_new(measured, "reserved_bytes", json_real(t->reserved[n - 1]));
    json_object_set_new(measured, "reserved_peak_bytes", json_real(most));
    json_object_set_new(measured, "reserved_bytes_warm", json_real(t->reserved[n / WARM_SHARE]));
    json_object_set_new(measured, "reserved_over_live", json_real(t->reserved[n - 1] / live));
    json_object_set_new(measured, "reserved_over_live_highest", json_real(highest));
    json_object_set_new(measured, "driver_calls_per_step",
                        json_real((double)counts.driver_calls / n));
    set_slope(measured, "live_bytes_per_step", slope_of(t->live, n));
    set_slope(measured, "reserved_bytes_per_step", slope_of(t->reserved, n));
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

/* ---- judgement
 * ----------------------------------------------------------------------------------- */

static double of(const struct seep_outcome *outcomes, enum variant v, const char *path)
{
    return seep_rows_number(outcomes[v].measured, path);
}

static void judge_none(const struct seep_outcome *outcomes, struct seep_rows *rows)
{
    double low = of(outcomes, NONE, "live_bytes_per_step.low");
    double high = of(outcomes, NONE, "live_bytes_per_step.high");
    double climb = of(outcomes, NONE, "reserved_bytes_per_step.low");

    seep_rows_add(rows, low <= 0 && high >= 0, "none: live's slope is inside its noise",
                  "low <= 0 <= high", "%.3g ... %.3g MB a step", low / 1e6, high / 1e6);
    seep_rows_add(rows, climb > 0, "none: reserved climbs", "slope's low end > 0",
                  "%.3g MB a step (low end %.3g)",
                  of(outcomes, NONE, "reserved_bytes_per_step.value") / 1e6, climb / 1e6);
    double tensors =
        seep_rows_number(outcomes[NONE].report, "spaces.tensor:0.growth_bytes_per_step.low");
    double segments =
        seep_rows_number(outcomes[NONE].report, "spaces.device:0.growth_bytes_per_step.low");
    seep_rows_add(rows, segments > 0 && tensors <= 0, "none: seep's growth of the two spaces",
                  "device:0 > 0, tensor:0 not", "low ends %.3g and %.3g MB a step", segments / 1e6,
                  tensors / 1e6);
}

static void judge(const struct seep_outcome *outcomes, double scale, struct seep_rows *rows)
{
    (void)scale;
    judge_none(outcomes, rows);
    double none = of(outcomes, NONE, "reserved_over_live");
    double calls = of(outcomes, NONE, "driver_calls_per_step");
    double emptied = of(outcomes, EMPTY_EVERY_10, "driver_calls_per_step");

    seep_rows_add(rows, none >= 2, "none: reserved / live at the end", ">= 2", "%.2f", none);
    for (int v = EMPTY_EVERY_10; v <= EXPANDABLE; v++) {
        char name[96];
        double most = of(outcomes, v, "reserved_peak_bytes");
        double end = of(outcomes, NONE, "reserved_bytes");
        snprintf(name, sizeof name, "%s: highest reserved, beside none's end", variants[v].name);
        seep_rows_add(rows, most <= 0.9 * end, name, "<= 90 %", "%.0f %%, %.2f times its live",
                      100 * most / end, of(outcomes, v, "reserved_over_live_highest"));
    }
    seep_rows_add(rows, emptied > 5 * calls, "driver calls a step, empty-every-10 and none",
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
