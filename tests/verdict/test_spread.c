/* Totals are judged, too: memory that grows though no line does. Each pair of cases differs in one
 * thing, and lies within half of the number that tells them apart. */
#include "tests/verdict/levels.h"

#include <math.h>

enum { RUN = 14, OTHER = 30, MADE = 1000, KIB = 1024 };

/* A line that makes its blocks at one step, and keeps them. */
static uint64_t from_then_on(uint32_t period, void *arg)
{
    return period >= *(uint32_t *)arg;
}

static uint32_t run(void)
{
    return below(main_stack, "/home/user/train.py", "run", RUN);
}

static uint32_t other(void)
{
    return below(main_stack, "/home/user/train.py", "evaluate", OTHER);
}

static uint32_t generated(uint32_t caller, unsigned line)
{
    return below(caller, "/home/user/generated.py", "made", MADE + line);
}

/* So many lines below a caller, one after the other, leave a block each behind. */
static void each_leaves(uint32_t caller, unsigned first, unsigned n, double bytes)
{
    for (unsigned i = 0; i < n; i++) {
        uint32_t at = FIRST + 2 + i * (STEPS - 4) / n;
        builder_level(&b, generated(caller, first + i), HOST, (uint64_t)bytes, LAST, from_then_on,
                      &at);
    }
}

static const json_t *the_only(const char *pattern, const char *severity)
{
    const json_t *list = findings(), *f = json_array_get(list, 0);

    ck_assert_msg(json_array_size(list) == 1, "%s", json_dumps(list, JSON_INDENT(1)));
    ck_assert_str_eq(text(f, "pattern"), pattern);
    ck_assert_str_eq(text(f, "severity"), severity);
    return f;
}

TEST(a_leak_that_is_spread_over_many_lines_is_told_at_their_common_caller)
{
    each_leaves(run(), 0, 180, 160 * KIB);
    const json_t *f = the_only("unbounded-growth", "leak");
    ck_assert_int_eq((int)number(json_object_get(f, "frame"), "line"), RUN);
    ck_assert_msg(strstr(text(f, "title"), "Live memory grows by ") &&
                      strstr(text(f, "title"), " a step (host memory), spread over 1") &&
                      strstr(text(f, "title"), " lines, most below run"),
                  "%s", text(f, "title"));
    ck_assert_str_eq(text(f, "space"), "host");
    ck_assert(number(f, "live_bytes") > 26 * MIB && number(f, "live_bytes") < 29 * MIB);
    ck_assert_uint_eq(json_array_size(json_object_get(f, "sites")), 32);
}

TEST(where_several_have_a_part_in_it_who_calls_them_is_told)
{
    each_leaves(run(), 0, 90, 160 * KIB);
    each_leaves(other(), 100, 90, 160 * KIB);
    each_leaves(user(40), 200, 90, 160 * KIB);
    const json_t *f = the_only("unbounded-growth", "leak");
    ck_assert_str_eq(text(json_object_get(f, "frame"), "function"), "main");
}

TEST(what_hardly_anybody_else_has_a_part_in_is_told_at_who_calls_most)
{
    each_leaves(run(), 0, 90, 160 * KIB);
    each_leaves(other(), 100, 90, 120 * KIB);
    const json_t *f = the_only("unbounded-growth", "leak");
    ck_assert_str_eq(text(json_object_get(f, "frame"), "function"), "run");
}

TEST(before_the_first_epoch_has_passed_it_is_open)
{
    add_epochs(1, STEPS);
    each_leaves(run(), 0, 180, 160 * KIB);
    the_only("undetermined", "pressure");
}

TEST(many_caches_that_are_filled_by_the_middle_are_no_leak)
{
    for (unsigned i = 0; i < 180; i++) {
        uint32_t at = FIRST + 2 + i / 2;
        builder_level(&b, generated(run(), i), HOST, 160 * KIB, LAST, from_then_on, &at);
    }
    nobody();
}

TEST(what_many_lines_gain_and_many_others_lose_is_no_leak)
{
    each_leaves(run(), 0, 90, 160 * KIB);
    for (unsigned i = 0; i < 90; i++) {
        struct bend gone[] = {{1, 1}, {2 + i * 2, 1}, {3 + i * 2, 0}, {STEPS, 0}, {0, 0}};
        builder_level(&b, generated(other(), 200 + i), HOST, 160 * KIB, LAST, drawn, gone);
    }
    nobody();
}

TEST(a_line_that_grows_by_itself_is_told_once)
{
    each_leaves(run(), 0, 180, 1 * KIB);
    builder_level(&b, user(7), HOST, 64 * KIB, LAST, one_a_step, NULL);
    const json_t *f = the_only("unbounded-growth", "leak");
    ck_assert_int_eq((int)number(json_object_get(f, "frame"), "line"), 7);
}

TEST(beside_a_line_that_grows_the_rest_is_told_by_itself)
{
    each_leaves(run(), 0, 180, 160 * KIB);
    builder_level(&b, user(7), HOST, 640 * KIB, LAST, one_a_step, NULL);
    const json_t *list = findings();
    ck_assert_uint_eq(json_array_size(list), 2);
    ck_assert_int_eq((int)number(json_object_get(json_array_get(list, 0), "frame"), "line"), 7);
    ck_assert_int_eq((int)number(json_object_get(json_array_get(list, 1), "frame"), "line"), RUN);
}

static void set_steps(uint32_t n)
{
    free(job);
    job = builder_job(100, START, n, FIRST);
}

