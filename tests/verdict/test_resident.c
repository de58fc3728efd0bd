/* What is resident and grows while no line's blocks do: the part that gained most is the finding,
 * "heap-fragmentation", "library-allocator", "reservation" or "doubling". And limits by what is
 * resident. */
#include "tests/verdict/levels.h"

enum { GROWS = 512 * 1024, LINE = 61 }; /* bytes a step */

struct parts {
    double heap_free, maps, heap_live, copied, shm; /* of the growth */
};

/* RSS grows in each row of the timeline; samples say by which part. */
static void grow(const struct parts *parts, uint64_t each)
{
    builder_timeline(&b, LAST, 0);
    struct seep_header *h = builder_header(&b);
    for (uint32_t i = 0; i < h->n_timeline; i++) {
        const uint32_t period = h->timeline[i].period;
        h->timeline[i].rss_bytes =
            100 * (uint64_t)MIB + (period > FIRST ? (period - FIRST) * each : 0);
    }
    for (uint32_t step = 20; step <= STEPS; step += 60) {
        const double grown = (double)each * step;
        h->rss_peak = h->rss_samples[h->n_rss_samples++] = (struct seep_rss_sample){
            .t_ns = START + (FIRST + step) * UINT64_C(100000000),
            .period = FIRST + step - 1,
            .rss_bytes = 100 * (uint64_t)MIB + (uint64_t)grown,
            .heap_live_bytes = 40 * (uint64_t)MIB + (uint64_t)(parts->heap_live * grown),
            .heap_free_bytes = 10 * (uint64_t)MIB + (uint64_t)(parts->heap_free * grown),
            .maps_bytes = 50 * (uint64_t)MIB + (uint64_t)(parts->maps * grown),
            .copied_bytes = (uint64_t)(parts->copied * grown),
            .shm_bytes = (uint64_t)(parts->shm * grown),
        };
    }
}

static const json_t *judged(void)
{
    struct seep_profile *p = NULL;

    ck_assert_int_eq(seep_profile_from_bytes("100-1.seep", b.bytes, b.n_bytes, &p, NULL), 0);
    ck_assert_int_eq(seep_analyse_profiles(&p, 1, job, NULL, &report, NULL), 0);
    return json_object_get(report, "findings");
}

/* NULL: there is no such finding. */
static const json_t *found(const char *pattern)
{
    const json_t *list = report ? json_object_get(report, "findings") : judged(), *its = NULL;

    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(text(json_array_get(list, i), "pattern"), pattern) == 0)
            its = json_array_get(list, i);
    return its;
}

static uint64_t five_a_step(uint32_t period, void *arg)
{
    return 5 * one_a_step(period, arg);
}

/* ---- malloc's free memory -------------------------------------------------------------------- */

static const struct parts fragments = {.heap_free = 1};

TEST(free_memory_in_the_heap_is_told_by_the_small_blocks_that_became_most)
{
    builder_level(&b, user(LINE), HOST, 40, LAST, five_a_step, NULL);
    builder_level(&b, user(LINE + 1), HOST, 40, LAST, one_a_step, NULL);
    grow(&fragments, GROWS);
    const json_t *f = found("heap-fragmentation");
    ck_assert_double_eq(number(json_object_get(f, "frame"), "line"), LINE);
    ck_assert_str_eq(text(f, "severity"), "leak");
    ck_assert_double_eq_tol(number(json_object_get(f, "growth_bytes_per_step"), "value"), GROWS,
                            GROWS / 50.0);
}

/* Its blocks are a leak of their own, of a tenth. */
TEST(a_line_that_cuts_up_memory_is_told_once_and_with_what_lies_free)
{
    struct ramp blocks = {FIRST, LAST, GROWS / 10 / 48, UINT32_MAX};

    builder_level(&b, user(LINE), HOST, 40, LAST, ramp, &blocks);
    grow(&fragments, GROWS);
    const json_t *f = found("heap-fragmentation");
    ck_assert_uint_eq(json_array_size(json_object_get(report, "findings")), 1);
    ck_assert_double_gt(number(f, "live_bytes"), GROWS * (double)STEPS / 2);
}

