/* The live set of blocks, compared with what is known of it. */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "libprof/runtime/store/live_blocks.h"
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

/* In any number of pages' places: the first two, a table's, those of tables behind it. */
TEST(all_blocks_of_a_page_come_back)
{
    for (uintptr_t apart = 16; apart <= 4096; apart += 16) {
        const uintptr_t page = 0x550000000000 + apart * 4096;
        for (uintptr_t i = 0; i < 4096 / apart; i++)
            put(page + i * apart, 5000 + (uint32_t)i, 3, i % 3 ? apart : UINT64_C(1) << 40);
        for (uintptr_t i = 4096 / apart; i-- > 0;)
            expect(page + i * apart, 5000 + (uint32_t)i, 3, i % 3 ? apart : UINT64_C(1) << 40);
    }
}

static uint32_t next_random(uint32_t x)
{
    x ^= x << 13;
    x ^= x >> 17;
    return x ^ x << 5;
}

TEST(blocks_come_and_go_at_random)
{
    enum { PLACES = 4096, EVENTS = 400000 };
    static uint32_t births[PLACES];
    const uintptr_t heap = 0x560000000000;
    struct seep_block block, stale;
    uint32_t x = 1, n_wrong = 0;

    for (uint32_t i = 1; i <= EVENTS; i++) {
        const uint32_t at = (x = next_random(x)) % PLACES;
        const uintptr_t address = heap + at * (uintptr_t)16;
        block = (struct seep_block){.site = at + 1, .birth = i, .bytes = i * (uint64_t)(at % 7)};
        if (x >> 20 & 1) {
            n_wrong += !seep_live_replace_at(seep_live_page(address), address, &block, &stale) ||
                       (stale.site ? stale.birth : 0) != births[at];
            births[at] = i;
        } else {
            n_wrong +=
                seep_live_take_at(seep_live_page(address), address, &block) != (births[at] != 0) ||
                (births[at] && (block.site != at + 1 || block.birth != births[at] ||
                                block.bytes != births[at] * (uint64_t)(at % 7)));
            births[at] = 0;
        }
    }
    ck_assert_uint_eq(n_wrong, 0);
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
    for (uintptr_t i = 0; i < 20000; i++)
        put(0x660000000000 + i * 8, 3000 + (uint32_t)i, (uint32_t)i, 8); /* 8 bytes apart */
    put((uintptr_t)1 << 50, 7, 7, 7);
    ck_assert_uint_eq(seep_live_spilled, 10001);
    for (uintptr_t i = 0; i < 20000; i++)
        expect(0x660000000000 + i * 8, 3000 + (uint32_t)i, (uint32_t)i, 8);
    expect((uintptr_t)1 << 50, 7, 7, 7);
    ck_assert(!seep_live_take(0x660000000000, &block));
    ck_assert_uint_eq(seep_live_spilled, 0);
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

/* ---- threads ------------------------------------------------------------------------------- */

enum { PAGE = 4096, THREADS = 4, ROUNDS = 300, OF_A_THREAD = 500 };

/* The blocks of all threads lie in turns, so they share pages and lines, which grow all the time.
 */
static void *come_and_go(void *first)
{
    const uintptr_t heap = 0x570000000000 + (uintptr_t)first * 48;
    struct seep_block block, stale;
    uintptr_t wrong = 0;

    for (uint32_t round = 1; round <= ROUNDS; round++) {
        const uintptr_t pages = heap + (round / 4) * (uintptr_t)(OF_A_THREAD * THREADS * 48);
        for (uint32_t i = 0; i < OF_A_THREAD; i++) {
            const uintptr_t at = pages + i * (uintptr_t)(THREADS * 48);
            block = (struct seep_block){.site = i + 1, .birth = round, .bytes = (i % 9) << 10};
            wrong += !seep_live_replace_at(seep_live_page(at), at, &block, &stale) || stale.site;
        }
        for (uint32_t i = 0; i < OF_A_THREAD; i++) {
            const uintptr_t at = pages + i * (uintptr_t)(THREADS * 48);
            wrong += !seep_live_take_at(seep_live_page(at), at, &block) || block.site != i + 1 ||
                     block.birth != round || block.bytes != (uint64_t)(i % 9) << 10;
        }
    }
    return (void *)wrong;
}

TEST(threads_share_pages_and_lose_nothing)
{
    pthread_t ids[THREADS];
    void *wrong;

    for (uintptr_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&ids[i], NULL, come_and_go, (void *)i), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(ids[i], &wrong);
        ck_assert_ptr_null(wrong);
    }
}

enum { GROWING = 4000, OF_A_PAGE = 25 };

static uintptr_t growing_page; /* which the other thread fills; 0: it has done all */

/* Its block often has the last place of a line that gets a table just then. */
static void *in_the_way(void *wrong)
{
    const struct seep_block block = {.site = 7, .birth = 7, .bytes = 7};
    struct seep_block seen, stale;
    uintptr_t page;

    while ((page = __atomic_load_n(&growing_page, __ATOMIC_ACQUIRE))) {
        struct seep_live_page *its = seep_live_page(page);
        const uintptr_t at = page + 4080;
        const bool done = seep_live_replace_at(its, at, &block, &stale);
        if (!done || stale.site || !seep_live_take_at(its, at, &seen) || seen.site != 7)
            ++*(unsigned *)wrong;
    }
    return NULL;
}

