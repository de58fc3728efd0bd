/* What holds the memory of a finding's line: from snapshots beside the profiles into the report,
 * and its text. */
#include "tests/report/coverage_fixture.h"

#define HEAD                                                                                       \
    "{\"format\": \"seep-holders\", \"version\": 1, \"pid\": 100, \"process\": 0, \"step\": 64, "  \
    "\"complete\": true, \"lines\": [{\"frame\": {\"kind\": \"python\", \"function\": \"work\", "  \
    "\"file\": \"/home/user/project/train.py\", \"line\": 40}, \"blocks\": 200, \"bytes\": 1000, "
#define PART(root, text, name, holder, sole)                                                       \
    "{\"text\": \"" text "\", \"root\": {\"kind\": \"" root "\", \"name\": \"" name                \
    "\", \"file\": \"/home/user/project/train.py\", \"line\": 7}, \"hops\": [], \"blocks\": 200, " \
    "\"bytes\": 1000, \"sole_bytes\": " sole ", \"holder\": " holder "}"
#define PATH(root, text, name, holder) PART(root, text, name, holder, "985")
#define STATE(state, explained)        "\"state\": \"" state "\", \"explained_bytes\": " explained ", "
#define LIST(type, length, bound, by)                                                              \
    "{\"hop\": 0, \"type\": \"" type "\", \"name\": \"history\", \"length\": " length              \
    ", \"bound\": " bound ", \"bound_by\": " by "}"
#define END "]}]}"

static void with_snapshot(const char *text)
{
    builder_level(&a, python_stack(&a, "/home/user/project/train.py", 40), 0, 4096, 105, two_a_step,
                  NULL);
    builder_timeline(&a, 105, 50 << 20);
    beside = "holders-100-64.json";
    beside_text = text;
    analyse_folder(builder_job(100, START, 100, 5), false);
}

TEST(a_finding_says_who_holds_what_its_line_made)
{
    with_snapshot(HEAD STATE("held", "990") "\"paths\": [" PATH(
        "local", "local 'history' of main()[60] (Tensor)", "history",
        LIST("list", "60", "null", "null")) END);
    ck_assert_str_eq(string("findings/0/holders/state"), "held");
    ck_assert_str_eq(string("findings/0/holders/paths/0/root/name"), "history");
    ck_assert_int_eq((int)number("findings/0/holders/paths/0/root/line"), 7);
    ck_assert_int_eq((int)number("findings/0/holders/step"), 64);
    ck_assert_int_eq((int)number("findings/0/holders/pids/0"), 100);
    ck_assert_int_eq((int)number("holders/snapshots"), 1);
    ck_assert_str_eq(string("sites/0/holders/state"), "held");
    ck_assert(prints("holders 1 snapshot stopped the job for 0.000 s", false));
    ck_assert_str_eq(string("holders/named/0/name"), "history");
}

/* What the text says from "held by" on, up to what is to be done; lines joined. */
static const struct {
    const char *snapshot, *text;
} texts[] = {
    {HEAD STATE("held",
                "990") "\"paths\": [" PATH("local", "local 'history' of main()[60] (Tensor)",
                                           "history", LIST("list", "60", "null", "null")) END,
     "held by local 'history' of main()[60] (Tensor); deleting it frees at least 98 % saves"},
    {HEAD STATE("held", "400") "\"paths\": [" PATH("global", "global 'seen'[100]", "seen",
                                                   LIST("deque", "100", "100", "\"maxlen\"")) END,
     "held by global 'seen'[100] (deque, at most 100); deleting it frees at least 98 %; that "
     "explains 40 % saves"},
    {HEAD STATE("shared", "1000") "\"paths\": [" PART("local", "stack[30]", "stack", "null",
                                                      "0") ", " PART("local", "scene.cameras[50]",
                                                                     "scene", "null", "985") END,
     "held by all of these; only deleting all of them frees it: - stack[30]; deleting it alone "
     "frees nothing "
     "- scene.cameras[50]; deleting it and those above frees at least 98 % saves"},
    {HEAD STATE("held", "1000") "\"paths\": [" PART("local", "stack[30]", "stack", "null", "null")
         END,
     "held by stack[30] saves"},
    {HEAD STATE("held", "1000") "\"paths\": [" PART("local", "stack[30]", "stack", "null", "1000")
         END,
     "held by stack[30]; deleting it frees all of it saves"},
    {HEAD STATE("unknown", "300") "\"paths\": [" PATH("local", "stack[30]", "stack", "null") END,
     "held by stack[30]; that explains 30 % saves"},
    {HEAD STATE("cycle", "0") "\"paths\": [" PATH("cycle", "A.b → B.a", "", "null") END,
     "held by only itself, a reference cycle for gc: - A.b → B.a saves"},
    {HEAD STATE("lost", "0") "\"lost_bytes\": 1000, \"paths\": [" END,
     "held by nobody: lost by native code saves"},
    {HEAD STATE("held", "1000") "\"paths\": [" PATH("local", "\\u001b[31mred\\n", "a", "null") END,
     "held by ?[31mred?; deleting it frees at least 98 % saves"},
};

