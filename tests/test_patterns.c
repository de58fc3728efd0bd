/* One made-up profile a pattern: what must be said of it, and of its healthy neighbour. Those that
 * a CPU can show are also held against real jobs (tests/zoo). */
#include "libprof/analysis.h"
#include "libprof/profile_read.h"
#include "tests/profile_builder.h"
#include "tests/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 10, STEPS = 200, LAST = FIRST + STEPS, START = 1000000000, MIB = 1 << 20 };
enum { HOST, MMAP, SHM, PINNED, DEVICE_0, DEVICE_1, TENSOR_1, TENSOR_0 };

static struct builder b;
static struct seep_job *job;
static uint32_t main_stack;
static json_t *report;

static void setup(void)
{
    builder_init(&b, 100, START);
    job = builder_job(100, START, STEPS, FIRST);
    main_stack = builder_stack(&b, 0, builder_python(&b, "/home/user/train.py", "main", 50));
    struct seep_header *h = builder_header(&b);
    strcpy(h->spaces[PINNED].name, "pinned");
    strcpy(h->spaces[DEVICE_0].name, "device:0");
    strcpy(h->spaces[DEVICE_1].name, "device:1");
    strcpy(h->spaces[TENSOR_1].name, "tensor:1");
    strcpy(h->spaces[TENSOR_0].name, "tensor:0");
    report = NULL;
}

static void teardown(void)
{
    json_decref(report);
    builder_fini(&b);
}

static uint32_t below(uint32_t stack, const char *file, const char *function, unsigned line)
{
    return builder_stack(&b, stack, builder_python(&b, file, function, line));
}

static uint32_t user(unsigned line)
{
    return below(main_stack, "/home/user/train.py", "work", line);
}

static const json_t *findings(void)
{
    struct seep_profile *p = NULL;

    builder_site(&b, builder_stack(&b, 0, builder_native(&b, "/usr/lib/libtorch.so", NULL, 64)), 0,
                 1, 40 * MIB, 0, 0, 2);
    builder_timeline(&b, LAST, UINT64_C(300) << 20);
    ck_assert_int_eq(seep_profile_from_bytes("100-1.seep", b.bytes, b.n_bytes, &p, NULL), 0);
    ck_assert_int_eq(seep_analyse_profiles(&p, 1, job, NULL, &report, NULL), 0);
    return json_object_get(report, "findings");
}

static const char *text(const json_t *finding, const char *key)
{
    const char *value = json_string_value(json_object_get(finding, key));

    return value ? value : "";
}

static double number(const json_t *finding, const char *key)
{
    return json_number_value(json_object_get(finding, key));
}

static const json_t *only(const char *pattern, const char *severity, unsigned line)
{
    const json_t *list = findings(), *f = json_array_get(list, 0);
    char *all = json_dumps(list, JSON_INDENT(1));

    ck_assert_msg(json_array_size(list) == 1, "%s", all);
    ck_assert_msg(strcmp(text(f, "pattern"), pattern) == 0, "%s", all);
    ck_assert_msg(strcmp(text(f, "severity"), severity) == 0, "%s", all);
    ck_assert_msg(number(json_object_get(f, "frame"), "line") == line, "%s", all);
    ck_assert_msg(text(f, "advice")[0] && text(f, "title")[0], "%s", all);
    ck_assert_msg(json_array_size(json_object_get(f, "evidence")) > 0, "%s", all);
    free(all);
    return f;
}

static void nobody(void)
{
    const json_t *list = findings();
    char *all = json_dumps(list, JSON_INDENT(1));

    ck_assert_msg(json_array_size(list) == 0, "%s", all);
    free(all);
}

/* ---- levels ---------------------------------------------------------------------------------- */

static uint64_t one_a_step(uint32_t period, void *arg)
{
    (void)arg;
    return period < FIRST ? 0 : period - FIRST + 1;
}

static uint64_t four(uint32_t period, void *arg)
{
    (void)arg;
    return period < 3 ? 0 : 4;
}

static uint64_t bursts(uint32_t period, void *arg)
{
    return period < FIRST ? 1 : 1 + (period - FIRST) % *(uint32_t *)arg;
}

