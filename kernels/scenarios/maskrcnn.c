/* Mask R-CNN's annotation cache: __getitem__ hands out the cached dictionary itself, and collate_fn
 * writes tensors into it. */
#include "kernels/compute/chance.h"
#include "kernels/harness/rows.h"
#include "kernels/harness/scenario.h"
#include "kernels/scenarios/maskrcnn_collate.h"
#include "preload/seep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 2, EPOCHS = 3 };
enum { ALIAS, ALIAS_DEL, SHALLOW, DEEP };

struct job {
    bool deletes; /* 'masks' of the targets after use */
    struct seep_maskrcnn_dataset dataset;
    struct seep_maskrcnn_loader loader;
    uint32_t *order;   /* [n_images], shuffled anew each epoch */
    size_t per_epoch;  /* steps */
    double foreground; /* share of mask pixels set, summed over steps: the step's work */
};

/* ---- training -------------------------------------------------------------------------------- */

/* A step's work, made up: what share of each sample its masks cover. */
static void train(struct job *job, const struct seep_maskrcnn_sample samples[BATCH])
{
    for (size_t i = 0; i < BATCH; i++) {
        const struct seep_target_value *masks = samples[i].target->of[SEEP_TARGET_MASKS];
        const uint8_t *pixels = masks->bytes;
        size_t set = 0;
        for (size_t k = 0; k < masks->n_bytes; k++)
            set += pixels[k];
        job->foreground += (double)set / (double)(masks->n_bytes + 1);
    }
}

static int step(struct job *job, size_t first, struct seep_error *err)
{
    struct seep_maskrcnn_sample samples[BATCH] = {{0}};
    int rc = 0;

    for (size_t i = 0; i < BATCH && !rc; i++)
        rc = seep_maskrcnn_getitem(&job->loader, job->order[first + i], &samples[i], err);
    if (!rc)
        rc = seep_maskrcnn_collate(&job->loader, samples, BATCH, err);
    if (!rc)
        train(job, samples);
    for (size_t i = 0; i < BATCH; i++) {
        if (!rc && job->deletes)
            seep_target_set(samples[i].target, SEEP_TARGET_MASKS, NULL);
        seep_maskrcnn_sample_fini(&samples[i]);
    }
    return rc;
}

static int train_all(struct job *job, const struct seep_scenario_options *options,
                     struct seep_error *err)
{
    struct seep_chance chance = {options->seed};
    unsigned epochs = options->epochs ? options->epochs : EPOCHS;
    int rc = 0;

    for (unsigned e = 0; e < epochs && !rc; e++) {
        seep_chance_shuffle(&chance, job->order, job->dataset.coco->n_images);
        job->loader.mask_bytes = 0;
        for (size_t i = 0; i < job->per_epoch && !rc; i++) {
            rc = step(job, i * BATCH, err);
            if (rc)
                break;
            seep_step();
            if (options->progress)
                fprintf(stderr, "\rmaskrcnn: epoch %u, step %zu of %zu ", e + 1, i + 1,
                        job->per_epoch);
        }
        if (!rc)
            seep_epoch();
    }
    if (options->progress)
        fputs("\r\033[K", stderr);
    return rc;
}

static int run(const struct seep_scenario_options *options, json_t *measured,
               struct seep_error *err)
{
    struct job job = {.deletes = strcmp(options->variant, "alias-del") == 0};

    job.loader.dataset = &job.dataset;
    if (strcmp(options->variant, "shallow") == 0)
        job.loader.copies = seep_target_copy;
    else if (strcmp(options->variant, "deep") == 0)
        job.loader.copies = seep_target_deepcopy;
    int rc = seep_maskrcnn_dataset_open(options->data, &job.dataset, err);
    if (!rc) {
        size_t n = job.dataset.coco->n_images;
        job.per_epoch = n / BATCH;
        job.order = malloc(n * sizeof *job.order);
        rc = !job.per_epoch ? seep_error_set(err, SEEP_ENODATA, options->data, 0,
                                             "%zu images are too few for a batch", n)
             : job.order    ? 0
                            : -SEEP_ENOMEM;
    }
    if (!rc)
        rc = train_all(&job, options, err);
    if (!rc) {
        json_t *figures =
            json_pack("{s:I, s:I, s:I, s:f}", "steps_per_epoch", (json_int_t)job.per_epoch,
                      "mask_bytes", (json_int_t)job.loader.mask_bytes, "largest_mask_bytes",
                      (json_int_t)job.loader.most_masks, "foreground", job.foreground);
        rc = figures && !json_object_update(measured, figures) ? 0 : -SEEP_ENOMEM;
        json_decref(figures);
    }
    free(job.order);
    seep_maskrcnn_dataset_close(&job.dataset);
    return rc;
}

