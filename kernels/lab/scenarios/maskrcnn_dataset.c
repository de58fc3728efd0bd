#include "kernels/lab/scenarios/maskrcnn_dataset.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *annotations, *pictures;
} layouts[] = {
    {"annotations.json", "images"},
    {"annotations/instances_val2017.json", "val2017"},
};
enum { N_LAYOUTS = sizeof layouts / sizeof *layouts };

static int join(char path[PATH_MAX], const char *folder, const char *part, const char *name,
                struct seep_error *err)
{
    if ((size_t)snprintf(path, PATH_MAX, "%s/%s%s%s", folder, part, *name ? "/" : "", name) >=
        PATH_MAX)
        return seep_error_set(err, SEEP_EIO, folder, 0, "the path is too long");
    return 0;
}

static int mask_path(char path[PATH_MAX], const char *folder, uint64_t id, struct seep_error *err)
{
    char name[32];

    snprintf(name, sizeof name, "%" PRIu64 ".png", id);
    return join(path, folder, "masks", name, err);
}

/* ---- the cache ------------------------------------------------------------------------------- */

static struct seep_target_value *boxes_of(const struct seep_coco_annotation *a, size_t n)
{
    double(*boxes)[4] = malloc(n * sizeof *boxes + 1);

    for (size_t i = 0; i < n && boxes; i++) {
        boxes[i][0] = a[i].bbox[0];
        boxes[i][1] = a[i].bbox[1];
        boxes[i][2] = a[i].bbox[0] + a[i].bbox[2];
        boxes[i][3] = a[i].bbox[1] + a[i].bbox[3];
    }
    return seep_target_value_create(boxes, n * sizeof *boxes, NULL);
}

static struct seep_target_value *labels_of(const struct seep_coco_annotation *a, size_t n)
{
    int64_t *labels = malloc(n * sizeof *labels + 1);

    for (size_t i = 0; i < n && labels; i++)
        labels[i] = (int64_t)a[i].category_id;
    return seep_target_value_create(labels, n * sizeof *labels, NULL);
}

static struct seep_target_value *sources_of(const struct seep_coco *coco, size_t first, size_t n,
                                            const struct seep_coco_image *image)
{
    struct seep_maskrcnn_source *sources = malloc(n * sizeof *sources + 1);

    for (size_t i = 0; i < n && sources; i++)
        sources[i] = (struct seep_maskrcnn_source){.annotation_id = coco->annotations[first + i].id,
                                                   .annotation = (uint32_t)(first + i),
                                                   .width = image->width,
                                                   .height = image->height};
    return seep_target_value_create(sources, n * sizeof *sources, NULL);
}

static struct seep_target *target_of(const struct seep_coco *coco, size_t first, size_t n,
                                     const struct seep_coco_image *image)
{
    struct seep_target *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    t->n = n;
    t->of[SEEP_TARGET_BOXES] = boxes_of(coco->annotations + first, n);
    t->of[SEEP_TARGET_LABELS] = labels_of(coco->annotations + first, n);
    t->of[SEEP_TARGET_MASKS] = sources_of(coco, first, n, image);
    for (int key = SEEP_TARGET_BOXES; key <= SEEP_TARGET_MASKS; key++) {
        if (!t->of[key]) {
            seep_target_free(t);
            return NULL;
        }
        t->of[key]->is_list = true;
    }
    return t;
}

static int by_image(const void *a, const void *b)
{
    const struct seep_coco_annotation *p = a, *q = b;

    if (p->image_id != q->image_id)
        return p->image_id < q->image_id ? -1 : 1;
    return (p->id > q->id) - (p->id < q->id);
}

