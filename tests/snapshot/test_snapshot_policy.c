/* When a frozen copy of a process is due, and when it would cost too much. */
#include <check.h>
#include <string.h>

#include "preload/snapshot/snapshot_policy.h"
#include "tests/suite.h"

#define MIB    (UINT64_C(1) << 20)
#define SECOND UINT64_C(1000000000)
#define MS     UINT64_C(1000000)

static struct seep_snapshot_policy policy;

static void begin(const char *text)
{
    seep_snapshot_policy_read(&policy, text);
}

/* A job that makes ten steps a second and keeps a MiB of each; copies cost nothing. */
static struct seep_snapshot_moment at_step(uint32_t step)
{
    return (struct seep_snapshot_moment){.step = step,
                                         .room_ns = UINT64_MAX,
                                         .by_step = true,
                                         .age_ns = step * SECOND / 10,
                                         .job_age_ns = step * SECOND / 10,
                                         .live_bytes = (100 + step) * MIB,
                                         .anonymous_bytes = MIB};
}

static enum seep_snapshot_answer ask(struct seep_snapshot_moment now, uint64_t stop_ns)
{
    enum seep_snapshot_answer answer = seep_snapshot_policy_ask(&policy, &now);
    if (answer == SEEP_SNAPSHOT_DUE)
        seep_snapshot_policy_done(&policy, &now, stop_ns);
    return answer == SEEP_SNAPSHOT_RESERVE ? SEEP_SNAPSHOT_NOT_DUE : answer;
}

/* Goes through steps, each copy of which stops the job for so long, and notes which are in reserve.
 */
static unsigned reserve(bool by_step, uint32_t n_steps, uint64_t stop_ns, uint32_t *at,
                        unsigned most)
{
    unsigned n = 0;
    for (uint32_t step = 1; step <= n_steps; step++) {
        struct seep_snapshot_moment now = at_step(step);
        now.by_step = by_step;
        enum seep_snapshot_answer answer = seep_snapshot_policy_ask(&policy, &now);
        if (answer == SEEP_SNAPSHOT_DUE)
            seep_snapshot_policy_done(&policy, &now, stop_ns);
        if (answer != SEEP_SNAPSHOT_RESERVE)
            continue;
        seep_snapshot_policy_reserved(&policy, &now, stop_ns);
        if (n < most)
            at[n++] = step;
    }
    return n;
}

/* Goes through steps, and notes after which there was a copy. */
static unsigned run(uint32_t n_steps, uint64_t stop_ns, uint32_t *taken, unsigned capacity)
{
    unsigned n = 0;
    for (uint32_t step = 1; step <= n_steps; step++)
        if (ask(at_step(step), stop_ns) == SEEP_SNAPSHOT_DUE && n < capacity)
            taken[n++] = step;
    return n;
}

TEST(copies_lie_further_and_further_apart)
{
    static const uint32_t expected[] = {6, 9, 18, 36, 72, 144, 288, 576};
    uint32_t taken[32];
    begin("auto");
    ck_assert_uint_eq(run(1000, 1, taken, N(taken)), N(expected));
    ck_assert_mem_eq(taken, expected, sizeof(expected));
    ck_assert_uint_eq(run(40, 1, taken, N(taken)), 4); /* of steps that are counted anew */
    ck_assert_mem_eq(taken, expected, 4 * sizeof(*taken));
}

TEST(what_does_not_grow_is_left_alone)
{
    begin(NULL);
    for (uint32_t step = 1; step < 1000; step++) {
        struct seep_snapshot_moment now = at_step(step);
        now.live_bytes = 100 * MIB + (step % 2) * (MIB / 2);
        ck_assert_int_eq(ask(now, 1), SEEP_SNAPSHOT_NOT_DUE);
    }
}

/* A cache that is emptied hides what has grown beside it: what counts is the rise since then. */
TEST(growth_is_told_from_the_lowest_level)
{
    begin(NULL);
    for (uint32_t step = 1; step <= 50; step++) {
        struct seep_snapshot_moment now = at_step(step);
        now.live_bytes = step < 40 ? 500 * MIB - step * MIB : 50 * MIB + (step - 40) * MIB / 4;
        ck_assert_int_eq(ask(now, 1), step == 44 ? SEEP_SNAPSHOT_DUE : SEEP_SNAPSHOT_NOT_DUE);
    }
}

