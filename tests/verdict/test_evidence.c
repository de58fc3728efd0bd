/* The observed holder of a line's memory, as evidence: of two jobs with the same levels, one has a
 * leak and the other has none. */
#include "tests/verdict/beside_snapshots.h"
#include "tests/verdict/levels.h"
#include "tests/who/merge/made_up_snapshots.h"

enum { LINE = 77, BLOCK = 8192 };

static struct ramp endless = {FIRST, UINT32_MAX, 4, UINT32_MAX};
static json_t *seen; /* the last snapshot; NULL: nobody looked */

static void setup_line(void)
{
    setup();
    seen = snapshot(100, 0, 150);
    builder_level(&b, below(main_stack, "/home/user/train.py", "remember", LINE), 0, BLOCK, LAST,
                  ramp, &endless);
}

static void teardown_line(void)
{
    teardown();
    json_decref(seen);
}

/* A holder that grows by four entries a step; the last snapshot is what is there. */
static void write_earlier(const char *dir)
{
    static const int steps[] = {12, 18, 27, 40, 60, 90};
    json_t *line = json_array_get(json_object_get(seen, "lines"), 0);
    json_t *path = json_array_get(json_object_get(line, "paths"), 0);

    for (size_t i = 0; path && i < sizeof steps / sizeof *steps; i++) {
        json_t *earlier = json_deep_copy(seen);
        line = json_array_get(json_object_get(earlier, "lines"), 0);
        path = json_array_get(json_object_get(line, "paths"), 0);
        json_object_set_new(earlier, "step", json_integer(steps[i]));
        json_object_set_new(json_object_get(path, "holder"), "length", json_integer(4 * steps[i]));
        write_snapshot(dir, steps[i], earlier);
        json_decref(earlier);
    }
}

static void write_all(const char *dir)
{
    write_earlier(dir);
    write_snapshot(dir, 150, seen);
}

static const json_t *judged(void)
{
    return judged_beside(write_all, LAST, resident);
}

static void is_judged(const char *pattern, const char *severity, const char *evidence)
{
    expect_finding(judged(), pattern, severity, evidence);
}

static json_t *line_in(const char *state)
{
    return add_line(seen, LINE, 4 * 140 * BLOCK, state);
}

static json_t *held_by(const char *type, int length)
{
    json_t *path = add_path(line_in("held"), "history", "main.history", length);

    json_object_set_new(json_object_get(path, "holder"), "type", json_string(type));
    return path;
}

static void set_hop(json_t *path, const char *field, const char *text)
{
    json_object_set_new(json_array_get(json_object_get(path, "hops"), 0), field, json_string(text));
}

static void bound(json_t *path, int most, const char *by)
{
    json_object_set_new(json_object_get(path, "holder"), "bound", json_integer(most));
    json_object_set_new(json_object_get(path, "holder"), "bound_by", json_string(by));
}

TEST(a_list_that_grows_with_it_is_a_leak_without_doubt)
{
    held_by("list", 4 * 140);
    is_judged("unbounded-growth", "leak", "and no bound");
    ck_assert_double_ge(
        number(json_array_get(json_object_get(report, "findings"), 0), "confidence"), 0.9);
}

static void write_last(const char *dir)
{
    write_snapshot(dir, (int)json_integer_value(json_object_get(seen, "step")), seen);
}

/* Seen once, with an entry of each step; or with as many as the data has. */
static const struct {
    int length;
    const char *pattern, *severity;
} once[] = {{150, "unbounded-growth", "leak"}, {2000, "undetermined", "pressure"}};

TEST(a_list_with_an_entry_of_each_step_needs_no_epoch_either, .to = N(once))
{
    add_epochs(1, LAST);
    ck_assert_ptr_nonnull(held_by("list", once[_i].length));
    expect_finding(judged_beside(write_last, LAST, resident), once[_i].pattern, once[_i].severity,
                   "");
}

static const struct {
    const char *type, *pattern, *severity, *evidence;
} before_an_epoch[] = {{"list", "unbounded-growth", "leak", "and no bound"},
                       {"dict", "undetermined", "pressure", "past the first epoch"}};

