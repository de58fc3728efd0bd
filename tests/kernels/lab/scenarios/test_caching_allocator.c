/* The model of PyTorch's caching allocator: its constants, and what it keeps. */
#include "kernels/compute/chance.h"
#include "kernels/lab/scenarios/caching_allocator.h"
#include "kernels/lab/scenarios/segment_driver.h"
#include "tests/suite.h"

#include <check.h>
#include <stdlib.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

static struct seep_segment_driver *driver;
static struct seep_caching_allocator *a;

static void start(bool expandable, size_t capacity)
{
    ck_assert_int_eq(seep_segment_driver_create(NULL, capacity, &driver), 0);
    struct seep_caching_driver calls = seep_segment_driver_calls(driver);
    ck_assert_int_eq(seep_caching_create(&calls, expandable, "device:0", "tensor:0", &a), 0);
}

static void set_up(void)
{
    start(false, (size_t)8 << 30);
}

static void tear_down(void)
{
    seep_caching_destroy(a);
    seep_segment_driver_destroy(driver);
}

static struct seep_caching_block *get(size_t bytes)
{
    struct seep_caching_block *block = NULL;

    ck_assert_int_eq(seep_caching_alloc(a, bytes, &block), 0);
    return block;
}

static const struct {
    size_t bytes, block, segment;
} requests[] = {
    {0, 512, 2 * MIB},
    {1, 512, 2 * MIB},
    {513, 1024, 2 * MIB},
    {MIB, MIB, 2 * MIB},
    {MIB + 1, MIB + 512, 20 * MIB},
    {10 * MIB - 512, 10 * MIB - 512, 20 * MIB},
    {10 * MIB, 10 * MIB, 10 * MIB},
    {10 * MIB + 1, 10 * MIB + 512, 12 * MIB},
    {64 * MIB, 64 * MIB, 64 * MIB},
};

TEST(a_request_takes_the_segment_that_pytorch_takes_for_it, .to = N(requests))
{
    struct seep_caching_block *block = get(requests[_i].bytes);
    /* The rest of a segment of its own is too small to be cut off. */
    size_t rest = requests[_i].segment - requests[_i].block;
    bool whole = requests[_i].bytes > MIB && rest <= MIB;

    ck_assert_uint_eq(seep_caching_bytes(block), whole ? requests[_i].segment : requests[_i].block);
    ck_assert_uint_eq(seep_caching_counts(a).reserved_bytes, requests[_i].segment);
    ck_assert_uint_eq(seep_caching_counts(a).driver_calls, 1);
}

TEST(small_requests_share_a_segment)
{
    struct seep_caching_block *first = get(512), *second = get(MIB);

    ck_assert_uint_eq(seep_caching_address(second), seep_caching_address(first) + 512);
    ck_assert_uint_eq(seep_caching_counts(a).n_segments, 1);
    get(MIB); /* 512 bytes short */
    ck_assert_uint_eq(seep_caching_counts(a).n_segments, 2);
}

/* A rest of 512 bytes is a block of its own in the small pool, and in all with expandable segments.
 */
TEST(the_least_rest_is_split_off_where_pytorch_splits_it, .to = 2)
{
    tear_down();
    start(_i, (size_t)8 << 30);
    struct seep_caching_block *small = get(2 * 512), *behind = get(512);
    struct seep_caching_block *large = get(30 * MIB), *next = get(512 * KIB * 4);
    seep_caching_free(a, small);
    ck_assert_uint_eq(seep_caching_bytes(get(512)), 512);
    seep_caching_free(a, large);
    ck_assert_uint_eq(seep_caching_bytes(get(30 * MIB - 512)), _i ? 30 * MIB - 512 : 30 * MIB);
    seep_caching_free(a, behind);
    seep_caching_free(a, next);
}

TEST(what_comes_back_is_used_again_and_neighbours_join)
{
    struct seep_caching_block *blocks[4];

    for (int i = 0; i < 4; i++)
        blocks[i] = get(5 * MIB);
    uintptr_t begin = seep_caching_address(blocks[0]);
    seep_caching_free(a, blocks[0]);
    seep_caching_free(a, blocks[2]);
    seep_caching_free(a, blocks[1]); /* between two free ones */
    struct seep_caching_block *large = get(15 * MIB);
    ck_assert_uint_eq(seep_caching_address(large), begin);
    ck_assert_uint_eq(seep_caching_counts(a).driver_calls, 1);
}