static uint64_t until_half(uint32_t period, void *arg)
{
    uint64_t n = one_a_step(period, arg);

    return n < STEPS / 2 ? n : STEPS / 2;
}

static uint64_t constant(uint32_t period, void *arg)
{
    return period < 3 ? 0 : *(uint64_t *)arg;
}

/* A site whose blocks live within their steps, with this many requests of each size. Returns its
 * detail. */
static struct seep_detail *transient(uint32_t stack, unsigned space, uint64_t usual, uint64_t n,
                                     uint64_t largest, uint64_t n_largest)
{
    uint64_t bytes = usual * n + largest * n_largest;
    struct seep_point points[] = {{FIRST, 0, 0}, {LAST - 1, 0, 0}};

    uint32_t site =
        builder_site(&b, stack, space, n + n_largest, bytes, n + n_largest, bytes, FIRST);
    builder_detail(&b, site, points, 2);
    struct seep_site *s = builder_at(&b, site);
    s->last_period = LAST - 1;
    s->peak_bytes = largest ? largest : usual;
    s->peak_period = FIRST + 100;
    struct seep_detail *d = builder_at(&b, s->detail);
    d->min_bytes = usual;
    d->max_bytes = largest ? largest : usual;
    d->lifetimes[0] = (uint32_t)(n + n_largest);
    d->sizes[63 - __builtin_clzll(usual)] += (uint32_t)n;
    if (largest)
        d->sizes[63 - __builtin_clzll(largest)] += (uint32_t)n_largest;
    return d;
}

/* ---- the patterns ---------------------------------------------------------------------------- */

START_TEST(shared_maps_that_outlive_their_steps)
{
    builder_level(&b, user(7), SHM, 64 * 1024, LAST, one_a_step, NULL);
    const json_t *f = only("shm-growth", "leak", 7);
    ck_assert_double_eq_tol(number(json_object_get(f, "growth_bytes_per_step"), "value"), 65536,
                            100);
}
END_TEST

START_TEST(bursts_apart_from_epochs_are_reference_cycles)
{
    uint32_t every = 17;

    builder_level(&b, user(7), HOST, 512 * 1024, LAST, bursts, &every);
    const json_t *f = only("reference-cycle", "pressure", 7);
    ck_assert_double_eq_tol(number(f, "saving_bytes"), 17 * 512 * 1024, 2 * 512 * 1024);
}
END_TEST

/* On a device only where no allocator stands between the driver and the tensors. */
START_TEST(bursts_of_a_device_are_its_allocators_if_there_is_one)
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
END_TEST

START_TEST(a_request_far_above_the_others_is_a_spike)
{
    transient(user(7), HOST, 100 * 1024, 190, 48 * MIB, 4);
    const json_t *f = only("size-spike", "pressure", 7);
    ck_assert_double_gt(number(f, "saving_bytes"), 47.0 * MIB);
}
END_TEST

START_TEST(sizes_within_a_few_times_are_no_spike)
{
    transient(user(7), HOST, 12 * MIB, 190, 48 * MIB, 4);
    nobody();
}
END_TEST

START_TEST(a_buffer_of_all_gradients_is_a_collective_buffer)
{
    uint32_t stack = below(user(7), "/usr/lib/python3/dist-packages/torch/_utils.py",
                           "_flatten_dense_tensors", 358);

    transient(stack, HOST, 20 * MIB, STEPS, 0, 0);
    const json_t *f = only("collective-buffer", "pressure", 7);
    ck_assert_double_eq(number(f, "saving_bytes"), 20.0 * MIB);
    ck_assert_str_eq(text(f, "role"), "collective");
}
END_TEST

/* One for each type of number, or each of two models. */
START_TEST(two_buffers_of_all_gradients_are_collective_buffers)
{
    uint32_t stack = below(user(7), "/usr/lib/python3/dist-packages/torch/_utils.py",
                           "_flatten_dense_tensors", 358);

    transient(stack, HOST, 40 * MIB, 2 * STEPS, 0, 0);
    only("collective-buffer", "pressure", 7);
}
END_TEST

static const struct {
    uint64_t bytes, a_step;
} buckets[] = {{MIB / 2, 10}, {25 * MIB, 6}, {25 * MIB, 2}};

