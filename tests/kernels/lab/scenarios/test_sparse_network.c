/* What minkowski's network asks of its allocator, and that it gives it back. */
#include "kernels/lab/scenarios/segment_driver.h"
#include "kernels/lab/scenarios/sparse_network.h"
#include "tests/suite.h"

#include <check.h>
#include <stdlib.h>

static struct seep_segment_driver *driver;
static struct seep_caching_allocator *a;
static struct seep_sparse_network *net;
static struct seep_chance chance;

static void start(bool bucketed, size_t capacity)
{
    chance = (struct seep_chance){5};
    ck_assert_int_eq(seep_segment_driver_create(NULL, capacity, &driver), 0);
    struct seep_caching_driver calls = seep_segment_driver_calls(driver);
    ck_assert_int_eq(seep_caching_create(&calls, false, "device:0", "tensor:0", &a), 0);
    ck_assert_int_eq(seep_sparse_network_create(a, bucketed, &net), 0);
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

static size_t peak_of_step(double points, double progress)
{
    ck_assert_int_eq(seep_sparse_network_load(net, points, progress, &chance), 0);
    seep_caching_reset_peak(a);
    ck_assert_int_eq(seep_sparse_network_step(net), 0);
    return seep_caching_counts(a).peak_bytes;
}

TEST(a_step_leaves_weights_and_the_batch_that_waits)
{
    ck_assert_int_eq(seep_sparse_network_load(net, 1e5, 0, &chance), 0);
    size_t before = seep_caching_counts(a).live_bytes;
    for (int i = 0; i < 20; i++) {
        ck_assert_int_eq(seep_sparse_network_step(net), 0);
        ck_assert_uint_eq(seep_caching_counts(a).live_bytes, before);
    }
    ck_assert_int_eq(seep_sparse_network_load(net, 1e5, 1, &chance), 0);
    ck_assert_uint_eq(seep_caching_counts(a).live_bytes, before);
}

/* The scenario's live is level by this, whatever the levels' shares. */
TEST(a_step_takes_the_same_at_its_highest_wherever_in_the_list)
{
    double first = 0, last = 0;

    for (int i = 0; i < 20; i++) {
        first += (double)peak_of_step(150000, 0);
        last += (double)peak_of_step(150000, 1);
    }
    ck_assert_double_eq_tol(last / first, 1, 0.005);
}

TEST(a_step_takes_with_its_points)
{
    double weights = (double)seep_caching_counts(a).live_bytes;
    double small = (double)peak_of_step(1e5, 0.5) - weights;

    ck_assert_double_eq_tol(((double)peak_of_step(3e5, 0.5) - weights) / small, 3, 0.1);
}

TEST(bucketed_sizes_come_back_and_others_do_not)
{
    uint64_t calls[2];

    for (int bucketed = 0; bucketed < 2; bucketed++) {
        tear_down();
        start(bucketed, (size_t)8 << 30);
        for (int i = 0; i < 100; i++)
            peak_of_step(1e5 * (1 + 0.002 * i), 0.01 * i);
        calls[bucketed] = seep_caching_counts(a).driver_calls;
    }
    ck_assert_uint_lt(calls[1], calls[0]);
}

TEST(a_step_that_finds_no_room_gives_back_what_it_had)
{
    tear_down();
    start(false, (size_t)400 << 20);
    ck_assert_int_eq(seep_sparse_network_load(net, 5e5, 0, &chance), 0);
    size_t before = seep_caching_counts(a).live_bytes;
    ck_assert_int_eq(seep_sparse_network_step(net), -SEEP_ENOMEM);
    ck_assert_uint_eq(seep_caching_counts(a).live_bytes, before);
}

SUITE("sparse_network", .setup = set_up, .teardown = tear_down)
