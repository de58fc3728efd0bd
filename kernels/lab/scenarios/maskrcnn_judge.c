#include "kernels/lab/scenarios/maskrcnn_judge.h"

#include "kernels/lab/judges.h"

#include <math.h>
#include <stdio.h>

/* Shorter epochs have too few rows of the timeline between two batches. */
enum { MIN_EPOCH_STEPS = 20 };

/* val2017, in batches of two; few at small scales. */
enum { IMAGES = 5000, MIN_IMAGES = 32, BATCH = 2 };

/* The minimum of what a space held around a step. Rows of a timeline are taken within steps, when
 * temporary memory may be there, too: the minimum is what stays. */
static double kept_around(const json_t *report, const char *space, double from, double to)
{
    const json_t *timeline = json_object_get(report, "timeline");
    const json_t *steps = json_object_get(timeline, "step"), *step;
    const json_t *held = json_object_get(json_object_get(timeline, "spaces"), space);
    double least = NAN;
    size_t i;

    json_array_foreach (steps, i, step) {
        const json_t *live = json_array_get(json_object_get(held, "live_bytes"), i);
        double at = json_number_value(step);
        if (json_is_number(live) && at > from && at <= to)
            least = fmin(least, json_number_value(live));
    }
    return least;
}

/* ---- what the data set comes to own ------------------------------------------------------------
 */

static const struct place {
    enum seep_maskrcnn_variant variant;
    const char *what, *bytes; /* that it owns or not, and which figure says how much there is */
    const char *space;        /* where it ends up */
    bool keeps;
    double tolerance; /* the GPU's blocks are up to 1 MiB larger than what was asked for */
} places[] = {
    {SEEP_MASKRCNN_ALIAS, "masks", "mask_bytes", "host", true, 0.02},
    {SEEP_MASKRCNN_ALIAS_DEL, "masks", "mask_bytes", "host", false, 0},
    {SEEP_MASKRCNN_SHALLOW, "masks", "mask_bytes", "host", false, 0},
    {SEEP_MASKRCNN_DEEP, "masks", "mask_bytes", "host", false, 0},
    {SEEP_MASKRCNN_ALIAS_ON_GPU, "masks", "mask_bytes", "tensor:0", true, 0.1},
    {SEEP_MASKRCNN_DEEP_ON_GPU, "masks", "mask_bytes", "tensor:0", false, 0},
    {SEEP_MASKRCNN_DEL_ON_GPU, "masks", "mask_bytes", "tensor:0", false, 0},
    {SEEP_MASKRCNN_DEL_EMPTY_ON_GPU, "masks", "mask_bytes", "tensor:0", false, 0},
    {SEEP_MASKRCNN_MASKS_IN_LIST, "masks", "mask_bytes", "tensor:0", false, 0},
    {SEEP_MASKRCNN_IMAGES_IN_DICT, "images", "image_bytes", "tensor:0", true, 0.1},
};

/* What seep says of a variant that keeps them: levels at the ends of steps. */
static void judge_finding(const struct seep_outcome *o, const struct place *place, double n,
                          double all, struct seep_rows *rows)
{
    const json_t *finding = seep_trial_finding(o->report, "aliased-cache");
    char name[96];

    snprintf(name, sizeof name, "%s: %s that the dataset owns at the end", o->variant->name,
             place->what);
    seep_rows_add_near(rows, name, seep_rows_number(finding, "live_bytes"), all, place->tolerance,
                       "MB");
    snprintf(name, sizeof name, "%s: seep sees it level off at step N", o->variant->name);
    seep_rows_add_near(rows, name, seep_rows_number(finding, "plateau_step"), n, 0.1, "");
}

