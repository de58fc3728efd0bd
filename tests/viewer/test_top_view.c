/* What `seep top` reads from a report. */
#include "tests/viewer/top_fixture.h"

#include "tests/suite.h"

static struct seep_top_view *view;

static void set_up(void)
{
    view = top_view();
}

static void tear_down(void)
{
    seep_top_view_destroy(view);
}

TEST(the_job_is_its_command_its_steps_and_how_it_is)
{
    ck_assert_str_eq(view->command, "python train.py --epochs 3");
    ck_assert_double_eq(view->steps, 40);
    ck_assert_str_eq(view->step_unit, "step");
    ck_assert(view->running && !view->ended);
}

/* From 80 s on, half a minute before the end, 30 steps came in 20 s. */
TEST(steps_a_second_are_those_of_late)
{
    ck_assert_double_eq_tol(view->steps_per_s, 1.5, 1e-9);
}

TEST(a_job_that_stands_still_makes_no_steps_a_second_while_time_goes_on)
{
    struct seep_top_view *later = seep_top_view_create(top_report(), TOP_NOW + 60);

    ck_assert_double_eq(later->since_s, 160);
    ck_assert_double_eq(later->steps_per_s, 0);
    seep_top_view_destroy(later);
}

TEST(time_stands_still_for_a_job_that_has_ended)
{
    json_t *report = top_report();

    json_object_set_new(report, "processes", json_array());
    struct seep_top_view *ended = seep_top_view_create(report, TOP_NOW + 1e6);
    ck_assert_double_eq(ended->since_s, 90);
    ck_assert(!ended->running && ended->ended);
    seep_top_view_destroy(ended);
}

static const struct {
    const char *role;
    bool ended;
} unknowns[] = {{"trainer", false}, {"rank", false}, {"helper", true}, {"loader-worker", true}};

TEST(a_job_whose_trainer_nobody_saw_end_may_run_elsewhere, .to = N(unknowns))
{
    json_t *report = top_report();
    json_t *process =
        json_pack("{s:i, s:s, s:o, s:{s:s}}", "pid", 1, "role", unknowns[_i].role, "rank",
                  strcmp(unknowns[_i].role, "rank") == 0 ? json_integer(0) : json_null(), "exit",
                  "kind", "unknown");

    json_object_set_new(report, "processes", json_pack("[o]", process));
    struct seep_top_view *gone = seep_top_view_create(report, TOP_NOW);
    ck_assert(!gone->running);
    ck_assert_int_eq(gone->ended, unknowns[_i].ended);
    seep_top_view_destroy(gone);
}

TEST(time_slices_have_no_rate)
{
    json_t *report = top_report();

    json_object_set_new(json_object_get(report, "job"), "step_source", json_string("time"));
    struct seep_top_view *other = seep_top_view_create(report, TOP_NOW);
    ck_assert_double_lt(other->steps_per_s, 0);
    seep_top_view_destroy(other);
}

static const struct {
    const char *name;
    double live, peak, limit;
    bool has_growth;
} spaces[] = {
    {"host", 400, 500, 4000, true},    {"tensor:0", 80, 90, 800, false},
    {"tensor:1", 1, 2, 0, false}, /* nobody said how large that device is */
    {"arena", 7, 7, 0, false},    /* the job's own: bounded by nothing that is known */
    {"resident", 50, 60, 4000, false},
};

TEST(a_space_is_held_against_its_own_limit, .to = N(spaces))
{
    ck_assert_uint_eq(view->n_spaces, N(spaces));
    const struct seep_top_space *space = &view->spaces[_i];
    ck_assert_str_eq(space->name, spaces[_i].name);
    ck_assert_double_eq(space->live, spaces[_i].live);
    ck_assert_double_eq(space->peak, spaces[_i].peak);
    ck_assert_double_eq(space->limit, spaces[_i].limit);
    ck_assert_int_eq(space->has_growth, spaces[_i].has_growth);
}

static const struct {
    double pid;
    const char *role, *state;
    double rss, host, device;
} processes[] = {
    {13, "trainer", "running", 200, 201, 30}, /* no device:0 is known: its tensors */
    {11, "helper", "running", 5, 6, 0},
    {12, "rank 3", "exit 1", 0, 0, 0}, /* it has ended: nothing of it is live */
};