START_TEST(buckets_one_after_the_other_are_nobodys_fault_whatever_their_size)
{
    uint32_t stack = below(user(7), "/usr/lib/python3/dist-packages/torch/_utils.py",
                           "_flatten_dense_tensors", 358);

    transient(stack, HOST, buckets[_i].bytes, buckets[_i].a_step * STEPS, 0, 0);
    nobody();
}
END_TEST

/* Eight tensors, each replaced by a larger one every 40 steps until step 120. */
START_TEST(parameters_replaced_by_larger_ones_are_legitimate)
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
END_TEST

START_TEST(pinned_blocks_of_powers_of_two_are_a_pool)
{
    builder_level(&b, user(7), PINNED, 2 * MIB, LAST, four, NULL);
    only("pinned-pool", "pressure", 7);
}
END_TEST

START_TEST(pinned_blocks_of_their_own_sizes_are_nobodys_fault)
{
    builder_level(&b, user(7), PINNED, 2 * MIB + 4096, LAST, four, NULL);
    nobody();
}
END_TEST

/* A rank that works on its own device and holds memory on the first one. */
START_TEST(memory_on_another_ranks_device_is_on_the_wrong_one)
{
    builder_header(&b)->rank = _i;
    builder_level(&b, user(7), DEVICE_0, 20 * MIB, LAST, four, NULL);
    builder_level(&b, user(9), DEVICE_1, 20 * MIB, LAST, four, NULL);
    if (_i == 1)
        only("wrong-device", "retention", 7);
    else
        ck_assert(json_array_size(findings()) < 3);
}
END_TEST

/* Tensors of ever new sizes, none of which outlives its step. */
static void tensors_at(unsigned line)
{
    transient(user(line), TENSOR_1, 2 * MIB, STEPS, 0, 0)->size_marks = UINT64_C(0xffffffff);
}

static const char *pattern_at(const json_t *list, unsigned line)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *f = json_array_get(list, i);
        if (number(json_object_get(f, "frame"), "line") == line)
            return text(f, "pattern");
    }
    return "";
}

/* The driver gives ever more for tensors, what is in use stays: the line that grows is named, not
 * the one that once took most. */
START_TEST(a_device_that_rises_above_what_is_in_use_is_a_cache)
{
    uint64_t once = 1;

    tensors_at(6);
    tensors_at(7);
    builder_level(&b, user(6), DEVICE_1, 900 * (uint64_t)MIB, LAST, constant, &once);
    builder_level(&b, user(7), DEVICE_1, 2 * MIB, LAST, one_a_step, NULL);
    const json_t *f = only("allocator-cache", "pressure", 7);
    ck_assert_str_eq(text(f, "space"), "device:1");
}
END_TEST

START_TEST(a_leak_of_raw_device_memory_is_no_cache)
{
    builder_level(&b, user(7), DEVICE_1, 2 * MIB, LAST, one_a_step, NULL);
    tensors_at(9);
    only("unbounded-growth", "leak", 7);
}
END_TEST

START_TEST(a_leak_of_raw_device_memory_shows_beside_a_cache)
{
    builder_level(&b, user(7), DEVICE_1, 2 * MIB, LAST, one_a_step, NULL);
    builder_level(&b, user(9), DEVICE_1, 4 * MIB, LAST, one_a_step, NULL);
    tensors_at(9);
    const json_t *list = findings();
    ck_assert_uint_eq(json_array_size(list), 2);
    ck_assert_str_eq(pattern_at(list, 7), "unbounded-growth");
    ck_assert_str_eq(pattern_at(list, 9), "allocator-cache");
}
END_TEST

/* What the driver gave for tensors that stay is the tensors' matter, whoever happened to ask. */
START_TEST(segments_of_tensors_that_are_kept_are_no_finding_of_their_own)
{
    char *all;

    builder_level(&b, user(7), TENSOR_1, 2 * MIB, LAST, one_a_step, NULL);
    builder_level(&b, user(_i ? 9 : 7), DEVICE_1, 2 * MIB, LAST, one_a_step, NULL);
    tensors_at(9);
    const json_t *f = only("unbounded-growth", "leak", 7);
    ck_assert_str_eq(text(f, "space"), "tensor:1");
    all = json_dumps(json_object_get(f, "evidence"), 0);
    ck_assert_msg(strstr(all, "an allocator holds 396.0 MiB of device:1") != NULL, "%s", all);
    free(all);
}
END_TEST

