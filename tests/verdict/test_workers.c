/* What loader workers hold, each of its own, and pages that they copy of the trainer's. */
#include "tests/verdict/pattern_fixture.h"

enum { WORKERS = 2, LINE = 23 };

static struct builder workers[WORKERS];
static uint32_t items[WORKERS]; /* the stack of the dataset's line in each */

static void setup_workers(void)
{
    setup();
    job->n_processes = 1 + WORKERS;
    for (uint32_t i = 0; i < WORKERS; i++) {
        struct builder *w = &workers[i];
        builder_init_fork(w, &b, "1.seep", 200 + i, START + 500000000);
        builder_header(w)->process_plus_1 = 2 + i;
        job->processes[1 + i] =
            (struct seep_process){.pid = 200 + i, .ppid = 100, .parent_plus_1 = 1, .follows = 1};
        uint32_t loop = builder_stack(
            w, 0,
            builder_python(w, "/usr/lib/python3/dist-packages/torch/utils/data/_utils/worker.py",
                           "_worker_loop", 302));
        items[i] =
            builder_stack(w, loop, builder_python(w, "/home/user/data.py", "__getitem__", LINE));
    }
}

static void teardown_workers(void)
{
    teardown();
    for (int i = 0; i < WORKERS; i++)
        builder_fini(&workers[i]);
}

static const json_t *judged(void)
{
    static const char *const names[WORKERS] = {"2.seep", "3.seep"};
    struct seep_profile *p[1 + WORKERS];

    builder_timeline(&b, LAST, UINT64_C(300) << 20);
    ck_assert_int_eq(seep_profile_from_bytes("1.seep", b.bytes, b.n_bytes, &p[0], NULL), 0);
    for (int i = 0; i < WORKERS; i++) {
        struct builder *w = &workers[i];
        builder_timeline(w, LAST, UINT64_C(12) << 20);
        ck_assert_int_eq(seep_profile_from_bytes(names[i], w->bytes, w->n_bytes, &p[1 + i], NULL),
                         0);
    }
    ck_assert_int_eq(seep_analyse_profiles(p, 1 + WORKERS, job, NULL, &report, NULL), 0);
    return json_object_get(report, "findings");
}

static void is_found(const char *pattern, bool found)
{
    const json_t *list = judged();
    char *all = json_dumps(list, JSON_INDENT(1));
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(list); i++)
        n += strcmp(text(json_array_get(list, i), "pattern"), pattern) == 0;
    ck_assert_msg(n == found, "%s", all);
    free(all);
}

/* An index that each worker reads when it is first asked for something, beside a worker that has
 * another part of it, or hardly any. */
static const struct {
    uint64_t mib;
    bool alike;
} parts[] = {{14, true}, {7, false}};

TEST(what_all_workers_hold_is_multiplied, .to = N(parts))
{
    struct ramp first = {FIRST + 2, FIRST + 2, 20, UINT32_MAX};
    struct ramp second = {FIRST + 2, FIRST + 2, parts[_i].mib, UINT32_MAX};

    builder_level(&workers[0], items[0], 0, MIB, LAST, ramp, &first);
    builder_level(&workers[1], items[1], 0, MIB, LAST, ramp, &second);
    is_found("worker-multiplication", parts[_i].alike);
}

/* A cache of a few items in each, which is full and stays so, is a small part of what the trainer
 * has. */
static const struct {
    double share;
    bool told;
} shares[] = {{0.16, false}, {0.24, true}};

TEST(what_all_workers_hold_is_worth_a_word_where_it_is_much_of_the_space, .to = N(shares))
{
    struct ramp own = {FIRST + 2, FIRST + 2, 5, UINT32_MAX};
    struct ramp trainer = {2, 2, (uint64_t)(10 / shares[_i].share) - 10, UINT32_MAX};

    builder_level(&b, user(7), HOST, MIB, LAST, ramp, &trainer);
    for (int i = 0; i < WORKERS; i++)
        builder_level(&workers[i], items[i], HOST, MIB, LAST, ramp, &own);
    is_found("worker-multiplication", shares[_i].told);
}

/* What a worker maps once is its interpreter's, or a library's, at whatever line: data comes in
 * blocks, or in several arenas. */
static const struct {
    uint64_t maps, mib; /* of each worker */
    bool data;
} maps_of_each[] = {{1, 1, false}, {1, 32, false}, {4, 1, true}};

