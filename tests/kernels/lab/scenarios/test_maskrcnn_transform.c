/* What a step of Mask R-CNN requests of the GPU. */
#include "kernels/lab/scenarios/maskrcnn_transform.h"
#include "tests/suite.h"

#include <check.h>

enum { WIDTH = 24, HEIGHT = 16, INSTANCES = 2, MARGIN = 3 << 20 };

static struct seep_cached_gpu gpu;
static size_t batch_bytes;

static void setup(void)
{
    const struct seep_cached_gpu_kind kind = {.device = SEEP_DEVICE_CPU};

    ck_assert_int_eq(seep_cached_gpu_init(&gpu, &kind, NULL), 0);
}

static void teardown(void)
{
    seep_cached_gpu_fini(&gpu);
}

/* 1200 by 800 pixels, 1216 by 800 with padding. The most is live while masks are floats twice,
 * beside the scaled picture, or while the batch is made of the scaled pictures, beside masks of
 * bytes. */
TEST(it_is_as_large_as_torchvisions_and_leaves_nothing, .from = 1, .to = 3)
{
    size_t scaled = 1200 * 800, n = (size_t)_i, others = n - 1;
    size_t masks = INSTANCES * 4 * (scaled + WIDTH * HEIGHT) + 4 * 3 * scaled +
                   others * (4 * 3 + INSTANCES) * scaled;
    size_t batch = n * (3 * 4 * (1216 * 800 + scaled) + INSTANCES * scaled);
    size_t most = masks > batch ? masks : batch;
    struct seep_target target = {.n = INSTANCES};
    struct seep_maskrcnn_sample samples[2] = {
        {.target = &target, .width = WIDTH, .height = HEIGHT},
        {.target = &target, .width = WIDTH, .height = HEIGHT}};

    ck_assert_int_eq(seep_maskrcnn_transform(&gpu, samples, n, &batch_bytes), 0);
    struct seep_caching_counts counts = seep_caching_counts(gpu.allocator);
    ck_assert_uint_eq(counts.live_bytes, 0);
    ck_assert_uint_ge(counts.peak_bytes, most);
    ck_assert_uint_le(counts.peak_bytes, most + n * MARGIN);
    ck_assert_uint_ge(counts.reserved_bytes, counts.peak_bytes);
    ck_assert_uint_eq(batch_bytes, n * 3 * 4 * 1216 * 800);
}

/* 32 by 12 pixels become 1333 by 499. */
TEST(the_longer_side_has_1333_pixels_at_most)
{
    struct seep_target target = {.n = INSTANCES};
    struct seep_maskrcnn_sample sample = {.target = &target, .width = 32, .height = 12};

    ck_assert_int_eq(seep_maskrcnn_transform(&gpu, &sample, 1, &batch_bytes), 0);
    ck_assert_uint_eq(batch_bytes, 3 * 4 * 1344 * 512);
}

TEST(sizes_that_make_no_sense_are_refused)
{
    struct seep_target target = {.n = INSTANCES};
    struct seep_maskrcnn_sample sample = {.target = &target, .width = WIDTH};

    ck_assert_int_eq(seep_maskrcnn_transform(&gpu, &sample, 0, &batch_bytes), -SEEP_EINVAL);
    ck_assert_int_eq(seep_maskrcnn_transform(&gpu, &sample, 1, &batch_bytes), -SEEP_EINVAL);
    ck_assert_int_eq(
        seep_maskrcnn_transform(&gpu, &sample, SEEP_MASKRCNN_MOST_SAMPLES + 1, &batch_bytes),
        -SEEP_EINVAL);
    ck_assert_uint_eq(seep_caching_counts(gpu.allocator).peak_bytes, 0);
}

SUITE("maskrcnn_transform", .setup = setup, .teardown = teardown)