TEST(processes_that_run_are_first_and_memory_is_not_added_twice, .to = N(processes))
{
    ck_assert_uint_eq(view->n_processes, N(processes));
    const struct seep_top_process *p = &view->processes[_i];
    ck_assert_double_eq(p->pid, processes[_i].pid);
    ck_assert_str_eq(p->role, processes[_i].role);
    ck_assert_str_eq(p->state, processes[_i].state);
    ck_assert_double_eq(p->rss, processes[_i].rss);
    ck_assert_double_eq(p->host, processes[_i].host);
    ck_assert_double_eq(p->device, processes[_i].device);
}

static const struct {
    const char *place, *space, *pattern;
    double live, peak, growth, blocks;
    size_t n_sites;
} lines[] = {
    /* peaks of 300 and 280 were not at one time: no more than 500 was live */
    {"train.py:7 in load", "host", "unbounded-growth", 300, 500, 3.5, 5, 2},
    {"net.py:9 in forward", "tensor:0", "", 80, 90, 9, 2, 1},
    {"lib/log.py:1 in note", "host", "size-spike", 60, 60, 0, 1, 1},
};

TEST(sites_of_a_line_are_one_with_its_worst_finding, .to = N(lines))
{
    ck_assert_uint_eq(view->n_lines, N(lines));
    const struct seep_line_view *line = &view->lines[_i];
    ck_assert_str_eq(line->place, lines[_i].place);
    ck_assert_str_eq(line->space, lines[_i].space);
    ck_assert_str_eq(line->pattern, lines[_i].pattern);
    ck_assert_double_eq(line->live, lines[_i].live);
    ck_assert_double_eq(line->peak, lines[_i].peak);
    ck_assert_double_eq(line->growth, lines[_i].growth);
    ck_assert_double_eq(line->blocks, lines[_i].blocks);
    ck_assert_uint_eq(line->n_sites, lines[_i].n_sites);
}

/* The first site's processes have ended: its course is at nothing, its own count is not. */
TEST(a_line_holds_what_living_processes_hold)
{
    json_t *report = top_report(), *site = json_array_get(json_object_get(report, "sites"), 0);

    json_object_set_new(json_object_get(site, "series"), "live_bytes", json_pack("[i, i]", 250, 0));
    struct seep_top_view *other = seep_top_view_create(report, TOP_NOW);
    ck_assert_double_eq(other->lines[0].live, 50);
    ck_assert_double_eq(other->lines[0].blocks, -1);
    ck_assert_double_eq(other->lines[0].peak, 500);
    seep_top_view_destroy(other);
}

static const struct {
    const char *role, *kind;
    int rank, value; /* -1: none */
    bool failed;
    size_t n_ended;
} dead[] = {{"loader-worker", "exit", -1, 0, false, 1},
            {"loader-worker", "signal", -1, 15, false, 1}, /* by terminate() */
            {"loader-worker", "signal", -1, 9, true, 0},
            {"helper", "exit", -1, 1, true, 1},
            {"rank", "exit", 1, 0, false, 1},
            {"rank", "signal", 1, 9, true, 0},
            {"trainer", "exit", -1, 1, true, 0},
            {"trainer", "unknown", -1, -1, false, 1}};

TEST(processes_that_ended_as_they_should_are_not_among_the_living, .to = N(dead))
{
    json_t *report = top_report();
    json_t *process = json_pack("{s:i, s:s, s:{s:s, s:b}}", "pid", 99, "role", dead[_i].role,
                                "exit", "kind", dead[_i].kind, "failed", dead[_i].failed);

    if (dead[_i].rank >= 0)
        json_object_set_new(process, "rank", json_integer(dead[_i].rank));
    if (dead[_i].value >= 0)
        json_object_set_new(json_object_get(process, "exit"), "value",
                            json_integer(dead[_i].value));
    json_array_append_new(json_object_get(report, "processes"), process);
    struct seep_top_view *other = seep_top_view_create(report, TOP_NOW);
    ck_assert_uint_eq(other->n_ended, dead[_i].n_ended);
    ck_assert(other->processes[3].pid == 99 || !dead[_i].n_ended);
    seep_top_view_destroy(other);
}