TEST(one_map_of_every_worker_is_not_multiplied, .to = N(maps_of_each))
{
    struct ramp r = {FIRST + 2, FIRST + 2, maps_of_each[_i].maps, UINT32_MAX};

    for (int i = 0; i < WORKERS; i++)
        builder_level(&workers[i], items[i], MMAP, maps_of_each[_i].mib * MIB, LAST, ramp, &r);
    is_found("worker-multiplication", maps_of_each[_i].data);
}

/* What each worker has few of (its arenas, a buffer) is no row of items, however many workers there
 * are; what each has many of is. */
static const struct {
    uint64_t blocks; /* of each worker */
    bool items;
} early[] = {{4, false}, {8, true}};

TEST(one_block_of_each_worker_is_not_loaded_up_front, .to = N(early))
{
    struct ramp r = {2, 2, early[_i].blocks, UINT32_MAX};

    for (int i = 0; i < WORKERS; i++)
        builder_level(&workers[i], items[i], MMAP, MIB / 2 / early[_i].blocks, LAST, ramp, &r);
    is_found("eager-retention", early[_i].items);
}

/* 40 MiB of small objects are the trainer's until a period (0.5 s passed when it forked); each
 * worker's own pages rise by as much, or by more than they can explain: those of the trainer's
 * parameters. Maps of another size than its Python's arenas are a library's. */
static const struct {
    uint64_t mib, arena_kib;
    uint32_t python, until;
    bool by_counting;
} copies[] = {{48, 1024, 0x030b00f0, UINT32_MAX, true},  {80, 1024, 0x030b00f0, UINT32_MAX, false},
              {48, 256, 0x030b00f0, UINT32_MAX, false},  {48, 256, 0x030900f0, UINT32_MAX, true},
              {48, 1024, 0x030900f0, UINT32_MAX, false}, {48, 1024, 0x036300f0, UINT32_MAX, false},
              {48, 1024, 0x030b00f0, LAST, true},        {48, 1024, 0x030b00f0, 4, false}};

TEST(pages_of_pythons_objects_are_copied_by_counting_references, .to = N(copies))
{
    struct ramp arenas = {2, 2, 40 * 1024 / copies[_i].arena_kib, copies[_i].until};
    struct ramp own = {FIRST, FIRST, 1, UINT32_MAX};

    builder_header(&b)->python_version = copies[_i].python;
    builder_level(&b, user(7), MMAP, copies[_i].arena_kib * 1024, LAST, ramp, &arenas);
    for (int i = 0; i < WORKERS; i++) {
        struct seep_process *p = &job->processes[1 + i];
        builder_level(&workers[i], items[i], 0, MIB / 2, LAST, ramp, &own);
        p->private_first_bytes = 4 * MIB;
        p->private_last_bytes = p->private_first_bytes + copies[_i].mib * MIB;
        p->private_first_period = FIRST;
        p->private_last_period = LAST;
    }
    is_found("cow-growth", copies[_i].by_counting);
}

/* What a worker's pages have grown by beside its own blocks: what an interpreter writes to, or
 * clearly more; in part its own, or by far not. */
static const struct {
    uint64_t own, first, last; /* MiB */
    bool is_told;
} pages[] = {{0, 100, 26, true}, {0, 100, 22, false}, {10, 4, 40, true}, {10, 4, 29, false}};

TEST(pages_that_a_worker_has_for_itself_are_not_copied, .to = N(pages))
{
    struct ramp arenas = {2, 2, 40, UINT32_MAX};
    struct ramp own = {FIRST, FIRST, 1 + 2 * pages[_i].own, UINT32_MAX};

    builder_header(&b)->python_version = 0x030b00f0;
    builder_level(&b, user(7), MMAP, MIB, LAST, ramp, &arenas);
    for (int i = 0; i < WORKERS; i++) {
        struct seep_process *p = &job->processes[1 + i];
        builder_level(&workers[i], items[i], 0, MIB / 2, LAST, ramp, &own);
        p->private_first_bytes = pages[_i].first * MIB;
        p->private_last_bytes = pages[_i].last * MIB;
        p->private_first_period = FIRST;
        p->private_last_period = LAST;
    }
    is_found("cow-growth", pages[_i].is_told);
}

/* An array that the trainer has, whose rows each worker changes in place: so many MiB of it at four
 * samples, in each of two workers. */