/* What is there before the growth, activations here, is no part of it. */
START_TEST(segments_are_held_against_tensors_by_what_is_added)
{
    uint64_t once = 1;

    builder_level(&b, user(7), TENSOR_1, 2 * MIB, LAST, one_a_step, NULL);
    builder_level(&b, user(7), DEVICE_1, 2 * MIB, LAST, one_a_step, NULL);
    builder_level(&b, user(7), DEVICE_1, 900 * (uint64_t)MIB, LAST, constant, &once);
    const json_t *f = only("unbounded-growth", "leak", 7);
    ck_assert_str_eq(text(f, "space"), "tensor:1");
}
END_TEST

/* A cache that is full after the first epoch, and segments of the line of the network, which the
 * cache's tensors take from it. */
START_TEST(segments_of_a_full_cache_are_held_against_it_by_what_was_added)
{
    uint64_t once = 1;

    builder_level(&b, user(7), TENSOR_1, 2 * MIB, LAST, until_half, NULL);
    tensors_at(9);
    builder_level(&b, user(9), DEVICE_1, 2 * MIB, LAST, until_half, NULL);
    builder_level(&b, user(9), DEVICE_1, 900 * (uint64_t)MIB, LAST, constant, &once);
    const json_t *f = only("first-touch-cache", "retention", 7);
    ck_assert_str_eq(text(f, "space"), "tensor:1");
}
END_TEST

static size_t leaks_of(const json_t *list, const char *space)
{
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *f = json_array_get(list, i);
        n += strcmp(text(f, "space"), space) == 0 && strcmp(text(f, "severity"), "leak") == 0;
    }
    return n;
}

/* However much tensors hold, and how many lines such growth is spread over. */
START_TEST(device_memory_that_grows_beyond_twice_the_tensors_is_a_leak_of_its_own)
{
    uint64_t once = 1;

    builder_level(&b, user(7), TENSOR_1, MIB, LAST, one_a_step, NULL);
    builder_level(&b, user(7), TENSOR_1, 4000 * (uint64_t)MIB, LAST, constant, &once);
    builder_level(&b, user(7), DEVICE_1, (_i ? 1 : 3) * MIB, LAST, one_a_step, NULL);
    if (_i) {
        tensors_at(9);
        tensors_at(11);
        builder_level(&b, user(9), DEVICE_1, MIB, LAST, one_a_step, NULL);
        builder_level(&b, user(11), DEVICE_1, MIB, LAST, one_a_step, NULL);
    }
    ck_assert_uint_eq(leaks_of(findings(), "device:1"), _i ? 3 : 1);
}
END_TEST

/* A cache that is full explains no growth that goes on. */
START_TEST(device_memory_that_grows_on_beside_a_full_cache_is_a_leak_of_its_own)
{
    builder_level(&b, user(7), TENSOR_1, 8 * MIB, LAST, until_half, NULL);
    builder_level(&b, user(7), DEVICE_1, MIB, LAST, one_a_step, NULL);
    ck_assert_uint_eq(leaks_of(findings(), "device:1"), 1);
}
END_TEST

START_TEST(device_memory_that_is_asked_for_elsewhere_is_a_leak_of_its_own)
{
    builder_level(&b, user(7), TENSOR_1, 2 * MIB, LAST, one_a_step, NULL);
    builder_level(&b, user(8), DEVICE_1, 2 * MIB, LAST, one_a_step, NULL);
    const json_t *list = findings();
    ck_assert_uint_eq(json_array_size(list), 2);
    ck_assert_str_eq(pattern_at(list, 8), "unbounded-growth");
}
END_TEST