/* It is fixed with the leak. */
TEST(a_leak_that_cuts_up_memory_beside_its_own_is_told_once)
{
    struct ramp blocks = {FIRST, LAST, GROWS * 7 / 10 / 48, UINT32_MAX};

    builder_level(&b, user(LINE), HOST, 40, LAST, ramp, &blocks);
    grow(&(struct parts){.heap_live = 0.4, .heap_free = 0.6}, GROWS * 17 / 10);
    ck_assert_ptr_null(found("heap-fragmentation"));
    char *evidence = json_dumps(json_object_get(found("unbounded-growth"), "evidence"), 0);
    ck_assert_ptr_nonnull(strstr(evidence, "Free memory in malloc's arenas"));
    free(evidence);
}

/* Tensors that a metric keeps: each is a large block and a few small ones. */
TEST(a_leak_of_large_blocks_is_told_with_what_their_small_ones_cut_up)
{
    const uint32_t data = builder_native(&b, "/usr/lib/libtorch.so", NULL, 128);

    builder_level(&b, user(LINE), HOST, 48, LAST, five_a_step, NULL);
    builder_level(&b, builder_stack(&b, user(LINE), data), HOST, GROWS / 4, LAST, one_a_step, NULL);
    grow(&(struct parts){.heap_live = 0.2, .heap_free = 0.8}, GROWS * 5 / 4);
    ck_assert_ptr_null(found("heap-fragmentation"));
    const json_t *f = found("unbounded-growth");
    ck_assert_double_eq_tol(number(json_object_get(f, "growth_bytes_per_step"), "value"),
                            GROWS / 4.0, GROWS / 50.0);
    char *evidence = json_dumps(json_object_get(f, "evidence"), 0);
    ck_assert_ptr_nonnull(strstr(evidence, "Free memory in malloc's arenas"));
    free(evidence);
}

/* A block of 4 KiB fills what lies beside it. */
TEST(large_blocks_pin_nothing)
{
    builder_level(&b, user(LINE), HOST, 48, LAST, one_a_step, NULL);
    builder_level(&b, user(LINE + 1), HOST, 4096, LAST, five_a_step, NULL);
    grow(&fragments, GROWS);
    ck_assert_double_eq(number(json_object_get(found("heap-fragmentation"), "frame"), "line"),
                        LINE);
}

static uint64_t five_a_step_for_a_while(uint32_t period, void *arg)
{
    const uint32_t half = FIRST + STEPS / 2;

    return five_a_step(period < half ? period : half, arg);
}

/* A model that grew for a while has left holes, too. */
TEST(small_blocks_that_stopped_coming_are_not_accused)
{
    builder_level(&b, user(LINE), HOST, 40, LAST, five_a_step_for_a_while, NULL);
    grow(&fragments, GROWS);
    const json_t *f = found("heap-fragmentation");
    ck_assert_str_eq(text(f, "severity"), "pressure");
    ck_assert(json_is_null(json_object_get(f, "frame")));
}

/* The first steps are not judged, and so many are left. */
static const struct {
    uint32_t steps;
    bool is_told;
} lengths[] = {{140, true}, {100, false}};

TEST(a_heap_that_is_filled_for_the_first_time_is_not_judged, .to = N(lengths))
{
    builder_level(&b, user(LINE), HOST, 40, LAST, five_a_step, NULL);
    grow(&fragments, GROWS);
    job->processes[0].steps = lengths[_i].steps;
    ck_assert_int_eq(found("heap-fragmentation") != NULL, lengths[_i].is_told);
}

/* Of what a job frees as it ends, malloc keeps much; it is nothing that the job would need. */
TEST(what_is_freed_after_the_last_step_cuts_up_nothing)
{
    builder_level(&b, user(LINE), HOST, 40, LAST, five_a_step, NULL);
    grow(&(struct parts){.maps = 1}, GROWS);
    struct seep_header *h = builder_header(&b);
    struct seep_rss_sample *last = &h->rss_samples[h->n_rss_samples++];
    *last = h->rss_samples[h->n_rss_samples - 2];
    last->period = LAST + 1;
    last->rss_bytes += MIB;
    last->heap_free_bytes += UINT64_C(300) << 20;
    ck_assert_ptr_null(found("heap-fragmentation"));
}

/* Growth of a line, as a share of RSS's. */
static const struct {
    unsigned per_cent;
    bool is_rest;
} accounted[] = {{40, true}, {60, false}};