TEST(stops_stay_within_a_thousandth_of_the_time)
{
    uint64_t stopped = 0;
    begin(NULL);
    for (uint32_t step = 1; step <= 100000; step++) {
        struct seep_snapshot_moment now = at_step(step);
        if (ask(now, 15 * MS) == SEEP_SNAPSHOT_DUE)
            stopped += 15 * MS;
        ck_assert_uint_le(stopped, 100 * MS + now.age_ns / 1000);
    }
    ck_assert_uint_ge(stopped, 10 * 15 * MS);
}

TEST(of_a_large_process_the_first_stop_is_guessed)
{
    struct seep_snapshot_moment now = at_step(20);
    begin(NULL);
    (void)ask(at_step(1), 0);
    now.anonymous_bytes = 4000 * MIB;
    ck_assert_int_eq(ask(now, 1), SEEP_SNAPSHOT_TOO_EXPENSIVE);
    ck_assert_int_eq(ask(now, 1), SEEP_SNAPSHOT_NOT_DUE); /* it has been said */
    now.age_ns = 1000 * SECOND;
    ck_assert_int_eq(ask(now, 1), SEEP_SNAPSHOT_DUE);
}

TEST(reading_stays_within_a_fiftieth_of_a_cpu)
{
    uint64_t read_ns = 0;
    uint32_t n = 0;
    begin(NULL);
    for (uint32_t step = 1; step <= 10000; step++) {
        struct seep_snapshot_moment now = at_step(step);
        now.read_ns = read_ns;
        now.n_read = n;
        if (ask(now, 1) == SEEP_SNAPSHOT_DUE) {
            read_ns += SECOND;
            n++;
        }
        ck_assert_uint_le(read_ns, 5 * SECOND + now.job_age_ns / 50);
        ck_assert_uint_le(read_ns, 5 * SECOND / 2 + now.job_age_ns * 12 / 100);
    }
    ck_assert_uint_ge(n, 5);
}

/* A worker that reads its data at its first item has grown before anybody looks. */
TEST(what_a_forked_child_has_when_it_is_first_seen_it_has_grown)
{
    begin(NULL);
    (void)ask(at_step(1), 0);
    seep_snapshot_policy_after_fork(&policy);
    for (uint32_t step = 1; step <= 7; step++) {
        struct seep_snapshot_moment now = at_step(step);
        now.by_step = step > 1; /* before its trainer's first step there are slices of time */
        now.live_bytes = 20 * MIB;
        ck_assert_int_eq(ask(now, 1), step == 7 ? SEEP_SNAPSHOT_DUE : SEEP_SNAPSHOT_NOT_DUE);
    }
}

TEST(the_next_waits_until_it_is_known_what_the_last_cost)
{
    struct seep_snapshot_moment now = at_step(30);
    begin(NULL);
    (void)ask(at_step(1), 0);
    now.reading = true;
    ck_assert_int_eq(ask(now, 1), SEEP_SNAPSHOT_NOT_DUE);
    now.reading = false;
    ck_assert_int_eq(ask(now, 1), SEEP_SNAPSHOT_DUE);
}

/* On a busy machine that may take longer than the rest of the job, of which nothing would be known.
 * Only then, since two readers at work take memory twice. */
TEST(while_the_reader_waits_later_ones_are_kept_in_reserve, .to = 2)
{
    uint32_t at[8], n = 0;
    begin(NULL);
    ck_assert_uint_eq(run(6, MS, at, N(at)), 1);
    for (uint32_t step = 7; step <= 180; step++) {
        struct seep_snapshot_moment now = at_step(step);
        now.reading = true;
        now.reader_waits = _i;
        enum seep_snapshot_answer answer = seep_snapshot_policy_ask(&policy, &now);
        ck_assert(answer == SEEP_SNAPSHOT_NOT_DUE || answer == SEEP_SNAPSHOT_RESERVE);
        if (answer == SEEP_SNAPSHOT_RESERVE && n < N(at)) {
            seep_snapshot_policy_reserved(&policy, &now, MS);
            at[n++] = step;
        }
    }
    static const uint32_t expected[] = {18, 54, 162};
    ck_assert_uint_eq(n, _i ? N(expected) : 0);
    ck_assert_mem_eq(at, expected, n * sizeof(*at));
    ck_assert_int_eq(ask(at_step(181), MS), SEEP_SNAPSHOT_DUE); /* it has been read */
}

