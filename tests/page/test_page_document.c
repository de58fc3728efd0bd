/* The data of a page: what the report says, whole, in a form in which no name is more than a name.
 */
#include "libprof/page/page_document.h"
#include "libprof/page/page_tables.h"
#include "libprof/report_read/report_view.h"
#include "tests/page/page_cells.h"
#include "tests/report_fixture.h"
#include "viewer/page/page_html.h"

static size_t n_rows(const json_t *document)
{
    return json_array_size(json_object_get(json_object_get(document, "sites"), "id"));
}

static void same_frame(const json_t *document, size_t f, const json_t *frame)
{
    const char *function = seep_get_text(frame, "function", NULL),
               *file = seep_get_text(frame, "file", NULL),
               *kept = text_at(document, "frames", "file", f);

    ck_assert_int_eq(number_at(document, "frames", "kind", f),
                     strcmp(seep_get_text(frame, "kind", ""), "native") == 0 ? 1
                     : file && strstr(file, "/site-packages/")               ? 3
                                                                             : 0);
    if (function)
        ck_assert_str_eq(text_at(document, "frames", "name", f), function);
    ck_assert_msg(!file == !kept && (!file || strcmp(file, kept) == 0), "file %s, was %s", kept,
                  file);
    if (json_is_integer(json_object_get(frame, "line")))
        ck_assert_int_eq(number_at(document, "frames", "line", f),
                         json_integer_value(json_object_get(frame, "line")));
}

static void same_stack(const json_t *document, size_t row, const json_t *stack)
{
    json_int_t node = number_at(document, "sites", "stack", row);

    for (size_t i = 0; i < json_array_size(stack); i++) {
        ck_assert_int_ge(node, 0);
        same_frame(document, (size_t)number_at(document, "stacks", "frame", (size_t)node),
                   json_array_get(stack, i));
        json_int_t parent = number_at(document, "stacks", "parent", (size_t)node);
        ck_assert_msg(parent < node, "a caller comes before whom it calls");
        node = parent;
    }
    ck_assert_int_eq(node, -1);
}

static void same_series(const json_t *document, size_t row, const json_t *series)
{
    const json_t *raw = cell(document, "sites", "series", row),
                 *steps = json_object_get(series, "step"),
                 *bytes = json_object_get(series, "live_bytes");
    json_int_t step = 0, level = 0;

    ck_assert_uint_eq(json_array_size(raw), 2 * json_array_size(steps));
    for (size_t i = 0; i < json_array_size(steps); i++) {
        step += json_integer_value(json_array_get(raw, 2 * i));
        level += json_integer_value(json_array_get(raw, 2 * i + 1));
        ck_assert_int_eq(step, json_integer_value(json_array_get(steps, i)));
        ck_assert_int_eq(level, json_integer_value(json_array_get(bytes, i)));
    }
}

static void same_site(const json_t *document, size_t row, const json_t *site)
{
    static const char *const names[] = {"id", "space", "part"};
    static const char *const numbers[] = {"allocations", "frees",      "allocated_bytes",
                                          "live_bytes",  "peak_bytes", "retained_bytes"};

    for (size_t i = 0; i < N(names); i++)
        ck_assert_str_eq(text_at(document, "sites", names[i], row),
                         seep_get_text(site, names[i], ""));
    for (size_t i = 0; i < N(numbers); i++)
        ck_assert_int_eq(number_at(document, "sites", numbers[i], row),
                         json_integer_value(json_object_get(site, numbers[i])));
    same_frame(document, (size_t)number_at(document, "sites", "look_at", row),
               seep_get_site_frame(site));
    same_stack(document, row, json_object_get(site, "stack"));
    same_series(document, row, json_object_get(site, "series"));
}

