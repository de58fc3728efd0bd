/* Where blocks lay on a device, in the page's data: short numbers that mean the same. */
#include "libprof/page/page_document.h"
#include "libprof/page/page_parts.h"
#include "tests/report_fixture.h"

static json_t *layouts_of(const char *text)
{
    json_error_t where;
    json_t *parsed = json_loads(text, 0, &where);

    ck_assert_msg(parsed != NULL, "%s", where.text);
    json_t *made = seep_page_layouts(parsed);
    json_decref(parsed);
    ck_assert_ptr_nonnull(made);
    return made;
}

static bool is(const json_t *made, const char *path, const char *wanted)
{
    json_t *value = json_loads(wanted, JSON_DECODE_ANY, NULL);
    const bool same = json_equal(at(made, path), value);

    json_decref(value);
    return same;
}

static const char two[] =
    "{\"layouts\": [{\"device\": 1, \"reason\": \"failed\", \"segments\": ["
    "{\"address\": \"0x7f0000000000\", \"bytes\": 4096, \"site\": \"S7\","
    " \"cache\": true, \"small\": true, \"tensors\": {\"offset\": [512, 1024, 3584],"
    " \"bytes\": [512, 2048, 512], \"site\": [\"S9\", null, \"S10\"]}},"
    "{\"address\": \"0x7f0000002000\", \"bytes\": 8192, \"site\": null,"
    " \"cache\": false,"
    " \"tensors\": {\"offset\": [], \"bytes\": [], \"site\": []}}]}]}";

TEST(segments_and_tensors_are_columns)
{
    json_t *made = layouts_of(two);

    ck_assert(is(made, "0/reason", "\"failed\""));
    ck_assert(is(made, "0/segments/address", "[\"0x7f0000000000\", \"0x7f0000002000\"]"));
    ck_assert(is(made, "0/segments/bytes", "[4096, 8192]"));
    ck_assert(is(made, "0/segments/site", "[7, -1]"));
    ck_assert(is(made, "0/segments/cache", "[1, 0]"));
    ck_assert(is(made, "0/segments/small", "[1, 0]"));
    ck_assert(is(made, "0/segments/tensors", "[3, 0]"));
    ck_assert(is(made, "0/tensors/gap", "[512, 0, 512]"));
    ck_assert(is(made, "0/tensors/bytes", "[512, 2048, 512]"));
    ck_assert(is(made, "0/tensors/site", "[9, -1, 10]"));
    json_decref(made);
}

static const char *const odd[] = {
    "{}",
    "{\"layouts\": null}",
    "{\"layouts\": [null, 3, {}]}",
    "{\"layouts\": [{\"segments\": [null, {\"tensors\": 5}]}]}",
    "{\"layouts\": [{\"segments\": [{\"address\": 4, \"bytes\": \"x\", \"site\": \"?\","
    " \"tensors\": {\"offset\": [\"a\"], \"bytes\": [], \"site\": [[]]}}]}]}",
};

TEST(what_is_no_layout_breaks_nothing, .to = N(odd))
{
    json_decref(layouts_of(odd[_i]));
}

/* Small sites are left out of a page, unless they are drawn. */
TEST(sites_that_are_drawn_are_named)
{
    json_t *parsed = json_loads(two, 0, NULL), *named = json_object();
    bool failed = false;

    seep_page_name_layout_sites(parsed, named, &failed);
    ck_assert(!failed);
    ck_assert_uint_eq(json_object_size(named), 3);
    ck_assert_ptr_nonnull(json_object_get(named, "S10"));
    json_decref(named);
    json_decref(parsed);
}

SUITE("page layouts")
