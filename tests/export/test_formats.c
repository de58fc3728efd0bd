/* A made-up report in each format: what is said, what is escaped, what cannot be said. */
#include "tests/export/formats_fixture.h"

static seep_export *const all[] = {
#define SEEP_EXPORT_FORMAT(function, ...) seep_export_##function,
#include "libprof/export/export_formats.def"
#undef SEEP_EXPORT_FORMAT
};

TEST(nothing_to_show_is_no_data)
{
    ck_assert_int_eq(write_as(seep_export_collapsed, SEEP_MEASURE_LIVE), -SEEP_ENODATA);
    add_site(report, "host", "load", 5, 1000);
    ck_assert_int_eq(write_as(seep_export_collapsed, SEEP_MEASURE_LIVE), -SEEP_ENODATA);
    ck_assert_int_eq(write_as(seep_export_collapsed, SEEP_MEASURE_RETAINED), 0);
}

/* Of ten blocks of 100 B each, four and all. */
static const struct {
    const char *ages;
    int oldest;
    const char *told;
} lives[] = {
    {"[{\"steps_at_least\": 0, \"frees\": 4}, {\"steps_at_least\": 1, \"frees\": 6}]", 3, "400\n"},
    {"[{\"steps_at_least\": 1, \"frees\": 10}]", 3, NULL},
    {"[]", 0, "1000\n"},
    {"[]", 2, NULL}};

TEST(what_is_freed_within_its_step_is_temporary, .to = N(lives))
{
    json_t *site = add_site(report, "host", "load", 5, 1000);

    json_object_set_new(site, "allocations", json_integer(10));
    json_object_set_new(site, "frees", json_integer(10));
    json_object_set_new(site, "allocated_bytes", json_integer(1000));
    json_object_set_new(site, "lifetimes", json_loads(lives[_i].ages, 0, NULL));
    json_object_set_new(site, "lifetime_steps", json_pack("{s:i}", "max", lives[_i].oldest));
    const int rc = write_as(seep_export_collapsed, SEEP_MEASURE_TEMPORARY);
    ck_assert_int_eq(rc, lives[_i].told ? 0 : -SEEP_ENODATA);
    if (lives[_i].told)
        ck_assert_ptr_nonnull(strstr(text, lives[_i].told));
}

TEST(collapsed_escapes_what_separates)
{
    json_t *site = add_site(report, "my;space", "f;g\nh", 5, 1000);

    json_object_set_new(json_array_get(json_object_get(site, "stack"), 0), "file", json_null());
    ck_assert_int_eq(write_as(seep_export_collapsed, SEEP_MEASURE_PEAK), 0);
    ck_assert_str_eq(text, "my:space;f:g h (data/index.py:5);alloc 1000\n");
}

TEST(speedscope_is_json_whatever_names_hold)
{
    static const char evil[] = "\"}]</script>\xe2\x80\xae\\";

    add_site(report, "host", evil, 5, 1000);
    ck_assert_int_eq(write_as(seep_export_speedscope, SEEP_MEASURE_PEAK), 0);
    json_t *file = json_loads(text, 0, NULL);
    const json_t *frames = json_object_get(json_object_get(file, "shared"), "frames");
    ck_assert_str_eq(seep_get_text(json_array_get(frames, 1), "name", ""), evil);
    ck_assert_str_eq(seep_get_text(json_array_get(frames, 2), "name", ""), "host");
    ck_assert_int_eq((int)seep_get_number(file, "activeProfileIndex"), SEEP_MEASURE_PEAK);
    json_decref(file);
}

TEST(openmetrics_escapes_label_values)
{
    json_object_set_new(json_object_get(report, "spaces"), "a\"b\\c\nd", space(7, 0.5, 0.25, 0.75));
    ck_assert_int_eq(write_as(seep_export_openmetrics, SEEP_MEASURE_RETAINED), 0);
    ck_assert_ptr_nonnull(
        strstr(text, "seep_peak_bytes{profile=\"train.d\",space=\"a\\\"b\\\\c\\nd\"} 7\n"));
    ck_assert_ptr_nonnull(strstr(text, "d\"} 0.5\n"));
    ck_assert_str_eq(text + n_text - 7, "\n# EOF\n");
}

TEST(openmetrics_says_a_pid_once)
{
    json_array_append_new(json_object_get(report, "processes"),
                          json_pack("{s:i, s:i}", "pid", 10, "rss_peak_bytes", 7));
    ck_assert_int_eq(write_as(seep_export_openmetrics, SEEP_MEASURE_RETAINED), 0);
    static const char name[] = "seep_process_rss_peak_bytes{profile=\"train.d\",role=\"helper\","
                               "pid=\"10\"}";
    const char *at = strstr(text, name);
    ck_assert_ptr_nonnull(at);
    ck_assert_ptr_nonnull(strstr(at, "10\"} 7\n"));
    ck_assert_ptr_null(strstr(at + 1, name));
}

TEST(a_frame_is_named_by_what_is_known)
{
    static const struct {
        const char *json, *title;
    } table[] = {
        {"{\"function\":\"f\",\"qualname\":\"C.f\",\"file\":\"/a/b.py\",\"line\":3}",
         "C.f (b.py:3)"},
        {"{\"function\":\"f\",\"file\":\"/a/b.c\",\"line\":null,\"module\":\"/m.so\"}", "f (b.c)"},
        {"{\"function\":\"f\",\"file\":null,\"module\":\"/lib/m.so\",\"offset\":18}", "f (m.so)"},
        {"{\"function\":null,\"module\":\"/lib/m.so\",\"offset\":18}", "m.so+0x12"},
        {"{\"function\":7,\"file\":[]}", "unknown code"},
    };
    for (size_t i = 0; i < N(table); i++) {
        json_t *one = json_loads(table[i].json, 0, NULL);
        char *title = seep_frame_title(one, "/a");
        ck_assert_str_eq(title, table[i].title);
        free(title);
        json_decref(one);
    }
}

TEST(values_are_never_negative)
{
    json_t *site =
        json_pack("{s:i, s:o}", "live_bytes", -5, "growth_bytes_per_step", slope(-10.2, -11, -9));

    ck_assert_int_eq(seep_site_value(site, SEEP_MEASURE_LIVE), 0);
    ck_assert_int_eq(seep_site_value(site, SEEP_MEASURE_PEAK), 0);
    ck_assert_int_eq(seep_site_value(site, SEEP_MEASURE_GROWTH), 0);
    json_object_set_new(site, "growth_bytes_per_step", slope(10.6, 10, 11));
    ck_assert_int_eq(seep_site_value(site, SEEP_MEASURE_GROWTH), 11);
    json_decref(site);
}

/* Whatever a report holds, a format says it or says that it cannot. */
TEST(a_report_of_nonsense_is_survived, .to = N(all))
{
    static const char *const nonsense[] = {
        "{}", "[]", "{\"sites\": [1, {}, {\"stack\": 5}, {\"stack\": [1, null, {}]}]}",
        "{\"sites\": [{\"space\": 1, \"stack\": [[]], \"peak_bytes\": 1}], \"processes\": [{}, 2],"
        " \"timeline\": {\"t_s\": [1, \"x\", {}], \"step\": [1]}, \"job\": 3}"};

    for (size_t i = 0; i < N(nonsense); i++) {
        json_decref(report);
        report = json_loads(nonsense[i], 0, NULL);
        int rc = write_as(all[_i], SEEP_MEASURE_PEAK);
        ck_assert(rc == 0 || rc == -SEEP_ENODATA);
    }
}

SUITE("formats", .setup = setup, .teardown = fini)
