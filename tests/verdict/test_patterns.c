/* One made-up profile per pattern: what must be said of it, and of a similar healthy one. Patterns
 * that a CPU can show are also tested with real jobs (tests/zoo). */
#include "tests/verdict/pattern_fixture.h"

TEST(shared_maps_that_outlive_their_steps)
{
    builder_level(&b, user(7), SHM, 64 * 1024, LAST, one_a_step, NULL);
    const json_t *f = only("shm-growth", "leak", 7);
    ck_assert_double_eq_tol(number(json_object_get(f, "growth_bytes_per_step"), "value"), 65536,
                            100);
}

TEST(bursts_apart_from_epochs_are_reference_cycles)
{
    uint32_t every = 17;

    builder_level(&b, user(7), HOST, 512 * 1024, LAST, bursts, &every);
    const json_t *f = only("reference-cycle", "pressure", 7);
    ck_assert_double_eq_tol(number(f, "saving_bytes"), 17 * 512 * 1024, 2 * 512 * 1024);
}

/* On a device only where no allocator stands between the driver and the tensors. */
TEST(bursts_of_a_device_are_its_allocators_if_there_is_one, .to = 2)
{
    uint32_t every = 17;

    builder_level(&b, user(7), DEVICE_1, 512 * 1024, LAST, bursts, &every);
    if (_i) {
        transient(user(9), TENSOR_1, 4096, STEPS, 0, 0);
        nobody();
    } else {
        only("reference-cycle", "pressure", 7);
    }
}

TEST(a_request_far_above_the_others_is_a_spike)
{
    transient(user(7), HOST, 100 * 1024, 190, 48 * MIB, 4);
    const json_t *f = only("size-spike", "pressure", 7);
    ck_assert_double_gt(number(f, "saving_bytes"), 47.0 * MIB);
}

/* A network's layers: of twelve requests in every step one is large. */
TEST(what_is_large_in_every_step_is_no_spike)
{
    transient(user(7), HOST, 100 * 1024, 11 * STEPS, 48 * MIB, STEPS);
    nobody();
}

TEST(sizes_within_a_few_times_are_no_spike)
{
    transient(user(7), HOST, 12 * MIB, 190, 48 * MIB, 4);
    nobody();
}

TEST(a_buffer_of_all_gradients_is_a_collective_buffer)
{
    uint32_t stack = below(user(7), "/usr/lib/python3/dist-packages/torch/_utils.py",
                           "_flatten_dense_tensors", 358);

    transient(stack, HOST, 20 * MIB, STEPS, 0, 0);
    const json_t *f = only("collective-buffer", "pressure", 7);
    ck_assert_double_eq(number(f, "saving_bytes"), 20.0 * MIB);
    ck_assert_str_eq(text(f, "part"), "collective");
}

/* One for each type of number, or each of two models. */
TEST(two_buffers_of_all_gradients_are_collective_buffers)
{
    uint32_t stack = below(user(7), "/usr/lib/python3/dist-packages/torch/_utils.py",
                           "_flatten_dense_tensors", 358);

    transient(stack, HOST, 40 * MIB, 2 * STEPS, 0, 0);
    only("collective-buffer", "pressure", 7);
}

static const struct {
    uint64_t bytes, a_step;
} buckets[] = {{MIB / 2, 10}, {25 * MIB, 6}, {25 * MIB, 2}};

TEST(buckets_one_after_the_other_are_nobodys_fault_whatever_their_size, .to = N(buckets))
{
    uint32_t stack = below(user(7), "/usr/lib/python3/dist-packages/torch/_utils.py",
                           "_flatten_dense_tensors", 358);

    transient(stack, HOST, buckets[_i].bytes, buckets[_i].a_step * STEPS, 0, 0);
    nobody();
}

/* Eight tensors, each replaced by a larger one every 40 steps until step 120. */
TEST(parameters_replaced_by_larger_ones_are_legitimate)
{
    struct seep_point points[5];
    uint64_t each = MIB, allocated = 0, freed = 0;

    for (uint32_t i = 0; i < 5; i++) {
        points[i] = (struct seep_point){i < 4 ? FIRST + 40 * i : LAST - 1, 8, 8 * each};
        allocated += i < 4 ? 8 * each : 0;
        freed += i < 3 ? 8 * each : 0;
        each += i < 3 ? MIB / 2 : 0;
    }
    uint32_t site = builder_site(&b, user(7), HOST, 32, allocated, 24, freed, FIRST);
    builder_detail(&b, site, points, 5);
    struct seep_site *s = builder_at(&b, site);
    s->last_period = LAST - 1;
    const json_t *f = only("legitimate-growth", "info", 7);
    ck_assert_double_eq(number(f, "plateau_step"), 121);
}

