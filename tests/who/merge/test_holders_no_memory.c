/* Without enough memory there is no answer, never a truncated one. Every allocation of their JSON
 * fails once. */
#include "tests/who/merge/holders_fixture.h"

static long failing = -1; /* that many allocations go well, and the next one does not */

static void *allocate(size_t n)
{
    if (failing >= 0 && failing-- == 0)
        return NULL;
    return malloc(n);
}

/* They are read while there is memory: without it jansson drops characters of texts that it parses.
 */
static void read_files(void)
{
    for (int i = 0; i < 6; i++) {
        json_t *one = snapshot(12 + i % 2, i % 2, 8 << i);
        add_path(add_line(one, 45, 800, "held"), "loader", "Annotations.by_name", 8 << i);
        add_path(add_line(one, 47, 800, "shared"), "global", "Scene.cameras", 8);
        add_line(one, 46, 100, "lost");
        add_file(0, one);
    }
}

TEST(answers_are_whole_or_none)
{
    size_t n_failed = 0;
    long k = 0;

    read_files();
    json_set_alloc_funcs(allocate, free);
    ck_assert_int_eq(seep_holders_merge(&files, &merged), 0);
    json_t *of_frame = json_incref(merged.of_frame), *of_job = json_incref(merged.of_job);
    for (bool done = false; !done; k++) {
        seep_holders_fini(&merged);
        failing = k;
        int rc = seep_holders_merge(&files, &merged);
        done = failing >= 0;
        failing = -1;
        ck_assert_msg(rc == 0 || rc == -SEEP_ENOMEM, "allocation %ld: %d", k, rc);
        n_failed += rc != 0;
        if (rc)
            continue;
        ck_assert_msg(json_equal(merged.of_frame, of_frame), "allocation %ld: a hole", k);
        ck_assert_msg(json_equal(merged.of_job, of_job), "allocation %ld: a hole", k);
    }
    ck_assert_int_gt(k, 100);
    ck_assert_uint_ge(n_failed, (size_t)k * 9 / 10);
    json_decref(of_frame);
    json_decref(of_job);
}

SUITE("holders without memory", .setup = setup, .teardown = teardown, .timeout_s = 120)
