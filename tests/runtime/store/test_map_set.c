/* What is counted of maps that count by touch, held against real pages. The stack of a call is made
 * up here, and so is the clock. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libprof/runtime/store/intern.h"
#include "preload/job/job.h"
#include "preload/record/capture.h"
#include "preload/record/map_resident.h"
#include "preload/record/map_set.h"
#include "preload/record/tick.h"
#include "tests/large_pages.h"
#include "tests/own_profile.h"
#include "tests/suite.h"

#define PAGE seep_os_page_bytes()
enum { RW = PROT_READ | PROT_WRITE };

__thread struct seep_tls seep_tls;
static uint32_t activity = SEEP_RECORDING;
uint32_t *seep_activity = &activity;

static struct seep_thread first, second;
static uint32_t stack;
static const struct seep_regs nowhere;

uint32_t seep_capture(struct seep_thread *thread, const struct seep_regs *regs, unsigned space)
{
    (void)regs;
    return seep_site_find(&thread->sites, stack, space);
}

void seep_tick(struct seep_thread *thread)
{
    (void)thread;
}

static void setup(void)
{
    own_profile_open(8 << 20);
    seep_tls.depth = 1;
    ck_assert(seep_os_lock(&seep_arena.lock));
    stack = seep_intern_stack(0, seep_intern_frame(SEEP_FRAME_NATIVE, 0, 1));
    seep_os_unlock(&seep_arena.lock);
    second.sites.slot = 1;
    seep_tls.thread = &first;
}

static void teardown(void)
{
    own_profile_remove();
}

/* Pages of its own, between two that cannot be used, so that the kernel joins nothing to them. */
static char *pages(unsigned n)
{
    char *p = large_pages_map((n + 2) * PAGE, PROT_NONE, MAP_PRIVATE);
    ck_assert(mprotect(p + PAGE, n * PAGE, RW) == 0);
    return p + PAGE;
}

static void made(const char *p, unsigned n, enum seep_range_state state)
{
    seep_map_made(SEEP_SPACE_MMAP, state, (uintptr_t)p, n * PAGE, &nowhere);
}

static void resident(const char *p, unsigned n, unsigned resident_pages)
{
    seep_map_resident((uintptr_t)p, (uintptr_t)p + n * PAGE, resident_pages * (uint64_t)PAGE,
                      false);
}

/* Of the one site of a thread: pages that live, objects made and gone. */
static void expect(struct seep_thread *thread, int64_t live, uint64_t objects,
                   uint64_t objects_gone)
{
    const struct seep_site *site = seep_site_at(seep_site_find(&thread->sites, stack, 1));
    const struct seep_detail *detail = seep_site_detail(site);
    uint64_t freed = site->freed_bytes + (detail ? detail->remote_freed_bytes : 0);
    uint64_t frees = site->frees + (detail ? detail->remote_frees : 0);
    ck_assert_int_eq((int64_t)(site->allocated_bytes - freed), live * (int64_t)PAGE);
    ck_assert_uint_eq(site->allocations, objects);
    ck_assert_uint_eq(frees, objects_gone);
}

TEST(a_map_of_its_own_counts_what_the_kernel_says)
{
    char *p = pages(100);
    made(p, 100, SEEP_RANGE_BY_TOUCH);
    expect(&first, 0, 1, 0);
    ck_assert(seep_map_any_by_touch());
    resident(p, 100, 40);
    expect(&first, 40, 1, 0);
    resident(p, 100, 30);
    expect(&first, 30, 1, 0);
    ck_assert_uint_eq(seep_map_overlap((uintptr_t)p + PAGE, (uintptr_t)p + 200 * PAGE), 99 * PAGE);
    seep_map_gone((uintptr_t)p, (uintptr_t)p + 100 * PAGE);
    expect(&first, 0, 1, 1);
    ck_assert(!seep_map_any_by_touch());
    ck_assert_uint_eq(seep_site_at(seep_site_find(&first.sites, stack, 1))->peak_bytes, 40 * PAGE);
}

TEST(a_map_that_the_kernel_has_cut_counts_all_of_it)
{
    char *p = pages(90);
    made(p, 90, SEEP_RANGE_BY_TOUCH);
    for (int i = 0; i < 2; i++) {
        resident(p, 30, 10);
        expect(&first, i * 15, 1, 0);
        resident(p + 30 * PAGE, 30, 0);
        resident(p + 60 * PAGE, 30, 5);
        expect(&first, 15, 1, 0);
    }
}

TEST(maps_that_the_kernel_has_joined_are_told_apart_by_their_pages)
{
    char *p = pages(4000);
    made(p, 1000, SEEP_RANGE_BY_TOUCH);
    made(p + 1000 * PAGE, 1000, SEEP_RANGE_COMMITTED);
    made(p + 2000 * PAGE, 1500, SEEP_RANGE_BY_TOUCH);
    memset(p + 300 * PAGE, 1, 100 * PAGE);
    memset(p + 1500 * PAGE, 1, 1000 * PAGE);
    resident(p, 4000, 1100);
    expect(&first, 100 + 1000 + 500, 3, 0);
    seep_map_gone((uintptr_t)p, (uintptr_t)p + 1000 * PAGE);
    expect(&first, 1000 + 500, 3, 1);
    ck_assert(munmap(p + 2000 * PAGE, 2000 * PAGE) == 0);
    resident(p, 2000, 600); /* what is not there is not corrected */
    expect(&first, 1000 + 500, 3, 1);
}