/* Language models and smoke tests seldom end a pass over their data. */
TEST(a_list_that_grows_with_each_step_needs_no_epoch, .to = N(before_an_epoch))
{
    add_epochs(1, LAST);
    json_t *path = held_by(before_an_epoch[_i].type, 4 * 140);
    ck_assert_ptr_nonnull(path);
    is_judged(before_an_epoch[_i].pattern, before_an_epoch[_i].severity,
              before_an_epoch[_i].evidence);
}

/* What comes at random, the last third an eighth less than the first: chance, or ever fewer new
 * keys. Of a list only chance. */
static const struct {
    const char *type, *pattern;
} containers[] = {{"dict", "undetermined"}, {"set", "undetermined"}, {"list", "unbounded-growth"}};

TEST(new_keys_that_come_at_random_may_be_met_ever_more_rarely, .to = N(containers))
{
    enum { OTHER = LINE + 1, PARTS = 25 };
    struct bend level[PARTS + 3] = {{1, 0}, {20, 32}};
    double blocks = 32;

    for (unsigned i = 0; i < PARTS; i++) {
        blocks += (i % 2 ? 6 : 14) * (1 - 0.19 * i / PARTS);
        level[i + 2] = (struct bend){27 + 7 * i, blocks};
    }
    builder_level(&b, below(main_stack, "/home/user/train.py", "meet", OTHER), 0, BLOCK, LAST,
                  drawn, level);
    json_t *path = add_path(add_line(seen, OTHER, 230 * BLOCK, "held"), "seen", "main.seen", 230);
    json_object_set_new(json_object_get(path, "holder"), "type", json_string(containers[_i].type));
    (void)judged();
    const json_t *list = json_object_get(report, "findings"), *f;
    char *all = json_dumps(list, JSON_INDENT(1));
    unsigned n = 0;
    size_t i;
    json_array_foreach (list, i, f) {
        if (number(json_object_get(f, "frame"), "line") != OTHER)
            continue;
        n++;
        ck_assert_msg(strcmp(text(f, "pattern"), containers[_i].pattern) == 0, "%s", all);
    }
    ck_assert_msg(n == 1, "%s", all);
    free(all);
}

/* 800 blocks: in as many items as there are, in too few, in one that was as long as it is now, in a
 * list of the blocks themselves, and in one that was shorter in an earlier snapshot. */
static const struct {
    int length, step, resident; /* MiB */
    bool in_items;
    int earlier; /* length in step 60; 0: no snapshot */
    const char *pattern, *severity;
} items[] = {{1000, 150, 100, true, 0, "first-touch-cache", "retention"},
             {1000, 150, 300, true, 0, "first-touch-cache", "info"},
             {1000, 150, 100, true, 1000, "first-touch-cache", "retention"},
             {700, 150, 100, true, 0, "unbounded-growth", "leak"},
             {1000, 198, 100, true, 0, "unbounded-growth", "leak"},
             {1000, 150, 100, false, 0, "unbounded-growth", "leak"},
             {1000, 150, 100, true, 400, "unbounded-growth", "leak"}};

static int earlier_length;

static void write_two(const char *dir)
{
    json_t *earlier = json_deep_copy(seen);
    json_t *line = json_array_get(json_object_get(earlier, "lines"), 0);
    json_t *path = json_array_get(json_object_get(line, "paths"), 0);

    json_object_set_new(earlier, "step", json_integer(60));
    json_object_set_new(json_object_get(path, "holder"), "length", json_integer(earlier_length));
    write_snapshot(dir, 60, earlier);
    json_decref(earlier);
    write_last(dir);
}

TEST(what_each_item_keeps_from_its_first_use_is_a_cache, .to = N(items))
{
    json_t *path = held_by("list", items[_i].length);

    json_object_set_new(seen, "step", json_integer(items[_i].step));
    if (items[_i].in_items)
        json_array_append_new(
            json_object_get(path, "hops"),
            json_pack("{s:s, s:s, s:s}", "kind", "attribute", "name", "mask", "type", "bytearray"));
    earlier_length = items[_i].earlier;
    expect_finding(judged_beside(earlier_length ? write_two : write_last, LAST,
                                 (uint64_t)items[_i].resident << 20),
                   items[_i].pattern, items[_i].severity, "");
}