/* One line, or one function, may ask for tensors and for raw memory, too: by other calls. */
START_TEST(device_memory_that_another_call_asks_for_is_a_leak_of_its_own)
{
    uint32_t tensor = below(user(7), "/usr/lib/python3/dist-packages/torch/functional.py", "f", 1);
    uint32_t raw = below(user(7), "/usr/lib/python3/dist-packages/cupy/cuda.py", "alloc", 1);

    builder_level(&b, tensor, TENSOR_1, 2 * MIB, LAST, one_a_step, NULL);
    builder_level(&b, _i ? raw : tensor, DEVICE_1, 2 * MIB, LAST, one_a_step, NULL);
    ck_assert_uint_eq(leaks_of(findings(), "device:1"), _i ? 1 : 0);
}
END_TEST

START_TEST(a_rank_on_the_wrong_device_has_one_finding_for_its_tensors_and_their_segments)
{
    builder_header(&b)->rank = 1;
    builder_level(&b, user(7), DEVICE_0, 20 * MIB, LAST, four, NULL);
    builder_level(&b, user(7), TENSOR_0, 16 * MIB, LAST, four, NULL);
    builder_level(&b, user(9), DEVICE_1, 20 * MIB, LAST, four, NULL);
    const json_t *list = findings();
    size_t wrong = 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        wrong += strcmp(text(json_array_get(list, i), "pattern"), "wrong-device") == 0;
    ck_assert_uint_eq(wrong, 1);
}
END_TEST

/* Whoever asks for one size only, and gives nothing back, has a cache that always fits. */
START_TEST(growth_where_one_size_is_asked_for_is_no_cache)
{
    builder_level(&b, user(7), DEVICE_1, 2 * MIB, LAST, one_a_step, NULL);
    builder_level(&b, user(7), TENSOR_1, 2 * MIB, LAST, four, NULL);
    only("unbounded-growth", "leak", 7);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("patterns");
    TCase *tcase = tcase_create("all");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, shared_maps_that_outlive_their_steps);
    tcase_add_test(tcase, bursts_apart_from_epochs_are_reference_cycles);
    tcase_add_loop_test(tcase, bursts_of_a_device_are_its_allocators_if_there_is_one, 0, 2);
    tcase_add_test(tcase, a_request_far_above_the_others_is_a_spike);
    tcase_add_test(tcase, sizes_within_a_few_times_are_no_spike);
    tcase_add_test(tcase, a_buffer_of_all_gradients_is_a_collective_buffer);
    tcase_add_test(tcase, two_buffers_of_all_gradients_are_collective_buffers);
    tcase_add_loop_test(tcase, buckets_one_after_the_other_are_nobodys_fault_whatever_their_size, 0,
                        sizeof buckets / sizeof *buckets);
    tcase_add_test(tcase, parameters_replaced_by_larger_ones_are_legitimate);
    tcase_add_test(tcase, pinned_blocks_of_powers_of_two_are_a_pool);
    tcase_add_test(tcase, pinned_blocks_of_their_own_sizes_are_nobodys_fault);
    tcase_add_loop_test(tcase, memory_on_another_ranks_device_is_on_the_wrong_one, 0, 2);
    tcase_add_test(tcase, a_device_that_rises_above_what_is_in_use_is_a_cache);
    tcase_add_test(tcase, a_leak_of_raw_device_memory_is_no_cache);
    tcase_add_test(tcase, a_leak_of_raw_device_memory_shows_beside_a_cache);
    tcase_add_loop_test(tcase, segments_of_tensors_that_are_kept_are_no_finding_of_their_own, 0, 2);
    tcase_add_test(tcase, segments_are_held_against_tensors_by_what_is_added);
    tcase_add_test(tcase, segments_of_a_full_cache_are_held_against_it_by_what_was_added);
    tcase_add_loop_test(
        tcase, device_memory_that_grows_beyond_twice_the_tensors_is_a_leak_of_its_own, 0, 2);
    tcase_add_test(tcase, device_memory_that_grows_on_beside_a_full_cache_is_a_leak_of_its_own);
    tcase_add_test(tcase, device_memory_that_is_asked_for_elsewhere_is_a_leak_of_its_own);
    tcase_add_loop_test(tcase, device_memory_that_another_call_asks_for_is_a_leak_of_its_own, 0, 2);
    tcase_add_test(tcase,
                   a_rank_on_the_wrong_device_has_one_finding_for_its_tensors_and_their_segments);
    tcase_add_test(tcase, growth_where_one_size_is_asked_for_is_no_cache);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
