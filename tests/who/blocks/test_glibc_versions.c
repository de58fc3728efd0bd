/* What malloc of several glibcs leaves in memory, made up as they do: heads of chunks with a
 * mapping of their own, and the caches of threads. */
#include "libprof/who/blocks/glibc_chunks.h"
#include "tests/suite.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, PAGES = 64, IS_MAPPED = 2, AT = 0x700000 };

static uint64_t words[PAGES * PAGE / 8];
static struct seep_block_list blocks;
static struct seep_window window;
static struct seep_memory *memory;

static size_t read_some(void *context, uint64_t address, void *to, size_t n)
{
    (void)context;
    if (address < AT || address >= AT + sizeof words)
        return 0;
    n = n < AT + sizeof words - address ? n : (size_t)(AT + sizeof words - address);
    memcpy(to, (uint8_t *)words + (address - AT), n);
    return n;
}

static void setup(void)
{
    memset(words, 0, sizeof words);
    blocks = (struct seep_block_list){.most = 1000};
    ck_assert_int_eq(seep_window_init(&window, PAGE, read_some, NULL), 0);
    memory = malloc(sizeof *memory);
    ck_assert_ptr_nonnull(memory);
    seep_memory_init(memory, read_some, NULL, 1 << 20);
}

static void teardown(void)
{
    seep_memory_fini(memory);
    free(memory);
    seep_window_fini(&window);
    seep_block_list_fini(&blocks);
}

static void put(uint64_t address, uint64_t word)
{
    words[(address - AT) / 8] = word;
}

/* ---- with a mapping of its own --------------------------------------------------------------- */

/* Of a mapping of `pages`; where the heads are, by their distances, and what is usable. */
static const struct {
    unsigned pages;
    struct {
        uint64_t at, before, size; /* `at` UINT64_MAX: there is no such head */
    } heads[2];
    uint64_t block, usable; /* 0: it is none */
} mapped[] = {
    {3, {{0, 0, 3 * PAGE | IS_MAPPED}, {UINT64_MAX, 0, 0}}, 16, 3 * PAGE - 16},
    {3, {{0, 0, 3 * PAGE | IS_MAPPED}, {48, 48, (3 * PAGE - 48) | IS_MAPPED}}, 64, 3 * PAGE - 64},
    /* since 2.43 */
    {3, {{0, 0, (3 * PAGE - 16) | IS_MAPPED}, {UINT64_MAX, 0, 0}}, 16, 3 * PAGE - 24},
    {3, {{0, 1, (3 * PAGE - 16) | IS_MAPPED}, {UINT64_MAX, 0, 0}}, 16, 3 * PAGE - 24},
    {3, {{48, 48, (3 * PAGE - 64) | IS_MAPPED}, {UINT64_MAX, 0, 0}}, 64, 3 * PAGE - 72},
    {3, {{4080, 4080, (2 * PAGE) | IS_MAPPED}, {UINT64_MAX, 0, 0}}, 4096, 2 * PAGE - 8},
    /* none: another distance, not mapped, no whole pages, beyond the map's end */
    {3, {{48, 32, (3 * PAGE - 64) | IS_MAPPED}, {UINT64_MAX, 0, 0}}, 0, 0},
    {3, {{0, 0, 3 * PAGE - 16}, {UINT64_MAX, 0, 0}}, 0, 0},
    {3, {{0, 0, (3 * PAGE - 32) | IS_MAPPED}, {UINT64_MAX, 0, 0}}, 0, 0},
    {PAGES + 1, {{0, 0, (PAGES + 1) * PAGE | IS_MAPPED}, {UINT64_MAX, 0, 0}}, 0, 0},
};

TEST(a_chunk_with_a_mapping_of_its_own_is_as_large_as_its_libc_says, .to = N(mapped))
{
    for (int k = 0; k < 2; k++) {
        if (mapped[_i].heads[k].at == UINT64_MAX)
            continue;
        put(AT + mapped[_i].heads[k].at, mapped[_i].heads[k].before);
        put(AT + mapped[_i].heads[k].at + 8, mapped[_i].heads[k].size);
    }
    const uint64_t bytes = seep_glibc_mapped(&blocks, &window, AT, AT + sizeof words);
    ck_assert_uint_eq(bytes, mapped[_i].usable ? mapped[_i].pages * (uint64_t)PAGE : 0);
    ck_assert_uint_eq(blocks.n, mapped[_i].usable != 0);
    if (blocks.n) {
        ck_assert_uint_eq(blocks.list[0].start, AT + mapped[_i].block);
        ck_assert_uint_eq(blocks.list[0].bytes, mapped[_i].usable);
    }
}