TEST(nobody_is_left_out_of_a_job_that_has_ended)
{
    json_t *report = top_report(), *process;
    size_t i;

    json_array_foreach (json_object_get(report, "processes"), i, process)
        json_object_set_new(process, "exit", json_pack("{s:s, s:i}", "kind", "exit", "value", 0));
    struct seep_top_view *other = seep_top_view_create(report, TOP_NOW);
    ck_assert_uint_eq(other->n_ended, 0);
    seep_top_view_destroy(other);
}

static const struct {
    const char *low;
    double limit, resident, full_in_s;
} full[] = {
    {"9", 4000, 50, 240},   /* 400 of 4000 are live, 10 a step, 1.5 steps a second */
    {"9", 4000, 1000, 200}, /* but 1000 are resident */
    {"-1", 4000, 50, -1},   /* it may not grow at all */
    {"9", 0, 50, -1},       /* nobody knows the limit */
    {"9", 300, 50, -1},     /* it is passed, and that was no limit */
};

TEST(a_space_says_when_its_memory_is_full, .to = N(full))
{
    json_t *report = top_report(), *timeline = json_object_get(report, "timeline");
    json_t *growth = json_object_get(json_object_get(json_object_get(report, "spaces"), "host"),
                                     "growth_bytes_per_step");

    json_object_set_new(growth, "low", json_real(atof(full[_i].low)));
    json_object_set_new(json_object_get(report, "job"), "limit_bytes", json_real(full[_i].limit));
    json_array_set_new(json_object_get(timeline, "rss_bytes"), 4, json_real(full[_i].resident));
    struct seep_top_view *other = seep_top_view_create(report, TOP_NOW);
    ck_assert_double_eq_tol(other->spaces[0].full_in_s, full[_i].full_in_s, 1e-6);
    ck_assert_double_lt(other->spaces[1].full_in_s, 0);
    seep_top_view_destroy(other);
}

TEST(spaces_of_lines_are_named_once)
{
    ck_assert_uint_eq(view->n_space_names, 2);
    ck_assert_str_eq(view->space_names[0], "host");
    ck_assert_str_eq(view->space_names[1], "tensor:0");
}

TEST(a_line_has_the_same_key_in_another_report)
{
    json_t *report = top_report();
    json_array_remove(json_object_get(report, "sites"), 0);
    struct seep_top_view *other = seep_top_view_create(report, TOP_NOW);

    ck_assert(other->lines[0].key == view->lines[0].key);
    ck_assert(other->lines[0].key != view->lines[1].key);
    seep_top_view_destroy(other);
}

static const char *const odd[] = {
    "{}",
    "[]",
    "null",
    "{\"job\": 1, \"spaces\": [], \"sites\": {}, \"processes\": \"x\", \"timeline\": null}",
    "{\"sites\": [null, 1, {}], \"processes\": [null, {}], \"spaces\": {\"host\": null}, "
    "\"findings\": [{\"sites\": [1, null]}], \"timeline\": {\"t_s\": [1, 2], \"step\": [3]}}",
};

TEST(what_is_no_report_is_an_empty_view, .to = N(odd))
{
    struct seep_top_view *other =
        seep_top_view_create(json_loads(odd[_i], JSON_DECODE_ANY, NULL), TOP_NOW);

    ck_assert_ptr_nonnull(other);
    ck_assert_double_eq(other->steps, 0);
    seep_top_view_destroy(other);
}

TEST(names_of_megabytes_are_cut)
{
    enum { LONG = 1 << 20 };
    json_t *report = top_report();
    char *name = malloc(LONG + 1);

    memset(name, 'x', LONG);
    name[LONG] = '\0';
    json_t *frame = json_array_get(
        json_object_get(json_array_get(json_object_get(report, "sites"), 0), "stack"), 1);
    json_object_set_new(frame, "function", json_string(name));
    json_array_append_new(json_object_get(json_object_get(report, "job"), "command"),
                          json_string(name));
    free(name);
    struct seep_top_view *other = seep_top_view_create(report, TOP_NOW);
    ck_assert_uint_le(strlen(other->lines[0].place), 1000);
    ck_assert_uint_le(strlen(other->command), 1000);
    seep_top_view_destroy(other);
}

SUITE("top: data", .setup = set_up, .teardown = tear_down)
