/* Copies that have to fit what the bound on seep's cost leaves. */
#include <check.h>

#include "preload/snapshot/snapshot_policy.h"
#include "tests/suite.h"

#define MS UINT64_C(1000000)

enum { PAGES_A_STOP_MS = 12 * 1000 * 1000 }; /* bytes, as the policy estimates them */

static struct seep_snapshot_policy policy;

/* A copy stops the job for 30 ms, and its reading takes 200 ms of a CPU that the job wants. */
static struct seep_snapshot_moment at(uint32_t step, uint64_t room_ns)
{
    return (struct seep_snapshot_moment){.step = step,
                                         .by_step = true,
                                         .age_ns = step * 100 * MS,
                                         .job_age_ns = step * 100 * MS,
                                         .live_bytes = step << 20,
                                         .anonymous_bytes = 30 * (uint64_t)PAGES_A_STOP_MS,
                                         .read_ns = 800 * MS,
                                         .n_read = 2,
                                         .taken_ns = 400 * MS,
                                         .room_ns = room_ns};
}

static void setup(void)
{
    const struct seep_snapshot_moment first = at(1, UINT64_MAX);
    seep_snapshot_policy_read(&policy, NULL);
    ck_assert_int_eq(seep_snapshot_policy_ask(&policy, &first), SEEP_SNAPSHOT_NOT_DUE);
}

TEST(a_look_that_does_not_fit_waits_for_its_room)
{
    const struct seep_snapshot_moment tight = at(12, 229 * MS), roomy = at(13, 230 * MS);
    ck_assert_int_eq(seep_snapshot_policy_ask(&policy, &tight), SEEP_SNAPSHOT_TOO_EXPENSIVE);
    ck_assert_int_eq(seep_snapshot_policy_ask(&policy, &roomy), SEEP_SNAPSHOT_DUE);
}

TEST(readers_on_free_cpus_cost_the_job_nothing)
{
    struct seep_snapshot_moment now = at(12, 30 * MS);
    now.taken_ns = 0;
    ck_assert_int_eq(seep_snapshot_policy_ask(&policy, &now), SEEP_SNAPSHOT_DUE);
}

TEST(a_look_that_the_job_asks_for_is_taken)
{
    struct seep_snapshot_moment now = at(12, 0);
    now.asked = true;
    ck_assert_int_eq(seep_snapshot_policy_ask(&policy, &now), SEEP_SNAPSHOT_DUE);
}

TEST(a_process_is_not_stopped_for_longer_than_there_is_room)
{
    const struct seep_snapshot_moment now = at(12, 100 * MS);
    ck_assert(seep_snapshot_policy_affords(&policy, &now, 100 * MS));
    ck_assert(!seep_snapshot_policy_affords(&policy, &now, 101 * MS));
}

SUITE("copies within the overhead", .setup = setup)
