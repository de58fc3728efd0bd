/* What counts as growth of a process, so that a copy of it is worth its cost. */
#include <check.h>

#include "preload/snapshot/snapshot_policy.h"
#include "tests/suite.h"

#define MB UINT64_C(1048576)
#define MS UINT64_C(1000000)

static struct seep_snapshot_policy policy;

static void begin(void)
{
    seep_snapshot_policy_read(&policy, NULL);
}

static struct seep_snapshot_moment at(uint32_t step, uint64_t live_bytes)
{
    return (struct seep_snapshot_moment){.step = step,
                                         .room_ns = UINT64_MAX,
                                         .by_step = true,
                                         .age_ns = 100000 * MS + step * 20 * MS,
                                         .job_age_ns = 100000 * MS + step * 20 * MS,
                                         .live_bytes = live_bytes};
}

/* Each step begins and ends at the level of that time, and takes 40 MB in between. Returns after
 * which step the first copy was made that came after `from`; 0: none. */
static uint32_t go_on(uint32_t from, uint32_t to, uint64_t level, uint64_t kept_a_step)
{
    static const uint64_t taken[] = {0, 10 * MB, 40 * MB, 20 * MB};

    for (uint32_t step = from; step <= to; step++)
        for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
            const struct seep_snapshot_moment now =
                at(step, level + (step - from) * kept_a_step + taken[i]);
            if (seep_snapshot_policy_ask(&policy, &now) == SEEP_SNAPSHOT_DUE) {
                seep_snapshot_policy_done(&policy, &now, MS);
                return step;
            }
        }
    return 0;
}

TEST(what_each_step_takes_and_gives_back_is_none)
{
    ck_assert_uint_eq(go_on(1, 100, 100 * MB, 0), 6); /* somebody may ask what holds all that */
    ck_assert_uint_eq(go_on(7, 5000, 100 * MB, 0), 0);
}

/* The lowest of three steps counts. */
TEST(what_each_step_keeps_beside_it_is_some)
{
    ck_assert_uint_eq(go_on(1, 100, 100 * MB, MB), 6);
    ck_assert_uint_eq(go_on(7, 5000, 107 * MB, MB), 10);
}

TEST(a_little_a_step_becomes_some)
{
    ck_assert_uint_eq(go_on(1, 100, 100 * MB, MB / 16), 6);
    const uint32_t next = go_on(7, 5000, 100 * MB + 6 * MB / 16, MB / 16);
    ck_assert_uint_ge(next, 7 + 16);
    ck_assert_uint_le(next, 7 + 16 + 3);
}

TEST(a_level_that_is_reached_once_is_some_once)
{
    ck_assert_uint_eq(go_on(1, 100, 100 * MB, 0), 6);
    ck_assert_uint_eq(go_on(7, 100, 100 * MB, 0), 0);
    ck_assert_uint_eq(go_on(101, 200, 130 * MB, 0), 103);
    ck_assert_uint_eq(go_on(104, 5000, 130 * MB, 0), 0);
}

/* As the interpreter ends, too. */
TEST(a_last_copy_is_made_of_what_has_grown_since_the_one_before)
{
    struct seep_snapshot_moment now = at(401, 100 * MB);

    ck_assert_uint_eq(go_on(1, 100, 100 * MB, 0), 6);
    ck_assert_uint_eq(go_on(7, 400, 100 * MB, 0), 0);
    now.live_bytes = 140 * MB; /* in the middle of a step */
    ck_assert_int_eq(seep_snapshot_policy_ask_last(&policy, &now), SEEP_SNAPSHOT_NOT_DUE);
    begin();
    ck_assert_uint_eq(go_on(1, 100, 100 * MB, 0), 6);
    ck_assert_uint_eq(go_on(7, 9, 107 * MB, MB), 0);
    now.step = 10;
    now.live_bytes = 140 * MB;
    ck_assert_int_eq(seep_snapshot_policy_ask_last(&policy, &now), SEEP_SNAPSHOT_DUE);
}

SUITE("growth that is worth a copy", .setup = begin)