TEST(what_a_line_has_half_of_is_the_lines, .to = N(accounted))
{
    builder_level(&b, user(LINE), HOST, GROWS / 100 * accounted[_i].per_cent, LAST, one_a_step,
                  NULL);
    grow(&fragments, GROWS);
    ck_assert_int_eq(found("heap-fragmentation") != NULL, accounted[_i].is_rest);
}

/* The kernel's own bookkeeping raises RSS, too. */
TEST(little_growth_is_none)
{
    grow(&fragments, (3 << 20) / STEPS);
    ck_assert_uint_eq(json_array_size(judged()), 0);
}

/* ---- headers --------------------------------------------------------------------------------- */

/* 16 bytes each, in chunks of 32: half of what RSS grows by is malloc's. The finding has all. */
TEST(headers_and_rounding_are_no_free_memory)
{
    struct ramp nodes = {FIRST, LAST, GROWS / 32, UINT32_MAX};

    builder_level(&b, user(LINE), HOST, 16, LAST, ramp, &nodes);
    grow(&(struct parts){.heap_live = 0.5, .heap_free = 0.5}, GROWS);
    const json_t *f = found("unbounded-growth");
    ck_assert_double_eq(number(json_object_get(f, "frame"), "line"), LINE);
    const double each = number(json_object_get(f, "growth_bytes_per_step"), "value");
    ck_assert_double_eq_tol(each, GROWS, GROWS / 100.0);
    ck_assert_double_gt(number(f, "live_bytes"), 0.97 * GROWS * STEPS);
    char *evidence = json_dumps(json_object_get(f, "evidence"), 0);
    ck_assert_ptr_nonnull(strstr(evidence, "with headers and rounding"));
    free(evidence);
    const json_t *parts =
        json_object_get(json_object_get(json_object_get(report, "coverage"), "rss"), "explained");
    ck_assert_double_lt(number(parts, "heap_free"), 11.0 * MIB);
    ck_assert_double_gt(number(parts, "heap_live"), 40.0 * MIB + 0.97 * GROWS * STEPS);
}

/* ---- maps ------------------------------------------------------------------------------------ */

static struct bend touched[] = {{1, 50}, {80, 50}, {81, 80}, {160, 80}, {161, 140}, {0, 0}};

/* Their levels are known at a few samples, and then look like jumps. */
static struct bend jumps[] = {{1, 50},    {29, 50},   {30, 80},   {59, 80},   {60, 110},
                              {89, 110},  {90, 140},  {119, 140}, {120, 170}, {149, 170},
                              {150, 200}, {179, 200}, {180, 230}, {0, 0}};

TEST(maps_that_are_touched_bit_by_bit_are_a_librarys, .to = 2)
{
    const uint32_t frame = builder_native(&b, "/usr/lib/libpool.so", NULL, 64);

    builder_level(&b, builder_stack(&b, main_stack, frame), MMAP, MIB, LAST, drawn,
                  _i ? jumps : touched);
    grow(&(struct parts){.maps = 1}, GROWS * 2);
    ck_assert_ptr_nonnull(found("library-allocator"));
    ck_assert_ptr_null(found("undetermined"));
}

/* Seen at samples alone, the levels of two maps rise as evenly as new blocks would. */
static const int32_t seen[] = {2, 5, 8, 12, 18, 28, 35, 42, 61, 74, 87, 109, 135, 171, 182};

TEST(maps_that_fill_evenly_are_a_librarys, .to = 2)
{
    struct seep_point points[N(seen)];
    const uint64_t each = 10 * (uint64_t)MIB;

    for (unsigned i = 0; i < N(seen); i++) {
        const uint32_t step = (uint32_t)seen[i];
        points[i] = (struct seep_point){FIRST + step, _i ? step : 1 + (step > 100), step * each};
    }
    const uint32_t stack =
        builder_stack(&b, main_stack, builder_native(&b, "/usr/lib/libpool.so", NULL, 64));
    const uint32_t site =
        builder_site(&b, stack, MMAP, _i ? STEPS : 4, 2048 * (uint64_t)MIB, 2, 20 * MIB, FIRST);
    builder_detail(&b, site, points, N(seen));
    grow(&(struct parts){.maps = 1}, each);
    ck_assert_int_eq(found("library-allocator") != NULL, !_i);
    ck_assert_int_eq(found("unbounded-growth") != NULL, _i);
}