TEST(pinned_blocks_of_powers_of_two_are_a_pool)
{
    builder_level(&b, user(7), PINNED, 2 * MIB, LAST, four, NULL);
    only("pinned-pool", "pressure", 7);
}

/* Batches that a loader's thread pins: somebody keeps them all, or those of a while. */
TEST(pinned_batches_that_become_more_are_told_at_the_line_that_takes_them, .to = 2)
{
    static const char torch[] = "/usr/lib/python3/dist-packages/torch/utils/data/";
    struct ramp all = {FIRST, _i ? FIRST + 40 : UINT32_MAX, 1, UINT32_MAX};
    char pins[128], gives[128];

    snprintf(pins, sizeof pins, "%s_utils/pin_memory.py", torch);
    snprintf(gives, sizeof gives, "%sdataloader.py", torch);
    builder_level(&b, below(0, pins, "pin_memory", 59), PINNED, 2 * MIB, LAST, ramp, &all);
    builder_site(&b, below(user(7), gives, "__next__", 708), HOST, 200, 200 * 64, 200, 200 * 64, 2);
    if (_i) {
        only("pinned-pool", "pressure", 59);
        return;
    }
    const json_t *f = only("unbounded-growth", "leak", 7);
    ck_assert_ptr_nonnull(strstr(text(f, "advice"), "what keeps the batches"));
    ck_assert_ptr_null(strstr(text(f, "title"), "process"));
}

TEST(pinned_blocks_of_their_own_sizes_are_nobodys_fault)
{
    builder_level(&b, user(7), PINNED, 2 * MIB + 4096, LAST, four, NULL);
    nobody();
}

static uint64_t a_pool_of_32(uint32_t period, void *arg)
{
    return period < 3 ? 0 : period < FIRST + 50 ? 32 : 32 - *(uint64_t *)arg;
}

/* One that two buffers were taken out of is a pool, one that gives back as it goes is none. */
TEST(a_pool_gives_next_to_nothing_back, .to = 2)
{
    uint64_t freed = _i ? 5 : 2;

    builder_level(&b, user(7), PINNED, 2 * MIB, LAST, a_pool_of_32, &freed);
    if (_i)
        nobody();
    else
        only("pinned-pool", "pressure", 7);
}

/* A rank that works on its own device and holds memory on the first one. */
TEST(memory_on_another_ranks_device_is_on_the_wrong_one, .to = 2)
{
    builder_header(&b)->rank = _i;
    builder_level(&b, user(7), DEVICE_0, 20 * MIB, LAST, four, NULL);
    builder_level(&b, user(9), DEVICE_1, 20 * MIB, LAST, four, NULL);
    if (_i == 1)
        only("wrong-device", "retention", 7);
    else
        ck_assert(json_array_size(findings()) < 3);
}

/* Three blocks of each step live until the next one has made its own. */
static const unsigned carrying[] = {HOST, TENSOR_1, DEVICE_0};

TEST(what_a_step_leaves_to_the_next_one_is_counted_in_blocks, .to = N(carrying))
{
    enum { BLOCKS = 3, EACH = 2 * MIB };
    struct seep_point points[] = {{FIRST, BLOCKS, BLOCKS * EACH},
                                  {LAST - 1, BLOCKS, BLOCKS * EACH}};
    uint64_t n = BLOCKS * STEPS;
    uint32_t site = builder_site(&b, user(7), carrying[_i], n, n * EACH, n - BLOCKS,
                                 (n - BLOCKS) * EACH, FIRST);

    builder_detail(&b, site, points, 2);
    struct seep_site *s = builder_at(&b, site);
    s->last_period = LAST - 1;
    s->peak_bytes = 2 * BLOCKS * EACH;
    s->peak_period = FIRST + 100;
    struct seep_detail *d = builder_at(&b, s->detail);
    d->min_bytes = d->max_bytes = EACH;
    d->lifetimes[1] = (uint32_t)(n - BLOCKS);
    const json_t *list = findings(), *f = NULL;
    json_t *one;
    size_t i;
    json_array_foreach (list, i, one) {
        if (strcmp(text(one, "pattern"), "carry-over") == 0)
            f = one;
    }
    ck_assert_ptr_nonnull(f);
    ck_assert_double_eq(number(f, "count"), BLOCKS);
    ck_assert_double_eq(number(f, "live_bytes"), BLOCKS * EACH);
    ck_assert_double_eq(number(f, "saving_bytes"), BLOCKS * EACH);
}

SUITE("patterns", .setup = setup, .teardown = teardown)
