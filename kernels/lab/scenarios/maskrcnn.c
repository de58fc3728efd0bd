/* Mask R-CNN's annotation cache: __getitem__ hands out the cached dictionary itself, and collate_fn
 * writes tensors into it. */
#include "kernels/compute/chance.h"
#include "kernels/lab/judges.h"
#include "kernels/lab/rows.h"
#include "kernels/lab/scenario.h"
#include "kernels/lab/scenarios/maskrcnn_collate.h"
#include "preload/seep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 2, EPOCHS = 3, LEAST_EPOCH_STEPS = 20 };
enum variant { ALIAS, ALIAS_DEL, SHALLOW, DEEP, ALIAS_ON_GPU, DEEP_ON_GPU, N_VARIANTS };

static const struct seep_variant variants[] = {
    [ALIAS] =
        {.name = "alias",
         .summary =
             "the loader returns the cached annotation itself, and the masks are written into it",
         .pattern = "aliased-cache",
         .severity = "retention",
         .function = "collate_tensor"},
    [ALIAS_DEL] = {.name = "alias-del",
                   .summary =
                       "as alias, but 'masks' is deleted after use and missing in the second epoch",
                   .fails = true},
    [SHALLOW] = {.name = "shallow",
                 .summary = "the loader returns a shallow copy of the annotation"},
    [DEEP] = {.name = "deep", .summary = "the loader returns a deep copy of the annotation"},
    [ALIAS_ON_GPU] =
        {.name = "alias-on-gpu",
         .summary = "as alias; then _to_device writes the tensors that it moved to the GPU into it",
         .pattern = "aliased-cache",
         .severity = "retention",
         .function = "target_to_device"},
    [DEEP_ON_GPU] = {.name = "deep-on-gpu",
                     .summary = "as deep; the GPU's tensors go into the copy"},
    {0},
};

static const struct seep_fix fixes[] = {
    {.before = "alias", .after = "shallow", .as_predicted = true},
    {.before = "alias", .after = "deep", .as_predicted = true},
    {.before = "alias-on-gpu", .after = "deep-on-gpu"},
    {0},
};

/* How a variant differs from `alias`. */
static const struct way {
    struct seep_target *(*copies)(const struct seep_target *);
    bool deletes; /* 'masks' of the targets after use */
    bool moves;   /* only moves samples to the GPU: the document's loop for bisecting */
} ways[N_VARIANTS] = {
    [ALIAS_DEL] = {.deletes = true},
    [SHALLOW] = {.copies = seep_target_copy},
    [DEEP] = {.copies = seep_target_deepcopy},
    [ALIAS_ON_GPU] = {.moves = true},
    [DEEP_ON_GPU] = {.copies = seep_target_deepcopy, .moves = true},
};

struct job {
    const struct way *way;
    struct seep_cached_gpu gpu; /* where it moves */
    struct seep_maskrcnn_dataset dataset;
    struct seep_maskrcnn_loader loader;
    uint32_t *order;   /* [n_images], shuffled anew each epoch */
    size_t per_epoch;  /* steps */
    double foreground; /* share of mask pixels set, summed over steps: the step's work */
};

/* ---- training -------------------------------------------------------------------------------- */

/* Stands in for a step's work: the share of each sample that its masks cover. */
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

/* imgs = [img.to(device) for img in imgs] */
static __attribute__((noinline)) int picture_to_device(struct job *job,
                                                       struct seep_maskrcnn_sample *sample)
{
    struct seep_target_value *on_host = sample->pixels, *moved;
    struct seep_caching_block *block;
    int rc = seep_caching_alloc(job->gpu.allocator, on_host->n_bytes, &block);

    if (!rc)
        rc = seep_target_value_to_gpu(on_host, &job->gpu, block, &moved);
    if (!rc) {
        sample->pixels = moved;
        seep_target_value_drop(on_host);
    }
    return rc;
}

/* targets = [_to_device(target, device) for target in targets], which writes into the dictionary
 * that it was given, as collate_fn does. */
static __attribute__((noinline)) int target_to_device(struct job *job, struct seep_target *target)
{
    struct seep_target_value *on_host = target->of[SEEP_TARGET_MASKS], *moved;
    struct seep_caching_block *block;
    int rc = seep_caching_alloc(job->gpu.allocator, on_host->n_bytes, &block);

    if (!rc)
        rc = seep_target_value_to_gpu(on_host, &job->gpu, block, &moved);
    if (!rc)
        seep_target_set(target, SEEP_TARGET_MASKS, moved);
    return rc;
}

static int move(struct job *job, struct seep_maskrcnn_sample samples[BATCH])
{
    int rc = 0;

    for (size_t i = 0; i < BATCH && !rc; i++)
        rc = picture_to_device(job, &samples[i]);
    for (size_t i = 0; i < BATCH && !rc; i++)
        rc = target_to_device(job, samples[i].target);
    return rc;
}

