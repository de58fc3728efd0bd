/* Mask R-CNN's annotation cache: __getitem__ hands out the cached dictionary itself, and collate_fn
 * writes tensors into it. */
#include "kernels/compute/chance.h"
#include "kernels/lab/scenario.h"
#include "kernels/lab/scenarios/maskrcnn_collate.h"
#include "kernels/lab/scenarios/maskrcnn_judge.h"
#include "kernels/lab/scenarios/maskrcnn_transform.h"
#include "preload/seep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = SEEP_MASKRCNN_BATCH, EPOCHS = 3 };

static const struct seep_variant variants[] = {
    [SEEP_MASKRCNN_ALIAS] =
        {.name = "alias",
         .summary =
             "the loader returns the cached annotation itself, and the masks are written into it",
         .pattern = "aliased-cache",
         .severity = "retention",
         .function = "collate_tensor"},
    [SEEP_MASKRCNN_ALIAS_DEL] =
        {.name = "alias-del",
         .summary = "as alias, but 'masks' is deleted after use and missing in the second epoch",
         .fails = true},
    [SEEP_MASKRCNN_SHALLOW] = {.name = "shallow",
                               .summary = "the loader returns a shallow copy of the annotation"},
    [SEEP_MASKRCNN_DEEP] = {.name = "deep",
                            .summary = "the loader returns a deep copy of the annotation"},
    [SEEP_MASKRCNN_ALIAS_ON_GPU] =
        {.name = "alias-on-gpu",
         .summary = "as alias; then _to_device writes the tensors that it moved to the GPU into it",
         .pattern = "aliased-cache",
         .severity = "retention",
         .function = "target_to_device"},
    [SEEP_MASKRCNN_DEEP_ON_GPU] = {.name = "deep-on-gpu",
                                   .summary = "as deep; the GPU's tensors go into the copy"},
    [SEEP_MASKRCNN_DEL_ON_GPU] =
        {.name = "del-on-gpu",
         .summary = "as alias-on-gpu, but 'masks' is deleted after use: the allocator keeps it",
         .fails = true},
    [SEEP_MASKRCNN_DEL_EMPTY_ON_GPU] =
        {.name = "del-empty-on-gpu",
         .summary = "as del-on-gpu; then the cache is emptied (empty_cache) each step",
         .fails = true},
    [SEEP_MASKRCNN_MASKS_IN_LIST] =
        {.name = "masks-in-list",
         .summary = "as alias-on-gpu, but collate_fn returns the masks in a list"},
    [SEEP_MASKRCNN_IMAGES_IN_DICT] =
        {.name = "images-in-dict",
         .summary = "as masks-in-list, but pictures are written into the annotation",
         .pattern = "aliased-cache",
         .severity = "retention",
         .function = "target_to_device"},
    [SEEP_MASKRCNN_ALL_MASKS] =
        {.name = "all-masks",
         .summary = "the document's first version: all masks become tensors before the first step",
         .pattern = "eager-retention",
         .severity = "retention",
         .function = "collate_tensor"},
    {0},
};

static const struct seep_fix fixes[] = {
    {.before = "alias", .after = "shallow", .as_predicted = true},
    {.before = "alias", .after = "deep", .as_predicted = true},
    {.before = "all-masks", .after = "deep", .vanishes = "eager-retention"},
    {.before = "alias-on-gpu", .after = "deep-on-gpu"},
    {.before = "images-in-dict", .after = "masks-in-list"},
    {0},
};