TEST(a_deque_that_is_not_full_yet_is_no_leak)
{
    bound(held_by("deque", 4 * 140), 2000, "maxlen");
    is_judged("legitimate-growth", "info", "of at most 2000 entries");
}

/* How many results are kept is meant, the graph behind each is not. */
TEST(what_a_bounded_holder_keeps_by_way_of_graphs_is_a_graph_that_is_kept)
{
    json_t *path = held_by("deque", 4 * 140);

    bound(path, 2000, "maxlen");
    json_object_set_new(json_array_get(json_object_get(seen, "lines"), 0), "graph_bytes",
                        json_integer(4 * 140 * BLOCK));
    is_judged("graph-retention", "retention", "which holds 560 of at most 2000 results");
}

/* It ends with the first pass over what it repeats, which only looks like growth until then. */
TEST(what_itertools_cycle_has_seen_is_kept_for_good_but_not_endless)
{
    json_t *path = held_by("list", 4 * 140);

    resident = 100 * MIB;
    set_hop(path, "type", "cycle");
    is_judged("first-touch-cache", "retention", "everything from its first pass");
    ck_assert_ptr_nonnull(strstr(
        text(json_array_get(json_object_get(report, "findings"), 0), "advice"), "itertools.cycle"));
}

/* 8,192 bytes an entry: 16 TiB. */
TEST(a_bound_beyond_all_memory_is_none)
{
    builder_header(&b)->limit_ram_bytes = UINT64_C(8) << 30;
    bound(held_by("deque", 4 * 140), INT32_MAX, "maxlen");
    is_judged("unbounded-growth", "leak", "Grows by");
}

TEST(a_bound_that_is_full_in_a_hundred_runs_is_none)
{
    bound(held_by("deque", 4 * 140), 4 * STEPS * 130, "maxlen");
    is_judged("unbounded-growth", "leak", "Grows by");
}

TEST(a_bound_that_is_full_in_eighty_runs_is_one)
{
    bound(held_by("deque", 4 * 140), 4 * STEPS * 80, "maxlen");
    is_judged("legitimate-growth", "info", "of at most");
}

TEST(a_bound_of_a_small_part_of_it_says_nothing)
{
    json_t *path = held_by("deque", 4 * 140);

    bound(path, 2000, "maxlen");
    json_object_set_new(path, "bytes", json_integer(2 * 140 * BLOCK));
    json_object_set_new(path, "sole_bytes", json_integer(2 * 140 * BLOCK));
    is_judged("unbounded-growth", "leak", "Grows by");
}

TEST(what_nobody_points_to_is_lost)
{
    line_in("lost");
    is_judged("unbounded-growth", "leak", "nothing points to it");
}

TEST(a_cycle_that_no_collector_frees_is_a_cycle)
{
    line_in("cycle");
    is_judged("reference-cycle", "leak", "only a reference cycle holds it");
}

/* The collector came once or twice in the whole job; of 64 KiB a step, and with little in cycles at
 * any time, that says nothing, nor where nobody has seen a cycle. */
static const struct {
    const char *state, *pattern;
    uint32_t every;
    int bytes;
} collected[] = {{"cycle", "reference-cycle", 120, 100 * (64 << 10)},
                 {"cycle", "reference-cycle", 90, 80 * (64 << 10)},
                 {"cycle", "", 120, 2 * (64 << 10)},
                 {"shared", "", 120, 100 * (64 << 10)}};

static uint64_t waits_for_collector(uint32_t period, void *arg)
{
    return 8 * bursts(period, arg);
}