/* Three steps warm up, and the last one's end is not seen. */
TEST(in_nine_steps_a_total_says_nothing_and_in_twelve_it_does, .to = 2)
{
    const uint32_t steps = 3 + 1 + (_i ? 12 : 9);

    set_steps(steps);
    for (unsigned i = 0; i < 10 * steps; i++) {
        uint32_t at = FIRST + i / 10;
        builder_level(&b, generated(run(), i), HOST, 64 * KIB, FIRST + steps, from_then_on, &at);
    }
    const json_t *list = findings();
    ck_assert_uint_eq(json_array_size(list), (size_t)_i);
}

/* Of a job of so many slices of time. */
static const json_t *findings_in(unsigned slices)
{
    struct seep_profile *p = NULL;

    builder_timeline(&b, slices, resident);
    ck_assert_int_eq(seep_profile_from_bytes("100-1.seep", b.bytes, b.n_bytes, &p, NULL), 0);
    ck_assert_int_eq(seep_analyse_profiles(&p, 1, job, NULL, &report, NULL), 0);
    return json_object_get(report, "findings");
}

/* The same by slices of time, which are three times as many: lines of the job's own are spoken of,
 * what libraries do for the first time is not. */
TEST(without_steps_early_growth_is_spoken_of_where_the_lines_are_the_jobs_own, .to = 3)
{
    const unsigned slices = _i == 0 ? 35 : 60;
    const char *file =
        _i == 2 ? "/usr/lib/python3/dist-packages/lib/part.py" : "/home/user/generated.py";

    free(job);
    job = builder_job(100, START, 0, FIRST);
    job->processes[0].steps = 0;
    for (unsigned i = 0; i < 10 * slices; i++) {
        uint32_t at = i / 10;
        builder_level(&b, below(0, file, "made", MADE + i), HOST, 64 * KIB, slices, from_then_on,
                      &at);
    }
    const json_t *list = findings_in(slices);
    ck_assert_msg(json_array_size(list) == (size_t)(_i == 1), "%s",
                  json_dumps(list, JSON_INDENT(1)));
}

/* ---- a full profile: stacks are counted together ----------------------------------------------
 */

static const struct {
    const char *what;
    uint32_t stack; /* 0: that of all that had no room */
    uint64_t (*level)(uint32_t, void *);
    uint64_t events;
    const char *severity; /* of a finding without a line; NULL: there is none */
} full[] = {
    {"growth on lines that had no room", 0, one_a_step, 5000, "pressure"},
    {"a level there that stays", 0, four, 5000, NULL},
    {"growth of a line that is known", 1, one_a_step, 5000, NULL},
    {"a site whose stack is lost, in a profile that was never full", 0, one_a_step, 0, NULL},
};

TEST(growth_that_a_full_profile_has_no_stacks_of_is_told_without_a_line, .to = N(full))
{
    builder_level(&b, full[_i].stack ? user(7) : 0, HOST, 64 * KIB, LAST, full[_i].level, NULL);
    builder_header(&b)->dropped[SEEP_DROP_BOUND] = full[_i].events;
    const json_t *list = findings(), *f;
    const char *severity = NULL;
    size_t i;

    json_array_foreach (list, i, f) {
        if (json_is_null(json_object_get(f, "frame"))) {
            severity = text(f, "severity");
            const double each = number(json_object_get(f, "growth_bytes_per_step"), "value");
            ck_assert(fabs(each - 64 * KIB) < 4 * KIB);
            ck_assert(strstr(text(f, "title"), "on lines that the full profile does not record"));
        }
    }
    ck_assert_msg(!severity == !full[_i].severity, "%s: %s", full[_i].what,
                  json_dumps(list, JSON_INDENT(1)));
}

/* ---- how much, how many ---------------------------------------------------------------------- */

static void in_all(double bytes)
{
    each_leaves(run(), 0, 180, bytes / 180);
}

static void of_the_space(double share)
{
    uint64_t once = 1;

    each_leaves(run(), 0, 180, 20 * KIB);
    builder_level(&b, user(9), HOST, (uint64_t)(180 * 20 * KIB / share) - 44 * MIB, LAST, constant,
                  &once);
}

static void lines(double n)
{
    each_leaves(run(), 0, (unsigned)n, 4 * MIB);
}

/* One line jumps now and then, beside many others. */
static void most_on_one_line(double share)
{
    struct bend jumps[] = {{10, 1},  {50, 1},  {51, 2},  {110, 2},
                           {111, 3}, {170, 3}, {171, 4}, {0, 0}};
    const double all = 28 * MIB;

    each_leaves(run(), 0, 180, (1 - share) * all / 180);
    builder_level(&b, user(9), HOST, (uint64_t)(share * all / 3), LAST, drawn, jumps);
}

static const struct {
    const char *row;
    void (*make)(double);
    double not_told, told;
} edges[] = {
    {"PEAK_BYTES", in_all, 768 * 1024, 1400 * 1024},
    {"NEGLIGIBLE", of_the_space, 0.016, 0.027},
    {"MANY", lines, 7, 10},
    {"HALF", most_on_one_line, 0.6, 0.4},
};

static bool is_told(void)
{
    const json_t *list = findings(), *f;
    size_t i;

    json_array_foreach (list, i, f) {
        if (strstr(text(f, "title"), "spread over"))
            return true;
    }
    return false;
}

TEST(enough_of_it_is_told, .to = N(edges))
{
    edges[_i].make(edges[_i].told);
    ck_assert_msg(is_told(), "%s: %s", edges[_i].row,
                  json_dumps(json_object_get(report, "findings"), 0));
}

TEST(too_little_of_it_is_not, .to = N(edges))
{
    edges[_i].make(edges[_i].not_told);
    ck_assert_msg(!is_told(), "%s: %s", edges[_i].row,
                  json_dumps(json_object_get(report, "findings"), 0));
}

SUITE("spread", .setup = setup, .teardown = teardown)