TEST(what_is_in_reserve_while_the_reader_waits_stays_within_the_stops_that_are_allowed)
{
    uint64_t stopped = 30 * MS;
    begin(NULL);
    (void)run(6, 30 * MS, NULL, 0);
    for (uint32_t step = 7; step <= 100000; step++) {
        struct seep_snapshot_moment now = at_step(step);
        now.reading = now.reader_waits = true;
        if (seep_snapshot_policy_ask(&policy, &now) == SEEP_SNAPSHOT_RESERVE) {
            seep_snapshot_policy_reserved(&policy, &now, 30 * MS);
            stopped += 30 * MS;
        }
        ck_assert_uint_le(stopped, 100 * MS + now.age_ns / 1000);
    }
    ck_assert_uint_ge(stopped, 4 * 30 * MS);
}

/* There is room for one in reserve: it is the process's that is being read. */
TEST(while_another_process_is_being_read_who_had_no_look_has_none_in_reserve)
{
    begin(NULL);
    for (uint32_t step = 1; step <= 100; step++) {
        struct seep_snapshot_moment now = at_step(step);
        now.reading = now.reader_waits = true;
        ck_assert_int_eq(seep_snapshot_policy_ask(&policy, &now), SEEP_SNAPSHOT_NOT_DUE);
    }
}

TEST(a_list_is_taken_at_its_word)
{
    uint32_t taken[8];
    begin("2,5,6,400");
    ck_assert_int_eq(policy.told.mode, SEEP_SNAPSHOT_LIST);
    ck_assert_uint_eq(run(1000, SECOND, taken, N(taken)), 4);
    ck_assert_mem_eq(taken, ((uint32_t[]){2, 5, 6, 400}), 4 * sizeof(*taken));
}

/* While another process had the slot, steps of the list went by: one copy stands for them. */
TEST(listed_steps_that_have_gone_by_are_one)
{
    begin("2,5,6,400");
    ck_assert_int_eq(ask(at_step(7), 1), SEEP_SNAPSHOT_DUE);
    ck_assert_int_eq(ask(at_step(8), 1), SEEP_SNAPSHOT_NOT_DUE);
    ck_assert_int_eq(ask(at_step(401), 1), SEEP_SNAPSHOT_DUE);
}

TEST(slices_of_time_are_no_steps_of_a_list)
{
    struct seep_snapshot_moment now = at_step(500);
    begin("2,5");
    now.by_step = false;
    ck_assert_int_eq(ask(now, 1), SEEP_SNAPSHOT_NOT_DUE);
}

TEST(off_is_off_even_where_it_is_asked_for)
{
    struct seep_snapshot_moment now = at_step(500);
    begin("off");
    now.asked = true;
    ck_assert_int_eq(ask(now, 1), SEEP_SNAPSHOT_NOT_DUE);
}

TEST(who_asks_gets_one_at_once)
{
    struct seep_snapshot_moment now = at_step(1);
    begin(NULL);
    now.asked = true;
    now.anonymous_bytes = 4000 * MIB;
    ck_assert_int_eq(ask(now, SECOND), SEEP_SNAPSHOT_DUE);
}

/* Imports grow, too, and what comes before the first step counts in slices of a tenth of a second.
 */
TEST(without_steps_half_a_minute_goes_by_first)
{
    uint32_t first = 0;
    begin(NULL);
    for (uint32_t slice = 1; slice < 500 && !first; slice++) {
        struct seep_snapshot_moment now = at_step(slice);
        now.by_step = false;
        if (ask(now, 1) == SEEP_SNAPSHOT_DUE)
            first = slice;
    }
    ck_assert_uint_eq(first, 300);
}

