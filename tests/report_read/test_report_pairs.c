/* What is the same in two reports. */
#include "libprof/report_read/report_pairs.h"
#include "tests/gate/gate_fixture.h"

TEST(two_findings_of_one_function_are_told_apart_by_their_lines)
{
    json_t *pairs;

    add_finding(base, "unbounded-growth", "leak", "load", 5, 100);
    add_finding(base, "unbounded-growth", "leak", "load", 9, 200);
    add_finding(report, "unbounded-growth", "leak", "load", 9, 201);
    ck_assert_int_eq(seep_compare_findings(base, report, &pairs), 0);
    ck_assert_uint_eq(json_array_size(pairs), 2);
    ck_assert(json_is_null(json_object_get(json_array_get(pairs, 0), "after")));
    const json_t *after = json_object_get(json_array_get(pairs, 1), "after");
    ck_assert_int_eq((int)seep_get_number(after, "live_bytes"), 201);
    json_decref(pairs);
}

TEST(a_finding_is_known_by_its_pattern_before_its_place_alone)
{
    json_t *pairs;

    add_finding(base, "first-touch-cache", "retention", "load", 5, 100);
    add_finding(report, "aliased-cache", "retention", "load", 5, 1);
    add_finding(report, "first-touch-cache", "retention", "load", 6, 2);
    ck_assert_int_eq(seep_compare_findings(base, report, &pairs), 0);
    ck_assert_uint_eq(json_array_size(pairs), 2);
    ck_assert_int_eq(
        (int)seep_get_number(json_object_get(json_array_get(pairs, 0), "after"), "live_bytes"), 2);
    json_decref(pairs);
}

static uint64_t fingerprint(const json_t *finding)
{
    const struct seep_report_finding f = seep_report_finding_read(finding);

    return seep_compare_fingerprint(&f);
}

TEST(the_fingerprint_stays_when_lines_and_folders_move)
{
    json_t *a = add_finding(base, "unbounded-growth", "leak", "load", 5, 100);
    json_t *b = add_finding(report, "unbounded-growth", "leak", "load", 77, 300);

    json_object_set_new(b, "frame", frame("load", "/elsewhere/index.py", 77));
    ck_assert_uint_eq(fingerprint(a), fingerprint(b));
    json_object_set_new(b, "pattern", json_string("first-touch-cache"));
    ck_assert_uint_ne(fingerprint(a), fingerprint(b));
}

SUITE("report pairs", .setup = setup, .teardown = teardown)
