/* The model of PyTorch's allocator reserves what PyTorch's own did, to the byte. */
#include "libprof/torch/torch_allocator.h"
#include "tests/suite.h"

#include <stdlib.h>
#include <string.h>

enum { MIB = 1 << 20, SLOTS = 48, ROUNDS = 4000, WORK = 1 << 30 };

static const struct {
    uint64_t seed;
    const char *setting;
    uint64_t room, peak, reserved;
    uint32_t refused;
} peaks[] = {
#define PEAK(...) {__VA_ARGS__},
#include "tests/torch/allocator_peaks.def"
#undef PEAK
};

static struct seep_allocator_rules rules_of(const char *setting, uint64_t room)
{
    struct seep_allocator_rules rules = {.capacity_bytes = room, .oldest_first = true};

    rules.expandable = !strcmp(setting, "expandable_segments:True");
    if (!strncmp(setting, "max_split_size_mb:", 18))
        rules.max_split_bytes = strtoull(setting + 18, NULL, 10) * MIB;
    for (int k = 0; k < SEEP_ALLOCATOR_SIZES; k++) {
        if (!strcmp(setting, "roundup_power2_divisions:4"))
            rules.divisions[k] = 4;
        else if (!strncmp(setting, "roundup_power2_divisions:[",
                          26)) /* of 1 MiB, of 4, and above */
            rules.divisions[k] = k == 0 ? 2 : k == 1 ? 0 : k == 2 ? 8 : 16;
    }
    return rules;
}

static uint64_t state;

static uint64_t next_number(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return state >> 33;
}

static uint64_t size(uint64_t n, uint64_t kind)
{
    return kind < 5 ? 1 + n % MIB : kind < 8 ? MIB + n % (9 * MIB) : 10 * MIB + n % (30 * MIB);
}

/* Asks for the same blocks as requests.py; returns how many were refused. */
static uint32_t ask(struct seep_torch_allocator *a)
{
    uint32_t slots[SLOTS] = {0}, refused = 0;

    for (int i = 0; i < ROUNDS; i++) {
        uint32_t *slot = &slots[next_number() % SLOTS];
        const uint64_t kind = next_number() % 10, n = next_number();
        if (i == ROUNDS / 2)
            seep_torch_allocator_empty(a, false);
        if (*slot) {
            seep_torch_allocator_give(a, *slot);
            *slot = 0;
            continue;
        }
        const int rc = seep_torch_allocator_take(a, 0, size(n, kind), 0, slot);
        ck_assert(rc == 0 || rc == -SEEP_ENODATA);
        if (rc) {
            *slot = 0;
            refused++;
        }
    }
    return refused;
}

TEST(what_is_reserved_is_what_pytorch_reserves, .to = N(peaks))
{
    const struct seep_allocator_rules rules = rules_of(peaks[_i].setting, peaks[_i].room);
    struct seep_torch_allocator *a = seep_torch_allocator_new(&rules, WORK);

    state = peaks[_i].seed;
    ck_assert_uint_eq(ask(a), peaks[_i].refused);
    ck_assert_uint_eq(seep_torch_allocator_peak(a), peaks[_i].peak);
    ck_assert_uint_eq(seep_torch_allocator_reserved(a), peaks[_i].reserved);
    seep_torch_allocator_free(a);
}

static uint32_t taken(struct seep_torch_allocator *a, unsigned pool, uint64_t bytes)
{
    uint32_t block;

    ck_assert_int_eq(seep_torch_allocator_take(a, pool, bytes, 0, &block), 0);
    return block;
}

TEST(another_stream_finds_nothing_of_the_first_ones)
{
    struct seep_torch_allocator *a =
        seep_torch_allocator_new(&(struct seep_allocator_rules){0}, WORK);

    seep_torch_allocator_give(a, taken(a, 0, 12 * MIB));
    seep_torch_allocator_set_private(a, 1);
    seep_torch_allocator_give(a, taken(a, 1, 12 * MIB));
    ck_assert_uint_eq(seep_torch_allocator_private_at_peak(a), 12 * MIB);
    ck_assert_uint_eq(seep_torch_allocator_reserved(a), 24 * MIB);
    seep_torch_allocator_empty(a, false);
    ck_assert_uint_eq(seep_torch_allocator_reserved(a), 12 * MIB);
    seep_torch_allocator_empty(a, true);
    ck_assert_uint_eq(seep_torch_allocator_reserved(a), 0);
    seep_torch_allocator_free(a);
}

