/* What the shim writes: records, sites, series, and the bound of the file. */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libprof/runtime/store/intern.h"
#include "libprof/runtime/store/site_series.h"
#include "libprof/runtime/store/site_table.h"
#include "tests/own_profile.h"
#include "tests/suite.h"

static struct seep_sites sites;

static void open_profile(uint64_t max_bytes)
{
    memset(&sites, 0, sizeof(sites));
    own_profile_open(max_bytes);
}

static void setup(void)
{
    open_profile(64 << 20);
}

static void teardown(void)
{
    own_profile_remove();
}

static uint32_t a_stack(uint32_t number)
{
    ck_assert(seep_os_lock(&seep_arena.lock));
    const uint32_t frame = seep_intern_frame(SEEP_FRAME_NATIVE, 0, number + 1);
    const uint32_t stack = seep_intern_stack(0, frame);
    seep_os_unlock(&seep_arena.lock);
    return stack;
}

static uint32_t a_string(const char *text)
{
    ck_assert(seep_os_lock(&seep_arena.lock));
    const uint32_t ref = seep_intern_string(text, (uint32_t)strlen(text));
    seep_os_unlock(&seep_arena.lock);
    return ref;
}

static uint32_t taken(enum seep_chunk_type type, uint32_t bytes, uint32_t align)
{
    ck_assert(seep_os_lock(&seep_arena.lock));
    const uint32_t ref = seep_arena_take(type, bytes, align);
    seep_os_unlock(&seep_arena.lock);
    return ref;
}

TEST(equal_records_are_stored_once)
{
    uint32_t text = a_string("train.py");
    ck_assert_uint_ne(text, 0);
    ck_assert_uint_eq(a_string("train.py"), text);
    ck_assert_uint_ne(a_string("train.pz"), text);
    ck_assert_uint_eq(a_string(""), 0);
    struct seep_code_object code = {.file = text, .function = text, .first_line = 4};
    ck_assert(seep_os_lock(&seep_arena.lock));
    ck_assert_uint_eq(seep_intern_code(&code), seep_intern_code(&code));
    seep_os_unlock(&seep_arena.lock);
    for (uint32_t i = 0; i < 20000; i++)
        ck_assert_uint_ne(a_stack(i), 0);
    for (uint32_t i = 1; i < 20000; i++)
        ck_assert_uint_ne(a_stack(i), a_stack(i - 1));
}

TEST(records_of_all_sizes_stay_in_their_chunks)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < 4000; i++) {
        uint32_t bytes = 8 + 8 * (i % 300);
        uint32_t ref = taken(SEEP_CHUNK_STRINGS, bytes, 8);
        uint64_t from = (uint64_t)ref * 8 - SEEP_HEADER_BYTES, to = from + bytes - 1;
        ck_assert_uint_gt(ref, last);
        ck_assert_uint_eq(from / SEEP_CHUNK_BYTES, to / SEEP_CHUNK_BYTES);
        ck_assert_uint_eq(seep_arena.header->chunk_types[from / SEEP_CHUNK_BYTES],
                          SEEP_CHUNK_STRINGS);
        const char *record = seep_arena_at(ref);
        uint32_t dirty = 0; /* one check a record: Check's parent hears of each */
        for (uint32_t k = 0; k < bytes; k++)
            dirty += record[k] != 0;
        ck_assert_uint_eq(dirty, 0);
        memset(seep_arena_at(ref), 0xff, bytes);
        last = ref;
    }
}

static void allocate(struct seep_site *site, uint64_t bytes, uint32_t period)
{
    seep_site_allocated(&sites, site, 1, bytes, bytes, period);
}

static void release(struct seep_site *site, uint64_t bytes, uint32_t birth, uint32_t period)
{
    struct seep_block block = {.site = seep_arena_ref(site) / 8, .birth = birth, .bytes = bytes};
    seep_site_freed(&sites, &block, 1, bytes, period);
}