/* Sites of many sizes below two common callers, one of them with a course over the steps. */
static void make_report(unsigned n)
{
    struct seep_point points[] = {{1, 2, 2000}, {5, 9, 9000}, {9, 1, 1000}};
    uint32_t outer = builder_stack(&a, 0, builder_python(&a, "/job/train.py", "main", 1));

    for (unsigned i = 0; i < n; i++) {
        uint32_t caller =
            builder_stack(&a, outer,
                          i % 2 ? builder_python(&a, "/job/model.py", "forward", 7)
                                : builder_native(&a, "/usr/lib/libtorch.so", NULL, 64 + i));
        uint32_t stack = builder_stack(&a, caller, builder_python(&a, "/job/data.py", "load", i));
        uint32_t site = builder_site(&a, stack, 0, 9, 1000 + 100000 * (i % 3), 1, 100, 1 + i);
        if (i == 0)
            builder_detail(&a, site, points, N(points));
    }
    struct seep_profile *p[] = {open_one(&a)};
    struct seep_analysis_options opts = {.all_sites = true, .series = true};
    ck_assert_int_eq(seep_analyse_profiles(p, 1, NULL, &opts, &report, NULL), 0);
}

TEST(every_site_is_in_it_as_the_report_has_it)
{
    make_report(40);
    const json_t *sites = json_object_get(report, "sites");
    json_t *document = page_document(report, NULL, true);

    ck_assert_uint_eq(json_array_size(sites), 40);
    ck_assert_uint_eq(n_rows(document), 40);
    for (size_t i = 0; i < 40; i++)
        same_site(document, i, json_array_get(sites, i));
    ck_assert_uint_eq(json_object_size(json_object_get(document, "small")), 0);
    json_decref(document);
}

TEST(stacks_share_what_they_have_in_common)
{
    make_report(40);
    json_t *document = page_document(report, NULL, true);
    const json_t *parents = json_object_get(json_object_get(document, "stacks"), "parent");
    size_t i, roots = 0;
    json_t *one;

    json_array_foreach (parents, i, one)
        roots += json_integer_value(one) < 0;
    ck_assert_uint_eq(roots, 1);
    ck_assert_uint_le(json_array_size(parents), 1 + 1 + 20 + 40);
    json_decref(document);
}

static json_t *made(const char *text)
{
    json_error_t error;
    json_t *json = json_loads(text, 0, &error);

    ck_assert_msg(json != NULL, "%s", error.text);
    return json;
}

TEST(a_light_site_keeps_the_ends_of_its_course)
{
    json_t *steps = json_array(), *bytes = json_array();
    for (int i = 0; i < 100; i++) {
        json_array_append_new(steps, json_integer(3 + i));
        json_array_append_new(bytes, json_integer(7 * i + 5));
    }
    report = json_pack("{s:{s:{s:i}}, s:[{s:s, s:i, s:{s:o, s:o}}]}", "spaces", "host",
                       "peak_bytes", 1 << 30, "sites", "space", "host", "peak_bytes", 9, "series",
                       "step", steps, "live_bytes", bytes);
    json_object_set_new(json_object_get(json_object_get(report, "spaces"), "host"),
                        "allocated_bytes", json_integer(1 << 30));
    json_t *document = page_document(report, NULL, true), *one;
    const json_t *raw = cell(document, "sites", "series", 0);
    json_int_t step = 0, level = 0;
    size_t i;

    ck_assert_uint_le(json_array_size(raw), 2 * 8);
    ck_assert_uint_ge(json_array_size(raw), 2 * 7);
    json_array_foreach (raw, i, one)
        *(i % 2 ? &level : &step) += json_integer_value(one);
    ck_assert_int_eq(json_integer_value(json_array_get(raw, 0)), 3);
    ck_assert_int_eq(step, 102);
    ck_assert_int_eq(level, 7 * 99 + 5);
    json_decref(document);
}

