/* What is resident of a map that belongs to several, told apart page by page, whatever pages a
 * machine has. The kernel's lines are made up here, its pages are real. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libprof/runtime/store/intern.h"
#include "libprof/runtime/store/live_blocks.h"
#include "libprof/runtime/store/site_table.h"
#include "preload/job/job.h"
#include "preload/pages/smaps.h"
#include "preload/record/capture.h"
#include "preload/record/map_set.h"
#include "preload/record/rss_look.h"
#include "preload/record/tick.h"
#include "tests/large_pages.h"
#include "tests/own_profile.h"
#include "tests/suite.h"

#define PAGE ((uint64_t)seep_os_page_bytes())

enum { PAGES = 96 };

__thread struct seep_tls seep_tls;
static uint32_t activity = SEEP_RECORDING;
uint32_t *seep_activity = &activity;

static struct seep_thread thread;
static uint32_t stack, site;
static char *map; /* [PAGES], of which so many were touched */
static uint64_t n_touched;
static struct seep_rss_sample sample;

uint32_t seep_capture(struct seep_thread *of, const struct seep_regs *regs, unsigned space)
{
    (void)regs;
    return seep_site_find(&of->sites, stack, space);
}

void seep_tick(struct seep_thread *of)
{
    (void)of;
}

bool seep_smaps_read(void (*each)(const struct seep_vma *vma, void *arg), void *arg)
{
    const struct seep_vma vma = {.start = (uintptr_t)map,
                                 .end = (uintptr_t)map + PAGES * PAGE,
                                 .rss_bytes = n_touched * PAGE,
                                 .anonymous_bytes = n_touched * PAGE};
    each(&vma, arg);
    return true;
}

static void set_up(void)
{
    own_profile_open(8 << 20);
    seep_tls.depth = 1;
    seep_tls.thread = &thread;
    ck_assert(seep_os_lock(&seep_arena.lock));
    stack = seep_intern_stack(0, seep_intern_frame(SEEP_FRAME_NATIVE, 0, 1));
    seep_os_unlock(&seep_arena.lock);
    site = seep_site_find(&thread.sites, stack, SEEP_SPACE_HOST);
    for (uint32_t period = 1; period < 8; period++) /* until it has a detail */
        seep_site_allocated(&thread.sites, seep_site_at(site), 1, 8000, 8000, period);
    map = large_pages_map(PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE);
    n_touched = 0;
}

static void tear_down(void)
{
    own_profile_remove();
}

/* Any byte of a page makes all of it resident. */
static void touch(uint64_t first, uint64_t n)
{
    for (uint64_t i = first; i < first + n; i++)
        map[i * PAGE + i * 4096 % PAGE] = 1;
    n_touched += n;
}

static void block(uint64_t at, uint64_t bytes)
{
    const struct seep_block it = {.site = site, .birth = 1, .bytes = bytes};
    ck_assert(seep_live_put((uintptr_t)map + at, &it));
}

static void look(uint64_t live_bytes)
{
    memset(&sample, 0, sizeof sample);
    ck_assert(seep_rss_look(live_bytes, n_touched * PAGE, &sample));
    ck_assert_uint_eq(sample.rss_bytes, n_touched * PAGE);
}

TEST(each_page_is_told_by_who_has_it)
{
    const struct seep_regs nowhere = {0};

    seep_map_made(SEEP_SPACE_MMAP, SEEP_RANGE_COMMITTED, (uintptr_t)map + 10 * PAGE, 10 * PAGE,
                  &nowhere);
    seep_own_add(map + 30 * PAGE, 10 * PAGE);
    for (uint64_t at = 50 * PAGE; at < 54 * PAGE; at += 4096) /* few, though of many small pages */
        block(at + 64, 100);
    touch(11, 3);
    touch(31, 5);
    touch(50, 4);
    touch(60, 7);
    look(3 * PAGE);
    ck_assert_uint_eq(sample.maps_bytes, 3 * PAGE);
    ck_assert_uint_eq(sample.seep_bytes, 5 * PAGE);
    ck_assert_uint_eq(sample.heap_live_bytes, 3 * PAGE);
    ck_assert_uint_eq(sample.heap_free_bytes, PAGE);
    ck_assert_uint_eq(sample.unexplained_bytes, 7 * PAGE);
}

/* Pages 17 to 80, but for a part of the last one, and a part of page 16; half of them touched. */
static void make_large_block(void)
{
    block(16 * PAGE + PAGE / 4 * 3, 64 * PAGE);
    touch(49, 32);
}

TEST(of_a_large_block_what_was_touched_is_resident)
{
    make_large_block();
    look(64 * PAGE);
    const struct seep_detail *detail = seep_site_detail(seep_site_at(site));
    ck_assert_uint_eq(sample.heap_live_bytes, 32 * PAGE);
    ck_assert_uint_eq(sample.heap_free_bytes, 0);
    ck_assert_uint_eq(sample.unexplained_bytes, 0);
    ck_assert_uint_eq(sample.written_bytes, 0);
    ck_assert_ptr_nonnull(detail);
    ck_assert_uint_eq(detail->looked_bytes, 64 * PAGE);
    ck_assert_uint_eq(detail->untouched_bytes, 32 * PAGE);
}

/* All that is touched here is this process's alone; of the last page a part is not the block's. */
TEST(whose_the_pages_of_an_inherited_block_are_is_asked_of_the_kernel)
{
    seep_sites_first_own = UINT32_MAX;
    make_large_block();
    look(64 * PAGE);
    ck_assert_uint_eq(sample.written_bytes, 31 * PAGE);
    ck_assert_uint_eq(sample.written_site, site);
}

LARGE_PAGES_SETUPS(set_up)
SUITE("resident pages", .setups = large_pages_setups, .n_setups = N(large_pages_setups),
      .teardown = tear_down)
