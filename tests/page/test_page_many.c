/* The page of a digest: its map of ranks as columns, and nothing that a digest does not know. */
#include "libprof/page/page_document.h"
#include "libprof/page/page_parts.h"
#include "libprof/page/page_tables.h"
#include "tests/page/page_cells.h"
#include "tests/report_fixture.h"

static json_t *parsed(const char *text)
{
    json_error_t where;
    json_t *json = json_loads(text, 0, &where);

    ck_assert_msg(json != NULL, "%s", where.text);
    return json;
}

static const char of_digest[] =
    "{\"job\": {\"cwd\": \"/job\"}, \"findings\": [], \"spaces\": {}, \"sites\": [],"
    " \"processes\": [{\"pid\": 7, \"rss_peak_bytes\": 0}],"
    " \"timeline\": {\"t_s\": [1], \"step\": [4], \"rss_bytes\": [0], \"spaces\": {}},"
    " \"digest\": {\"processes\": 16, \"nodes_per_cell\": 4, \"remarks\": [\"rank 3 is late\"],"
    "  \"cells\": [{\"node\": 0, \"local_rank\": 1, \"ranks\": 4, \"rss_peak_bytes\": [40, 13],"
    "   \"steps\": [8, 2]}, {\"node\": 4, \"local_rank\": 0, \"ranks\": 3,"
    "   \"rss_peak_bytes\": [30, 11], \"steps\": [6, 2]}]}}";

static bool is(const json_t *made, const char *path, const char *wanted)
{
    json_t *value = json_loads(wanted, JSON_DECODE_ANY, NULL);
    const bool same = json_equal(at(made, path), value);

    json_decref(value);
    return same;
}

TEST(the_map_of_ranks_is_columns)
{
    json_t *json = parsed(of_digest), *page = page_document(json, NULL, false);

    ck_assert_ptr_nonnull(page);
    ck_assert(is(page, "digest/processes", "16"));
    ck_assert(is(page, "digest/nodes_per_cell", "4"));
    ck_assert(is(page, "digest/remarks", "[\"rank 3 is late\"]"));
    ck_assert(is(page, "digest/cells/node", "[0, 4]"));
    ck_assert(is(page, "digest/cells/local_rank", "[1, 0]"));
    ck_assert(is(page, "digest/cells/ranks", "[4, 3]"));
    ck_assert(is(page, "digest/cells/measures/rss_peak_bytes/sum", "[40, 30]"));
    ck_assert(is(page, "digest/cells/measures/rss_peak_bytes/most", "[13, 11]"));
    ck_assert(is(page, "digest/cells/measures/steps/sum", "[8, 6]"));
    json_decref(page);
    json_decref(json);
}

TEST(what_a_digest_does_not_know_is_not_there_as_zeros)
{
    json_t *json = parsed(of_digest), *page = page_document(json, NULL, false);

    ck_assert(is(page, "processes", "[]"));
    ck_assert_ptr_null(json_object_get(json_object_get(page, "timeline"), "rss_bytes"));
    ck_assert(is(page, "timeline/step", "[4]"));
    ck_assert_ptr_nonnull(json_object_get(json_object_get(json, "timeline"), "rss_bytes"));
    json_object_del(json, "digest");
    json_t *other = page_document(json, NULL, false);
    ck_assert_ptr_null(json_object_get(other, "digest"));
    ck_assert(is(other, "timeline/rss_bytes", "[0]"));
    ck_assert_uint_eq(json_array_size(json_object_get(other, "processes")), 1);
    json_decref(other);
    json_decref(page);
    json_decref(json);
}

TEST(long_texts_of_a_digest_are_cut)
{
    json_t *json = parsed(of_digest), *digest = json_object_get(json, "digest");
    char *text = malloc(3 * SEEP_PAGE_TEXT_BYTES + 1);

    memset(text, 'a', 3 * SEEP_PAGE_TEXT_BYTES);
    text[3 * SEEP_PAGE_TEXT_BYTES] = '\0';
    json_array_append_new(json_object_get(digest, "remarks"), json_string(text));
    json_t *page = page_document(json, NULL, false);
    ck_assert_uint_lt(json_string_length(at(page, "digest/remarks/1")), SEEP_PAGE_TEXT_BYTES + 8);
    free(text);
    json_decref(page);
    json_decref(json);
}

SUITE("page many", .setup = setup, .teardown = teardown)
