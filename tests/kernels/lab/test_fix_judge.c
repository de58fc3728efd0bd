/* What the lab makes of `seep verify`'s document. */
#include "kernels/lab/judges.h"
#include "tests/suite.h"

#include <check.h>
#include <stdio.h>

static const char document[] =
    "{\"findings\": [%s], \"savings\": [{\"space\": \"host\", \"predicted_bytes\": 100,"
    " \"measured_bytes\": 95, \"agrees\": %s}]}";

#define VANISHED "{\"state\": \"vanished\", \"before\": {\"pattern\": \"eager-retention\"}}"
#define REMAINS  "{\"state\": \"remains\", \"after\": {\"pattern\": \"size-spike\"}}"
#define NEW      "{\"state\": \"new\", \"after\": {\"pattern\": \"unbounded-growth\"}}"

static const struct seep_fix whole = {.vanishes = "eager-retention"},
                             partial = {.leaves = "size-spike"}, measured = {.as_predicted = true};

static const struct {
    const struct seep_fix *fix;
    const char *findings, *agrees;
    unsigned failed;
} cases[] = {
    {&whole, VANISHED, "false", 0},   {&whole, REMAINS, "false", 1},
    {&whole, "", "false", 1},         {&partial, VANISHED "," REMAINS, "false", 0},
    {&partial, VANISHED, "false", 1}, {&partial, REMAINS "," NEW, "false", 1},
    {&measured, VANISHED, "true", 0}, {&measured, VANISHED, "false", 1},
};

TEST(a_fix_is_held_to_what_it_mends_what_it_leaves_and_what_it_saves, .to = N(cases))
{
    struct seep_rows rows = {.scenario = "made-up", .rows = json_array()};
    char text[1024];

    snprintf(text, sizeof text, document, cases[_i].findings, cases[_i].agrees);
    json_t *verdict = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(verdict);
    seep_fix_judge(cases[_i].fix, verdict, &rows);
    ck_assert_uint_eq(json_array_size(rows.rows), 1);
    ck_assert_uint_eq(rows.n_failed, cases[_i].failed);
    json_decref(verdict);
    json_decref(rows.rows);
}

TEST(without_a_verdict_nothing_that_is_held_passes)
{
    struct seep_rows rows = {.scenario = "made-up", .rows = json_array()};
    struct seep_fix fix = {
        .vanishes = "eager-retention", .leaves = "size-spike", .as_predicted = true};

    seep_fix_judge(&fix, NULL, &rows);
    ck_assert_uint_eq(rows.n_failed, 3);
    ck_assert_uint_eq(json_array_size(rows.rows), 3);
    json_decref(rows.rows);
}

TEST(a_fix_that_leaves_something_is_none_for_seep)
{
    ck_assert_int_eq(seep_fix_status(&whole), 0);
    ck_assert_int_eq(seep_fix_status(&partial), 1);
}

SUITE("fix_judge")