TEST(with_the_first_step_counting_begins_anew)
{
    begin(NULL);
    for (uint32_t slice = 1; slice < 90; slice++) {
        struct seep_snapshot_moment now = at_step(slice);
        now.by_step = false;
        ck_assert_int_eq(ask(now, 1), SEEP_SNAPSHOT_NOT_DUE);
    }
    for (uint32_t step = 1; step < 7; step++) {
        struct seep_snapshot_moment now = at_step(step);
        ck_assert_int_eq(ask(now, 1), step == 6 ? SEEP_SNAPSHOT_DUE : SEEP_SNAPSHOT_NOT_DUE);
    }
}

/* A worker that is forked in step 1,000 has its own 6 steps before it. */
TEST(a_forked_child_begins_with_the_step_it_was_forked_in)
{
    begin(NULL);
    (void)ask(at_step(12), SECOND);
    seep_snapshot_policy_after_fork(&policy);
    for (uint32_t step = 1000; step <= 1005; step++)
        ck_assert_int_eq(ask(at_step(step), 1),
                         step == 1005 ? SEEP_SNAPSHOT_DUE : SEEP_SNAPSHOT_NOT_DUE);
}

/* A script of seconds has no steps at all. */
TEST(a_short_job_without_steps_has_copies_in_reserve)
{
    uint32_t at[8];
    begin(NULL);
    ck_assert_uint_eq(reserve(true, 100, MS, at, N(at)), 0);
    begin(NULL);
    ck_assert_uint_eq(reserve(false, 300, MS, at, N(at)), 4);
    ck_assert_mem_eq(at, ((uint32_t[]){10, 30, 90, 270}), 4 * sizeof(*at));
}

/* Before the first that is evaluated, which of a loop comes after two seconds, and after it. */
TEST(a_copy_in_reserve_comes_half_a_second_after_any_other, .to = 2)
{
    static const uint32_t expected[][4] = {{6, 56, 168, 0}, {56, 168, 0, 0}};
    uint32_t n = 0;
    begin(NULL);
    for (uint32_t step = 1; step <= 200; step++) {
        struct seep_snapshot_moment now = at_step(step);
        now.by_loop = _i == 0;
        now.reading = now.reader_waits = policy.course.last != 0;
        now.age_ns = 9 * 1000 * MS + step * 10 * MS;
        const enum seep_snapshot_answer answer = seep_snapshot_policy_ask(&policy, &now);
        if (answer == SEEP_SNAPSHOT_DUE)
            seep_snapshot_policy_done(&policy, &now, MS);
        if (answer == SEEP_SNAPSHOT_RESERVE)
            seep_snapshot_policy_reserved(&policy, &now, MS);
        ck_assert_int_eq(answer == SEEP_SNAPSHOT_RESERVE, step == expected[_i][n]);
        n += answer == SEEP_SNAPSHOT_RESERVE;
    }
}

/* Ten of a loop a second: for two of these it may be what comes before the training. */
TEST(of_a_loop_that_has_just_been_found_none_is_read)
{
    begin(NULL);
    for (uint32_t step = 1; step <= 40; step++) {
        struct seep_snapshot_moment now = at_step(step);
        now.by_loop = true;
        ck_assert_int_eq(ask(now, MS),
                         step == 21 || step == 31 ? SEEP_SNAPSHOT_DUE : SEEP_SNAPSHOT_NOT_DUE);
    }
}

TEST(a_reserve_leaves_half_of_the_free_time_to_copies_that_are_read)
{
    uint32_t at[8];
    begin(NULL);
    ck_assert_uint_eq(reserve(false, 90, 20 * MS, at, N(at)), 2);
    begin(NULL);
    ck_assert_uint_eq(reserve(false, 90, 90 * MS, at, N(at)), 1);
}

/* Also to the first: a training of a GiB that prepares its data for a few seconds would have no
 * copy that is read for two minutes. 12 bytes a nanosecond is what a stop is guessed to take. */
