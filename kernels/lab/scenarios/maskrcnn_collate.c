#include "kernels/lab/scenarios/maskrcnn_collate.h"

#include "kernels/lab/scenario.h"

#include <stdlib.h>

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
    return seep_maskrcnn_picture(loader->dataset, i, &out->picture, err);
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

/* target['masks'] = torch.from_numpy(...). The tensor remembers the list that it was read from: in
 * the document a second epoch would hand tensors to cv2.imread(). */
static int collate_masks(struct seep_maskrcnn_loader *loader, struct seep_target *target,
                         struct seep_error *err)
{
    struct seep_target_value *masks = target->of[SEEP_TARGET_MASKS];
    if (!masks)
        return seep_error_set(err, SEEP_EVARIANT, "", 0,
                              "an annotation has no 'masks' (KeyError): they were deleted from the "
                              "dataset's own annotation");
    struct seep_target_value *list = masks->source ? masks->source : masks;
    const struct seep_maskrcnn_source *sources = list->bytes;
    size_t each = target->n ? (size_t)sources->width * sources->height : 0, n = target->n * each;
    uint8_t *read = malloc(n + 1), *tensor = NULL;
    double *divided = NULL;
    int rc = read ? 0 : -SEEP_ENOMEM;

    for (size_t i = 0; i < target->n && !rc; i++)
        rc = seep_maskrcnn_mask(loader->dataset, &sources[i], read + i * each, err);
    if (!rc) {
        divided = collate_divide(read, n);
        tensor = divided ? collate_tensor(divided, n) : NULL;
        struct seep_target_value *value = seep_target_value_create(tensor, n, list);
        rc = value ? 0 : -SEEP_ENOMEM;
        if (value)
            seep_target_set(target, SEEP_TARGET_MASKS, value);
    }
    loader->mask_bytes += n;
    loader->most_masks = n > loader->most_masks ? n : loader->most_masks;
    free(divided);
    free(read);
    return rc;
}

int seep_maskrcnn_collate(struct seep_maskrcnn_loader *loader, struct seep_maskrcnn_sample *samples,
                          size_t n, struct seep_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i++) {
        rc = collate_picture(&samples[i]);
        if (!rc)
            rc = collate_masks(loader, samples[i].target, err);
    }
    return rc;
}

void seep_maskrcnn_sample_fini(struct seep_maskrcnn_sample *sample)
{
    if (sample->own_target)
        seep_target_free(sample->target);
    seep_image_free(sample->picture);
    seep_target_value_drop(sample->pixels);
    *sample = (struct seep_maskrcnn_sample){0};
}