static void judge_level(const struct seep_outcome *o, const struct place *place, double n,
                        double all, struct seep_rows *rows)
{
    static const struct {
        const char *name;
        double from, to;  /* in epochs */
        double share;     /* of all that the data set then owns */
        double tolerance; /* images have from 2 to 12 instances */
    } points[] = {
        {"from step N/2 on", 0.5, 0.9, 0.5, 0.3},
        {"from step N on", 1, 1.75, 1, 0.1},
        {"around step 2N", 1.75, 2.5, 1, 0.1},
    };
    char name[128];

    for (size_t i = 0; i < sizeof points / sizeof *points && place->keeps; i++) {
        const double from = points[i].from * n, last = seep_rows_number(o->report, "job.steps");
        /* After its last step the job frees all. */
        const double to = last > from ? fmin(points[i].to * n, last - 1) : points[i].to * n;
        double kept = kept_around(o->report, place->space, from, to);
        snprintf(name, sizeof name, "%s: %s that the dataset owns on %s %s", o->variant->name,
                 place->what, place->space, points[i].name);
        seep_rows_add_near(rows, name, kept, points[i].share * all, points[i].tolerance, "MB");
    }
    if (!place->keeps) {
        double to = o->variant->fails ? n : 2.9 * n;
        double kept = kept_around(o->report, place->space, 0.25 * n, to);
        snprintf(name, sizeof name, "%s: %s that the dataset owns on %s from step N/4 on",
                 o->variant->name, place->what, place->space);
        seep_rows_add(rows, kept < 0.02 * all, name, "< 2 % of all", "%.3g MB", kept / 1e6);
    }
}

/* ---- del, and empty_cache() --------------------------------------------------------------------
 */

/* nvidia-smi shows what is reserved, and the context on top. */
static void judge_deletion(const struct seep_outcome *o, double masks_a_step,
                           struct seep_rows *rows)
{
    double used = seep_rows_number(o->measured, "used_reserved_bytes");
    double deleted = seep_rows_number(o->measured, "deleted_reserved_bytes");
    char name[96];

    snprintf(name, sizeof name, "%s: live memory that del frees in a step", o->variant->name);
    seep_rows_add_near(rows, name,
                       seep_rows_number(o->measured, "used_live_bytes") -
                           seep_rows_number(o->measured, "deleted_live_bytes"),
                       masks_a_step, 0.1, "MB");
    snprintf(name, sizeof name, "%s: reserved memory after del", o->variant->name);
    seep_rows_add(rows, deleted == used, name, "as before", "%.4g of %.4g MB", deleted / 1e6,
                  used / 1e6);
}

static void judge_emptying(const struct seep_outcome *outcomes, double n, struct seep_rows *rows)
{
    const struct seep_outcome *kept = &outcomes[SEEP_MASKRCNN_DEL_ON_GPU],
                              *emptied = &outcomes[SEEP_MASKRCNN_DEL_EMPTY_ON_GPU];
    double before = seep_rows_number(emptied->measured, "deleted_reserved_bytes");
    double after = seep_rows_number(emptied->measured, "emptied_reserved_bytes");
    double without = kept_around(kept->report, "device:0", 0.5 * n, n);
    double with = kept_around(emptied->report, "device:0", 0.5 * n, n);

    seep_rows_add(rows, after <= 0.5 * before,
                  "del-empty-on-gpu: reserved memory after empty_cache", "at most half",
                  "%.4g of %.4g MB", after / 1e6, before / 1e6);
    if (n >= MIN_EPOCH_STEPS)
        seep_rows_add(rows, with <= 0.5 * without,
                      "reserved between steps as seep sees it, del-empty-on-gpu : del-on-gpu",
                      "at most half", "%.4g : %.4g MB", with / 1e6, without / 1e6);
}

/* ---- all ---------------------------------------------------------------------------------------
 */

/* All masks in memory, against those of the largest batch. A batch has at most 12/7.3 of the mean
 * instances. */
static void judge_all_masks(const struct seep_outcome *outcomes, double n, double masks,
                            struct seep_rows *rows)
{
    const json_t *finding =
        seep_trial_finding(outcomes[SEEP_MASKRCNN_ALL_MASKS].report, "eager-retention");
    double all = seep_rows_number(finding, "live_bytes");
    double batch =
        seep_rows_number(outcomes[SEEP_MASKRCNN_DEEP].measured, "largest_batch_mask_bytes");
    char expected[64];

    seep_rows_add_near(rows, "all-masks: masks in memory before the first step", all, masks, 0.02,
                       "MB");
    snprintf(expected, sizeof expected, "> half the steps of an epoch: %.3g times", n / 2);
    seep_rows_add(rows, all > n / 2 * batch, "all-masks: over those of the largest batch of deep",
                  expected, "%.3g times (%.4g : %.3g MB)", all / batch, all / 1e6, batch / 1e6);
}

