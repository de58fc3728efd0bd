#include "kernels/lab/scenarios/maskrcnn_collate.h"

#include "kernels/lab/scenario.h"

#include <stdlib.h>
#include <string.h>

int seep_maskrcnn_getitem(const struct seep_maskrcnn_loader *loader, size_t i,
                          struct seep_maskrcnn_sample *out, struct seep_error *err)
{
    struct seep_target *cached = loader->dataset->cache[i];

    *out = (struct seep_maskrcnn_sample){.target = cached};
    if (loader->copies) {
        out->target = loader->copies(cached);
        out->own_target = true;
        if (!out->target)
            return -SEEP_ENOMEM;
    }
    int rc = seep_maskrcnn_picture(loader->dataset, i, &out->picture, err);
    if (!rc) {
        out->width = out->picture->width;
        out->height = out->picture->height;
    }
    return rc;
}

static int collate_picture(struct seep_maskrcnn_sample *s)
{
    size_t n = (size_t)s->picture->width * s->picture->height, channels = s->picture->channels;
    size_t bytes = n * channels * sizeof(float);
    float *pixels = malloc(bytes);

    for (size_t i = 0; i < n && pixels; i++) {
        for (size_t c = 0; c < channels; c++)
            pixels[c * n + i] = (float)s->picture->pixels[i * channels + c] / 255;
    }
    seep_image_free(s->picture); /* its pixels are in the tensor */
    s->picture = NULL;
    s->pixels = seep_target_value_create(pixels, bytes, NULL);
    return s->pixels ? 0 : -SEEP_ENOMEM;
}

/* masks / 255: NumPy makes doubles of them, eight times the size of the masks. */
static __attribute__((noinline)) double *collate_divide(const uint8_t *masks, size_t n)
{
    double *divided = malloc(n * sizeof *divided + 1);

    for (size_t i = 0; i < n && divided; i++)
        divided[i] = masks[i] / 255.0;
    return divided;
}

/* .astype(np.uint8): the tensor that the target gets. */
static __attribute__((noinline)) uint8_t *collate_tensor(const double *divided, size_t n)
{
    uint8_t *tensor = malloc(n + 1);

    for (size_t i = 0; i < n && tensor; i++)
        tensor[i] = (uint8_t)divided[i];
    return tensor;
}

/* What a tensor was made from, or the list itself: in the document a second epoch would hand
 * tensors to cv2.imread(). */
static struct seep_target_value *list_of(struct seep_target_value *value)
{
    return value->is_list ? value : value->source;
}

/* torch.tensor(target['boxes'], dtype=torch.float) */
static struct seep_target_value *tensor_of_boxes(struct seep_target_value *list)
{
    size_t n = list->n_bytes / sizeof(double);
    const double *from = list->bytes;
    float *boxes = malloc(n * sizeof *boxes + 1);

    for (size_t i = 0; i < n && boxes; i++)
        boxes[i] = (float)from[i];
    return seep_target_value_create(boxes, n * sizeof *boxes, list);
}

/* torch.tensor(target['labels'], dtype=torch.int64) */
static struct seep_target_value *tensor_of_labels(struct seep_target_value *list)
{
    void *labels = malloc(list->n_bytes + 1);

    if (labels && list->n_bytes)
        memcpy(labels, list->bytes, list->n_bytes);
    return seep_target_value_create(labels, list->n_bytes, list);
}

static int collate_boxes(struct seep_maskrcnn_loader *loader, struct seep_target *target)
{
    struct seep_target_value *boxes = target->of[SEEP_TARGET_BOXES],
                             *labels = target->of[SEEP_TARGET_LABELS];

    loader->n_tensors_before += !boxes->is_list && !labels->is_list;
    boxes = tensor_of_boxes(list_of(boxes));
    if (!boxes)
        return -SEEP_ENOMEM;
    seep_target_set(target, SEEP_TARGET_BOXES, boxes);
    labels = tensor_of_labels(list_of(labels));
    if (!labels)
        return -SEEP_ENOMEM;
    seep_target_set(target, SEEP_TARGET_LABELS, labels);
    return 0;
}

/* torch.from_numpy(...) of the masks that a list names. */
static int read_masks(struct seep_maskrcnn_loader *loader, struct seep_target_value *list,
                      size_t count, struct seep_target_value **out, struct seep_error *err)
{
    const struct seep_maskrcnn_source *sources = list->bytes;
    size_t each = count ? (size_t)sources->width * sources->height : 0, n = count * each;
    uint8_t *read = malloc(n + 1), *tensor = NULL;
    double *divided = NULL;
    int rc = read ? 0 : -SEEP_ENOMEM;

    for (size_t i = 0; i < count && !rc; i++)
        rc = seep_maskrcnn_mask(loader->dataset, &sources[i], read + i * each, err);
    if (!rc) {
        divided = collate_divide(read, n);
        tensor = divided ? collate_tensor(divided, n) : NULL;
        *out = seep_target_value_create(tensor, n, list);
        rc = *out ? 0 : -SEEP_ENOMEM;
    }
    loader->mask_bytes += n;
    loader->most_masks = n > loader->most_masks ? n : loader->most_masks;
    free(divided);
    free(read);
    return rc;
}

/* `list`: where masks go in place of the target, or NULL. */
static int collate_target(struct seep_maskrcnn_loader *loader, struct seep_target *target,
                          struct seep_target_value **list, struct seep_error *err)
{
    struct seep_target_value *masks = target->of[SEEP_TARGET_MASKS];
    int rc = collate_boxes(loader, target);

    if (rc)
        return rc;
    if (!masks)
        return seep_error_set(err, SEEP_EVARIANT, "", 0,
                              "an annotation has no 'masks' (KeyError): they were deleted from the "
                              "dataset's own annotation");
    rc = read_masks(loader, list_of(masks), target->n, &masks, err);
    if (rc)
        return rc;
    if (list)
        *list = masks;
    else
        seep_target_set(target, SEEP_TARGET_MASKS, masks);
    return 0;
}

int seep_maskrcnn_collate(struct seep_maskrcnn_loader *loader, struct seep_maskrcnn_sample *samples,
                          size_t n, struct seep_error *err)
{
    size_t before = loader->mask_bytes;
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i++) {
        struct seep_maskrcnn_sample *s = &samples[i];
        rc = collate_picture(s);
        if (!rc)
            loader->image_bytes += s->pixels->n_bytes;
        if (!rc && loader->images_in_dict) {
            seep_target_set(s->target, SEEP_TARGET_IMAGE, s->pixels);
            s->pixels = NULL;
        }
        if (!rc && !loader->has_all_masks)
            rc = collate_target(loader, s->target, loader->masks_in_list ? &s->masks : NULL, err);
    }
    size_t masks = loader->mask_bytes - before;
    loader->most_batch_masks = masks > loader->most_batch_masks ? masks : loader->most_batch_masks;
    return rc;
}

int seep_maskrcnn_read_all(struct seep_maskrcnn_loader *loader, struct seep_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < loader->dataset->coco->n_images && !rc; i++)
        rc = collate_target(loader, loader->dataset->cache[i], NULL, err);
    loader->has_all_masks = !rc;
    return rc;
}

void seep_maskrcnn_sample_fini(struct seep_maskrcnn_sample *sample)
{
    if (sample->own_target)
        seep_target_free(sample->target);
    seep_image_free(sample->picture);
    seep_target_value_drop(sample->pixels);
    seep_target_value_drop(sample->masks);
    *sample = (struct seep_maskrcnn_sample){0};
}
