/* Snapshots of all processes become one answer a line, and one series of lengths a container. */
#include "libprof/who/merge/holders_series.h"
#include "tests/who/merge/holders_fixture.h"

#include <unistd.h>

static void merge(void)
{
    ck_assert_int_eq(seep_holders_merge(&files, &merged), 0);
}

static void held(int pid, int process, int step, int bytes, int length)
{
    json_t *one = snapshot(pid, process, step);

    add_path(add_line(one, 45, bytes, "held"), "loader", "Annotations.by_name", length);
    add_file(0, one);
}

TEST(the_last_snapshot_of_a_process_answers)
{
    held(12, 0, 8, 800, 8);
    held(12, 0, 64, 6400, 64);
    merge();
    ck_assert_int_eq(number_of(answer(45), "step"), 64);
    ck_assert_int_eq(number_of(answer(45), "bytes"), 6400);
    ck_assert_str_eq(text_of(answer(45), "state"), "held");
    ck_assert_ptr_null(answer(46));
}

TEST(one_that_is_whole_answers_before_a_later_one_that_is_not)
{
    json_t *one = snapshot(12, 0, 64);

    held(12, 0, 8, 800, 8);
    add_line(one, 45, 6400, "unknown");
    json_object_set_new(one, "complete", json_false());
    add_file(0, one);
    merge();
    ck_assert_int_eq(number_of(answer(45), "step"), 8);
    ck_assert(json_is_true(json_object_get(answer(45), "complete")));
}

TEST(what_was_not_seen_whole_is_said_once_for_each_reason)
{
    static const char *const reasons[] = {"more than 5 M nodes", "more than 5 M nodes", ""};

    for (int i = 0; i < 4; i++) {
        json_t *one = snapshot(12 + i, i, 64);
        json_object_set_new(one, "complete", json_boolean(i == 3));
        if (i < 3)
            json_object_set_new(one, "why_not", json_string(reasons[i]));
        add_file(0, one);
    }
    merge();
    ck_assert_uint_eq(merged.n_said, 2);
    ck_assert_str_eq(merged.said[0], "holders-12-64.json and 1 more: the holders of memory are "
                                     "incomplete: more than 5 M nodes");
    ck_assert_str_eq(merged.said[1], "holders-14-64.json: the holders of memory are incomplete");
}

TEST(the_same_holder_in_all_workers_is_one_answer)
{
    held(21, 1, 64, 1000, 64);
    held(20, 2, 64, 3000, 70);
    held(22, 3, 60, 2000, 60);
    merge();
    const json_t *its = answer(45), *path = json_array_get(json_object_get(its, "paths"), 0);
    ck_assert_int_eq(number_of(its, "bytes"), 6000);
    ck_assert_int_eq(number_of(path, "bytes"), 6000);
    ck_assert_int_eq(number_of(path, "sole_bytes"), 6000);
    ck_assert_int_eq(number_of(path, "blocks"), 3 * 480);
    ck_assert_int_eq(number_of(json_object_get(path, "holder"), "length"), 70);
    ck_assert_uint_eq(json_array_size(json_object_get(its, "pids")), 3);
    ck_assert_int_eq((int)json_integer_value(json_array_get(json_object_get(its, "pids"), 0)), 20);
    ck_assert_uint_eq(json_array_size(json_object_get(its, "other_pids")), 0);
}

TEST(what_most_bytes_say_is_the_answer_and_who_says_else_is_named)
{
    json_t *one = snapshot(30, 4, 64);

    held(20, 1, 64, 1000, 64);
    held(21, 2, 64, 1000, 64);
    add_path(add_line(one, 45, 1500, "held"), "elsewhere", "Scene.cameras", 5);
    add_file(0, one);
    merge();
    ck_assert_int_eq(number_of(answer(45), "bytes"), 2000);
    const json_t *others = json_object_get(answer(45), "other_pids");
    ck_assert_uint_eq(json_array_size(others), 1);
    ck_assert_int_eq((int)json_integer_value(json_array_get(others, 0)), 30);
}

/* Each folder has pids of its own. */
TEST(the_same_pid_on_two_hosts_is_two_processes)
{
    held(20, 0, 64, 1000, 64);
    json_t *one = snapshot(20, 0, 32);
    add_path(add_line(one, 45, 500, "held"), "loader", "Annotations.by_name", 32);
    add_file(1, one);
    merge();
    ck_assert_int_eq(number_of(answer(45), "bytes"), 1500);
}

TEST(a_line_that_nobody_holds_is_lost)
{
    json_t *one = snapshot(12, 0, 64);

    add_line(one, 45, 6400, "lost");
    add_line(one, 46, 100, "cycle");
    add_file(0, one);
    merge();
    ck_assert_str_eq(text_of(answer(45), "state"), "lost");
    ck_assert_str_eq(text_of(answer(46), "state"), "cycle");
    ck_assert(json_is_null(json_object_get(answer(45), "grows")));
    ck_assert_int_eq(number_of(merged.of_job, "lost_bytes"), 6400);
}

/* ---- lengths ----------------------------------------------------------------------------- */