TEST(processes_are_a_text_that_sites_share)
{
    report = made(
        "{\"sites\": [{\"processes\": [3, 14]}, {\"processes\": []}, {\"processes\": [3, 14]}]}");
    json_t *document = page_document(report, NULL, true);

    ck_assert_str_eq(text_at(document, "sites", "processes", 0), "3 14");
    ck_assert_ptr_null(text_at(document, "sites", "processes", 1));
    ck_assert_int_eq(number_at(document, "sites", "processes", 2),
                     number_at(document, "sites", "processes", 0));
    json_decref(document);
}

/* ---- what is left out ---------------------------------------------------------------------- */

TEST(a_small_site_that_allocates_often_is_in_it)
{
    report =
        made("{\"spaces\": {\"host\": {\"peak_bytes\": 1000000, \"allocated_bytes\": 2000000,"
             " \"allocations\": 2000000}}, \"sites\": ["
             "{\"id\": \"S1\", \"space\": \"host\", \"peak_bytes\": 99, \"allocations\": 199},"
             "{\"id\": \"S2\", \"space\": \"host\", \"peak_bytes\": 99, \"allocations\": 200}]}");
    json_t *document = page_document(report, NULL, false);

    ck_assert_uint_eq(n_rows(document), 1);
    ck_assert_str_eq(text_at(document, "sites", "id", 0), "S2");
    json_decref(document);
}

TEST(small_sites_are_left_out_and_summed_unless_a_finding_names_them)
{
    report =
        made("{\"spaces\": {\"host\": {\"peak_bytes\": 1000000, \"allocated_bytes\": 2000000}},"
             "\"findings\": [{\"sites\": [\"S3\"]}], \"sites\": ["
             "{\"id\": \"S1\", \"space\": \"host\", \"peak_bytes\": 100},"
             "{\"id\": \"S2\", \"space\": \"host\", \"peak_bytes\": 99, \"live_bytes\": 5},"
             "{\"id\": \"S3\", \"space\": \"host\", \"peak_bytes\": 1},"
             "{\"id\": \"S4\", \"space\": \"host\", \"peak_bytes\": 9, \"live_bytes\": 3},"
             "{\"id\": \"S5\", \"space\": \"host\", \"allocated_bytes\": 200}]}");
    json_t *document = page_document(report, NULL, false);

    ck_assert_uint_eq(n_rows(document), 3);
    ck_assert_str_eq(text_at(document, "sites", "id", 0), "S1");
    ck_assert_str_eq(text_at(document, "sites", "id", 1), "S3");
    ck_assert_str_eq(text_at(document, "sites", "id", 2), "S5");
    ck_assert_str_eq(text_at(document, "small", "space", 0), "host");
    ck_assert_int_eq(number_at(document, "small", "stack", 0), -1);
    ck_assert_int_eq(number_at(document, "small", "sites", 0), 2);
    ck_assert_double_eq(json_number_value(cell(document, "small", "peak_bytes", 0)), 108);
    ck_assert_double_eq(json_number_value(cell(document, "small", "live_bytes", 0)), 8);
    json_decref(document);
    document = page_document(report, NULL, true);
    ck_assert_uint_eq(n_rows(document), 5);
    json_decref(document);
}

static const char *const odd[] = {
    "{}",
    "{\"sites\": 3, \"findings\": {}, \"job\": null}",
    "{\"sites\": [1, null, [], {}, {\"stack\": [null, 3, {}], \"look_at\": 7}]}",
    "{\"findings\": [null, 3, {\"sites\": 3, \"frame\": 3, \"kept_at\": [null, {}]}], "
    "\"sites\": [{\"id\": 3, \"series\": {\"step\": [\"x\"], \"live_bytes\": 4}, \"lifetimes\": "
    "1}]}",
};

TEST(a_report_that_lacks_parts_makes_a_page_that_lacks_them, .to = N(odd))
{
    report = made(odd[_i]);
    json_t *document = page_document(report, NULL, true);

    ck_assert_ptr_nonnull(document);
    json_decref(document);
}

/* ---- names --------------------------------------------------------------------------------- */