/* Arenas of Python's small objects, which nobody is accused of, beside a map that was made before.
 */
TEST(what_pythons_arenas_account_for_is_no_librarys)
{
    struct ramp slow = {FIRST, UINT32_MAX, 1, UINT32_MAX};

    builder_header(&b)->python_version = 0x030b00f0;
    builder_level(&b,
                  builder_stack(&b, below(main_stack, "/home/user/train.py", "remember", LINE),
                                builder_native(&b, "/usr/bin/python3.11", NULL, 64)),
                  MMAP, MIB, LAST, ramp, &slow);
    builder_level(
        &b, builder_stack(&b, main_stack, builder_native(&b, "/usr/lib/libpool.so", NULL, 64)),
        MMAP, MIB, LAST, drawn, touched);
    grow(&(struct parts){.maps = 1}, GROWS * 2);
    ck_assert_ptr_nonnull(found("undetermined"));
    ck_assert_ptr_null(found("library-allocator"));
}

/* np.memmap with mode "c". */
TEST(written_pages_of_a_files_map_are_told_as_such)
{
    builder_level(&b, user(LINE), MMAP, 3 * MIB, LAST, drawn, touched);
    grow(&(struct parts){.maps = 1, .copied = 1}, 4 * GROWS);
    const json_t *f = found("reservation");
    ck_assert_str_eq(text(f, "severity"), "pressure");
    ck_assert_double_eq(number(json_object_get(f, "frame"), "line"), LINE);
    ck_assert_ptr_nonnull(strstr(text(f, "advice"), "map it shared"));
}

/* Between two samples, 60 steps apart, they gained 60 MiB. */
TEST(what_is_kept_is_told_over_all_judged_steps)
{
    const uint32_t frame = builder_native(&b, "/usr/lib/libpool.so", NULL, 64);

    builder_level(&b, builder_stack(&b, main_stack, frame), MMAP, MIB, LAST, drawn, jumps);
    grow(&(struct parts){.maps = 1}, GROWS * 2);
    builder_header(&b)->n_rss_samples = 2;
    ck_assert_double_gt(number(found("library-allocator"), "live_bytes"), 150.0 * MIB);
}

static uint64_t one_map(uint32_t period, void *arg)
{
    (void)arg;
    return period >= 2;
}

/* As a plasma store does, or multiprocessing's shared memory. */
TEST(a_shared_map_that_fills_is_told, .to = 2)
{
    const uint32_t stack =
        _i ? below(user(LINE), "/usr/lib/python3/dist-packages/ray/_private/worker.py", "connect",
                   2729)
           : user(LINE);

    builder_level(&b, stack, SHM, 400 * (uint64_t)MIB, LAST, one_map, NULL);
    grow(&(struct parts){.shm = 1}, GROWS * 2);
    const json_t *f = found(_i ? "library-allocator" : "reservation");
    ck_assert_ptr_nonnull(f);
    ck_assert_str_eq(text(f, "severity"), "pressure");
    ck_assert_double_eq_tol(number(json_object_get(f, "growth_bytes_per_step"), "value"), GROWS * 2,
                            GROWS / 20.0);
    ck_assert_int_eq(strncmp(text(f, "title"), "Ray: ", 5) == 0, _i);
}

/* A library maps from threads of its own and from any line that calls it. */
static const struct {
    const char *file, *inner;
    bool is_one;
} askers[] = {
    {"/usr/lib/python3/dist-packages/pool/libpool.so.3", NULL, true},
    {"/usr/lib/python3/dist-packages/pool/libpool.so.3", "/usr/lib/libstdc++.so.6", true},
    {"/usr/lib/python3/dist-packages/pool/libpool.so.3", "/usr/lib/libjemalloc.so.2", false},
    {"/home/user/pool.so", NULL, false},
};

static struct bend thirds[3][5] = {{{1, 5}, {60, 5}, {100, 40}, {0, 0}},
                                   {{1, 5}, {100, 5}, {140, 40}, {0, 0}},
                                   {{1, 5}, {140, 5}, {180, 40}, {0, 0}}};