TEST(a_leak_of_a_day_keeps_its_shape)
{
    enum { PERIODS = 1000000, BYTES = 48 };
    struct seep_site *site = seep_site_at(seep_site_find(&sites, a_stack(1), 0));
    for (uint32_t period = 1; period <= PERIODS; period++) {
        allocate(site, BYTES, period);
        allocate(site, 1000, period);
        release(site, 1000, period, period);
    }
    ck_assert_uint_eq(site->allocations, 2 * PERIODS);
    ck_assert_uint_eq(site->frees, PERIODS);
    ck_assert_uint_eq(site->allocated_bytes - site->freed_bytes, (uint64_t)PERIODS * BYTES);
    const struct seep_detail *detail = seep_site_detail(site);
    ck_assert_ptr_nonnull(detail);
    const struct seep_series *series = seep_arena_at(detail->series);
    ck_assert_uint_eq(series->capacity, SEEP_SERIES_LARGE);
    ck_assert_uint_ge(series->n, SEEP_SERIES_LARGE / 2 - 1);
    for (uint32_t i = 0; i < series->n; i++) {
        ck_assert(i == 0 || series->points[i].period > series->points[i - 1].period);
        ck_assert_uint_eq(series->points[i].live_bytes, (uint64_t)series->points[i].period * BYTES);
        ck_assert_uint_eq(series->points[i].live_blocks, series->points[i].period);
    }
    ck_assert_uint_gt(series->points[series->n - 1].period, PERIODS - (2u << series->shift));
}

TEST(ages_are_counted_in_their_buckets)
{
    struct seep_site *site = seep_site_at(seep_site_find(&sites, a_stack(2), 0));
    for (uint32_t period = 1; period < 8; period++)
        allocate(site, 1000, period);
    const struct seep_detail *detail = seep_site_detail(site);
    ck_assert_ptr_nonnull(detail);
    release(site, 1000, 7, 7);
    release(site, 1000, 6, 7);
    release(site, 1000, 1, 101);
    ck_assert_uint_eq(detail->lifetimes[1], 1);
    ck_assert_uint_eq(detail->lifetimes[seep_lifetime_bucket(100)], 1);
    ck_assert_uint_eq(detail->max_lifetime, 100);
    for (uint32_t age = 0; age < 70000; age++) {
        unsigned bucket = seep_lifetime_bucket(age);
        ck_assert_uint_le(seep_lifetime_floor(bucket), age);
        ck_assert(bucket + 1 >= SEEP_LIFETIME_BUCKETS || seep_lifetime_floor(bucket + 1) > age);
    }
}

/* As of compilers that run in the job: 100,000 stacks, used again and again, would fill the file.
 */
TEST(a_site_that_never_holds_much_takes_no_more_than_itself)
{
    struct seep_site *site = seep_site_at(seep_site_find(&sites, a_stack(4), 0));
    allocate(site, SEEP_WORTH_SERIES_BYTES - 1, 1);
    for (uint32_t period = 2; period < 1000; period++) {
        allocate(site, 4000, period);
        release(site, 4000, period, period);
    }
    ck_assert_ptr_null(seep_site_detail(site));
    ck_assert_uint_eq(site->detail, SEEP_MANY_PERIODS);
    ck_assert_uint_eq(site->last_period, 999);
}

TEST(a_site_gets_a_series_once_it_holds_what_that_takes)
{
    struct seep_site *site = seep_site_at(seep_site_find(&sites, a_stack(5), 0));
    for (uint32_t period = 1; period <= 50; period++)
        allocate(site, 20, period);
    const struct seep_detail *detail = seep_site_detail(site);
    ck_assert_ptr_nonnull(detail);
    const struct seep_series *series = seep_arena_at(detail->series);
    ck_assert_uint_eq(series->capacity, SEEP_SERIES_SMALL);
    ck_assert_uint_eq(series->points[0].live_bytes, 900);
    ck_assert_uint_eq(series->points[0].period, 45);
    for (uint32_t period = 51; period <= 300; period++)
        allocate(site, 20, period);
    series = seep_arena_at(detail->series);
    ck_assert_uint_eq(series->capacity, SEEP_SERIES_LARGE);
}