/* How a variant differs from `alias`. */
static const struct way {
    struct seep_target *(*copies)(const struct seep_target *);
    bool reads_all; /* masks, before the first step */
    bool moves;     /* only moves samples to the GPU: the document's loop for bisecting */
    bool computes;  /* in the GPU's memory, too */
    bool deletes;   /* 'masks' of the targets after use */
    bool empties;   /* then the GPU's cache */
    bool masks_in_list, images_in_dict;
    unsigned epochs; /* 0: EPOCHS */
} ways[SEEP_MASKRCNN_VARIANTS] = {
    [SEEP_MASKRCNN_ALIAS_DEL] = {.deletes = true},
    [SEEP_MASKRCNN_SHALLOW] = {.copies = seep_target_copy},
    [SEEP_MASKRCNN_DEEP] = {.copies = seep_target_deepcopy},
    [SEEP_MASKRCNN_ALIAS_ON_GPU] = {.moves = true},
    [SEEP_MASKRCNN_DEEP_ON_GPU] = {.copies = seep_target_deepcopy, .moves = true},
    [SEEP_MASKRCNN_DEL_ON_GPU] = {.moves = true, .computes = true, .deletes = true},
    [SEEP_MASKRCNN_DEL_EMPTY_ON_GPU] = {.moves = true,
                                        .computes = true,
                                        .deletes = true,
                                        .empties = true},
    [SEEP_MASKRCNN_MASKS_IN_LIST] = {.moves = true, .masks_in_list = true, .epochs = 2},
    [SEEP_MASKRCNN_IMAGES_IN_DICT] = {.moves = true,
                                      .masks_in_list = true,
                                      .images_in_dict = true,
                                      .epochs = 2},
    [SEEP_MASKRCNN_ALL_MASKS] = {.reads_all = true},
};

struct job {
    const struct way *way;
    struct seep_cached_gpu gpu; /* where it moves */
    struct seep_maskrcnn_dataset dataset;
    struct seep_maskrcnn_loader loader;
    uint32_t *order;          /* [n_images], shuffled anew each epoch */
    size_t per_epoch;         /* steps */
    size_t transformed_bytes; /* of the last batch, where a step computes */
    double foreground;        /* share of mask pixels set, summed over steps: the step's work */
    struct levels {           /* of the GPU, summed over steps */
        double used_live, used_reserved; /* after the step's work */
        double deleted_live, deleted_reserved;
        double emptied_reserved;
        size_t n;
    } levels;
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

/* imgs = [img.to(device) for img in imgs], and so with masks in a list */
static __attribute__((noinline)) int list_to_device(struct job *job,
                                                    struct seep_target_value **item)
{
    struct seep_target_value *on_host = *item, *moved;
    struct seep_caching_block *block;
    int rc = seep_caching_alloc(job->gpu.allocator, on_host->n_bytes, &block);