/* Nobody looks at 100 TiB page by page: addresses that nothing is mapped at. */
TEST(of_very_large_maps_each_takes_a_share)
{
    const uintptr_t at = (uintptr_t)1 << 45, tib = (uintptr_t)1 << 40;
    seep_map_made(SEEP_SPACE_MMAP, SEEP_RANGE_BY_TOUCH, at, tib, &nowhere);
    seep_map_made(SEEP_SPACE_MMAP, SEEP_RANGE_COMMITTED, at + tib, 50 * PAGE, &nowhere);
    seep_map_made(SEEP_SPACE_MMAP, SEEP_RANGE_BY_TOUCH, at + 2 * tib, 3 * tib, &nowhere);
    seep_map_resident(at, at + 9 * tib, 50 * PAGE + 4000 * PAGE, false);
    expect(&first, 4050, 3, 0);
    seep_map_gone(at, at + tib);
    expect(&first, 3050, 3, 1);
    seep_map_resident(at, at + 9 * tib, 20 * PAGE, false); /* fewer than are counted whole */
    expect(&first, 50, 3, 1);
    seep_map_gone(at, at + 9 * tib);
    expect(&first, 0, 3, 3);
}

/* Others unmap what lies beside it while the pages are counted: it has not got theirs. */
TEST(beside_what_is_unmapped_meanwhile_nothing_is_corrected)
{
    const size_t huge = (size_t)1 << 30, some = 50 * PAGE;
    char *p = large_pages_map(huge + some, RW, MAP_PRIVATE | MAP_NORESERVE);
    seep_map_made(SEEP_SPACE_MMAP, SEEP_RANGE_BY_TOUCH, (uintptr_t)p + some, huge, &nowhere);
    memset(p, 1, some);
    memset(p + some, 1, 3 * PAGE);
    seep_map_resident((uintptr_t)p, (uintptr_t)p + some + huge, some + 3 * PAGE, false);
    expect(&first, 3, 1, 0);
    ck_assert(munmap(p + 20 * PAGE, 10 * PAGE) == 0);
    seep_map_resident((uintptr_t)p, (uintptr_t)p + some + huge, some + 3 * PAGE, false);
    expect(&first, 3, 1, 0);
    munmap(p, huge + some);
}

TEST(another_threads_map_moves_to_who_corrects_it)
{
    char *p = pages(10);
    made(p, 10, SEEP_RANGE_BY_TOUCH);
    seep_tls.thread = &second;
    resident(p, 10, 4);
    expect(&first, 0, 1, 1);
    expect(&second, 4, 1, 0);
    resident(p, 10, 7);
    expect(&second, 7, 1, 0);
    seep_map_gone((uintptr_t)p, (uintptr_t)p + 10 * PAGE);
    expect(&first, 0, 1, 1);
    expect(&second, 0, 1, 1);
    ck_assert_uint_eq(seep_arena.header->dropped[SEEP_DROP_MEMORY], 0);
}

TEST(a_map_that_was_inherited_stays_the_parents)
{
    char *p = pages(10);
    made(p, 10, SEEP_RANGE_BY_TOUCH);
    seep_sites_first_own = UINT32_MAX;
    resident(p, 10, 4);
    expect(&first, 0, 1, 0);
}

TEST(what_is_given_back_is_corrected_by_the_next_look)
{
    char *p = pages(100);
    made(p, 100, SEEP_RANGE_COMMITTED);
    expect(&first, 100, 1, 0);
    memset(p, 1, 60 * PAGE);
    seep_map_released((uintptr_t)p + 90 * PAGE, (uintptr_t)p + 300 * PAGE, false);
    expect(&first, 90, 1, 0);
    resident(p, 100, 60);
    expect(&first, 60, 1, 0);
    struct seep_range range;
    ck_assert(seep_range_find((uintptr_t)p, SEEP_RANGES_ALL, &range));
    ck_assert_uint_eq(range.end - range.start, 100 * PAGE);
}

TEST(what_is_committed_of_reserved_space_is_counted_alone)
{
    char *p = pages(10);
    made(p, 10, SEEP_RANGE_RESERVED);
    ck_assert_uint_eq(seep_map_overlap((uintptr_t)p, (uintptr_t)p + 10 * PAGE), 0);
    seep_map_committed((uintptr_t)p + PAGE, (uintptr_t)p + 4 * PAGE, &nowhere);
    seep_map_committed((uintptr_t)p, (uintptr_t)p + 5 * PAGE, &nowhere);
    expect(&first, 5, 3, 0);
    ck_assert_uint_eq(seep_map_overlap((uintptr_t)p, (uintptr_t)p + 10 * PAGE), 5 * PAGE);
    seep_map_gone((uintptr_t)p, (uintptr_t)p + 10 * PAGE);
    expect(&first, 0, 3, 3);
}

LARGE_PAGES_SETUPS(setup)
SUITE("map set", .setups = large_pages_setups, .n_setups = N(large_pages_setups), .setup = setup,
      .teardown = teardown)