/* Sizes of blocks that are freed at once say what is padded, or asked for in ever new sizes. */
TEST(large_blocks_that_live_briefly_have_their_sizes_noted)
{
    struct seep_site *site = seep_site_at(seep_site_find(&sites, a_stack(6), 0));
    for (uint32_t period = 1; period < 10; period++) {
        allocate(site, 20000 + period, period);
        release(site, 20000 + period, period, period);
    }
    const struct seep_detail *detail = seep_site_detail(site);
    ck_assert_ptr_nonnull(detail);
    ck_assert_uint_eq(detail->max_bytes, 20009);
    ck_assert_uint_eq(detail->series, 0);
}

TEST(blocks_freed_by_another_thread_are_counted_apart)
{
    struct seep_sites other = {.slot = 1};
    uint32_t index = seep_site_find(&sites, a_stack(3), 0);
    struct seep_site *site = seep_site_at(index);
    struct seep_block block = {.site = index, .birth = 1, .bytes = 100};
    allocate(site, 100, 1);
    allocate(site, 100, 1);
    seep_site_freed(&other, &block, 1, 100, 2);
    ck_assert_uint_eq(site->frees, 0);
    ck_assert_uint_eq(seep_site_detail(site)->remote_frees, 1);
    ck_assert_uint_eq(seep_site_detail(site)->remote_freed_bytes, 100);
}

static void open_small_profile(void)
{
    teardown();
    seep_arena_base = NULL;
    open_profile(SEEP_HEADER_BYTES + 16 * SEEP_CHUNK_BYTES);
}

static void fill_profile(void)
{
    uint32_t i = 0;
    while (!seep_arena.full)
        ck_assert_uint_ne(seep_site_find(&sites, a_stack(i++), 0), 0);
    while (a_stack(i++) || taken(SEEP_CHUNK_SITES, 64, 64))
        continue;
}

enum { SHARERS = 4, EACH = 100000 };

static void *share(void *slot)
{
    struct seep_sites own = {.slot = (uint32_t)(uintptr_t)slot};
    uint32_t index = seep_site_find(&own, 0, SEEP_SPACE_SHM);
    struct seep_block block = {.site = index, .birth = 1, .bytes = 10};
    for (int i = 0; i < EACH && index; i++) {
        seep_site_allocated(&own, seep_site_at(index), 1, 10, 10, 1);
        if (i % 2)
            seep_site_freed(&own, &block, 1, 10, 1);
    }
    seep_space_flush(&own, SEEP_SPACE_SHM, 1);
    return (void *)(uintptr_t)index;
}

TEST(threads_that_are_new_to_a_full_profile_share_a_site)
{
    pthread_t threads[SHARERS];
    void *index = NULL;
    open_small_profile();
    fill_profile();
    seep_sites_threaded = true;
    for (uintptr_t i = 0; i < SHARERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, share, (void *)(i + 1)), 0);
    for (int i = 0; i < SHARERS; i++) {
        pthread_join(threads[i], &index);
        ck_assert_ptr_nonnull(index);
    }
    const struct seep_site *site = seep_site_at((uint32_t)(uintptr_t)index);
    const struct seep_space *space = &seep_arena.header->spaces[SEEP_SPACE_SHM];
    ck_assert(seep_site_is_shared(site));
    ck_assert_uint_eq(site->stack, 0);
    ck_assert_uint_eq(site->allocations, SHARERS * EACH);
    ck_assert_uint_eq(site->allocated_bytes, SHARERS * EACH * 10);
    ck_assert_uint_eq(site->frees, SHARERS * EACH / 2);
    ck_assert_uint_ge(site->peak_bytes, site->allocated_bytes - site->freed_bytes);
    ck_assert_uint_eq(space->live_bytes, SHARERS * EACH * 5);
    ck_assert_uint_ge(space->peak_bytes, space->live_bytes);
    ck_assert_uint_ge(seep_arena.header->dropped[SEEP_DROP_BOUND], SHARERS * EACH);
    ck_assert_uint_eq(seep_arena.header->dropped[SEEP_DROP_MEMORY], 0);
}