TEST(the_text_says_who_holds_it, .to = N(texts))
{
    with_snapshot(texts[_i].snapshot);
    ck_assert_msg(prints(texts[_i].text, false), "%s\n%s", texts[_i].text, printed(false));
}

/* Too little for a finding. */
static uint64_t full_at_once(uint32_t period, void *arg)
{
    (void)arg;
    return period >= 2 ? 10 : 0;
}

TEST(a_large_site_says_who_holds_it_also_without_a_finding)
{
    builder_level(&a, python_stack(&a, "/home/user/project/train.py", 40), 0, 4096, 105,
                  full_at_once, NULL);
    builder_timeline(&a, 105, 50 << 20);
    beside = "holders-100-64.json";
    beside_text = texts[0].snapshot;
    analyse_folder(builder_job(100, START, 100, 5), false);
    ck_assert_uint_eq(json_array_size(at(report, "findings")), 0);
    ck_assert_str_eq(string("sites/0/holders/paths/0/root/name"), "history");
    ck_assert_uint_eq((uint64_t)number("sites/0/held_bytes"), 40960);
    /* The snapshot speaks of 1,000 bytes of the line, the site had 40 KiB. */
    ck_assert(prints("train.py:40 in work of its 1000 B in step 64: held by local "
                     "'history'",
                     false));
}

/* It was freed long before the snapshot; or made by a process that nobody looked at. */
static uint64_t freed_early(uint32_t period, void *arg)
{
    (void)arg;
    return period >= 2 && period < 40 ? 10 : 0;
}

TEST(what_was_freed_or_is_another_processs_is_held_by_nobody_that_a_snapshot_saw, .to = 3)
{
    char text[4096], *pid;

    builder_level(&a, python_stack(&a, "/home/user/project/train.py", 40), 0, 4096, 105,
                  _i == 1 ? freed_early : full_at_once, NULL);
    builder_timeline(&a, 105, 50 << 20);
    snprintf(text, sizeof text, "%s", texts[0].snapshot);
    pid = strstr(text, "\"pid\": 100");
    ck_assert_ptr_nonnull(pid);
    if (_i == 2)
        pid[strlen("\"pid\": 10")] = '7';
    beside = _i == 2 ? "holders-107-64.json" : "holders-100-64.json";
    beside_text = text;
    analyse_folder(builder_job(100, START, 100, 5), false);
    ck_assert_int_eq(json_is_object(at(report, "sites/0/holders")), _i == 0);
    ck_assert_int_eq(json_is_integer(at(report, "sites/0/held_bytes")), _i == 0);
    ck_assert_int_eq(prints("held by local 'history'", false), _i == 0);
}

extern const char __executable_start[];

/* Each address of it is of one line. */
static __attribute__((noinline)) int one_line(int x)
{
    return x * 3 + (x ^ 77);
}

/* A snapshot may name another call of the same line of native code. */
TEST(a_line_of_native_code_is_known_by_each_of_its_addresses)
{
    uintptr_t at = (uintptr_t)one_line - (uintptr_t)__executable_start + 2;
    char self[4096] = "", text[8192];

    ck_assert_int_eq(one_line(0), 77);
    ck_assert_int_gt((int)readlink("/proc/self/exe", self, sizeof self - 1), 0);
    for (unsigned i = 0; i < 2; i++)
        builder_site(&a, builder_stack(&a, 0, builder_native(&a, self, NULL, at + i)), 0, 1,
                     1000 - i, 0, 0, 1);
    snprintf(text, sizeof text,
             "{\"format\": \"seep-holders\", \"version\": 1, \"pid\": 100, \"step\": 64, "
             "\"complete\": true, \"lines\": [{\"frame\": {\"kind\": \"native\", \"module\": "
             "\"%s\", \"offset\": %zu}, \"blocks\": 1, \"bytes\": 999, " STATE(
                 "lost", "0") "\"lost_bytes\": 999, \"paths\": []}]}",
             self, (size_t)at + 1);
    beside = "holders-100-64.json";
    beside_text = text;
    analyse_folder(NULL, true);
    ck_assert_str_eq(string("sites/0/holders/state"), "lost");
    ck_assert_str_eq(string("sites/1/holders/state"), "lost");
    ck_assert_int_eq((int)number("holders/lost_bytes"), 999);
}

TEST(the_text_says_nothing_where_nothing_is_known)
{
    with_snapshot(HEAD STATE("unknown", "0") "\"paths\": [" END);
    ck_assert_str_eq(string("findings/0/holders/state"), "unknown");
    ck_assert(!prints("held by", true));
}

TEST(without_snapshots_nothing_is_said)
{
    leaking_job(false);
    ck_assert(json_is_null(at(report, "findings/0/holders")));
    ck_assert(json_is_null(at(report, "holders")));
}

TEST(a_damaged_snapshot_is_said_and_leaves_the_report_as_it_is)
{
    with_snapshot("{\"format\": \"seep-holders\", \"version\": 9}");
    ck_assert(json_is_null(at(report, "findings/0/holders")));
    const json_t *said = at(report, "coverage/not_seen");
    const char *last = json_string_value(json_array_get(said, json_array_size(said) - 1));
    ck_assert_str_eq(last, "holders-100-64.json: version 9, and this seep reads 1");
}

SUITE("report of holders", .setup = setup, .teardown = teardown)