TEST(maps_of_one_library_are_judged_together, .to = N(askers))
{
    for (unsigned i = 0; i < N(thirds); i++) {
        uint32_t stack =
            builder_stack(&b, user(LINE + i), builder_native(&b, askers[_i].file, NULL, 64 * i));
        if (askers[_i].inner)
            stack = builder_stack(&b, stack, builder_native(&b, askers[_i].inner, NULL, 64));
        builder_level(&b, stack, MMAP, MIB, LAST, drawn, thirds[i]);
    }
    grow(&(struct parts){.maps = 1}, GROWS * 2);
    const json_t *f = found("library-allocator");
    ck_assert_int_eq(f != NULL, askers[_i].is_one);
    if (f)
        ck_assert_double_gt(number(f, "live_bytes"), 80.0 * MIB);
}

/* While Python imports, no native frames are recorded; maps of 1 MiB would be Python's arenas. */
static const struct {
    const char *file, *library;
} imports[] = {
    {"/usr/lib/python3/dist-packages/pyarrow/dataset.py", "pyarrow"},
    {"/usr/lib/python3/dist-packages/pool/__init__.py", NULL},
};

TEST(a_library_that_is_known_is_named_with_its_own_count, .to = N(imports))
{
    const uint32_t stack = below(user(LINE), imports[_i].file, "<module>", 24);

    builder_level(&b, below(stack, "<frozen importlib._bootstrap>", "_load_unlocked", 690), MMAP,
                  MIB - 4096, LAST, drawn, touched);
    grow(&(struct parts){.maps = 1}, GROWS * 2);
    const json_t *f = found("library-allocator");
    const bool named = imports[_i].library != NULL;
    ck_assert_int_eq(strncmp(text(f, "title"), "pyarrow: ", 9) == 0, named);
    ck_assert_int_eq(strstr(text(f, "advice"), "pyarrow.total_allocated_bytes()") != NULL, named);
}

/* CPython's own mimalloc: what grows there are Python's objects. */
static const struct {
    const char *file;
    uint32_t support, unseen;
    const char *advice; /* a part of it */
} pythons[] = {
    {"/usr/bin/python3.14", SEEP_PYTHON_STACKS, SEEP_PYTHON_MIMALLOC, "PYTHONMALLOC=malloc"},
    {"/usr/bin/python3.14t", SEEP_PYTHON_NO_GIL, 0, "a Python that has a GIL"},
    {"/usr/lib/libpython3.14.so.1.0", SEEP_PYTHON_STACKS, 0, "Ask the library"},
    {"/usr/lib/libpool.so", SEEP_PYTHON_NO_GIL, 0, "Ask the library"},
};

TEST(maps_of_pythons_own_mimalloc_have_its_objects, .to = N(pythons))
{
    const uint32_t frame = builder_native(&b, pythons[_i].file, NULL, 64);

    builder_header(&b)->python_support = pythons[_i].support;
    builder_header(&b)->python_unseen = pythons[_i].unseen;
    builder_level(&b, builder_stack(&b, main_stack, frame), MMAP, MIB - 4096, LAST, drawn,
                  touched); /* 1 MiB would be an arena */
    grow(&(struct parts){.maps = 1}, GROWS * 2);
    const json_t *f = found("library-allocator");
    ck_assert_ptr_nonnull(strstr(text(f, "advice"), pythons[_i].advice));
    ck_assert_int_eq(strstr(text(f, "title"), "Python's objects") != NULL, _i < 2);
}

/* ---- live blocks ----------------------------------------------------------------------------- */

static uint64_t one_from_the_start(uint32_t period, void *arg)
{
    (void)arg;
    return period >= 3;
}

/* With samples of the process, and without any. */
TEST(a_block_that_is_used_bit_by_bit_has_an_end, .to = 2)
{
    builder_level(&b, user(LINE), HOST, UINT64_C(400) << 20, LAST, one_from_the_start, NULL);
    grow(&(struct parts){.heap_live = 1}, GROWS);
    if (_i)
        builder_header(&b)->n_rss_samples = 0;
    const json_t *f = found("reservation");
    ck_assert_str_eq(text(f, "severity"), "info");
    ck_assert_double_eq(number(json_object_get(f, "frame"), "line"), LINE);
}

static struct bend doubled[] = {{1, 1},  {19, 1},  {20, 2},  {49, 2},
                                {50, 4}, {109, 4}, {110, 8}, {0, 0}};