TEST(a_block_that_is_moved_takes_no_other_with_it)
{
    unsigned n_theirs = 0, n_lost = 0;
    uintptr_t heap = 0x580000000000;
    struct seep_block block;
    pthread_t id;

    put(heap, 1, 1, 1);
    growing_page = heap;
    ck_assert_int_eq(pthread_create(&id, NULL, in_the_way, &n_theirs), 0);
    for (uintptr_t page = heap + PAGE; page < heap + GROWING * PAGE; page += PAGE) {
        __atomic_store_n(&growing_page, page, __ATOMIC_RELEASE);
        for (uintptr_t i = 0; i < OF_A_PAGE; i++) {
            block = (struct seep_block){.site = 9, .birth = 9, .bytes = 9};
            n_lost += !seep_live_put(page + i * 160, &block);
        }
        for (uintptr_t i = 0; i < OF_A_PAGE; i++)
            n_lost += !seep_live_take(page + i * 160, &block);
    }
    __atomic_store_n(&growing_page, 0, __ATOMIC_RELEASE);
    pthread_join(id, NULL);
    ck_assert_uint_eq(n_lost, 0);
    ck_assert_uint_eq(n_theirs, 0);
}

/* ---- memory -------------------------------------------------------------------------------- */

enum { MANY = 500000 };

/* Resident bytes of all that seep has mapped: here, of the live set. */
static uint64_t resident_bytes(void)
{
    struct seep_own_range piece;
    const uintptr_t page = seep_os_page_bytes();
    uint64_t pages = 0;
    static unsigned char resident[1 << 16];

    for (uint32_t at = 0; seep_own_next(&at, 0, UINTPTR_MAX, &piece);)
        for (uintptr_t from = piece.start; from < piece.end; from += sizeof(resident) * page) {
            const uintptr_t n = (piece.end - from + page - 1) / page;
            const uintptr_t some = n < sizeof(resident) ? n : sizeof(resident);
            ck_assert_int_eq(mincore((void *)from, some * page, resident), 0);
            for (uintptr_t i = 0; i < some; i++)
                pages += resident[i] & 1;
        }
    return pages * page;
}

/* As malloc places it: 8 bytes before it, 16-byte alignment. */
static uint64_t taken_bytes(uint64_t bytes)
{
    const uint64_t taken = (bytes + 8 + 15) & ~UINT64_C(15);
    return taken < 32 ? 32 : taken;
}

static uint64_t constant(uint32_t x, uint64_t bytes)
{
    (void)x;
    return bytes;
}

static uint64_t any_up_to(uint32_t x, uint64_t most)
{
    return 16 + (x >> 3) % (most - 15);
}

/* As many of 16 to 31 bytes as of 32 to 63 and so on, up to 4095: a few small ones lie side by side
 * in pages of large ones. */
static uint64_t any_octave(uint32_t x, uint64_t octaves)
{
    const uint64_t bytes = (uint64_t)16 << (x >> 3) % octaves;
    return bytes + (x >> 6) % bytes;
}

static uintptr_t fill(uintptr_t at, uint64_t size_of(uint32_t x, uint64_t bytes), uint64_t bytes)
{
    uint32_t x = 1;

    for (uint32_t i = 0; i < MANY; i++) {
        const struct seep_block block = {
            .site = i + 1, .birth = 1, .bytes = size_of(x = next_random(x), bytes)};
        if (!seep_live_put(at, &block)) /* an assertion writes to a file */
            return 0;
        at += taken_bytes(block.bytes);
    }
    return at;
}

static uint32_t clear(uintptr_t at, uint64_t size_of(uint32_t x, uint64_t bytes), uint64_t bytes)
{
    struct seep_block block;
    uint32_t x = 1, n = 0;

    for (uint32_t i = 0; i < MANY; i++) {
        n += seep_live_take(at, &block);
        at += taken_bytes(size_of(x = next_random(x), bytes));
    }
    return n;
}

/* The directory has 16 bytes for each page, and a block of 4096 takes a little more than one. */
static const struct {
    uint64_t (*size_of)(uint32_t x, uint64_t bytes);
    uint64_t bytes;
    double most; /* bytes of the live set for each block */
} heaps[] = {
    {constant, 16, 16},   {constant, 48, 16},   {constant, 100, 16},   {constant, 200, 16},
    {constant, 300, 16},  {constant, 400, 16},  {constant, 600, 16},   {constant, 1000, 16},
    {constant, 1500, 16}, {constant, 2000, 16}, {constant, 3000, 16},  {constant, 4000, 16},
    {constant, 4096, 17}, {any_up_to, 600, 16}, {any_up_to, 4000, 16}, {any_octave, 8, 28},
};

TEST(a_live_block_takes_at_most_16_bytes, .to = N(heaps))
{
    const uintptr_t heap = 0x7e0000000000;
    const uintptr_t end = fill(heap, heaps[_i].size_of, heaps[_i].bytes);
    const uint64_t filled = resident_bytes();

    ck_assert_uint_gt(end, heap);
    ck_assert_double_le((double)filled / MANY, heaps[_i].most);
    ck_assert_uint_eq(clear(heap, heaps[_i].size_of, heaps[_i].bytes), MANY);
    ck_assert_uint_eq(fill(heap, heaps[_i].size_of, heaps[_i].bytes), end);
    ck_assert_uint_eq(resident_bytes(), filled);
}

SUITE("live set")