TEST(of_a_large_process_no_reserve_is_made, .to = 2)
{
    struct seep_snapshot_moment now = at_step(12);
    begin(NULL);
    now.by_step = false;
    now.step = 1;
    (void)ask(now, 0);
    now.step = 12;
    now.live_bytes += 2 * MIB;
    now.anonymous_bytes = (_i ? 51u : 50u) * 12 * MS;
    ck_assert_int_eq(seep_snapshot_policy_ask(&policy, &now),
                     _i ? SEEP_SNAPSHOT_NOT_DUE : SEEP_SNAPSHOT_RESERVE);
}

TEST(while_modules_are_imported_there_is_none, .to = 2)
{
    struct seep_snapshot_moment now = at_step(20);
    begin(NULL);
    now.by_step = _i;
    now.step = 1;
    (void)ask(now, 0);
    now.step = 15;
    now.live_bytes += 2 * MIB;
    now.importing = true;
    ck_assert_int_eq(seep_snapshot_policy_ask(&policy, &now), SEEP_SNAPSHOT_NOT_DUE);
    now.importing = false;
    now.step += 10; /* slices of time count from here on */
    ck_assert_int_eq(seep_snapshot_policy_ask(&policy, &now),
                     _i ? SEEP_SNAPSHOT_DUE : SEEP_SNAPSHOT_RESERVE);
}

/* "import torch" takes a second or two, and is no script of seconds. */
TEST(slices_of_time_count_from_the_end_of_imports)
{
    begin(NULL);
    for (uint32_t slice = 1; slice <= 26; slice++) {
        struct seep_snapshot_moment now = at_step(slice);
        now.by_step = false;
        now.importing = slice <= 16;
        ck_assert_int_eq(seep_snapshot_policy_ask(&policy, &now),
                         slice == 26 ? SEEP_SNAPSHOT_RESERVE : SEEP_SNAPSHOT_NOT_DUE);
        ck_assert_int_eq(seep_snapshot_policy_ask_last(&policy, &now),
                         slice == 26 ? SEEP_SNAPSHOT_DUE : SEEP_SNAPSHOT_NOT_DUE);
    }
}

/* As a function returns, what its variables held goes piece by piece: a copy would find the rest
 * without them. */
TEST(while_memory_is_being_freed_there_is_none)
{
    struct seep_snapshot_moment now = at_step(20);
    begin(NULL);
    (void)ask(at_step(1), 0);
    (void)ask(at_step(5), 0);
    now.live_bytes = at_step(5).live_bytes - 1;
    ck_assert_int_eq(ask(now, 1), SEEP_SNAPSHOT_NOT_DUE);
    ck_assert_int_eq(ask(now, 1), SEEP_SNAPSHOT_DUE);
}

/* The steps at which the job ends, after the one copy that it has had, and whether one is due then.
 */
static const struct {
    uint32_t end;
    enum seep_snapshot_answer answer;
} ends[] = {
    {5, SEEP_SNAPSHOT_NOT_DUE}, {6, SEEP_SNAPSHOT_NOT_DUE}, {8, SEEP_SNAPSHOT_NOT_DUE},
    {9, SEEP_SNAPSHOT_DUE},     {71, SEEP_SNAPSHOT_DUE},
};

TEST(the_last_one_is_due_where_the_one_before_is_old, .to = N(ends))
{
    begin(NULL);
    for (uint32_t step = 1; step <= ends[_i].end; step++) {
        struct seep_snapshot_moment now = at_step(step);
        now.reading = step > 6;
        (void)ask(now, 1);
    }
    struct seep_snapshot_moment now = at_step(ends[_i].end);
    ck_assert_int_eq(seep_snapshot_policy_ask_last(&policy, &now), ends[_i].answer);
}

/* As another process's copy is being read for long. */
TEST(the_last_one_of_several_is_old_after_as_many_steps_again, .to = 2)
{
    begin(NULL);
    (void)run(20, 1, NULL, 0);
    for (uint32_t step = 21; step <= 36 + (uint32_t)_i; step++) {
        struct seep_snapshot_moment now = at_step(step);
        now.reading = true;
        (void)seep_snapshot_policy_ask(&policy, &now);
    }
    struct seep_snapshot_moment now = at_step(36 + (uint32_t)_i);
    ck_assert_int_eq(seep_snapshot_policy_ask_last(&policy, &now),
                     _i ? SEEP_SNAPSHOT_DUE : SEEP_SNAPSHOT_NOT_DUE);
}

