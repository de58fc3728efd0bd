/* Budgets on holders: read from files, and checked against a report's containers. */
#include "tests/gate/gate_fixture.h"

static int budget_of(const char *text)
{
    return read_text(text, strlen(text));
}

/* The report has snapshots in which Index.pages grows by so many entries a step. */
static void add_container(const char *growth, int lost)
{
    json_t *slope = json_loads(growth, JSON_DECODE_ANY, NULL);

    json_object_set_new(report, "holders",
                        json_pack("{s:i, s:i, s:[{s:s, s:[[i,i]], s:o}]}", "snapshots", 5,
                                  "lost_bytes", lost, "named", "name", "Index.pages", "length", 8,
                                  8, "growth_per_step", slope));
}

static int judge(void)
{
    struct seep_gate gate = {.report = report, .budget = &budget};

    return seep_gate_check(&gate, &check, &err);
}

static const struct {
    const char *budget, *growth, *verdict;
} paces[] = {
    {"[holder.\"Index.pages\"]\ngrowth = 0", "{\"value\": 1, \"low\": 0.9, \"high\": 1.1}",
     "violated"},
    {"[holder.\"Index.pages\"]\ngrowth = 0.95", "{\"value\": 1, \"low\": 0.9, \"high\": 1.1}",
     "noise"},
    {"[holder.\"Index.pages\"]\ngrowth = 1", "{\"value\": 1, \"low\": 0.9, \"high\": 1.1}",
     "holds"},
    {"[holder.\"Index.pages\"]\ngrowth = 0", "{\"value\": -1, \"low\": -1.5, \"high\": 0.5}",
     "holds"},
    {"[holder.\"Index.other\"]\ngrowth = 0", "{\"value\": 1, \"low\": 0.9, \"high\": 1.1}",
     "holds"},
    {"{\"holder\": {\"Index.pages\": {\"growth\": 0.5}}}",
     "{\"value\": 1, \"low\": 0.9, \"high\": 1.1}", "violated"},
};

TEST(a_container_may_grow_by_so_many_entries_a_step, .to = N(paces))
{
    json_t *finding = add_finding(report, "unbounded-growth", "leak", "load", 5, 1 << 20);

    add_holders(finding, "Index.pages", 1);
    add_container(paces[_i].growth, 0);
    ck_assert_msg(budget_of(paces[_i].budget) == 0, "%s", err.text);
    ck_assert_int_eq(judge(), 0);
    const json_t *line = json_array_get(json_object_get(check, "lines"), 0);
    ck_assert_str_eq(seep_get_text(line, "kind", ""), "holder");
    ck_assert_str_eq(seep_get_text(line, "verdict", ""), paces[_i].verdict);
    ck_assert_int_eq(strcmp(paces[_i].verdict, "holds") != 0,
                     json_is_object(json_object_get(line, "frame")));
    ck_assert_str_eq(seep_get_text(check, "verdict", ""),
                     strcmp(paces[_i].verdict, "violated") == 0 ? "violated" : "holds");
}

static const struct {
    const char *budget, *verdict;
} losses[] = {
    {"lost = 0", "violated"}, {"lost = \"1KiB\"", "violated"}, {"lost = \"2KiB\"", "holds"}};

TEST(what_nobody_holds_has_a_budget, .to = N(losses))
{
    add_container("null", 2048);
    ck_assert_int_eq(budget_of(losses[_i].budget), 0);
    ck_assert_int_eq(judge(), 0);
    const json_t *line = json_array_get(json_object_get(check, "lines"), 0);
    ck_assert_str_eq(seep_get_text(line, "kind", ""), "lost");
    ck_assert_str_eq(seep_get_text(check, "verdict", ""), losses[_i].verdict);
}

static const char *const unjudged[] = {"lost = 0", "[holder.x]\ngrowth = 0"};

TEST(without_snapshots_a_budget_on_holders_cannot_be_judged, .to = N(unjudged))
{
    ck_assert_int_eq(budget_of(unjudged[_i]), 0);
    ck_assert_int_eq(judge(), 0);
    ck_assert_str_eq(seep_get_text(check, "verdict", ""), "unknown");
    ck_assert_ptr_nonnull(strstr(seep_get_text(check, "reason", ""), "no snapshot"));
}

TEST(too_few_snapshots_of_a_container_say_nothing_of_its_growth)
{
    add_container("null", 0);
    ck_assert_int_eq(budget_of("[holder.\"Index.pages\"]\ngrowth = 0"), 0);
    ck_assert_int_eq(judge(), 0);
    ck_assert_ptr_nonnull(
        strstr(seep_get_text(check, "reason", ""), "Index.pages is in fewer than 4 snapshots"));
}

static const char *const wrong[] = {
    "holder = 1",
    "[holder]\nx = 1",
    "[holder.x]\npeak = 1",
    "[holder.x]\ngrowth = \"1KiB\"",
    "[holder.x]\ngrowth = -1",
    "[holder.x]\ngrowth = 1e300",
    "[holder.\"\"]\ngrowth = 1",
    "lost = -1",
    "lost = \"all\"",
    "[lost]",
};

TEST(wrong_budgets_are_refused_with_a_word, .to = N(wrong))
{
    ck_assert_int_eq(budget_of(wrong[_i]), -SEEP_EINVAL);
    ck_assert_uint_gt(strlen(err.text), 10);
}

TEST(a_name_that_is_too_long_is_refused)
{
    char text[400];

    snprintf(text, sizeof text, "[holder.%0*d]\ngrowth = 1", SEEP_BUDGET_HOLDER_BYTES, 7);
    ck_assert_int_eq(budget_of(text), -SEEP_EINVAL);
}

SUITE("gate of holders", .setup = setup, .teardown = teardown)