static const struct {
    uint64_t mib[WORKERS][4];
    bool is_told;
} written[] = {
    {{{1, 4, 7, 10}, {1, 4, 7, 10}}, true},
    {{{1, 4, 6, 8}, {1, 4, 6, 8}}, false},         /* little */
    {{{10, 10, 10, 10}, {10, 10, 10, 10}}, false}, /* the trainer has written to them, */
    {{{1, 20, 20, 20}, {1, 20, 20, 20}}, false},   /* all at once */
    {{{1, 1, 1, 20}, {0, 0, 0, 0}}, false},        /* the other one has ended */
    {{{1, 8, 15, 22}, {1, 1, 1, 1}}, false},       /* most do not */
};

TEST(rows_that_workers_change_are_copied, .to = N(written))
{
    struct ramp one = {2, 2, 1, UINT32_MAX};

    for (int i = 0; i < WORKERS; i++) {
        struct builder *w = &workers[i];
        const uint32_t line = builder_python(w, "/home/user/train.py", "load", 7);
        const uint32_t site = builder_level(w, builder_stack(w, 0, line), 0, 64, LAST, ramp, &one);
        struct seep_header *h = builder_header(w);
        for (uint32_t k = 0; k < 4; k++)
            h->rss_samples[h->n_rss_samples++] =
                (struct seep_rss_sample){.t_ns = START + (FIRST + 50 * k) * UINT64_C(100000000),
                                         .period = FIRST + 50 * k,
                                         .rss_bytes = 100 * MIB,
                                         .heap_live_bytes = 50 * MIB,
                                         .written_site = site / 8,
                                         .written_bytes = written[_i].mib[i][k] * MIB};
    }
    is_found("cow-growth", written[_i].is_told);
    const json_t *f = json_array_get(json_object_get(report, "findings"), 0);
    if (written[_i].is_told) {
        ck_assert_double_eq(number(json_object_get(f, "frame"), "line"), 7);
        ck_assert_double_eq_tol(number(json_object_get(f, "growth_bytes_per_step"), "value"),
                                18.0 * MIB / 150, 0.01 * MIB);
    }
}

/* What each holds at its end was there halfway, or nearly; or it grows. */
static struct ramp halves[] = {{FIRST, FIRST + 110, 1, UINT32_MAX},
                               {FIRST, FIRST + 148, 1, UINT32_MAX}};

TEST(what_workers_had_halfway_is_multiplied, .to = 2)
{
    for (int i = 0; i < WORKERS; i++)
        builder_level(&workers[i], items[i], 0, MIB / 4, LAST, ramp, &halves[_i]);
    is_found("worker-multiplication", _i == 0);
}

/* Which call asked for an arena is chance: the line that asked for most of them is accused, by way
 * of three callers, not the one call that asked for more than each; and arenas are no items that
 * were loaded up front. Of a machine with large pages it is said how much one write copies. */
TEST(objects_that_are_copied_are_one_finding_at_their_line, .to = 2)
{
    static const uint64_t mib[] = {10, 11, 12, 14};

    builder_header(&b)->page_bytes = _i ? 65536 : 0;
    for (unsigned i = 0; i < N(mib); i++) {
        const uint32_t caller = below(main_stack, "/home/user/train.py", "load", 60 + i);
        const uint32_t stack =
            below(i < 3 ? caller : main_stack, "/home/user/train.py", "index", i < 3 ? 7 : 9);
        struct ramp arenas = {2, 2, mib[i], UINT32_MAX};
        builder_level(&b, stack, MMAP, MIB, LAST, ramp, &arenas);
    }
    for (int i = 0; i < WORKERS; i++) {
        struct ramp own = {FIRST, FIRST, 1, UINT32_MAX};
        struct seep_process *p = &job->processes[1 + i];
        builder_level(&workers[i], items[i], 0, MIB / 2, LAST, ramp, &own);
        p->private_first_bytes = 4 * MIB;
        p->private_last_bytes = p->private_first_bytes + 44 * MIB;
        p->private_first_period = FIRST;
        p->private_last_period = LAST;
    }
    const json_t *list = judged(), *f = json_array_get(list, 0);
    char *all = json_dumps(list, JSON_INDENT(1));
    ck_assert_msg(json_array_size(list) == 1, "%s", all);
    ck_assert_str_eq(text(f, "pattern"), "cow-growth");
    ck_assert_msg(number(json_object_get(f, "frame"), "line") == 7, "%s", all);
    ck_assert_msg(number(f, "live_bytes") == 47 * (double)MIB, "%s", all);
    ck_assert_msg((strstr(all, "A page of this machine has 64 KiB") != NULL) == _i, "%s", all);
    free(all);
}

SUITE("workers", .setup = setup_workers, .teardown = teardown_workers)
