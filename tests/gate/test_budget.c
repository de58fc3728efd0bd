/* Budgets from options and files: which are accepted, and which are refused with which message. */
#include "libprof/base/text.h"
#include "tests/gate/budget_fixture.h"
#include "tests/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void setup(void)
{
    memset(&err, 0, sizeof err);
    budget = (struct seep_budget){0};
}

static void teardown(void)
{
    seep_budget_fini(&budget);
}

TEST(options_say_what_they_are_for_and_the_last_one_wins)
{
    option(SEEP_BUDGET_GROWTH, "host=4KiB");
    option(SEEP_BUDGET_PEAK, "device:0=1.5GB");
    option(SEEP_BUDGET_FINDINGS, "retention=3");
    option(SEEP_BUDGET_GROWTH, "host=2KiB");
    ck_assert_uint_eq(budget.n_lines, 3);
    ck_assert_uint_eq(budget.lines[0].limit, 2048);
    ck_assert_uint_eq(budget.lines[1].limit, 1500000000);
    ck_assert_str_eq(budget.lines[1].space, "device:0");
    ck_assert_str_eq(budget.lines[2].counted, "retention");
}

static const struct {
    enum seep_budget_kind kind;
    const char *text;
} bad_options[] = {
    {SEEP_BUDGET_GROWTH, ""},
    {SEEP_BUDGET_GROWTH, "host"},
    {SEEP_BUDGET_GROWTH, "=4KiB"},
    {SEEP_BUDGET_GROWTH, "host="},
    {SEEP_BUDGET_GROWTH, "host=-1"},
    {SEEP_BUDGET_GROWTH, "host=1 parsec"},
    {SEEP_BUDGET_PEAK, "heap=1MiB"},
    {SEEP_BUDGET_PEAK, "device:=1MiB"},
    {SEEP_BUDGET_PEAK, "device:x=1"},
    {SEEP_BUDGET_PEAK, "device:00000=1"},
    {SEEP_BUDGET_FINDINGS, "leak=-1"},
    {SEEP_BUDGET_FINDINGS, "leak=1.5"},
    {SEEP_BUDGET_FINDINGS, "bug=0"},
    {SEEP_BUDGET_FINDINGS, "leak=99999999999999999999"},
    {SEEP_BUDGET_PEAK, "a space whose name is longer than any that there can be=1"},
};

TEST(wrong_options_are_refused_with_a_word, .to = N(bad_options))
{
    ck_assert_int_eq(seep_budget_add(&budget, bad_options[_i].kind, bad_options[_i].text, &err),
                     -SEEP_EINVAL);
    ck_assert(strlen(err.text) > 10);
    ck_assert_uint_eq(budget.n_lines, 0);
}

static const char toml[] = "min_steps = 7\nallow_incomplete = true\n"
                           "[space.host]\ngrowth = '4KiB'\npeak = 1048576\n"
                           "[space.'device:0']\npeak = '2GiB'\n"
                           "[process.loader-worker.host]\npeak = '300MiB'\n"
                           "[findings]\nleak = 0\npressure = 2\n"
                           "[[ignore]]\npattern = 'first-touch-cache'\nreason = 'by design'\n";
static const char json[] =
    " {\"min_steps\": 7, \"allow_incomplete\": true,"
    "\"space\": {\"host\": {\"growth\": \"4KiB\", \"peak\": 1048576}, \"device:0\": {\"peak\": "
    "\"2GiB\"}}, \"process\": {\"loader-worker\": {\"host\": {\"peak\": \"300MiB\"}}},"
    "\"findings\": {\"leak\": 0, \"pressure\": 2}, \"ignore\": [{\"pattern\": "
    "\"first-touch-cache\", \"reason\": \"by design\"}]}";

TEST(a_file_says_the_same_as_toml_and_as_json, .to = 2)
{
    const char *text = _i ? json : toml;

    ck_assert_msg(read_text(text, strlen(text)) == 0, "%s", err.text);
    ck_assert_uint_eq(budget.n_lines, 6);
    ck_assert_uint_eq(budget.n_ignores, 1);
    ck_assert_uint_eq(budget.min_steps, 7);
    ck_assert(budget.allow_incomplete);
    uint64_t sum = 0;
    for (size_t i = 0; i < budget.n_lines; i++)
        sum += budget.lines[i].limit;
    ck_assert_uint_eq(sum, 4096 + 1048576 + (UINT64_C(2) << 30) + (UINT64_C(300) << 20) + 2);
}

