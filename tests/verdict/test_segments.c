/* Memory of a device beside its tensors: what belongs to the allocator, what to the tensors, and
 * what is a leak of its own. */
#include "tests/verdict/pattern_fixture.h"

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
TEST(a_device_that_rises_above_what_is_in_use_is_a_cache)
{
    uint64_t once = 1;

    tensors_at(6);
    tensors_at(7);
    builder_level(&b, user(6), DEVICE_1, 900 * (uint64_t)MIB, LAST, constant, &once);
    builder_level(&b, user(7), DEVICE_1, 2 * MIB, LAST, one_a_step, NULL);
    const json_t *f = only("allocator-cache", "pressure", 7);
    ck_assert_str_eq(text(f, "space"), "device:1");
}

TEST(a_leak_of_raw_device_memory_is_no_cache)
{
    builder_level(&b, user(7), DEVICE_1, 2 * MIB, LAST, one_a_step, NULL);
    tensors_at(9);
    only("unbounded-growth", "leak", 7);
}

TEST(a_leak_of_raw_device_memory_shows_beside_a_cache)
{
    builder_level(&b, user(7), DEVICE_1, 2 * MIB, LAST, one_a_step, NULL);
    builder_level(&b, user(9), DEVICE_1, 4 * MIB, LAST, one_a_step, NULL);
    tensors_at(9);
    const json_t *list = findings();
    ck_assert_uint_eq(json_array_size(list), 2);
    ck_assert_str_eq(pattern_at(list, 7), "unbounded-growth");
    ck_assert_str_eq(pattern_at(list, 9), "allocator-cache");
}

TEST(segments_of_several_lines_are_one_sum)
{
    builder_level(&b, user(7), TENSOR_1, 3 * MIB, LAST, one_a_step, NULL);
    builder_level(&b, user(7), DEVICE_1, 2 * MIB, LAST, one_a_step, NULL);
    builder_level(&b, user(8), DEVICE_1, MIB, LAST, one_a_step, NULL);
    tensors_at(8);
    const json_t *f = only("unbounded-growth", "leak", 7);
    char *all = json_dumps(json_object_get(f, "evidence"), 0);
    const char *said = strstr(all, "The allocator holds ");
    ck_assert_msg(said && !strncmp(said, "The allocator holds 594 MiB", 27), "%s", all);
    ck_assert_ptr_null(strstr(said + 1, "The allocator holds "));
    free(all);
}

/* What the driver gave for tensors that stay is the tensors' matter, whoever happened to ask. */
TEST(segments_of_tensors_that_are_kept_are_no_finding_of_their_own, .to = 2)
{
    char *all;

    builder_level(&b, user(7), TENSOR_1, 2 * MIB, LAST, one_a_step, NULL);
    builder_level(&b, user(_i ? 9 : 7), DEVICE_1, 2 * MIB, LAST, one_a_step, NULL);
    tensors_at(9);
    const json_t *f = only("unbounded-growth", "leak", 7);
    ck_assert_str_eq(text(f, "space"), "tensor:1");
    all = json_dumps(json_object_get(f, "evidence"), 0);
    ck_assert_msg(strstr(all, "The allocator holds 396 MiB of GPU 1") != NULL, "%s", all);
    free(all);
}

/* What is there before the growth, activations here, is no part of it. */
TEST(segments_are_held_against_tensors_by_what_is_added)
{
    uint64_t once = 1;

    builder_level(&b, user(7), TENSOR_1, 2 * MIB, LAST, one_a_step, NULL);
    builder_level(&b, user(7), DEVICE_1, 2 * MIB, LAST, one_a_step, NULL);
    builder_level(&b, user(7), DEVICE_1, 900 * (uint64_t)MIB, LAST, constant, &once);
    const json_t *f = only("unbounded-growth", "leak", 7);
    ck_assert_str_eq(text(f, "space"), "tensor:1");
}

/* A cache that is full after the first epoch, and segments of the line of the network, which the
 * cache's tensors take from it. */
TEST(segments_of_a_full_cache_are_held_against_it_by_what_was_added)
{
    uint64_t once = 1;

    builder_level(&b, user(7), TENSOR_1, 2 * MIB, LAST, until_half, NULL);
    tensors_at(9);
    builder_level(&b, user(9), DEVICE_1, 2 * MIB, LAST, until_half, NULL);
    builder_level(&b, user(9), DEVICE_1, 900 * (uint64_t)MIB, LAST, constant, &once);
    const json_t *f = only("first-touch-cache", "retention", 7);
    ck_assert_str_eq(text(f, "space"), "tensor:1");
}

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
TEST(device_memory_that_grows_beyond_twice_the_tensors_is_a_leak_of_its_own, .to = 2)
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