static int step(struct job *job, size_t first, struct seep_error *err)
{
    struct seep_maskrcnn_sample samples[BATCH] = {{0}};
    int rc = 0;

    for (size_t i = 0; i < BATCH && !rc; i++)
        rc = seep_maskrcnn_getitem(&job->loader, job->order[first + i], &samples[i], err);
    if (!rc)
        rc = seep_maskrcnn_collate(&job->loader, samples, BATCH, err);
    if (!rc && job->way->moves)
        rc = move(job, samples);
    else if (!rc)
        train(job, samples);
    for (size_t i = 0; i < BATCH; i++) {
        if (!rc && job->way->deletes)
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

static int prepare(struct job *job, const struct seep_scenario_options *options,
                   struct seep_error *err)
{
    for (int v = ALIAS; v < N_VARIANTS; v++) {
        if (strcmp(variants[v].name, options->variant) == 0)
            job->way = &ways[v];
    }
    job->loader.copies = job->way->copies;
    int rc = seep_maskrcnn_dataset_open(options->data, &job->dataset, err);
    if (rc)
        return rc;
    size_t n = job->dataset.coco->n_images;
    job->per_epoch = n / BATCH;
    if (!job->per_epoch)
        return seep_error_set(err, SEEP_ENODATA, options->data, 0,
                              "%zu images are too few for a batch", n);
    job->order = malloc(n * sizeof *job->order);
    if (!job->order)
        return -SEEP_ENOMEM;
    const struct seep_cached_gpu_kind kind = {.device = options->device};

    return job->way->moves ? seep_cached_gpu_init(&job->gpu, &kind, err) : 0;
}

static int run(const struct seep_scenario_options *options, json_t *measured,
               struct seep_error *err)
{
    struct job job = {.way = &ways[ALIAS], .loader.dataset = &job.dataset};
    int rc = prepare(&job, options, err);

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
    seep_cached_gpu_fini(&job.gpu);
    return rc;
}

/* ---- figures --------------------------------------------------------------------------------- */

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

static const struct place {
    int variant;
    const char *space; /* that its masks end up in */
    bool keeps;
    double tolerance; /* the GPU's blocks are up to 1 MiB larger than what was asked for */
} places[] = {
    {ALIAS, "host", true, 0.02},           {ALIAS_DEL, "host", false, 0},
    {SHALLOW, "host", false, 0},           {DEEP, "host", false, 0},
    {ALIAS_ON_GPU, "tensor:0", true, 0.1}, {DEEP_ON_GPU, "tensor:0", false, 0},
};

/* What seep says of a variant that keeps them: levels at the ends of steps. */
static void judge_finding(const struct seep_outcome *o, const struct place *place, double n,
                          double masks, struct seep_rows *rows)
{
    const json_t *finding = seep_trial_finding(o->report, "aliased-cache");
    char name[96];

    snprintf(name, sizeof name, "%s: masks that the dataset owns at the end", o->variant->name);
    seep_rows_add_near(rows, name, seep_rows_number(finding, "live_bytes"), masks, place->tolerance,
                       "MB");
    snprintf(name, sizeof name, "%s: seep sees it level off at step N", o->variant->name);
    seep_rows_add_near(rows, name, seep_rows_number(finding, "plateau_step"), n, 0.1, "");
}

static void judge_level(const struct seep_outcome *o, const struct place *place, double n,
                        double masks, struct seep_rows *rows)
{
    static const struct {
        const char *name;
        double from, to;  /* in epochs */
        double share;     /* of the masks that the data set then owns */
        double tolerance; /* images have from 2 to 12 instances */
    } points[] = {
        {"from step N/2 on", 0.5, 0.9, 0.5, 0.3},
        {"from step N on", 1, 1.75, 1, 0.1},
        {"around step 2N", 1.75, 2.5, 1, 0.1},
    };
    char name[128];

    for (size_t i = 0; i < sizeof points / sizeof *points && place->keeps; i++) {
        double kept = kept_around(o->report, place->space, points[i].from * n, points[i].to * n);
        snprintf(name, sizeof name, "%s: masks that the dataset owns on %s %s", o->variant->name,
                 place->space, points[i].name);
        seep_rows_add_near(rows, name, kept, points[i].share * masks, points[i].tolerance, "MB");
    }
    if (!place->keeps) {
        double to = o->variant->fails ? n : 2.9 * n;
        double kept = kept_around(o->report, place->space, 0.25 * n, to);
        snprintf(name, sizeof name, "%s: masks that the dataset owns on %s from step N/4 on",
                 o->variant->name, place->space);
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
    seep_rows_add_near(rows, "masks of an image of 640x480 with 7.3 instances", masks / images,
                       2.24e6, 0.1, "MB");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const struct seep_outcome *one = &o[places[i].variant];
        if (places[i].keeps)
            judge_finding(one, &places[i], n, masks, rows);
        /* Short epochs have too few rows of the timeline between two batches. */
        if (!(n < LEAST_EPOCH_STEPS))
            judge_level(one, &places[i], n, masks, rows);
    }
    double driver = seep_rows_number(o[ALIAS_ON_GPU].report, "spaces.device:0.peak_bytes");
    seep_rows_add(rows, driver >= masks, "alias-on-gpu: memory that the driver gave",
                  "at least all masks", "%.3g of %.3g MB", driver / 1e6, masks / 1e6);
    seep_rows_add_near(rows, "masks / 255: size of the result over that of the masks",
                       seep_rows_peak_of(o[DEEP].report, "collate_divide", "host") /
                           seep_rows_number(o[DEEP].measured, "largest_mask_bytes"),
                       8, 0.01, "times");
    seep_rows_add(rows, steps == n, "alias-del: the step in which it fails",
                  "the first of the second epoch", "step %.0f; an epoch has %.0f", steps + 1, n);
}

const struct seep_scenario seep_maskrcnn = {
    .name = "maskrcnn",
    .summary = "Mask R-CNN: an annotation cache that ends up owning every image's masks",
    .variants = variants,
    .fixes = fixes,
    .uses_device = true,
    .make_data = seep_maskrcnn_make_data,
    .run = run,
    .judge = judge,
};