static const struct {
    const char *text, *said;
} bad_files[] = {
    {"[spaces.host]\npeak = 1\n", "unknown key spaces; did you mean space?"},
    {"colour = 1\n", "unknown key colour: choose space, process, findings"},
    {"[space.host]\ngrwth = 1\n", "unknown key grwth in [space.host]; did you mean growth?"},
    {"[space.host]\nmax = 1\n", "growth or peak"},
    {"[space.heap]\npeak = 1\n", "choose host, mmap"},
    {"[space]\nhost = 1\n", "table"},
    {"space = 1\n", "table"},
    {"[process.worker.host]\npeak = 1\n", "choose helper, trainer"},
    {"[process]\ntrainer = []\n", "table"},
    {"[findings]\nbug = 0\n", "choose leak"},
    {"[findings]\nleak = -1\n", "findings.leak"},
    {"[findings]\nleak = true\n", "findings.leak"},
    {"[space.host]\npeak = -1\n", "space.host.peak is not a size"},
    {"[space.host]\npeak = 1.5\n", "not a size"},
    {"[space.host]\npeak = inf\n", "not a size"},
    {"[space.host]\npeak = nan\n", "not a size"},
    {"[space.host]\npeak = '12 apples'\n", "not a size"},
    {"[space.host]\npeak = 99999999999999999999\n", "line 2"},
    {"[[ignore]]\npattern = 'first-touch-cache'\n", "no reason"},
    {"[[ignore]]\nreason = 'x'\n", "give pattern, file or function"},
    {"[[ignore]]\nreason = 'x'\npattern = 'no-such'\n", "no-such is not a pattern"},
    {"[[ignore]]\nreason = ''\nfile = 'x'\n", "reason"},
    {"[[ignore]]\nreason = 'x'\nline = 3\n", "choose pattern, file"},
    {"[[ignore]]\nreason = 'x'\nfile = 3\n", "must be a text"},
    {"[ignore]\nreason = 'x'\n", "list"},
    {"ignore = [1, 2]\n", "table"},
    {"min_steps = 'many'\n", "min_steps"},
    {"allow_incomplete = 1\n", "true or false"},
    {"x = [\n", "line"},
    {"[space.host]\npeak = 1\npeak = 2\n", "line 3"},
    {"\xff\xfe", "line 1"},
    {"{\"space\": ", "line 1"},
    {"{\"min_steps\": 1, \"min_steps\": 2}", "duplicate"},
    {"{} trailing", "line 1"},
};

TEST(wrong_files_are_refused_and_say_where, .to = N(bad_files))
{
    const char *text = bad_files[_i].text;

    ck_assert_int_eq(read_text(text, strlen(text)), -SEEP_EINVAL);
    ck_assert_msg(strstr(err.text, bad_files[_i].said) != NULL, "%s: %s", text, err.text);
}

TEST(files_that_are_no_texts_or_too_large_are_refused)
{
    char *large = malloc(SEEP_TEXT_MAX_FILE_BYTES + 1);

    memset(large, '\n', SEEP_TEXT_MAX_FILE_BYTES + 1);
    ck_assert_int_eq(read_text("a\0b", 3), -SEEP_EINVAL);
    ck_assert_int_eq(read_text(large, SEEP_TEXT_MAX_FILE_BYTES + 1), -SEEP_EINVAL);
    memset(large, '[', 100000);
    ck_assert_int_eq(read_text(large, 100000), -SEEP_EINVAL);
    large[0] = '{';
    ck_assert_int_eq(read_text(large, 100000), -SEEP_EINVAL);
    free(large);
    err.text[0] = '\0';
    ck_assert_int_eq(seep_budget_read(&budget, "/nonexistent/budget.toml", &err), -SEEP_EIO);
    err.text[0] = '\0';
    ck_assert_int_eq(seep_budget_read(&budget, "/tmp", &err), -SEEP_EIO);
}

TEST(an_empty_file_is_no_budget)
{
    ck_assert_int_eq(read_text("", 0), 0);
    ck_assert_int_eq(read_text("{}", 2), 0);
    ck_assert_uint_eq(budget.n_lines, 0);
}

TEST(globs_of_files_match_ends_of_paths_at_a_slash)
{
    static const char rules[] = "[[ignore]]\nfile = 'index.py'\nreason = 'r'\n";

    ck_assert_int_eq(read_text(rules, strlen(rules)), 0);
    ck_assert_ptr_nonnull(seep_budget_ignored(&budget, "p", "/a/index.py", "f", NULL));
    ck_assert_ptr_nonnull(seep_budget_ignored(&budget, "p", "index.py", "f", NULL));
    ck_assert_ptr_null(seep_budget_ignored(&budget, "p", "/a/my_index.py", "f", NULL));
    ck_assert_ptr_null(seep_budget_ignored(&budget, "p", NULL, NULL, NULL));
}

SUITE("budget", .setup = setup, .teardown = teardown)