TEST(a_buffer_that_doubles_grows_by_what_is_used_of_it)
{
    builder_level(&b, user(LINE), HOST, 64 * MIB, LAST, drawn, doubled);
    grow(&(struct parts){.heap_live = 1}, GROWS);
    const json_t *f = found("doubling");
    ck_assert_double_eq(number(json_object_get(f, "frame"), "line"), LINE);
    ck_assert_double_eq_tol(number(json_object_get(f, "growth_bytes_per_step"), "value"), GROWS,
                            GROWS / 50.0);
    ck_assert_ptr_null(found("reservation"));
}

/* A job with few events has few samples: what it loaded to get ready is between two of them, too.
 */
TEST(what_was_loaded_before_the_steps_hides_no_buffer_that_doubles)
{
    builder_level(&b, user(LINE), HOST, 64 * MIB, LAST, drawn, doubled);
    grow(&(struct parts){.heap_live = 1}, GROWS);
    struct seep_header *h = builder_header(&b);
    h->rss_samples[0].period = FIRST;
    h->rss_samples[0].rss_bytes -= 90 * MIB;
    h->n_rss_samples = 2;
    const json_t *f = found("doubling");
    ck_assert_double_eq(number(json_object_get(f, "frame"), "line"), LINE);
}

/* ---- up to where it has been -------------------------------------------------------------------
 */

/* Malloc gives pages back at a pause and takes them again; only what passes its highest is new. */
TEST(what_goes_back_to_where_it_has_been_does_not_grow, .to = 2)
{
    const uint32_t pause = FIRST + STEPS / 3;

    builder_level(&b, user(LINE), HOST, 40, LAST, five_a_step, NULL);
    grow(&fragments, GROWS);
    struct seep_header *h = builder_header(&b);
    for (uint32_t i = 0; i < h->n_timeline; i++)
        if (h->timeline[i].period > FIRST && h->timeline[i].period < pause)
            h->timeline[i].rss_bytes += (_i ? UINT64_C(100) : 30) * MIB;
    ck_assert_int_eq(found("heap-fragmentation") != NULL, !_i);
}

/* An old buffer and its copy. */
TEST(what_is_there_in_passing_is_no_highest)
{
    builder_level(&b, user(LINE), HOST, 40, LAST, five_a_step, NULL);
    grow(&fragments, GROWS);
    struct seep_header *h = builder_header(&b);
    h->timeline[h->n_timeline / 3].rss_bytes += UINT64_C(200) * MIB;
    ck_assert_ptr_nonnull(found("heap-fragmentation"));
}

/* ---- what the launcher saw ------------------------------------------------------------------- */

/* A process that makes hardly an event has hardly a row of its own: one at either end. */
TEST(rows_that_the_launcher_saw_fill_the_gaps, .to = 2)
{
    builder_level(&b, user(LINE), HOST, 40, LAST, five_a_step, NULL);
    grow(&fragments, GROWS);
    struct seep_header *h = builder_header(&b);
    const struct seep_timeline_row last = h->timeline[h->n_timeline - 1];
    for (uint32_t i = 1; i + 1 < h->n_timeline && _i; i++)
        job->seen.rows[job->seen.n++] =
            (struct seep_seen_row){.t_ns = h->timeline[i].t_ns,
                                   .rss_bytes = h->timeline[i].rss_bytes,
                                   .process_plus_1 = 1};
    h->timeline[1] = last;
    h->n_timeline = 2;
    ck_assert_int_eq(found("heap-fragmentation") != NULL, _i);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* A program frees what it has before it ends; and RSS grows faster than the line. */
TEST(steps_to_the_limit_are_of_what_is_resident_at_work)
{
    builder_level(&b, user(LINE), HOST, GROWS / 2 + 4096, LAST, one_a_step, NULL);
    grow(&fragments, GROWS);
    struct seep_header *h = builder_header(&b);
    h->limit_ram_bytes = UINT64_C(1) << 30;
    h->timeline[h->n_timeline - 1].rss_bytes = 20 * MIB;
    const json_t *list = judged(), *f = json_array_get(list, 0);
    const double used = 100.0 * MIB + (double)GROWS * (STEPS - 1);
    ck_assert_double_eq_tol(number(f, "steps_to_limit"), ((1 << 30) - used) / GROWS,
                            0.05 * ((1 << 30) - used) / GROWS);
}

SUITE("resident", .setup = setup, .teardown = teardown)
