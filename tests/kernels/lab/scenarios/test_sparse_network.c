/* What minkowski's network asks of its allocator, and that it gives it back. */
#include "kernels/lab/scenarios/segment_driver.h"
#include "kernels/lab/scenarios/sparse_network.h"
#include "tests/suite.h"

#include <check.h>
#include <stdlib.h>

static struct seep_segment_driver *driver;
static struct seep_caching_allocator *a;
static struct seep_sparse_network *net;

static void start(bool padded, size_t capacity)
{
    ck_assert_int_eq(seep_segment_driver_create(NULL, capacity, &driver), 0);
    struct seep_caching_driver calls = seep_segment_driver_calls(driver);
    ck_assert_int_eq(seep_caching_create(&calls, false, NULL, NULL, &a), 0);
    ck_assert_int_eq(seep_sparse_network_create(a, padded, &net), 0);
}

static void set_up(void)
{
    start(false, (size_t)8 << 30);
}

static void tear_down(void)
{
    seep_sparse_network_destroy(net);
    ck_assert_uint_eq(seep_caching_counts(a).live_bytes, 0);
    seep_caching_destroy(a);
    seep_segment_driver_destroy(driver);
}

static void load(double voxels)
{
    const struct seep_sparse_size size = {.voxels = voxels, .coarse = voxels / 4};

    ck_assert_int_eq(seep_sparse_network_load(net, size), 0);
    seep_caching_reset_peak(a);
}

static double peak_of_step(double voxels)
{
    load(voxels);
    ck_assert_int_eq(seep_sparse_network_train(net), 0);
    return (double)seep_caching_counts(a).peak_bytes;
}

static double peak_of_validation(double voxels)
{
    load(voxels);
    ck_assert_int_eq(seep_sparse_network_validate(net), 0);
    return (double)seep_caching_counts(a).peak_bytes;
}

TEST(a_step_leaves_weights_and_its_batch)
{
    double weights = (double)seep_caching_counts(a).live_bytes;

    /* 27 · 3 · 32 + 27 · 32 · 64 · 2 + 32 · 20 weights, and as many gradients. */
    ck_assert_double_eq_tol(weights, 2 * 4 * (2592 + 2 * 55296 + 640), 4096);
    for (int i = 0; i < 20; i++) {
        peak_of_step(1e5);
        ck_assert_double_eq_tol((double)seep_caching_counts(a).live_bytes - weights, 32 * 1e5, 512);
        peak_of_validation(1e5);
        ck_assert_double_eq_tol((double)seep_caching_counts(a).live_bytes - weights, 32 * 1e5, 512);
    }
}

/* Bytes a voxel where most is live. The batch 32; coordinate maps 56 · 1.25, kernel maps 11.25
 * pairs of 8; the outputs of convolution and ReLU that backward needs, 32 channels at full
 * resolution twice, 64 at a quarter once: 2 · 4 · (32 + 16 + 32); and of the loss: labels 8,
 * logarithms 20 · 4, the logits, or a gradient, as many. */
TEST(a_step_takes_what_its_tensors_take)
{
    double weights = (double)seep_caching_counts(a).live_bytes;
    double kept = 32 + 56 * 1.25 + 11.25 * 8 + 2 * 4 * (32 + 16 + 32);

    /* The gradient of the last norm's output, made of the one of ReLU's. */
    ck_assert_double_eq_tol((peak_of_step(1e6) - weights) / 1e6, kept + 2 * 4 * 32, 4);
    ck_assert_double_eq_tol((peak_of_step(3e6) - weights) / 3e6, kept + 2 * 4 * 32, 4);
}

/* Nothing waits for backward: at most a layer's input and output are there, besides the maps. */
TEST(a_validation_takes_less_than_half_of_a_step)
{
    ck_assert_double_lt(peak_of_validation(1e5), 0.6 * peak_of_step(1e5));
    ck_assert_double_gt(peak_of_validation(1e5), 0.3 * peak_of_step(1e5));
}

TEST(padded_sizes_come_back_and_others_do_not)
{
    uint64_t calls[2];

    for (int padded = 0; padded < 2; padded++) {
        tear_down();
        start(padded, (size_t)8 << 30);
        for (int i = 0; i < 100; i++)
            peak_of_step(1e5 * (1 + 0.002 * i));
        calls[padded] = seep_caching_counts(a).driver_calls;
    }
    ck_assert_uint_lt(calls[1], calls[0]);
}

TEST(padding_takes_more_than_a_quarter_more)
{
    double plain = peak_of_step(1.1e5);

    tear_down();
    start(true, (size_t)8 << 30);
    ck_assert_double_gt(peak_of_step(1.1e5), 1.25 * plain);
}

TEST(a_step_that_finds_no_room_gives_back_what_it_had, .to = 2)
{
    tear_down();
    start(false, (size_t)150 << 20);
    load(5e5);
    size_t batch = (size_t)(5e5 * 32), weights = 4 << 20;
    int rc = _i ? seep_sparse_network_train(net) : seep_sparse_network_validate(net);
    ck_assert_int_eq(rc, -SEEP_ENOMEM);
    ck_assert_uint_gt(seep_caching_counts(a).refused.bytes, 0);
    ck_assert_uint_le(seep_caching_counts(a).live_bytes, batch + weights);
}

SUITE("sparse_network", .setup = set_up, .teardown = tear_down)
