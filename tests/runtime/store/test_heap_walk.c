/* Heaps laid out as libc does, in the test's own memory: what is recorded, free, and neither. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "libprof/runtime/store/live_blocks.h"
#include "preload/pages/heap_walk.h"
#include "tests/suite.h"

enum { MIB = 1 << 20, HEAP_BYTES = 16 * MIB, IN_USE_BEFORE = 1 };

enum state { RECORDED, UNRECORDED, FREE };

static char *heap;
static size_t n_heap;
static bool before_in_use;
static uint64_t unrecorded_bytes;

static void begin(void)
{
    heap = mmap(NULL, HEAP_BYTES + 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
    ck_assert_ptr_ne(heap, MAP_FAILED);
    before_in_use = true;
}

static void add(uint64_t chunk, enum state state)
{
    uint64_t *word = (uint64_t *)(void *)(heap + n_heap + 8);

    *word = chunk | (before_in_use ? IN_USE_BEFORE : 0);
    before_in_use = state != FREE;
    if (state == RECORDED) {
        struct seep_block block = {.site = 7, .birth = 1, .bytes = chunk - 16};
        ck_assert(seep_live_put((uintptr_t)heap + n_heap + 16, &block));
    }
    unrecorded_bytes += state == UNRECORDED ? chunk : 0;
    n_heap += chunk;
}

/* The chunk behind all others, of which nothing is in use. */
static uint64_t walked(void)
{
    add(4096, FREE);
    *(uint64_t *)(void *)(heap + n_heap + 8) = 0;
    seep_heap_walk_begin(n_heap);
    return seep_heap_walk((uintptr_t)heap, (uintptr_t)heap + n_heap);
}

TEST(what_is_recorded_is_not_told)
{
    begin();
    while (n_heap < 4 * MIB)
        add(32 + (n_heap / 32 % 64) * 16, RECORDED);
    ck_assert_uint_eq(walked(), 0);
}

TEST(what_is_free_is_not_told)
{
    begin();
    while (n_heap < 4 * MIB) {
        add(2048, RECORDED);
        add(4096, FREE);
    }
    ck_assert_uint_eq(walked(), 0);
}

TEST(what_is_between_recorded_blocks_is_told)
{
    begin();
    while (n_heap < 8 * MIB) {
        add(1024, RECORDED);
        add(2048, UNRECORDED);
        add(1024, FREE);
    }
    uint64_t found = walked();
    ck_assert_uint_gt(found, unrecorded_bytes * 97 / 100);
    ck_assert_uint_lt(found, unrecorded_bytes * 103 / 100);
}

TEST(long_runs_behind_one_recorded_block_are_told)
{
    begin();
    add(1024, RECORDED);
    while (n_heap < 12 * MIB)
        add(30016, UNRECORDED);
    uint64_t found = walked();
    ck_assert_uint_gt(found, unrecorded_bytes * 97 / 100);
    ck_assert_uint_le(found, unrecorded_bytes * 103 / 100);
}

TEST(one_longer_than_a_piece_counts_whole)
{
    begin();
    add(1024, RECORDED);
    add(5 * MIB, UNRECORDED);
    add(1024, RECORDED);
    add(5 * MIB, RECORDED);
    uint64_t found = walked();
    ck_assert_uint_gt(found, 5 * MIB - 8192);
    ck_assert_uint_lt(found, 5 * MIB + 8192);
}

TEST(small_ones_may_be_free_and_are_not_told)
{
    begin();
    while (n_heap < 2 * MIB) {
        add(64, RECORDED);
        add(128, UNRECORDED);
    }
    ck_assert_uint_eq(walked(), 0);
}

/* Where nothing is recorded nobody knows where a chunk begins. */
TEST(a_heap_without_recorded_blocks_is_not_walked)
{
    begin();
    while (n_heap < 2 * MIB)
        add(1024, UNRECORDED);
    ck_assert_uint_eq(walked(), 0);
}

/* Of addresses alone: nothing is there to be read. */
static uint64_t steps_of(uint64_t mib, uint64_t *told)
{
    enum { AT_ONCE = 16 }; /* as rss_look.c asks */
    const uintptr_t start = UINT64_C(0x500000000000);
    seep_heap_walk_begin(mib * MIB);
    *told = 0;
    for (uint64_t at = 0; at < mib; at += AT_ONCE)
        *told += seep_heap_walk(start + at * MIB, start + (at + AT_ONCE) * MIB);
    return seep_heap_walk_steps();
}

TEST(a_heap_is_searched_for_recorded_blocks_once)
{
    enum { PAGES = MIB / 4096, PIECES_MIB = 1 };
    const struct seep_block block = {.site = 7, .birth = 1, .bytes = 1000};
    uint64_t told;

    for (uint64_t mib = 256; mib <= 4096; mib *= 2)
        ck_assert_uint_le(steps_of(mib, &told), mib * (PAGES + PIECES_MIB));
    ck_assert_uint_eq(told, 0);
    /* Behind a recorded block which shows no chunk, and with one in every second piece. */
    ck_assert(seep_live_put(UINT64_C(0x500000000000) + 16, &block));
    ck_assert_uint_le(steps_of(4096, &told), 4096 * 2 * PAGES);
    for (uint64_t at = 0; at < 1024; at += 2)
        ck_assert(seep_live_put(UINT64_C(0x500000000000) + at * MIB + 32, &block));
    ck_assert_uint_le(steps_of(1024, &told), 1024 * 8 * PAGES);
    ck_assert_uint_eq(told, 0);
}

TEST(a_large_heap_is_looked_at_in_fewer_places)
{
    enum { READ = 128 }; /* pages that could be searched meanwhile */
    const struct seep_block block = {.site = 7, .birth = 1, .bytes = 1000};
    uint64_t told;
    for (uint64_t at = 0; at < 16384; at++)
        ck_assert(seep_live_put(UINT64_C(0x500000000000) + at * MIB + 16, &block));
    ck_assert_uint_le(steps_of(16384, &told), 4096 * (READ + 1));
}

TEST(what_a_look_did_not_come_to_is_not_taken_for_free)
{
    uint64_t told;
    const uint64_t steps = steps_of(64 << 10, &told);
    ck_assert_uint_gt(told, 0);
    ck_assert_uint_lt(told, (uint64_t)(64 << 10) * MIB);
    ck_assert_uint_lt(steps, 9 << 20);
    (void)steps_of(16, &told);
    ck_assert_uint_eq(told, 0); /* each look begins anew */
}

/* Another allocator's blocks are recorded, too: the words before them are no sizes. */
TEST(what_is_no_heap_of_libcs_is_not_walked)
{
    begin();
    while (n_heap < 2 * MIB)
        add(1024, n_heap % 2048 ? UNRECORDED : RECORDED);
    srand(1);
    for (size_t i = 0; i + 8 <= n_heap; i += 8)
        *(uint64_t *)(void *)(heap + i) = (uint64_t)rand() << 20 ^ (uint64_t)rand();
    ck_assert_uint_lt(walked(), n_heap / 100);
}

TEST(what_is_unmapped_meanwhile_ends_a_walk)
{
    begin();
    while (n_heap < 4 * MIB) {
        add(1024, RECORDED);
        add(2048, UNRECORDED);
    }
    for (size_t at = 0; at < n_heap; at += 64 * 4096)
        munmap(heap + at, 8 * 4096);
    seep_heap_walk_begin(n_heap);
    ck_assert_uint_le(seep_heap_walk((uintptr_t)heap, (uintptr_t)heap + n_heap), n_heap);
}

SUITE("heap walk")