TEST(much_that_was_seen_in_a_cycle_needs_no_three_falls, .to = N(collected))
{
    enum { OTHER = LINE + 1 };
    uint32_t every = collected[_i].every;
    const json_t *f;
    size_t i;

    builder_level(&b, below(main_stack, "/home/user/train.py", "record", OTHER), 0, BLOCK, LAST,
                  waits_for_collector, &every);
    add_line(seen, OTHER, collected[_i].bytes, collected[_i].state);
    (void)judged();
    const char *pattern = "";
    json_array_foreach (json_object_get(report, "findings"), i, f) {
        if (number(json_object_get(f, "frame"), "line") == OTHER)
            pattern = text(f, "pattern");
    }
    ck_assert_str_eq(pattern, collected[_i].pattern);
}

TEST(what_is_held_by_way_of_a_graph_is_a_graph_that_is_kept)
{
    held_by("list", 4 * 140);
    json_object_set_new(json_array_get(json_object_get(seen, "lines"), 0), "graph_bytes",
                        json_integer(4 * 100 * BLOCK));
    is_judged("graph-retention", "leak", "Held through an autograd graph");
}

TEST(a_part_that_a_graph_holds_does_not_make_it_one)
{
    held_by("list", 4 * 140);
    json_object_set_new(json_array_get(json_object_get(seen, "lines"), 0), "graph_bytes",
                        json_integer(4 * 40 * BLOCK));
    is_judged("unbounded-growth", "leak", "Grows by");
}

TEST(an_answer_that_explains_half_of_it_says_nothing)
{
    json_t *line = line_in("lost");

    json_object_set_new(line, "lost_bytes", json_integer(2 * 140 * BLOCK));
    is_judged("unbounded-growth", "leak", "Grows by");
    const json_t *f = json_array_get(json_object_get(report, "findings"), 0);
    char *evidence = json_dumps(json_object_get(f, "evidence"), 0);
    ck_assert_ptr_null(strstr(evidence, "points to"));
    free(evidence);
}

TEST(a_snapshot_that_is_not_whole_says_nothing)
{
    json_object_set_new(seen, "complete", json_false());
    bound(held_by("deque", 4 * 140), 2000, "maxlen");
    is_judged("unbounded-growth", "leak", "Grows by");
}

/* ---- growth in jumps ----------------------------------------------------------------------------
 */

/* Steps of evaluations, each of which leaves as much behind; 0 ends them. */
static uint64_t at_evaluations(uint32_t period, void *arg)
{
    uint64_t n = 0;

    for (const uint32_t *step = arg; *step && period + 1 >= FIRST + *step; step++)
        n++;
    return 64 * n;
}

static uint32_t every_30[] = {1, 31, 61, 91, 121, 151, 181, 0};

static json_t *evaluated_at(uint32_t *steps, const char *kind, const char *text)
{
    builder_level(&b, below(main_stack, "/home/user/train.py", "evaluate", LINE + 5), 0, BLOCK,
                  LAST, at_evaluations, steps);
    json_t *path =
        add_path(add_line(seen, LINE + 5, 64 * 5 * BLOCK, "held"), "trainer", "Trainer.outputs", 5);
    json_object_set_new(path, "text", json_string(text));
    set_hop(path, "kind", kind);
    return path;
}

static json_t *evaluated_into(const char *kind, const char *text)
{
    return evaluated_at(every_30, kind, text);
}

static const char *severity_of(int line)
{
    const json_t *f;
    size_t i;

    (void)judged();
    json_array_foreach (json_object_get(report, "findings"), i, f) {
        if (number(json_object_get(f, "frame"), "line") == line)
            return text(f, "severity");
    }
    return "";
}

TEST(what_an_object_gathers_at_each_evaluation_is_a_leak)
{
    (void)evaluated_into("attribute", "local 'trainer' of main() (Trainer).outputs[5]");
    ck_assert_str_eq(severity_of(LINE + 5), "leak");
}

/* Evenly but for one, at an uneven pace, and with a pause at the end like others and a longer one.
 */
static struct {
    uint32_t steps[8];
    const char *severity;
} paces[] = {
    {{1, 30, 60, 85, 110, 135, 175}, "leak"},      {{1, 27, 53, 79, 105, 131, 181}, "pressure"},
    {{1, 26, 51, 76, 101, 131, 161}, "leak"},      {{1, 26, 51, 75, 99, 123, 150}, "pressure"},
    {{10, 30, 75, 95, 140, 160, 192}, "pressure"},
};