TEST(the_smallest_block_that_fits_is_taken)
{
    struct seep_caching_block *large = get(40 * MIB), *fits = get(24 * MIB), *small = get(12 * MIB);
    uintptr_t address = seep_caching_address(fits);

    seep_caching_free(a, large);
    seep_caching_free(a, fits);
    seep_caching_free(a, small);
    ck_assert_uint_eq(seep_caching_address(get(23 * MIB)), address);
}

/* The leak of the scenario in one step. */
TEST(a_little_more_than_what_came_back_needs_a_new_segment)
{
    seep_caching_free(a, get(30 * MIB));
    seep_caching_free(a, get(32 * MIB));
    ck_assert_uint_eq(seep_caching_counts(a).reserved_bytes, 62 * MIB);
    ck_assert_uint_eq(seep_caching_counts(a).live_bytes, 0);
}

TEST(emptying_gives_back_only_segments_that_are_free)
{
    struct seep_caching_block *kept = get(3 * MIB), *gone = get(30 * MIB);

    seep_caching_free(a, gone);
    seep_caching_empty(a);
    ck_assert_uint_eq(seep_caching_counts(a).reserved_bytes, 20 * MIB);
    seep_caching_free(a, kept);
    seep_caching_empty(a);
    ck_assert_uint_eq(seep_caching_counts(a).reserved_bytes, 0);
    ck_assert_uint_eq(seep_caching_counts(a).driver_calls, 4);
}

TEST(a_full_device_is_asked_again_after_the_cache_is_emptied)
{
    struct seep_caching_block *block;

    tear_down();
    start(false, 100 * MIB);
    seep_caching_free(a, get(60 * MIB));
    block = get(80 * MIB);
    ck_assert_uint_eq(seep_caching_counts(a).reserved_bytes, 80 * MIB);
    ck_assert_int_eq(seep_caching_alloc(a, 40 * MIB, &block), -SEEP_ENOMEM);
    ck_assert_int_eq(seep_caching_alloc(a, SIZE_MAX, &block), -SEEP_ENOMEM);
}

TEST(an_expandable_pool_is_one_segment)
{
    tear_down();
    start(true, (size_t)8 << 30);
    struct seep_caching_block *first = get(30 * MIB), *second = get(50 * MIB);
    ck_assert_uint_eq(seep_caching_counts(a).n_segments, 1);
    ck_assert_uint_eq(seep_caching_address(second), seep_caching_address(first) + 30 * MIB);
    size_t reserved = seep_caching_counts(a).reserved_bytes;
    ck_assert_uint_eq(reserved % (20 * MIB), 0);
    seep_caching_free(a, second);
    get(51 * MIB); /* the free end grows: no second block of 50 MiB beside it */
    ck_assert_uint_le(seep_caching_counts(a).reserved_bytes, reserved + 20 * MIB);
    get(KIB);
    ck_assert_uint_eq(seep_caching_counts(a).n_segments, 2);
}

/* Pages of 20 MiB: [40, 80) lies free between two blocks, with halves of pages beside it. */
TEST(emptying_an_expandable_segment_gives_back_pages_that_are_asked_for_again)
{
    tear_down();
    start(true, (size_t)8 << 30);
    struct seep_caching_block *first = get(30 * MIB), *middle = get(60 * MIB),
                              *last = get(25 * MIB);
    uintptr_t begin = seep_caching_address(first);
    seep_caching_free(a, middle);
    ck_assert_uint_eq(seep_caching_counts(a).reserved_bytes, 120 * MIB);
    seep_caching_empty(a);
    ck_assert_uint_eq(seep_caching_counts(a).reserved_bytes, 80 * MIB);
    uint64_t calls = seep_caching_counts(a).driver_calls;
    seep_caching_empty(a);
    ck_assert_uint_eq(seep_caching_counts(a).driver_calls, calls);
    middle = get(25 * MIB); /* 10 MiB before the hole are free: one page is enough */
    ck_assert_uint_eq(seep_caching_address(middle), begin + 30 * MIB);
    ck_assert_uint_eq(seep_caching_counts(a).reserved_bytes, 100 * MIB);
    ck_assert_uint_eq(seep_caching_counts(a).n_segments, 1);
    seep_caching_free(a, first);
    seep_caching_free(a, middle);
    seep_caching_free(a, last);
    seep_caching_empty(a);
    ck_assert_uint_eq(seep_caching_counts(a).reserved_bytes, 0);
    ck_assert_uint_eq(seep_caching_address(get(30 * MIB)), begin);
}