/* The first annotation of an image or of a later one. */
static size_t find_first(const struct seep_coco *coco, uint64_t image_id)
{
    size_t low = 0, high = coco->n_annotations;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (coco->annotations[middle].image_id < image_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int fill_cache(struct seep_maskrcnn_dataset *d)
{
    struct seep_coco *coco = d->coco;

    d->cache = calloc(coco->n_images + 1, sizeof *d->cache);
    if (!d->cache)
        return -SEEP_ENOMEM;
    if (coco->n_annotations)
        qsort(coco->annotations, coco->n_annotations, sizeof *coco->annotations, by_image);
    for (size_t i = 0; i < coco->n_images; i++) {
        size_t first = find_first(coco, coco->images[i].id), end = first;
        while (end < coco->n_annotations && coco->annotations[end].image_id == coco->images[i].id)
            end++;
        d->cache[i] = target_of(coco, first, end - first, &coco->images[i]);
        if (!d->cache[i])
            return -SEEP_ENOMEM;
    }
    return 0;
}

int seep_maskrcnn_dataset_open(const char *folder, struct seep_maskrcnn_dataset *out,
                               struct seep_error *err)
{
    char path[PATH_MAX];
    size_t at = 0;
    int rc = 0;

    *out = (struct seep_maskrcnn_dataset){.folder = folder};
    for (; at < N_LAYOUTS; at++) {
        rc = join(path, folder, layouts[at].annotations, "", err);
        if (rc || access(path, R_OK) == 0)
            break;
    }
    if (at == N_LAYOUTS)
        return seep_error_set(err, SEEP_ENODATA, folder, 0, "it contains neither %s nor %s",
                              layouts[0].annotations, layouts[1].annotations);
    out->pictures = layouts[at].pictures;
    if (!rc)
        rc = seep_coco_read(path, &out->coco, err);
    if (!rc)
        rc = fill_cache(out);
    if (!rc && !out->coco->n_images)
        rc = seep_error_set(err, SEEP_ENODATA, path, 0, "no images");
    if (rc)
        seep_maskrcnn_dataset_close(out);
    return rc;
}

void seep_maskrcnn_dataset_close(struct seep_maskrcnn_dataset *d)
{
    for (size_t i = 0; d->cache && i < d->coco->n_images; i++)
        seep_target_free(d->cache[i]);
    free(d->cache);
    seep_coco_free(d->coco);
    *d = (struct seep_maskrcnn_dataset){0};
}

/* ---- items ----------------------------------------------------------------------------------- */

int seep_maskrcnn_picture(const struct seep_maskrcnn_dataset *d, size_t i, struct seep_image **out,
                          struct seep_error *err)
{
    const struct seep_coco_image *of = &d->coco->images[i];
    char path[PATH_MAX];
    int rc = join(path, d->folder, d->pictures, of->file, err);

    *out = NULL;
    if (!rc)
        rc = seep_image_read(path, out, err);
    /* The annotations give the size of masks: no memory for a size that the picture contradicts. */
    if (!rc && ((*out)->width != of->width || (*out)->height != of->height)) {
        rc = seep_error_set(err, SEEP_EFORMAT, path, 0, "it is not %ux%u, as its annotations say",
                            of->width, of->height);
        seep_image_free(*out);
        *out = NULL;
    }
    return rc;
}

int seep_maskrcnn_mask(const struct seep_maskrcnn_dataset *d,
                       const struct seep_maskrcnn_source *source, uint8_t *mask,
                       struct seep_error *err)
{
    size_t n = (size_t)source->width * source->height;
    struct seep_image *image = NULL;
    char path[PATH_MAX];
    int rc = mask_path(path, d->folder, source->annotation_id, err);

    if (!rc && access(path, R_OK)) {
        rc = seep_coco_mask(&d->coco->annotations[source->annotation], source->width,
                            source->height, mask);
        for (size_t i = 0; i < n && !rc; i++)
            mask[i] = mask[i] ? 255 : 0;
        return rc;
    }
    if (!rc)
        rc = seep_image_read(path, &image, err);
    if (!rc &&
        (image->width != source->width || image->height != source->height || image->channels != 1))
        rc = seep_error_set(err, SEEP_EFORMAT, path, 0, "it is not a grayscale picture of %ux%u",
                            source->width, source->height);
    if (!rc)
        memcpy(mask, image->pixels, n);
    seep_image_free(image);
    return rc;
}