TEST(the_last_one_costs_no_more_than_others)
{
    struct seep_snapshot_moment now = at_step(6);
    begin(NULL);
    (void)run(5, 1, NULL, 0);
    now.anonymous_bytes = 4000 * MIB;
    ck_assert_int_eq(seep_snapshot_policy_ask_last(&policy, &now), SEEP_SNAPSHOT_TOO_EXPENSIVE);
    begin("5");
    ck_assert_int_eq(seep_snapshot_policy_ask_last(&policy, &now), SEEP_SNAPSHOT_NOT_DUE);
}

TEST(what_was_felt_beside_a_copy_counts_as_its_stop)
{
    struct seep_snapshot_moment now = at_step(6);
    uint64_t stop_ns;
    begin("auto");
    (void)run(5, 1, NULL, 0);
    ck_assert_int_eq(ask(now, 5 * MS), SEEP_SNAPSHOT_DUE);
    stop_ns = policy.stops.all_ns;
    seep_snapshot_policy_felt(&policy, 2 * SECOND);
    ck_assert_uint_eq(policy.stops.all_ns, stop_ns + 2 * SECOND);
    ck_assert_uint_eq(policy.stops.last_ns, 5 * MS + 2 * SECOND);
    now = at_step(18);
    ck_assert_int_ne(ask(now, 1), SEEP_SNAPSHOT_DUE); /* it was dear */
}

TEST(a_stop_in_place_is_affordable_once_and_again_after_long)
{
    struct seep_snapshot_moment now = at_step(1);
    begin("auto");
    ck_assert(seep_snapshot_policy_affords(&policy, &now, 250 * MS));
    ck_assert(!seep_snapshot_policy_affords(&policy, &now, 300 * MS));
    seep_snapshot_policy_felt(&policy, 250 * MS);
    ck_assert(!seep_snapshot_policy_affords(&policy, &now, 100 * MS));
    now.age_ns = 101 * SECOND; /* a thousandth of it is 101 ms */
    ck_assert(seep_snapshot_policy_affords(&policy, &now, 100 * MS));
}

/* A job may try again and again. */
TEST(as_a_device_runs_out_of_memory_one_is_due_once, .to = 2)
{
    begin(NULL);
    ck_assert_int_eq(seep_snapshot_policy_ask_at_oom(&policy), SEEP_SNAPSHOT_DUE);
    ck_assert_int_eq(seep_snapshot_policy_ask_at_oom(&policy), SEEP_SNAPSHOT_NOT_DUE);
    seep_snapshot_policy_after_fork(&policy);
    ck_assert_int_eq(seep_snapshot_policy_ask_at_oom(&policy), SEEP_SNAPSHOT_DUE);
    begin(_i ? "5" : "off");
    ck_assert_int_eq(seep_snapshot_policy_ask_at_oom(&policy), SEEP_SNAPSHOT_NOT_DUE);
}

static const struct {
    const char *text;
    enum seep_snapshot_mode mode;
    uint32_t n;
} texts[] = {
    {"", SEEP_SNAPSHOT_AUTO, 0},        {"auto", SEEP_SNAPSHOT_AUTO, 0},
    {"off", SEEP_SNAPSHOT_OFF, 0},      {"nonsense", SEEP_SNAPSHOT_OFF, 0},
    {",,", SEEP_SNAPSHOT_OFF, 0},       {"7", SEEP_SNAPSHOT_LIST, 1},
    {"7,7,3,9", SEEP_SNAPSHOT_LIST, 2}, {"99999999999999999999,5", SEEP_SNAPSHOT_LIST, 1},
};

TEST(what_was_asked_for_is_read, .to = N(texts))
{
    begin(texts[_i].text);
    ck_assert_int_eq(policy.told.mode, texts[_i].mode);
    ck_assert_uint_eq(policy.told.n_steps, texts[_i].n);
}

SUITE("snapshot policy")
