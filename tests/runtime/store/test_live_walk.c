/* A walk of the live set finds each entered block once, unchanged. */
#include <check.h>
#include <stdlib.h>

#include "libprof/runtime/store/live_walk.h"
#include "tests/suite.h"

enum { MOST = 4096 };

static struct {
    uintptr_t address;
    struct seep_block block;
    bool seen;
} entered[MOST];
static unsigned n_entered, n_seen, n_strange;

static void put(uintptr_t at, uint32_t site, uint32_t birth, uint64_t bytes)
{
    struct seep_block block = {.site = site, .birth = birth, .bytes = bytes};
    ck_assert(seep_live_put(at, &block));
    ck_assert_uint_lt(n_entered, MOST);
    entered[n_entered].address = at;
    entered[n_entered++].block = block;
}

static void find(uintptr_t address, const struct seep_block *block, void *arg)
{
    ck_assert_ptr_eq(arg, &n_seen);
    for (unsigned i = 0; i < n_entered; i++) {
        if (entered[i].address != address)
            continue;
        ck_assert(!entered[i].seen);
        ck_assert_uint_eq(block->site, entered[i].block.site);
        ck_assert_uint_eq(block->birth, entered[i].block.birth);
        ck_assert_uint_eq(block->bytes, entered[i].block.bytes);
        entered[i].seen = true;
        n_seen++;
        return;
    }
    n_strange++;
}

static void expect_all(void)
{
    seep_live_each(find, &n_seen);
    ck_assert_uint_eq(n_seen, n_entered);
    ck_assert_uint_eq(n_strange, 0);
}

TEST(an_empty_set_has_none)
{
    expect_all();
}

TEST(few_blocks_of_a_page_are_found)
{
    for (uintptr_t page = 0; page < 10; page++)
        for (uintptr_t i = 0; i <= page % 4; i++)
            put(0x7f0000000000 + page * 4096 + i * 512, 100 + (uint32_t)i, 3, 400);
    expect_all();
}

/* With the largest numbers, so that no block's further words look like another block. */
TEST(pages_full_of_small_blocks_are_found)
{
    for (uintptr_t i = 0; i < 1000; i++)
        put(0x550000000000 + i * 48, (1u << 24) - 1, INT32_MAX, 32 + i % 16);
    for (uintptr_t i = 0; i < 100; i++)
        put(0x560000000000 + i * 512, (1u << 24) - 1, INT32_MAX, (UINT64_C(1) << 40) - 1);
    expect_all();
}

TEST(the_last_granule_of_a_page_is_found)
{
    for (uintptr_t i = 0; i < 5; i++)
        put(0x550000000000 + i * 64, 9, 9, 33);
    put(0x550000000000 + 4096 - 16, 7, 7, 1000);
    put(0x550000000000 + 4096 + 32, 8, 8, 1000);
    expect_all();
}

TEST(blocks_beside_are_found)
{
    put(0x550000000008, 9, 9, 33);
    put((uintptr_t)5 << 56 | 4096, 10, 9, 1 << 30);
    expect_all();
}

TEST(what_was_freed_is_not_there)
{
    struct seep_block block;
    for (uintptr_t i = 0; i < 500; i++)
        put(0x550000000000 + i * 64, 5, 6, 7 + i);
    for (uintptr_t i = 0; i < 250; i++)
        ck_assert(seep_live_take(entered[--n_entered].address, &block));
    expect_all();
}

TEST(neighbours_are_found_in_pages_and_their_tables)
{
    const uintptr_t page = 0x7f0000000000;
    uintptr_t at;
    uint64_t bytes;

    put(page + 512, 9, 3, 1 << 20);
    put(page + 1024, 9, 3, 100);
    for (uintptr_t i = 0; i < 100; i++)
        put(page + 2 * 4096 + i * 32, 9, 3, 24);
    put(page + 2 * 4096 + 3584, 9, 3, 5000); /* which takes a second word */
    ck_assert(seep_live_next(page, page + 4096, &at, &bytes) && at == page + 512);
    ck_assert_uint_eq(bytes, 1 << 20);
    ck_assert(seep_live_next(at + 1, page + 4096, &at, &bytes) && at == page + 1024);
    ck_assert(!seep_live_next(at + 1, page + 2 * 4096, &at, &bytes));
    ck_assert(seep_live_next(page + 4096, page + 3 * 4096, &at, &bytes));
    ck_assert_uint_eq(at, page + 2 * 4096);
    ck_assert(seep_live_next(at + 1, page + 3 * 4096, &at, &bytes));
    ck_assert_uint_eq(at, page + 2 * 4096 + 32);
    ck_assert(seep_live_previous(page, page + 3 * 4096, &at, &bytes));
    ck_assert_uint_eq(at, page + 2 * 4096 + 3584);
    ck_assert_uint_eq(bytes, 5000);
    ck_assert(seep_live_previous(page, page + 2 * 4096, &at, &bytes) && at == page + 1024);
    ck_assert(seep_live_previous(page, at, &at, &bytes) && at == page + 512);
    ck_assert(!seep_live_previous(page, page + 512, &at, &bytes));
    ck_assert(seep_live_has(page + 512) && seep_live_has(page + 2 * 4096 + 32));
    ck_assert(!seep_live_has(page + 528) && !seep_live_has(page + 4096));
}

SUITE("walk through the live set")