static void print_page(char **text, size_t *n)
{
    struct seep_json_stream_of_list sites;
    FILE *out = open_memstream(text, n);

    seep_json_stream_of_list(&sites, json_object_get(report, "sites"));
    struct seep_page *page = seep_page_document(report, &sites.stream, NULL, true);
    ck_assert_int_eq(seep_page_html(page, out), 0);
    seep_page_free(page);
    fclose(out);
}

static size_t times(const char *text, const char *what)
{
    size_t n = 0;

    for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
        n++;
    return n;
}

/* A page with one site whose function has that name; what the page's data says it is. */
static char *name_in_page(const char *name, size_t *tags, size_t *n)
{
    json_t *frame = json_pack("{s:s, s:s, s:s, s:i}", "kind", "python", "function", name, "file",
                              name, "line", 3);
    report = json_pack("{s:[{s:s, s:s, s:[o], s:i}]}", "sites", "id", "S1", "space", "host",
                       "stack", frame, "look_at", 0);
    char *page = NULL;
    print_page(&page, n);
    const char *data = strstr(page, "id=\"data\">") + strlen("id=\"data\">");
    json_t *read = json_loadb(data, (size_t)(strstr(data, "</script>") - data), 0, NULL);

    ck_assert_ptr_nonnull(read);
    *tags = times(page, "<");
    char *found = strdup(text_at(read, "frames", "name", 0));
    json_decref(read);
    json_decref(report);
    report = NULL;
    free(page);
    return found;
}

static const char *const hostile[] = {
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "\"><img src=x onerror=alert(1)>",
    "]]></SCRIPT >",
    "\\u003c/script>",
    "a'b\"c\\d`${e}",
    "\xe2\x80\xae"
    "evil",
    "\xe2\x80\xa8line",
};

TEST(no_name_is_markup, .to = N(hostile))
{
    size_t plain, tags, n;
    free(name_in_page("plain", &plain, &n));
    char *found = name_in_page(hostile[_i], &tags, &n);

    ck_assert_str_eq(found, hostile[_i]);
    ck_assert_uint_eq(tags, plain);
    free(found);
}

/* The same of texts that nobody thought of. */
TEST(no_text_is_markup, .to = 200)
{
    static const char *const pieces[] = {"<",   ">",        "</script", "<script>", "<!--",
                                         "-->", "\"",       "\\",       "&lt;",     "u003c",
                                         "/",   "\xc3\xa4", "]]>",      "'"};
    char name[256] = "";
    unsigned state = 7 + 977 * (unsigned)_i;
    size_t plain, tags, n;

    for (int i = 0; i < 20; i++) {
        state = state * 1664525 + 1013904223;
        strcat(name, pieces[(state >> 16) % N(pieces)]);
    }
    free(name_in_page("plain", &plain, &n));
    char *found = name_in_page(name, &tags, &n);
    ck_assert_str_eq(found, name);
    ck_assert_uint_eq(tags, plain);
    free(found);
}

TEST(a_long_name_is_cut_between_characters)
{
    const size_t most = 10 << 20;
    char *name = malloc(most + 1);
    size_t tags, n, plain;

    for (size_t i = 0; i < most; i += 2)
        memcpy(name + i, "\xc3\xa4", 2);
    name[1] = 'x'; /* so that no cut falls between characters by itself */
    name[0] = 'x';
    name[2] = 'x';
    memmove(name + 3, name + 4, most - 4);
    name[most - 1] = 0;
    free(name_in_page("plain", &tags, &plain));
    char *found = name_in_page(name, &tags, &n);
    ck_assert(seep_text_is_utf8(found));
    ck_assert_uint_le(strlen(found), SEEP_PAGE_TEXT_BYTES + strlen("…"));
    ck_assert_uint_ge(strlen(found), SEEP_PAGE_TEXT_BYTES - 4);
    ck_assert_uint_le(n, plain + 2 * SEEP_PAGE_TEXT_BYTES);
    free(found);
    free(name);
}

SUITE("page document", .setup = setup, .teardown = teardown)
