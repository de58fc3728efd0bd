#include "kernels/lab/scenarios/maskrcnn_transform.h"

#include <math.h>

enum { MIN_SIDE = 800, MAX_SIDE = 1333, DIVISIBLE = 32, CHANNELS = 3 };

/* A sample's tensors that live on: the scaled picture until the batch is made, masks to the end. */
struct scaled {
    size_t width, height;
    struct seep_caching_block *picture, *masks;
};

static void let_go(struct seep_cached_gpu *gpu, struct seep_caching_block **block)
{
    if (*block)
        seep_caching_free(gpu->allocator, *block);
    *block = NULL;
}

static void choose_size(const struct seep_maskrcnn_sample *sample, struct scaled *out)
{
    double width = sample->width, height = sample->height;
    double factor = fmin(MIN_SIDE / fmin(width, height), MAX_SIDE / fmax(width, height));

    out->width = (size_t)(width * factor);
    out->height = (size_t)(height * factor);
}

/* (image - mean) / std, then interpolate() */
static int transform_picture(struct seep_cached_gpu *gpu, const struct seep_maskrcnn_sample *sample,
                             struct scaled *out)
{
    size_t bytes = (size_t)sample->width * sample->height * CHANNELS * sizeof(float);
    struct seep_caching_block *centred = NULL, *normalized = NULL;
    int rc = seep_caching_alloc(gpu->allocator, bytes, &centred);

    if (!rc)
        rc = seep_caching_alloc(gpu->allocator, bytes, &normalized);
    let_go(gpu, &centred);
    if (!rc)
        rc = seep_caching_alloc(gpu->allocator, out->width * out->height * CHANNELS * sizeof(float),
                                &out->picture);
    let_go(gpu, &normalized);
    return rc;
}

/* interpolate(masks.float()).byte() */
static int transform_masks(struct seep_cached_gpu *gpu, const struct seep_maskrcnn_sample *sample,
                           struct scaled *out)
{
    size_t n = sample->target->n * sample->width * sample->height;
    size_t n_scaled = sample->target->n * out->width * out->height;
    struct seep_caching_block *floats = NULL, *larger = NULL;
    int rc = seep_caching_alloc(gpu->allocator, n * sizeof(float), &floats);

    if (!rc)
        rc = seep_caching_alloc(gpu->allocator, n_scaled * sizeof(float), &larger);
    let_go(gpu, &floats);
    if (!rc)
        rc = seep_caching_alloc(gpu->allocator, n_scaled, &out->masks);
    let_go(gpu, &larger);
    return rc;
}

static size_t padded(size_t side)
{
    return (side + DIVISIBLE - 1) / DIVISIBLE * DIVISIBLE;
}

int seep_maskrcnn_transform(struct seep_cached_gpu *gpu, const struct seep_maskrcnn_sample *samples,
                            size_t n, size_t *batch_bytes)
{
    struct scaled scaled[SEEP_MASKRCNN_MOST_SAMPLES] = {{0}};
    struct seep_caching_block *batch = NULL;
    size_t width = 0, height = 0;
    int rc = n && n <= SEEP_MASKRCNN_MOST_SAMPLES ? 0 : -SEEP_EINVAL;

    *batch_bytes = 0;
    for (size_t i = 0; i < n && !rc; i++) {
        if (!samples[i].width || !samples[i].height)
            return -SEEP_EINVAL;
        choose_size(&samples[i], &scaled[i]);
        width = scaled[i].width > width ? scaled[i].width : width;
        height = scaled[i].height > height ? scaled[i].height : height;
    }
    for (size_t i = 0; i < n && !rc; i++) {
        rc = transform_picture(gpu, &samples[i], &scaled[i]);
        if (!rc)
            rc = transform_masks(gpu, &samples[i], &scaled[i]);
    }
    if (!rc) {
        size_t bytes = n * CHANNELS * padded(width) * padded(height) * sizeof(float);
        rc = seep_caching_alloc(gpu->allocator, bytes, &batch);
        *batch_bytes = rc ? 0 : bytes;
    }
    for (size_t i = 0; i < n && i < SEEP_MASKRCNN_MOST_SAMPLES; i++) {
        let_go(gpu, &scaled[i].picture);
        let_go(gpu, &scaled[i].masks);
    }
    let_go(gpu, &batch);
    return rc;
}