/* The document's proof: in the second epoch boxes and labels are tensors before collate_fn. */
static void judge_tensors(const struct seep_outcome *outcomes, double images,
                          struct seep_rows *rows)
{
    static const struct {
        enum seep_maskrcnn_variant variant;
        bool aliased;
    } held[] = {{SEEP_MASKRCNN_ALIAS, true},
                {SEEP_MASKRCNN_SHALLOW, false},
                {SEEP_MASKRCNN_DEEP, false},
                {SEEP_MASKRCNN_MASKS_IN_LIST, true}};
    char name[128], expected[32];

    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        const struct seep_outcome *o = &outcomes[held[i].variant];
        double seen = seep_rows_number(o->measured, "targets_with_tensors_before");
        double wanted = held[i].aliased ? images : 0;
        snprintf(name, sizeof name,
                 "%s: targets with tensors for boxes and labels before collate_fn, last epoch",
                 o->variant->name);
        snprintf(expected, sizeof expected, "%.0f", wanted);
        seep_rows_add(rows, seen == wanted, name, expected, "%.0f", seen);
    }
}

void seep_maskrcnn_judge(const struct seep_outcome *o, double scale, struct seep_rows *rows)
{
    double n = seep_rows_number(o[SEEP_MASKRCNN_ALIAS].measured, "steps_per_epoch");
    double masks = seep_rows_number(o[SEEP_MASKRCNN_ALIAS].measured, "mask_bytes");
    double images = BATCH * n;

    seep_rows_add_near(rows, "steps an epoch: 5,000 images (val2017) by two, or 16", n,
                       fmax(IMAGES * scale, MIN_IMAGES) / BATCH, 0.02, "steps");
    /* 640 × 480 are enlarged to 1,066 × 800, and padded to multiples of 32. */
    seep_rows_add_near(
        rows, "del-on-gpu: the transformed batch, 2 · 3 · 800 · 1088 floats",
        seep_rows_number(o[SEEP_MASKRCNN_DEL_ON_GPU].measured, "transformed_batch_bytes"),
        4 * BATCH * 3 * 800 * 1088, 0, "MB");
    seep_rows_add_near(rows, "masks of an image of 640x480 with 7.3 instances", masks / images,
                       2.24e6, 0.1, "MB");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const struct seep_outcome *one = &o[places[i].variant];
        double all = seep_rows_number(o[SEEP_MASKRCNN_ALIAS].measured, places[i].bytes);
        if (places[i].keeps)
            judge_finding(one, &places[i], n, all, rows);
        if (!(n < MIN_EPOCH_STEPS))
            judge_level(one, &places[i], n, all, rows);
    }
    double driver =
        seep_rows_number(o[SEEP_MASKRCNN_ALIAS_ON_GPU].report, "spaces.device:0.peak_bytes");
    seep_rows_add(rows, driver >= masks, "alias-on-gpu: memory that the driver gave",
                  "at least all masks", "%.3g of %.3g MB", driver / 1e6, masks / 1e6);
    for (int v = SEEP_MASKRCNN_DEL_ON_GPU; v <= SEEP_MASKRCNN_DEL_EMPTY_ON_GPU; v++)
        judge_deletion(&o[v], masks / n, rows);
    judge_emptying(o, n, rows);
    judge_all_masks(o, n, masks, rows);
    judge_tensors(o, images, rows);
    seep_rows_add_near(rows, "masks / 255: size of the result over that of the masks",
                       seep_rows_peak_of(o[SEEP_MASKRCNN_DEEP].report, "collate_divide", "host") /
                           seep_rows_number(o[SEEP_MASKRCNN_DEEP].measured, "largest_mask_bytes"),
                       8, 0.01, "times");
    for (int v = 0; v < SEEP_MASKRCNN_VARIANTS; v++) {
        char name[96];
        double steps = seep_rows_number(o[v].report, "job.steps");
        if (!o[v].variant || !o[v].variant->fails)
            continue;
        snprintf(name, sizeof name, "%s: the step in which it fails", o[v].variant->name);
        seep_rows_add(rows, steps == n, name, "the first of the second epoch",
                      "step %.0f; an epoch has %.0f", steps + 1, n);
    }
}