/* Where pages are of 64 KiB a block may be aligned to as much. */
TEST(a_block_on_a_large_page_is_aligned_to_more)
{
    enum { LARGE = 64 << 10, BEFORE = (32 << 10) - 16 };

    window.page_bytes = LARGE;
    put(AT + BEFORE, BEFORE);
    put(AT + BEFORE + 8, (2 * LARGE - BEFORE - 16) | IS_MAPPED);
    ck_assert_uint_eq(seep_glibc_mapped(&blocks, &window, AT, AT + sizeof words), 2 * LARGE);
    ck_assert_uint_eq(blocks.n, 1);
    ck_assert_uint_eq(blocks.list[0].start, AT + BEFORE + 16);
    ck_assert_uint_eq(blocks.list[0].bytes, 2 * LARGE - BEFORE - 24);
    window.n = 0;                                                       /* it is read again */
    put(AT + BEFORE + 8, (2 * LARGE - BEFORE - 16 - PAGE) | IS_MAPPED); /* no whole pages */
    ck_assert_uint_eq(seep_glibc_mapped(&blocks, &window, AT, AT + sizeof words), 0);
}

/* ---- the caches of threads ------------------------------------------------------------------- */

enum { CACHE = AT + PAGE, CHUNKS = AT + 2 * PAGE, EACH = 1280, LIMIT = 16 };

/* Chunk k of those of one size; some of them are in a cache. */
static uint64_t chunk(unsigned k)
{
    return CHUNKS + k * (uint64_t)EACH;
}

/* A cache of so many bins, with `n` chunks of `bytes` in bin `bin`, and another one that is live.
 */
static void make_cache(unsigned bins, bool has_room, bool mixed, unsigned bin, unsigned n,
                       uint64_t bytes)
{
    uint16_t *numbers = (uint16_t *)&words[(CACHE - AT) / 8];

    for (unsigned i = 0; i < bins; i++)
        numbers[i] = (uint16_t)(has_room ? LIMIT - (i == bin ? n : 0) : i == bin ? n : 0);
    put(CACHE + bins * 2 + 8 * bin, chunk(0));
    for (unsigned k = 0; k < n; k++) {
        const uint64_t next = k + 1 < n ? chunk(k + 1) : 0;
        put(chunk(k), mixed ? next ^ chunk(k) >> 12 : next);
        seep_block_add(&blocks, SEEP_BLOCK_CHUNK, chunk(k), bytes);
    }
    seep_block_add(&blocks, SEEP_BLOCK_CHUNK, chunk(n), bytes);
    seep_block_add(&blocks, SEEP_BLOCK_CHUNK, CACHE, bins == 64 ? 64 * 10 + 8 : 760);
    seep_block_sort(&blocks);
}

static void leave_out(unsigned n_live)
{
    const struct seep_maps maps = {.n = 0};

    ck_assert_int_eq(seep_glibc_leave_out_free(&blocks, memory, &maps), 0);
    ck_assert_uint_eq(blocks.n, n_live);
}

static const struct {
    unsigned bins, bin;
    bool has_room, mixed;
    uint64_t bytes;
} caches[] = {
    {64, 5, false, false, 104},                             /* 2.30 */
    {64, 5, false, true, 104},                              /* 2.32 */
    {76, 5, true, true, 104},                               /* 2.43 */
    {76, 0, true, true, 24},    {76, 75, true, true, 1272}, /* large ones, with tcache_max */
};

TEST(what_is_in_a_threads_cache_is_free, .to = N(caches))
{
    make_cache(caches[_i].bins, caches[_i].has_room, caches[_i].mixed, caches[_i].bin, 7,
               caches[_i].bytes);
    leave_out(2);
    ck_assert_uint_eq(blocks.free_bytes, 7 * caches[_i].bytes);
}

/* Any block of 760 bytes may look a little like one. */
TEST(a_block_whose_numbers_do_not_agree_is_no_cache, .to = 3)
{
    make_cache(76, true, true, 5, 7, 104);
    if (_i == 0)
        ((uint16_t *)&words[(CACHE - AT) / 8])[70]++;
    else if (_i == 1)
        put(chunk(3), (chunk(3) + 16) ^ chunk(3) >> 12); /* leads into the middle of a block */
    else
        put(chunk(6), chunk(0) ^ chunk(6) >> 12); /* and round */
    leave_out(9);
    ck_assert_uint_eq(blocks.free_bytes, 0);
}

SUITE("glibc's versions", .setup = setup, .teardown = teardown)