/* As in a forked child: what lies below inherited_end is the parent's. */
TEST(a_child_of_a_full_profile_has_room_of_its_own)
{
    open_small_profile();
    uint32_t stack = a_stack(7), parents = seep_site_find(&sites, stack, 0);
    fill_profile();
    struct seep_header constants = {.max_bytes = seep_arena.header->max_bytes, .pid = 2};
    constants.inherited_end =
        SEEP_HEADER_BYTES + (uint64_t)seep_arena.header->n_chunks * SEEP_CHUNK_BYTES;
    own_profile_remove();
    ck_assert_uint_eq(constants.inherited_end, constants.max_bytes);
    seep_arena_leave();
    ck_assert_int_eq(seep_arena_create(own_profile, &constants), 0);
    seep_sites_first_own = (uint32_t)(constants.inherited_end / 64);
    memset(&sites, 0, sizeof(sites));
    struct seep_block block = {.site = parents, .birth = 1, .bytes = 300};
    seep_site_freed(&sites, &block, 3, 900, 2);
    uint32_t own = seep_site_find(&sites, stack, 0);
    ck_assert_uint_ge(own, seep_sites_first_own);
    const struct seep_detail *detail = seep_site_detail(seep_site_at(own));
    ck_assert_ptr_nonnull(detail);
    ck_assert_uint_eq(detail->inherited_frees, 3);
    ck_assert_uint_eq(detail->inherited_freed_bytes, 900);
}

/* Nobody waits twice for a lock whose holder is gone; given back, it is as before. */
TEST(a_lock_whose_holder_is_gone_is_waited_for_once)
{
    struct seep_lock lock = {0};
    ck_assert(seep_os_lock(&lock));
    uint64_t start = seep_os_clock_ns(CLOCK_MONOTONIC);
    ck_assert(!seep_os_lock(&lock));
    uint64_t first = seep_os_clock_ns(CLOCK_MONOTONIC) - start;
    for (int i = 0; i < 100; i++)
        ck_assert(!seep_os_lock(&lock));
    ck_assert_uint_lt(seep_os_clock_ns(CLOCK_MONOTONIC) - start - first, first / 2);
    seep_os_unlock(&lock);
    ck_assert(seep_os_lock(&lock));
    ck_assert_uint_eq(lock.given_up, 0);
}

TEST(a_full_profile_counts_on)
{
    open_small_profile();
    uint64_t n = 200000, counted = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t index = seep_site_find(&sites, a_stack(i), 0);
        ck_assert_uint_ne(index, 0);
        allocate(seep_site_at(index), 1, 1);
    }
    for (uint32_t chunk = 0; chunk < seep_arena.header->n_chunks; chunk++) {
        if (seep_arena.header->chunk_types[chunk] != SEEP_CHUNK_SITES)
            continue;
        const struct seep_site *site =
            (void *)(seep_arena_base + SEEP_HEADER_BYTES + (uint64_t)chunk * SEEP_CHUNK_BYTES);
        for (unsigned i = 0; i < SEEP_CHUNK_BYTES / sizeof(*site); i++)
            counted += site[i].allocations;
    }
    ck_assert_uint_eq(counted, n);
    ck_assert_uint_gt(seep_arena.header->dropped[SEEP_DROP_BOUND], 0);
    ck_assert_uint_le(seep_arena.end_allocated, SEEP_HEADER_BYTES + 16 * SEEP_CHUNK_BYTES);
}

