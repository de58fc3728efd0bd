/* Who got more of Python's small objects from snapshot to snapshot. */
#include "libprof/who/merge/kept_by.h"
#include "tests/who/merge/holders_fixture.h"

#include <unistd.h>

enum { MOST = 4 };

/* A snapshot of process `pid`: names, bytes and lengths of its holders, up to a NULL. */
struct seen {
    int step;
    struct {
        const char *name;
        int bytes, length;
    } holders[MOST];
};

static void add(int pid, const struct seen *seen, int all)
{
    json_t *one = snapshot(pid, 0, seen->step), *small = add_small_objects(one, all);

    for (size_t i = 0; i < MOST && seen->holders[i].name; i++)
        add_small_holder(small, seen->holders[i].name, seen->holders[i].bytes,
                         seen->holders[i].length, 45);
    add_file(0, one);
}

static const struct seep_small_rise *merge(void)
{
    ck_assert_int_eq(seep_holders_merge(&files, &merged), 0);
    return &merged.small;
}

static const char *name_of(const struct seep_small_rise *rise)
{
    const json_t *path = json_array_get(json_object_get(rise->answer, "paths"), 0);

    return rise->answer ? text_of(json_object_get(path, "holder"), "name") : "";
}

TEST(the_holder_that_gets_more_is_told)
{
    add(7, &(struct seen){8, {{"Vocabulary.seen", 100000, 1000}, {"Config.all", 300000, 50}}},
        500000);
    add(7, &(struct seen){28, {{"Vocabulary.seen", 300000, 3000}, {"Config.all", 300000, 50}}},
        700000);
    const struct seep_small_rise *rise = merge();
    ck_assert_str_eq(name_of(rise), "Vocabulary.seen");
    ck_assert_uint_eq(rise->bytes, 200000);
    ck_assert_uint_eq(rise->pid, 7);
    ck_assert_uint_eq(rise->from_step, 8);
    ck_assert_uint_eq(rise->to_step, 28);
    ck_assert_double_eq(rise->pace, 100);
    ck_assert_str_eq(rise->table, "/home/user/train.py:45");
    ck_assert_int_eq(number_of(rise->answer, "bytes"), 300000);
    ck_assert_uint_eq(json_array_size(json_object_get(rise->answer, "length")), 2);
    ck_assert(json_is_null(json_object_get(rise->answer, "grows"))); /* too few to tell a trend */
}

/* What its three snapshots show, and whether it is told. */
static const struct {
    int bytes[3], lengths[3];
    bool is_told;
} courses[] = {
    {{100000, 200000, 300000}, {1000, 2000, 3000}, true},
    {{0, 200000, 300000}, {0, 2000, 3000}, true}, /* too small at first */
    {{100000, 300000, 200000}, {1000, 3000, 2000}, false},
    {{300000, 100000, 400000}, {3000, 1000, 4000}, false},
    {{100000, 200000, 300000}, {10, 10, 10}, false}, /* larger entries, not more of them */
    {{100000, 200000, 300000}, {10, 20, 20}, false},
    {{100000, 0, 300000}, {1000, 0, 3000}, false},
    {{0, 0, 300000}, {0, 0, 3000}, false}, /* seen once of three times */
    {{300000, 300000, 300000}, {1000, 2000, 3000}, false},
};

TEST(it_must_have_more_each_time, .to = N(courses))
{
    for (int i = 0; i < 3; i++) {
        struct seen seen = {.step = 10 * (i + 1)};
        if (courses[_i].bytes[i]) {
            seen.holders[0].name = "Log.records";
            seen.holders[0].bytes = courses[_i].bytes[i];
            seen.holders[0].length = courses[_i].lengths[i];
        }
        add(7, &seen, 500000);
    }
    ck_assert_str_eq(name_of(merge()), courses[_i].is_told ? "Log.records" : "");
}

TEST(what_has_no_length_has_more_objects)
{
    for (int i = 1; i <= 2; i++) {
        json_t *one = snapshot(7, 0, 10 * i);
        json_t *path =
            add_small_holder(add_small_objects(one, 900000), "main.root", 320000 * i, 1, 45);
        json_object_set_new(json_object_get(path, "holder"), "length", json_null());
        json_object_set_new(path, "table", json_null());
        add_file(0, one);
    }
    const struct seep_small_rise *rise = merge();
    ck_assert_str_eq(name_of(rise), "main.root");
    ck_assert_double_eq(rise->pace, 1000);
    ck_assert_str_eq(rise->table, "");
    ck_assert_uint_eq(json_array_size(json_object_get(rise->answer, "length")), 0);
}

/* Of str, in snapshots in which it is reached from such a root. */
static void add_unheld(const char *kind, int step, int bytes, int all)
{
    json_t *one = snapshot(7, 0, step);
    json_t *path = add_small_holder(add_small_objects(one, all), "", bytes, 1, 45);

    json_object_set_new(json_object_get(path, "root"), "kind", json_string(kind));
    json_object_set_new(path, "hops",
                        json_pack("[{s:s, s:n, s:s}]", "kind", "self", "name", "type", "str"));
    json_object_set_new(path, "holder", json_null());
    json_object_set_new(path, "sole_bytes", json_null());
    json_object_set_new(path, "table", json_null());
    add_file(0, one);
}

