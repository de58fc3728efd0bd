/* Heaps laid out as libc does, in memory of the test's own: what is recorded, free, and neither. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "libprof/store/live_blocks.h"
#include "preload/record/heap_walk.h"
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