/* ---- figures --------------------------------------------------------------------------------- */

/* The least of what the host held around a step. Rows of a timeline are taken within steps, when
 * something passing may be there, too: the least is what stays. */
static double kept_around(const json_t *report, double from, double to)
{
    const json_t *timeline = json_object_get(report, "timeline");
    const json_t *steps = json_object_get(timeline, "step"), *step;
    const json_t *host = json_object_get(json_object_get(timeline, "spaces"), "host");
    double least = NAN;
    size_t i;

    json_array_foreach (steps, i, step) {
        const json_t *live = json_array_get(json_object_get(host, "live_bytes"), i);
        double at = json_number_value(step);
        if (json_is_number(live) && at > from && at <= to)
            least = fmin(least, json_number_value(live));
    }
    return least;
}

static void judge_levels(const struct seep_outcome *o, double n, double masks,
                         struct seep_rows *rows)
{
    static const struct {
        const char *name;
        double from, to;  /* in epochs */
        double share;     /* of the masks that the data set then owns */
        double tolerance; /* images have from 2 to 12 instances */
    } points[] = {
        {"alias: masks that the data set owns from step N/2 on", 0.5, 0.9, 0.5, 0.3},
        {"alias: ... from step N on, the first epoch's end", 1, 1.75, 1, 0.1},
        {"alias: ... around step 2N", 1.75, 2.5, 1, 0.1},
    };

    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        double kept = kept_around(o[ALIAS].report, points[i].from * n, points[i].to * n);
        seep_rows_add_near(rows, points[i].name, kept, points[i].share * masks, points[i].tolerance,
                           "MB");
    }
    for (int v = ALIAS_DEL; v <= DEEP; v++) {
        char name[96];
        double kept = kept_around(o[v].report, 0.25 * n, v == ALIAS_DEL ? n : 2.9 * n);
        snprintf(name, sizeof name, "%s: masks that the data set owns from step N/4 on",
                 o[v].variant->name);
        seep_rows_add(rows, kept < 0.02 * masks, name, "< 2 % of all", "%.3g MB", kept / 1e6);
    }
}

static void judge(const struct seep_outcome *o, double scale, struct seep_rows *rows)
{
    double n = seep_rows_number(o[ALIAS].measured, "steps_per_epoch");
    double masks = seep_rows_number(o[ALIAS].measured, "mask_bytes");
    double images = BATCH * n;
    double steps = seep_rows_number(o[ALIAS_DEL].report, "job.steps");

    (void)scale;
    seep_rows_add_near(rows, "masks of an image, 640x480 and 7.3 instances", masks / images, 2.24e6,
                       0.1, "MB");
    judge_levels(o, n, masks, rows);
    seep_rows_add_near(rows, "masks / 255: times the masks' size",
                       seep_rows_peak_of(o[DEEP].report, "collate_divide", "host") /
                           seep_rows_number(o[DEEP].measured, "largest_mask_bytes"),
                       8, 0.01, "times");
    seep_rows_add(rows, steps == n, "alias-del: the step it fails in",
                  "the first of the second epoch", "step %.0f of %.0f an epoch", steps + 1, n);
}

/* ---- the scenario ---------------------------------------------------------------------------- */

static const struct seep_variant variants[] = {
    [ALIAS] = {.name = "alias",
               .summary =
                   "the cached annotation itself is handed out, and gets its masks written into",
               .pattern = "aliased-cache",
               .severity = "retention",
               .function = "collate_tensor"},
    [ALIAS_DEL] = {.name = "alias-del",
                   .summary = "… and 'masks' is deleted after use: gone in the second epoch",
                   .fails = true},
    [SHALLOW] = {.name = "shallow", .summary = "a shallow copy of the annotation is handed out"},
    [DEEP] = {.name = "deep", .summary = "a deep copy of the annotation is handed out"},
    {0},
};

static const struct seep_fix fixes[] = {
    {.before = "alias", .after = "shallow", .as_predicted = true},
    {.before = "alias", .after = "deep", .as_predicted = true},
    {0},
};

const struct seep_scenario seep_maskrcnn = {
    .name = "maskrcnn",
    .summary = "Mask R-CNN's annotation cache, which comes to own every image's masks",
    .variants = variants,
    .fixes = fixes,
    .make_data = seep_maskrcnn_make_data,
    .run = run,
    .judge = judge,
};