/* Stacks of their own that fit before the bound says no; all but few are new. */
static uint32_t n_that_fit(uint32_t from)
{
    uint32_t n = 0;
    while (n < 1 << 20 && a_stack(from + n))
        n++;
    return n;
}

TEST(half_of_the_room_is_kept_for_what_comes_after_the_first_step)
{
    seep_arena_leave();
    seep_arena_base = NULL;
    open_profile(16 << 20);
    uint32_t first = n_that_fit(0);
    ck_assert(!seep_arena.full);
    ck_assert_int_eq(seep_arena_reason(), SEEP_DROP_BOUND);
    ck_assert_uint_eq(a_stack(first + 1), 0);
    seep_arena_release();
    uint32_t second = n_that_fit(first);
    ck_assert_uint_gt(second, first * 45 / 100);
    ck_assert_uint_lt(second, first * 55 / 100);
    for (int i = 0; i < 100; i++)
        seep_arena_release();
    uint32_t rest = n_that_fit(first + second);
    ck_assert_uint_gt(rest, second * 9 / 10);
    ck_assert(seep_arena.full);
    ck_assert_int_eq(seep_arena_reason(), SEEP_DROP_BOUND);
}

/* Else those that are freed late would look like the smaller part, and the sizes like those of the
 * largest blocks. */
TEST(ages_and_sizes_of_a_sampled_block_count_for_all_that_it_stands_for)
{
    enum { STANDS_FOR = 7, BYTES = 3000 };
    const uint32_t index = seep_site_find(&sites, a_stack(3), seep_site_kind(SEEP_SPACE_HOST, 2));
    struct seep_site *site = seep_site_at(index);
    for (uint32_t period = 1; period < 8; period++)
        seep_site_allocated(&sites, site, STANDS_FOR, STANDS_FOR * BYTES, BYTES + period, period);
    const struct seep_detail *detail = seep_site_detail(site);
    ck_assert_ptr_nonnull(detail);
    const struct seep_block block = {.site = index, .birth = 5, .bytes = BYTES};
    seep_site_freed(&sites, &block, STANDS_FOR, STANDS_FOR * BYTES, 7);
    ck_assert_uint_eq(detail->lifetimes[2], STANDS_FOR);
    ck_assert_uint_eq(detail->sizes[11] % STANDS_FOR, 0);
    ck_assert_uint_gt(detail->sizes[11], STANDS_FOR);
    seep_site_freed(&sites, &block, UINT32_MAX, BYTES, 7);
    ck_assert_uint_eq(detail->lifetimes[2], UINT32_MAX);
    seep_site_freed(&sites, &block, UINT64_C(1) << 40, BYTES, 7);
    ck_assert_uint_eq(detail->lifetimes[2], UINT32_MAX);
}

TEST(blocks_that_are_sampled_have_sites_apart_from_those_that_are_not)
{
    const uint32_t stack = a_stack(1);
    uint32_t sites_of[SEEP_MAX_COARSENESS + 1];
    for (unsigned c = 0; c <= SEEP_MAX_COARSENESS; c++)
        sites_of[c] = seep_site_find(&sites, stack, seep_site_kind(SEEP_SPACE_HOST, c));
    for (unsigned c = 0; c <= SEEP_MAX_COARSENESS; c++) {
        const struct seep_block block = {.site = sites_of[c]};
        ck_assert_uint_eq(seep_site_coarseness(&block), c);
        ck_assert_uint_eq(seep_site_at(sites_of[c])->space, SEEP_SPACE_HOST);
        ck_assert_uint_eq(seep_site_find(&sites, stack, seep_site_kind(SEEP_SPACE_HOST, c)),
                          sites_of[c]);
        for (unsigned other = 0; other < c; other++)
            ck_assert_uint_ne(sites_of[other], sites_of[c]);
    }
    const struct seep_block damaged = {.site = 1};
    ck_assert_uint_eq(seep_site_coarseness(&damaged), 0);
}

SUITE("sites", .setup = setup, .teardown = teardown)