static const struct {
    const char *kind, *state, *bytes;
} unheld[] = {{"reference", "reference", "reference_bytes"},
              {"cycle", "cycle", "cycle_bytes"},
              {"nobody", "lost", "lost_bytes"}};

TEST(what_nobody_holds_is_told_if_it_gets_more, .to = N(unheld))
{
    for (int i = 1; i <= 2; i++)
        add_unheld(unheld[_i].kind, 10 * i, 320000 * i, 9000000);
    const struct seep_small_rise *rise = merge();
    ck_assert_uint_eq(rise->bytes, 320000);
    ck_assert_double_eq(rise->pace, 1000);
    ck_assert_str_eq(text_of(rise->answer, "state"), unheld[_i].state);
    ck_assert_int_eq(number_of(rise->answer, unheld[_i].bytes), 640000);
    const struct seep_kept_by kept = seep_kept_by_of_small(rise);
    ck_assert(kept.known);
    ck_assert_int_eq(seep_kept_by_nobody(&kept), _i != 1);
}

TEST(what_nobody_holds_and_stays_as_it_is_is_not_told)
{
    for (int i = 1; i <= 2; i++)
        add_unheld("reference", 10 * i, 320000, 400000);
    ck_assert_ptr_null(merge()->answer);
}

/* Seen once it may be anything that was there before. */
TEST(of_one_snapshot_most_of_all_is_asked, .to = 2)
{
    add(7, &(struct seen){8, {{"Log.records", 400000, 1000}}}, _i ? 500000 : 500001);
    const struct seep_small_rise *rise = merge();
    ck_assert_str_eq(name_of(rise), _i ? "Log.records" : "");
    ck_assert_uint_eq(rise->bytes, _i ? 400000 : 0);
    ck_assert_uint_eq(rise->from_step, rise->to_step);
}

/* _i: how much of the whole's rise the part has, in percent of it. */
TEST(a_part_that_has_nearly_all_is_told_rather_than_the_whole, .from = 89, .to = 92)
{
    for (int i = 0; i < 2; i++)
        add(7,
            &(struct seen){10 * (i + 1),
                           {{"Trainer.state", 500000 + 100000 * i, 5 + i},
                            {"Trainer.losses", 100000 + 1000 * _i * i, 1000 + i}}},
            900000);
    ck_assert_str_eq(name_of(merge()), _i < 90 ? "Trainer.state" : "Trainer.losses");
}

/* Nodes of a tree are alike: those that the first snapshot shows as one are not each other's past.
 */
TEST(of_several_alike_the_largest_is_followed)
{
    add(7, &(struct seen){10, {{"Node.left", 300000, 1000}}}, 900000);
    add(7, &(struct seen){20, {{"Node.left", 400000, 2000}, {"Node.left", 100000, 3000}}}, 900000);
    const struct seep_small_rise *rise = merge();
    ck_assert_uint_eq(rise->bytes, 100000);
    ck_assert_int_eq(number_of(rise->answer, "bytes"), 400000);
}

TEST(the_process_in_which_it_rose_most_tells)
{
    for (int i = 0; i < 2; i++) {
        add(7, &(struct seen){10 * (i + 1), {{"Log.records", 100000 * (i + 1), 1000 * (i + 1)}}},
            500000);
        add(9, &(struct seen){10 * (i + 1), {{"Log.records", 200000 * (i + 1), 2000 * (i + 1)}}},
            500000);
    }
    ck_assert_uint_eq(merge()->pid, 9);
}

TEST(what_was_not_seen_whole_tells_nothing)
{
    for (int i = 0; i < 2; i++) {
        json_t *one = snapshot(7, 0, 10 * (i + 1));
        add_small_holder(add_small_objects(one, 400000), "Log.records", 100000 * (i + 1), 9 + i,
                         45);
        json_object_set_new(one, "complete", json_boolean(i));
        add_file(0, one);
    }
    ck_assert_ptr_null(merge()->answer);
}

/* Damage costs the holder, and a word. */
static void damage(json_t *path, int how)
{
    json_object_set_new(path,
                        how == 0   ? "bytes"
                        : how == 1 ? "hops"
                                   : "text",
                        how ? json_integer(3) : json_integer(1000000));
}

TEST(a_damaged_holder_is_left_out, .to = 3)
{
    for (int i = 0; i < 2; i++) {
        json_t *one = snapshot(7, 0, 10 * (i + 1)), *small = add_small_objects(one, 400000);
        damage(add_small_holder(small, "Log.records", 100000 * (i + 1), 1000 * (i + 1), 45), _i);
        add_small_holder(small, "Vocabulary.seen", 70000 + i, 500 + i, 46);
        add_file(0, one);
    }
    ck_assert_uint_eq(files.n_said, 2);
    ck_assert_str_eq(files.said[0], "holders-7-10.json: 1 part is damaged and left out");
    ck_assert_str_eq(name_of(merge()), "Vocabulary.seen");
}

TEST(no_more_holders_than_the_limit_are_read)
{
    json_t *one = snapshot(7, 0, 8), *small = add_small_objects(one, 400000);

    for (int i = 0; i < SEEP_HOLDERS_MAX_SMALL + 9; i++)
        add_small_holder(small, "Log.records", 100, 10, 45);
    add_file(0, one);
    ck_assert_uint_eq(files.list[0].n_small, SEEP_HOLDERS_MAX_SMALL);
}

SUITE("holders of small objects", .setup = setup, .teardown = teardown)