static const struct {
    const char *what;
    unsigned steps[8], lengths[8];
    bool known, grows;
} series[] = {
    {"one entry a step", {8, 16, 32, 64, 128}, {8, 16, 32, 64, 128}, true, true},
    {"four are enough", {8, 16, 32, 64}, {1, 2, 3, 4}, true, true},
    {"three are not", {8, 16, 32}, {8, 16, 32}, false, false},
    {"a cache that is full", {8, 16, 32, 64, 128, 256}, {10, 20, 40, 80, 80, 80}, true, false},
    {"full from the start", {8, 16, 32, 64, 128}, {80, 80, 80, 80, 80}, true, false},
    {"emptied by epochs", {8, 16, 32, 64, 128}, {8, 16, 2, 14, 8}, true, false},
    {"emptied, and full again", {8, 16, 32, 64, 128, 256}, {8, 16, 32, 4, 40, 60}, true, false},
    {"shrinks", {8, 16, 32, 64, 128}, {50, 40, 30, 20, 10}, true, false},
    {"fills late", {10, 20, 30, 40, 50, 60}, {0, 0, 0, 0, 0, 9}, true, false},
};

TEST(a_length_grows_that_rises_to_the_end, .to = N(series))
{
    struct seep_holders_length points[8];
    size_t n = 0;

    for (; n < 8 && series[_i].steps[n]; n++)
        points[n] = (struct seep_holders_length){series[_i].steps[n], series[_i].lengths[n]};
    struct seep_holders_pace pace = seep_holders_pace_of(points, n);
    ck_assert_msg(pace.known == series[_i].known, "%s", series[_i].what);
    ck_assert_msg(pace.grows == series[_i].grows, "%s", series[_i].what);
    ck_assert(pace.slope.low <= pace.slope.value && pace.slope.value <= pace.slope.high);
}

TEST(the_pace_is_entries_a_step_however_far_apart_the_snapshots_are)
{
    struct seep_holders_length points[200];

    for (unsigned i = 0; i < 200; i++)
        points[i] = (struct seep_holders_length){i * i, 7 + 3 * (uint64_t)i * i};
    ck_assert_double_eq_tol(seep_holders_pace_of(points, 8).slope.value, 3, 1e-9);
    ck_assert_double_eq_tol(seep_holders_pace_of(points, 200).slope.value, 3, 1e-9);
    ck_assert_double_eq_tol(seep_holders_pace_of(points, 200).slope.low, 3, 1e-9);
}

TEST(a_containers_length_is_told_over_its_snapshots)
{
    for (int step = 8; step <= 128; step *= 2)
        held(12, 0, step, 100 * step, step);
    merge();
    const json_t *its = answer(45), *length = json_object_get(its, "length");
    ck_assert_uint_eq(json_array_size(length), 5);
    ck_assert_int_eq((int)json_integer_value(json_array_get(json_array_get(length, 4), 1)), 128);
    ck_assert(json_is_true(json_object_get(its, "grows")));
    ck_assert_double_eq_tol(
        json_number_value(json_object_get(json_object_get(its, "growth_per_step"), "value")), 1,
        1e-9);
    const json_t *named = json_array_get(json_object_get(merged.of_job, "named"), 0);
    ck_assert_str_eq(text_of(named, "name"), "Annotations.by_name");
    ck_assert_int_eq(number_of(named, "bytes"), 12800);
    ck_assert(json_is_true(json_object_get(named, "grows")));
    ck_assert_int_eq(number_of(merged.of_job, "snapshots"), 5);
}

/* A trainer's stays, a worker's grows: what is worst is told. */
TEST(of_several_processes_the_one_in_which_it_grows_is_told)
{
    for (int step = 8; step <= 128; step *= 2) {
        held(12, 0, step, 100, 200);
        held(13, 1, step, 100, step);
        held(14, 2, step, 100, 7);
    }
    merge();
    ck_assert(json_is_true(json_object_get(answer(45), "grows")));
    const json_t *last = json_array_get(json_object_get(answer(45), "length"), 4);
    ck_assert_int_eq((int)json_integer_value(json_array_get(last, 1)), 128);
}

/* ---- folders ----------------------------------------------------------------------------- */

static void write_file(const char *dir, const char *name, const char *text)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

TEST(files_of_a_folder_are_found_by_their_names)
{
    char dir[] = "/tmp/seep-holders-XXXXXX", link[64], command[64];

    ck_assert_ptr_nonnull(mkdtemp(dir));
    const char *dirs[] = {dir, dir, "/nowhere"};
    json_t *one = snapshot(12, 0, 9), *two = snapshot(12, 0, 10);
    char *text = json_dumps(one, 0), *other = json_dumps(two, 0);
    write_file(dir, "holders-12-10.json", other);
    write_file(dir, "holders-12-9.json", text);
    write_file(dir, "holders-12-9.json.part", text);
    write_file(dir, "holders-x-9.json", text);
    write_file(dir, "holders-12-11.json", "{");
    snprintf(link, sizeof link, "%s/holders-12-12.json", dir);
    ck_assert_int_eq(symlink("holders-12-9.json", link), 0);
    ck_assert_int_eq(seep_holders_open(dirs, 3, &files), 0);
    snprintf(command, sizeof command, "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
    ck_assert_uint_eq(files.n, 2);
    ck_assert_uint_eq(files.list[0].step, 9);
    ck_assert_uint_eq(files.list[1].step, 10);
    ck_assert_uint_eq(files.n_said, 2);
    ck_assert_ptr_nonnull(strstr(files.said[0], "holders-12-11.json: damaged at line 1"));
    json_decref(one);
    json_decref(two);
    free(text);
    free(other);
}

SUITE("holders merge", .setup = setup, .teardown = teardown)