TEST(what_an_object_gathers_at_an_even_pace_is_a_leak, .to = N(paces))
{
    (void)evaluated_at(paces[_i].steps, "attribute",
                       "local 'trainer' of main() (Trainer).outputs[5]");
    ck_assert_str_eq(severity_of(LINE + 5), paces[_i].severity);
}

TEST(what_a_function_gathers_may_be_for_its_end)
{
    (void)evaluated_into("index", "local 'outputs' of main()[5]");
    ck_assert_str_eq(severity_of(LINE + 5), "pressure");
}

TEST(a_network_may_grow)
{
    json_t *path = evaluated_into("attribute", "local 'net' of main() (Net)._modules[5 keys]");
    set_hop(path, "name", "_modules");
    ck_assert_str_eq(severity_of(LINE + 5), "pressure");
}

TEST(garbage_that_a_cycle_keeps_in_part_is_a_cycle)
{
    json_t *path = held_by("dict", 5);

    json_object_set_new(json_object_get(path, "root"), "kind", json_string("cycle"));
    is_judged("reference-cycle", "leak", "only a reference cycle holds it");
}

/* ---- what is said of it ---------------------------------------------------------------------- */

TEST(the_advice_names_who_keeps_it)
{
    held_by("list", 4 * 140);
    is_judged("unbounded-growth", "leak", "Bound main.history");
}

static const struct {
    const char *field, *text, *advice;
} keepers[] = {
    {"type", "deque", "Give the deque a maxlen"},
    {"name", "_forward_hooks", "call its remove()"},
    {"name", "metrics", "Bound main.history"},
    {"name", "asymmetric_cache", "Bound main.history"},
    {"name", "profile_images", "Bound main.history"},
    {"type", "ImageProfiler", "Bound main.history"},
};

TEST(the_advice_knows_usual_keepers_by_whole_words, .to = N(keepers))
{
    set_hop(held_by("deque", 4 * 140), keepers[_i].field, keepers[_i].text);
    is_judged("unbounded-growth", "leak", keepers[_i].advice);
}

/* Of two lines, which grow by 32 and by 16 KiB. */
static void keep_two_lines(void)
{
    builder_level(&b, below(main_stack, "/home/user/train.py", "remember", LINE + 1), 0, BLOCK / 2,
                  LAST, ramp, &endless);
    held_by("list", 4 * 140);
    add_path(add_line(seen, LINE + 1, 4 * 70 * BLOCK, "held"), "history", "main.history", 4 * 140);
}

TEST(two_lines_that_one_list_keeps_are_one_finding)
{
    keep_two_lines();
    is_judged("unbounded-growth", "leak", "more each step");
    ck_assert_uint_eq(json_array_size(json_object_get(report, "findings")), 1);
}

TEST(its_evidence_begins_with_the_growth_of_both)
{
    keep_two_lines();
    is_judged("unbounded-growth", "leak", "Grows by ≈ 48.0 KiB a step");
}

/* Pinned pages are the process's memory, too: its snapshots show who keeps the batches. */
enum { PINS = 59 };

TEST(who_keeps_pinned_batches_is_told)
{
    builder_level(&b, user(PINS), PINNED, MIB / 2, LAST, one_a_step, NULL);
    add_path(add_line(seen, PINS, 70 * MIB, "held"), "kept", "main.kept", 140);
    (void)judged();
    const json_t *list = json_object_get(report, "findings"), *f, *its = NULL;
    size_t i;
    json_array_foreach (list, i, f) {
        if (number(json_object_get(f, "frame"), "line") == PINS)
            its = f;
    }
    ck_assert_ptr_nonnull(its);
    ck_assert_str_eq(text(its, "pattern"), "unbounded-growth");
    const json_t *path =
        json_array_get(json_object_get(json_object_get(its, "holders"), "paths"), 0);
    ck_assert_str_eq(text(json_object_get(path, "holder"), "name"), "main.kept");
}

SUITE("evidence", .setup = setup_line, .teardown = teardown_line)
