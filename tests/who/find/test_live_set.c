/* The live set as it is read from outside. The process is this one. */
#include <string.h>
#include <unistd.h>

#include "libprof/runtime/store/live_blocks.h"
#include "libprof/runtime/store/live_place.h"
#include "libprof/runtime/store/os.h"
#include "libprof/who/find/live_set.h"
#include "tests/suite.h"

enum { SPREAD = 48 }; /* bytes from block to block: a page has more than fit its own words */

#define HEAP UINT64_C(0x7e0000000000)

static struct seep_remote_process from;
static struct seep_live_set set;

static void set_up(void)
{
    ck_assert_int_eq(seep_remote_process_init(&from, getpid()), 0);
}

static void tear_down(void)
{
    seep_live_set_fini(&set);
    seep_remote_process_fini(&from);
}

static void put(uint64_t at, uint32_t site, uint64_t bytes)
{
    const struct seep_block block = {.site = site, .bytes = bytes};
    ck_assert(seep_live_put(at, &block));
}

static void expect(uint64_t at, uint32_t site, uint64_t bytes)
{
    const size_t i = seep_live_set_find(&set, at);

    ck_assert_uint_lt(i, set.n);
    ck_assert_uint_eq(set.blocks[i].site, site);
    ck_assert_uint_eq(set.blocks[i].bytes, bytes);
}

TEST(each_block_has_the_site_that_made_it)
{
    enum { N = 1000 };
    struct seep_block gone;

    for (uint32_t i = 0; i < N; i++)
        put(HEAP + i * SPREAD, i + 1, 16 + i);
    put(HEAP - (UINT64_C(1) << 40), 7, UINT64_C(5) << 30);
    ck_assert(seep_live_take(HEAP + SPREAD, &gone));
    ck_assert_int_eq(seep_live_set_read(&set, seep_live_place(), &from.remote), 0);
    ck_assert_uint_eq(set.n, N);
    for (uint32_t i = 2; i < N; i++)
        expect(HEAP + i * SPREAD, i + 1, 16 + i);
    expect(HEAP - (UINT64_C(1) << 40), 7, UINT64_C(5) << 30);
    ck_assert_uint_eq(seep_live_set_find(&set, HEAP + SPREAD), set.n);
    ck_assert_uint_eq(seep_live_set_find(&set, HEAP + 16), set.n);
}

TEST(what_seep_has_mapped_is_its_own)
{
    const char *pages = seep_os_pages(3 * 4096);
    bool found = false;

    ck_assert_int_eq(seep_live_set_read(&set, seep_live_place(), &from.remote), 0);
    for (size_t i = 0; i < set.n_own; i++)
        found = found || (set.own[i].start <= (uintptr_t)pages &&
                          set.own[i].end >= (uintptr_t)pages + 3 * 4096);
    ck_assert(found);
}

/* Places that are none, and one that leads in a circle. */
TEST(any_memory_in_its_place_is_survived)
{
    static uint64_t circle[SEEP_N_ROOTS], pages[2 * SEEP_REGION_PAGES];
    struct seep_live_place place = *(const struct seep_live_place *)seep_live_place();

    ck_assert_int_eq(seep_live_set_read(&set, 0, &from.remote), 0);
    ck_assert_int_eq(seep_live_set_read(&set, UINT64_MAX, &from.remote), 0);
    ck_assert_int_eq(seep_live_set_read(&set, (uintptr_t)circle, &from.remote), 0);
    ck_assert_uint_eq(set.n, 0);
    for (size_t i = 0; i < SEEP_N_ROOTS; i++)
        circle[i] = (uintptr_t)circle;
    memset(pages, 0xff, sizeof pages);
    place.roots = (uintptr_t)circle;
    place.own = place.n_own = 5;
    ck_assert_int_eq(seep_live_set_read(&set, (uintptr_t)&place, &from.remote), 0);
    ck_assert_uint_eq(set.n_own, 1);
}

SUITE("live set", .setup = set_up, .teardown = tear_down)
