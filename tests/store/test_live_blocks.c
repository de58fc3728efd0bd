/* The live set of blocks, compared with what is known of it. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/store/live_blocks.h"
#include "tests/suite.h"

static void put(uintptr_t at, uint32_t site, uint32_t birth, uint64_t bytes)
{
    struct seep_block block = {.site = site, .birth = birth, .bytes = bytes};
    ck_assert(seep_live_put(at, &block));
}

static void expect(uintptr_t at, uint32_t site, uint32_t birth, uint64_t bytes)
{
    struct seep_block block;
    ck_assert(seep_live_take(at, &block));
    ck_assert_uint_eq(block.site, site);
    ck_assert_uint_eq(block.birth, birth);
    ck_assert_uint_eq(block.bytes, bytes);
    ck_assert(!seep_live_take(at, &block));
}

TEST(a_block_comes_back_as_it_went_in)
{
    static const uint64_t sizes[] = {
        0, 1, 24, 255, 256, 4096, (uint64_t)1 << 32, ((uint64_t)1 << 39) + 5};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        uintptr_t at = 0x7f0000000000 + i * ((uintptr_t)1 << 20);
        put(at, 4000 + (uint32_t)i, 77, sizes[i]);
        expect(at, 4000 + (uint32_t)i, 77, sizes[i]);
    }
    put(0x10000, (1u << 24) - 1, 0x7fffffff, 300);
    expect(0x10000, (1u << 24) - 1, 0x7fffffff, 300);
}

/* What a freed block leaves behind must not look like a block when the allocator cuts it in pieces.
 */
TEST(pieces_of_a_freed_block_are_new)
{
    struct seep_block block;
    uintptr_t at = 0x550000000000;
    put(at, 5000, 3, 100000);
    expect(at, 5000, 3, 100000);
    for (uintptr_t i = 0; i < 8; i++)
        ck_assert(!seep_live_take(at + i * 16, &block));
}

TEST(the_last_block_of_a_region_fits)
{
    uintptr_t end = (uintptr_t)3 << SEEP_REGION_BITS;
    put(end - 16, 2000, 9, 100000);
    put(end + 32, 2001, 9, 10);
    expect(end - 16, 2000, 9, 100000);
    expect(end + 32, 2001, 9, 10);
}

TEST(blocks_of_other_allocators_are_kept_beside)
{
    struct seep_block block;
    seep_live_packed = true;
    for (uintptr_t i = 0; i < 20000; i++)
        put(0x660000000000 + i * 8, 3000 + (uint32_t)i, (uint32_t)i, 8); /* 8 bytes apart */
    put((uintptr_t)1 << 50, 7, 7, 7);
    ck_assert_uint_eq(seep_live_spilled, 20001);
    for (uintptr_t i = 0; i < 20000; i++)
        expect(0x660000000000 + i * 8, 3000 + (uint32_t)i, (uint32_t)i, 8);
    expect((uintptr_t)1 << 50, 7, 7, 7);
    ck_assert(!seep_live_take(0x660000000000, &block));
    ck_assert_uint_eq(seep_live_spilled, 0);
    seep_live_packed = false;
}

/* Announced blocks lie above every address; each malloc asks whether it knows its address. */
TEST(a_block_beside_costs_the_others_no_lock)
{
    struct seep_block block;
    put((uintptr_t)1 << 56, 7, 7, 7);
    struct seep_lock *lock = seep_live_lock(0);
    ck_assert(seep_os_lock(lock));
    ck_assert(!seep_live_take(0x660000000000, &block));
    ck_assert_uint_eq(lock->word, 1); /* nobody waited for it, or gave up */
    ck_assert_uint_eq(lock->given_up, 0);
    seep_os_unlock(lock);
    expect((uintptr_t)1 << 56, 7, 7, 7);
}

static bool is_of_site(const struct seep_block *block, unsigned site)
{
    return block->site == site;
}

/* As of a device that goes: what is in the range and is wanted, each once, and nothing else. */
TEST(blocks_of_a_range_are_taken_together)
{
    enum { MANY = 3000 };
    const uintptr_t first = (uintptr_t)0xf0 << 56, beyond = (uintptr_t)0xf3 << 56;
    struct seep_block block;
    unsigned n = 0;
    for (uintptr_t i = 0; i < MANY; i++) {
        put(first + i * 512, 4000 + (uint32_t)(i % 3), 1, 512);
        put(beyond + i * 512, 4000, 1, 512);
    }
    for (size_t at = 0; seep_live_spill_take_next(&at, first, beyond - 1, is_of_site, 4000, &block);
         n++)
        ck_assert_uint_eq(block.site, 4000);
    ck_assert_uint_eq(n, MANY / 3);
    for (uintptr_t i = 0; i < MANY; i++) {
        ck_assert(seep_live_take(first + i * 512, &block) == (i % 3 != 0));
        ck_assert(seep_live_take(beyond + i * 512, &block));
    }
}

SUITE("live set")