TEST(what_is_there_at_first_lies_where_it_did)
{
    struct seep_torch_allocator *a =
        seep_torch_allocator_new(&(struct seep_allocator_rules){0}, WORK);
    uint32_t first, second;

    ck_assert_int_eq(seep_torch_allocator_put_segment(a, 0, 0x1000000, 20 * MIB, false, false), 0);
    ck_assert_int_eq(seep_torch_allocator_put_block(a, 0x1000000 + 2 * MIB, 2 * MIB, &first), 0);
    ck_assert_int_eq(seep_torch_allocator_put_block(a, 0x1000000 + 9 * MIB, 4 * MIB, &second), 0);
    ck_assert_int_eq(seep_torch_allocator_put_block(a, 0x9000000, 4 * MIB, &second), -SEEP_ENODATA);
    (void)taken(a, 0, 7 * MIB); /* fills the end */
    (void)taken(a, 0, 5 * MIB); /* the middle */
    ck_assert_uint_eq(seep_torch_allocator_reserved(a), 20 * MIB);
    (void)taken(a, 0, 3 * MIB);
    ck_assert_uint_eq(seep_torch_allocator_reserved(a), 40 * MIB);
    seep_torch_allocator_free(a);
}

TEST(pages_that_are_there_at_first_grow)
{
    struct seep_torch_allocator *a =
        seep_torch_allocator_new(&(struct seep_allocator_rules){.expandable = true}, WORK);
    uint32_t block;

    ck_assert_int_eq(seep_torch_allocator_put_segment(a, 0, 0x1000000, 20 * MIB, false, true), 0);
    ck_assert_int_eq(seep_torch_allocator_put_block(a, 0x1000000, 12 * MIB, &block), 0);
    (void)taken(a, 0, 16 * MIB);
    ck_assert_uint_eq(seep_torch_allocator_reserved(a), 40 * MIB);
    seep_torch_allocator_give(a, block);
    seep_torch_allocator_empty(a, false);
    ck_assert_uint_eq(seep_torch_allocator_reserved(a), 40 * MIB);
    seep_torch_allocator_free(a);
}

TEST(a_collection_gives_back_what_was_not_used_for_longest)
{
    struct seep_torch_allocator *a = seep_torch_allocator_new(
        &(struct seep_allocator_rules){.collect_above = 0.5, .capacity_bytes = 100 * MIB}, WORK);
    const uint32_t old = taken(a, 0, 30 * MIB), other = taken(a, 0, 30 * MIB);

    seep_torch_allocator_give(a, old);
    for (int i = 0; i < 10; i++)
        seep_torch_allocator_give(a, taken(a, 0, 100));
    seep_torch_allocator_give(a, other);
    (void)taken(a, 0, 34 * MIB);
    ck_assert_uint_eq(seep_torch_allocator_reserved(a), (2 + 30 + 34) * MIB);
    seep_torch_allocator_free(a);
}

TEST(a_collection_is_bounded_in_its_work)
{
    struct seep_torch_allocator *a = seep_torch_allocator_new(&(struct seep_allocator_rules){0}, 3);
    uint32_t block;
    int rc = 0;

    for (int i = 0; i < 100 && !rc; i++)
        rc = seep_torch_allocator_take(a, 0, 4 * MIB, 0, &block);
    ck_assert_int_eq(rc, -SEEP_ELIMIT);
    seep_torch_allocator_free(a);
}

/* Addresses of a stranger's: the same ones again and again, at the end of what there is. */
TEST(addresses_that_make_no_sense_do_no_harm, .to = 2)
{
    struct seep_torch_allocator *a =
        seep_torch_allocator_new(&(struct seep_allocator_rules){.expandable = _i == 1}, WORK);
    uint32_t blocks[64];

    for (int i = 0; i < 8; i++) {
        uint32_t block;
        ck_assert_int_eq(
            seep_torch_allocator_put_segment(a, 0, UINT64_MAX - 511, 8 * MIB, i % 2, i % 3 == 0),
            0);
        (void)!seep_torch_allocator_put_block(a, UINT64_MAX - 511, 16 * MIB, &block);
    }
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 64; i++)
            ck_assert_int_eq(seep_torch_allocator_take(a, (unsigned)i % 3, (uint64_t)i * MIB / 3,
                                                       UINT64_MAX - 511, &blocks[i]),
                             0);
        for (int i = 0; i < 64; i++)
            seep_torch_allocator_give(a, blocks[(i * 37) % 64]);
        seep_torch_allocator_empty(a, false);
    }
    seep_torch_allocator_free(a);
}

SUITE("PyTorch's allocator")