    if (!rc)
        rc = seep_target_value_to_gpu(on_host, &job->gpu, block, &moved);
    if (!rc) {
        *item = moved;
        seep_target_value_drop(on_host);
    }
    return rc;
}

/* targets = [_to_device(target, device) for target in targets], which writes into the dictionary
 * that it was given, as collate_fn does. */
static __attribute__((noinline)) int target_to_device(struct job *job, struct seep_target *target)
{
    int rc = 0;

    for (int key = 0; key < SEEP_TARGET_KEYS && !rc; key++) {
        struct seep_target_value *on_host = target->of[key], *moved;
        struct seep_caching_block *block;
        if (!on_host || on_host->is_list || on_host->on_gpu)
            continue;
        rc = seep_caching_alloc(job->gpu.allocator, on_host->n_bytes, &block);
        if (!rc)
            rc = seep_target_value_to_gpu(on_host, &job->gpu, block, &moved);
        if (!rc)
            seep_target_set(target, (enum seep_target_key)key, moved);
    }
    return rc;
}

static int move(struct job *job, struct seep_maskrcnn_sample samples[BATCH])
{
    int rc = 0;

    for (size_t i = 0; i < BATCH && !rc; i++) {
        if (samples[i].pixels)
            rc = list_to_device(job, &samples[i].pixels);
        if (!rc && samples[i].masks)
            rc = list_to_device(job, &samples[i].masks);
    }
    for (size_t i = 0; i < BATCH && !rc; i++)
        rc = target_to_device(job, samples[i].target);
    return rc;
}

/* for target in targets: del target['masks'] */
static void delete_masks(struct job *job, struct seep_maskrcnn_sample samples[BATCH])
{
    struct levels *levels = &job->levels;
    struct seep_caching_counts counts;

    if (job->way->moves) {
        counts = seep_caching_counts(job->gpu.allocator);
        levels->used_live += (double)counts.live_bytes;
        levels->used_reserved += (double)counts.reserved_bytes;
    }
    for (size_t i = 0; i < BATCH; i++)
        seep_target_set(samples[i].target, SEEP_TARGET_MASKS, NULL);
    if (job->way->moves) {
        counts = seep_caching_counts(job->gpu.allocator);
        levels->deleted_live += (double)counts.live_bytes;
        levels->deleted_reserved += (double)counts.reserved_bytes;
        if (job->way->empties)
            seep_caching_empty(job->gpu.allocator);
        levels->emptied_reserved += (double)seep_caching_counts(job->gpu.allocator).reserved_bytes;
        levels->n++;
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
    if (!rc && job->way->moves)
        rc = move(job, samples);
    else if (!rc)
        train(job, samples);
    if (!rc && job->way->computes)
        rc = seep_maskrcnn_transform(&job->gpu, samples, BATCH, &job->transformed_bytes);
    if (!rc && job->way->deletes)
        delete_masks(job, samples);
    for (size_t i = 0; i < BATCH; i++)
        seep_maskrcnn_sample_fini(&samples[i]);
    return rc;
}

static int train_all(struct job *job, const struct seep_scenario_options *options,
                     struct seep_error *err)
{
    struct seep_chance chance = {options->seed};
    unsigned epochs = options->epochs    ? options->epochs
                      : job->way->epochs ? job->way->epochs
                                         : EPOCHS;
    int rc = 0;

    for (unsigned e = 0; e < epochs && !rc; e++) {
        seep_chance_shuffle(&chance, job->order, job->dataset.coco->n_images);
        if (e > 0) { /* the first epoch counts what was read before it, too */
            job->loader.mask_bytes = job->loader.image_bytes = 0;
            job->loader.n_tensors_before = 0;
        }
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
    for (int v = 0; v < SEEP_MASKRCNN_VARIANTS; v++) {
        if (strcmp(variants[v].name, options->variant) == 0)
            job->way = &ways[v];
    }
    job->loader.copies = job->way->copies;
    job->loader.masks_in_list = job->way->masks_in_list;
    job->loader.images_in_dict = job->way->images_in_dict;
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

    if (job->way->reads_all)
        return seep_maskrcnn_read_all(&job->loader, err);
    return job->way->moves ? seep_cached_gpu_init(&job->gpu, &kind, err) : 0;
}

static int fill_measured(const struct job *job, json_t *measured)
{
    const struct seep_maskrcnn_loader *loader = &job->loader;
    const struct levels *levels = &job->levels;
    double n = levels->n ? (double)levels->n : 1;
    json_t *figures =
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "steps_per_epoch",
                  (json_int_t)job->per_epoch, "mask_bytes", (json_int_t)loader->mask_bytes,
                  "image_bytes", (json_int_t)loader->image_bytes, "largest_mask_bytes",
                  (json_int_t)loader->most_masks, "largest_batch_mask_bytes",
                  (json_int_t)loader->most_batch_masks, "targets_with_tensors_before",
                  (json_int_t)loader->n_tensors_before, "foreground", job->foreground);
    int rc = figures ? json_object_update(measured, figures) : -1;

    json_decref(figures);
    if (!rc && levels->n) {
        figures = json_pack("{s:f, s:f, s:f, s:f, s:f, s:I}", "used_live_bytes",
                            levels->used_live / n, "used_reserved_bytes", levels->used_reserved / n,
                            "deleted_live_bytes", levels->deleted_live / n,
                            "deleted_reserved_bytes", levels->deleted_reserved / n,
                            "emptied_reserved_bytes", levels->emptied_reserved / n,
                            "transformed_batch_bytes", (json_int_t)job->transformed_bytes);
        rc = figures ? json_object_update(measured, figures) : -1;
        json_decref(figures);
    }
    return rc ? -SEEP_ENOMEM : 0;
}

static int run(const struct seep_scenario_options *options, json_t *measured,
               struct seep_error *err)
{
    struct job job = {.way = &ways[SEEP_MASKRCNN_ALIAS], .loader.dataset = &job.dataset};
    int rc = prepare(&job, options, err);

    if (!rc)
        rc = train_all(&job, options, err);
    if ((!rc || rc == -SEEP_EVARIANT) && fill_measured(&job, measured))
        rc = -SEEP_ENOMEM;
    free(job.order);
    seep_maskrcnn_dataset_close(&job.dataset);
    seep_cached_gpu_fini(&job.gpu);
    return rc;
}

const struct seep_scenario seep_maskrcnn = {
    .name = "maskrcnn",
    .summary = "Mask R-CNN: an annotation cache that ends up owning every image's masks",
    .variants = variants,
    .fixes = fixes,
    .uses_device = true,
    .make_data = seep_maskrcnn_make_data,
    .run = run,
    .judge = seep_maskrcnn_judge,
};