/* Where PyTorch's allocator says that all of it is its own, no line leaks what it asked for. */
static const struct {
    unsigned reserved_percent, settings;
    const char *advice; /* NULL: they are not the allocator's */
} reserves[] = {{100, 0, "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"},
                {95, SEEP_ALLOCATOR_MAX_SPLIT, "instead of max_split_size_mb"},
                {95, SEEP_ALLOCATOR_EXPANDABLE, "already set to keep little"},
                {60, 0, NULL},
                {0, 0, NULL}};

TEST(segments_that_an_allocator_has_reserved_are_its_cache, .to = N(reserves))
{
    const char *advice = reserves[_i].advice;

    builder_level(&b, user(7), TENSOR_1, MIB, LAST, one_a_step, NULL);
    builder_level(&b, user(7), DEVICE_1, 3 * MIB, LAST, one_a_step, NULL);
    builder_header(&b)->devices.allocator_settings = reserves[_i].settings;
    struct seep_tensor_books *books = &builder_header(&b)->devices.tensors[1];
    books->reports = 1;
    books->reserved_bytes = 3 * (uint64_t)MIB * LAST * reserves[_i].reserved_percent / 100;
    const json_t *list = findings();
    ck_assert_uint_eq(leaks_of(list, "device:1"), !advice);
    ck_assert_uint_eq(leaks_of(list, "tensor:1"), 1);
    ck_assert_uint_eq(json_array_size(list), 2);
    for (size_t i = 0; i < 2 && advice; i++) {
        const json_t *f = json_array_get(list, i);
        if (strcmp(text(f, "space"), "device:1") != 0)
            continue;
        ck_assert_str_eq(text(f, "pattern"), "allocator-cache");
        ck_assert_msg(strstr(text(f, "advice"), advice) != NULL, "%s", text(f, "advice"));
    }
}

/* A cache that is full explains no growth that goes on. */
TEST(device_memory_that_grows_on_beside_a_full_cache_is_a_leak_of_its_own)
{
    builder_level(&b, user(7), TENSOR_1, 8 * MIB, LAST, until_half, NULL);
    builder_level(&b, user(7), DEVICE_1, MIB, LAST, one_a_step, NULL);
    ck_assert_uint_eq(leaks_of(findings(), "device:1"), 1);
}

TEST(device_memory_that_is_asked_for_elsewhere_is_a_leak_of_its_own)
{
    builder_level(&b, user(7), TENSOR_1, 2 * MIB, LAST, one_a_step, NULL);
    builder_level(&b, user(8), DEVICE_1, 2 * MIB, LAST, one_a_step, NULL);
    const json_t *list = findings();
    ck_assert_uint_eq(json_array_size(list), 2);
    ck_assert_str_eq(pattern_at(list, 8), "unbounded-growth");
}

/* One line, or one function, may ask for tensors and for raw memory, too: by other calls. */
TEST(device_memory_that_another_call_asks_for_is_a_leak_of_its_own, .to = 2)
{
    uint32_t tensor = below(user(7), "/usr/lib/python3/dist-packages/torch/functional.py", "f", 1);
    uint32_t raw = below(user(7), "/usr/lib/python3/dist-packages/cupy/cuda.py", "alloc", 1);

    builder_level(&b, tensor, TENSOR_1, 2 * MIB, LAST, one_a_step, NULL);
    builder_level(&b, _i ? raw : tensor, DEVICE_1, 2 * MIB, LAST, one_a_step, NULL);
    ck_assert_uint_eq(leaks_of(findings(), "device:1"), _i ? 1 : 0);
}

TEST(a_rank_on_the_wrong_device_has_one_finding_for_its_tensors_and_their_segments)
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

static uint64_t twelve_until_full(uint32_t period, void *arg)
{
    (void)arg;
    return period < 3 ? 0 : 12;
}

static uint64_t first_steps(uint32_t period, void *arg)
{
    (void)arg;
    return period < FIRST ? 0 : period < FIRST + 40 ? period - FIRST + 1 : 40;
}

/* An allocator takes what it needs in the first steps and keeps it: no items that were loaded, no
 * cache of the program's. Without an allocator the blocks are the program's own. */
TEST(what_an_allocator_took_once_is_not_kept_by_the_line, .to = 4)
{
    if (_i % 2)
        tensors_at(9);
    builder_level(&b, user(9), DEVICE_1, 20 * MIB, LAST, _i < 2 ? twelve_until_full : first_steps,
                  NULL);
    if (_i % 2)
        nobody();
    else
        only(_i < 2 ? "eager-retention" : "first-touch-cache", "retention", 9);
}

/* Whoever asks for one size only, and gives nothing back, has a cache that always fits. */
TEST(growth_where_one_size_is_asked_for_is_no_cache)
{
    builder_level(&b, user(7), DEVICE_1, 2 * MIB, LAST, one_a_step, NULL);
    builder_level(&b, user(7), TENSOR_1, 2 * MIB, LAST, four, NULL);
    only("unbounded-growth", "leak", 7);
}

SUITE("segments", .setup = setup, .teardown = teardown)