TEST(a_full_device_has_room_for_an_expandable_segment_once_it_is_emptied)
{
    struct seep_caching_block *block;

    tear_down();
    start(true, 100 * MIB);
    struct seep_caching_block *gone = get(50 * MIB);
    get(5 * MIB);
    seep_caching_free(a, gone);
    get(60 * MIB); /* 60 are mapped; its own fit once 40 of them, which are free, are not */
    ck_assert_uint_le(seep_caching_counts(a).reserved_bytes, 100 * MIB);
    ck_assert_int_eq(seep_caching_alloc(a, 60 * MIB, &block), -SEEP_ENOMEM);
    ck_assert_uint_le(seep_caching_counts(a).reserved_bytes, 100 * MIB);
}

TEST(what_a_refused_request_found_is_noted)
{
    struct seep_caching_block *block, *free_one;

    tear_down();
    start(false, 100 * MIB);
    get(60 * MIB);
    free_one = get(15 * MIB); /* and 1 MiB that is not worth a block */
    get(2 * MIB);             /* a segment of 20 MiB, of which 18 stay free */
    ck_assert_uint_eq(seep_caching_counts(a).refused.bytes, 0);
    ck_assert_int_eq(seep_caching_alloc(a, 31 * MIB, &block), -SEEP_ENOMEM);
    struct seep_caching_counts counts = seep_caching_counts(a);
    ck_assert_uint_eq(counts.refused.bytes, 32 * MIB); /* what the driver was asked for */
    ck_assert_uint_eq(counts.refused.live_bytes, 78 * MIB);
    ck_assert_uint_eq(counts.refused.reserved_bytes, 96 * MIB);
    seep_caching_free(a, free_one);
    get(19 * MIB); /* the cache is emptied for it */
    ck_assert_uint_eq(seep_caching_counts(a).refused.live_bytes, 78 * MIB);
}

static int fail_to_take(void *context, size_t bytes, uintptr_t *address)
{
    (void)bytes, (void)address;
    *(unsigned *)context += 1;
    return -SEEP_EDEVICE;
}

TEST(a_device_that_fails_is_no_full_one)
{
    unsigned asked = 0;
    struct seep_caching_driver broken = {.context = &asked, .take = fail_to_take};
    struct seep_caching_block *block;

    seep_caching_destroy(a);
    ck_assert_int_eq(seep_caching_create(&broken, false, "device:0", "tensor:0", &a), 0);
    ck_assert_int_eq(seep_caching_alloc(a, MIB, &block), -SEEP_EDEVICE);
    ck_assert_uint_eq(asked, 1);
}

/* Blocks that are out never overlap, and counts add up. */
static void churn(bool expandable)
{
    enum { N = 64, ROUNDS = 1500 };
    struct seep_caching_block *blocks[N] = {NULL};
    struct seep_chance chance = {7};
    size_t live = 0;

    tear_down();
    start(expandable, (size_t)8 << 30);
    for (int round = 0; round < ROUNDS; round++) {
        size_t i = seep_chance_next(&chance) % N;
        if (blocks[i]) {
            live -= seep_caching_bytes(blocks[i]);
            seep_caching_free(a, blocks[i]);
            blocks[i] = NULL;
        } else {
            blocks[i] = get((size_t)1 << (seep_chance_next(&chance) % 24));
            live += seep_caching_bytes(blocks[i]);
        }
        ck_assert_uint_eq(seep_caching_counts(a).live_bytes, live);
        ck_assert_uint_le(live, seep_caching_counts(a).reserved_bytes);
        for (size_t k = 0; k < N && blocks[i]; k++) {
            uintptr_t p = blocks[k] ? seep_caching_address(blocks[k]) : 0;
            uintptr_t q = seep_caching_address(blocks[i]);
            ck_assert(k == i || !p || p + seep_caching_bytes(blocks[k]) <= q ||
                      q + seep_caching_bytes(blocks[i]) <= p);
        }
        if (round % 300 == 299)
            seep_caching_empty(a);
    }
    for (size_t i = 0; i < N; i++) {
        if (blocks[i])
            seep_caching_free(a, blocks[i]);
    }
    seep_caching_empty(a);
    ck_assert_uint_eq(seep_caching_counts(a).live_bytes, 0);
    ck_assert_uint_eq(seep_caching_counts(a).reserved_bytes, 0);
}

TEST(blocks_never_overlap_and_all_comes_back, .to = 2)
{
    churn(_i);
}

SUITE("caching_allocator", .setup = set_up, .teardown = tear_down)
