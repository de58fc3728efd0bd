/* A file of holders is untrusted: what is right in it is taken, what is wrong is left out and
 * reported. */
#include "tests/who/merge/holders_fixture.h"

static struct seep_holders_snapshot read_it;

static int read_text(const char *text, struct seep_error *why)
{
    return seep_holders_read("holders-1-2.json", text, strlen(text), &read_it, why);
}

static json_t *whole(json_t **line, json_t **path)
{
    json_t *one = snapshot(12, 3, 64);

    *line = add_line(one, 45, 4096, "held");
    *path = add_path(*line, "loader", "Annotations.by_name", 480);
    return one;
}

static int read_json(json_t *document)
{
    char *text = json_dumps(document, 0);
    int rc = read_text(text, NULL);

    free(text);
    json_decref(document);
    return rc;
}

TEST(a_file_is_read_whole)
{
    json_t *line, *path;

    ck_assert_int_eq(read_json(whole(&line, &path)), 0);
    ck_assert_uint_eq(read_it.pid, 12);
    ck_assert_uint_eq(read_it.process, 3);
    ck_assert_uint_eq(read_it.step, 64);
    ck_assert(read_it.complete);
    ck_assert_uint_eq(read_it.n_lines, 1);
    ck_assert_str_eq(read_it.lines[0].frame, "/home/user/train.py:45");
    ck_assert_int_eq(read_it.lines[0].state, SEEP_HOLDERS_HELD);
    ck_assert_uint_eq(read_it.lines[0].explained_bytes, 4096);
    ck_assert_uint_eq(read_it.lines[0].paths[0].length, 480);
    ck_assert_str_eq(read_it.lines[0].paths[0].container, "Annotations.by_name\ndict");
    seep_holders_snapshot_fini(&read_it);
}

static const struct {
    const char *text;
    int rc;
} heads[] = {
    {"", -SEEP_EFORMAT},
    {"{", -SEEP_EFORMAT},
    {"[]", -SEEP_EFORMAT},
    {"{\"format\": \"seep-report\", \"version\": 1}", -SEEP_EFORMAT},
    {"{\"format\": \"seep-holders\"}", -SEEP_EFORMAT},
    {"{\"format\": \"seep-holders\", \"version\": 2}", -SEEP_EVERSION},
    {"{\"format\": \"seep-holders\", \"version\": 1, \"pid\": 0, \"step\": 1, \"complete\": true,"
     " \"lines\": []}",
     -SEEP_EFORMAT},
    {"{\"format\": \"seep-holders\", \"version\": 1, \"pid\": 1, \"step\": 99999999999,"
     " \"complete\": true, \"lines\": []}",
     -SEEP_EFORMAT},
    {"{\"format\": \"seep-holders\", \"version\": 1, \"pid\": 1, \"step\": -1, \"complete\": true,"
     " \"lines\": []}",
     -SEEP_EFORMAT},
    {"{\"format\": \"seep-holders\", \"version\": 1, \"pid\": 1, \"step\": 1, \"complete\": 1,"
     " \"lines\": []}",
     -SEEP_EFORMAT},
    {"{\"format\": \"seep-holders\", \"version\": 1, \"pid\": 1, \"step\": 1, \"complete\": true,"
     " \"lines\": {}}",
     -SEEP_EFORMAT},
    {"{\"format\": \"seep-holders\", \"version\": 1, \"pid\": 1, \"step\": 1, \"complete\": true,"
     " \"lines\": []}",
     0},
};

TEST(a_file_that_is_none_is_refused_and_says_why, .to = N(heads))
{
    struct seep_error why = {0};

    ck_assert_int_eq(read_text(heads[_i].text, &why), heads[_i].rc);
    ck_assert_int_eq(why.text[0] != 0, heads[_i].rc != 0);
    seep_holders_snapshot_fini(&read_it);
}

/* A field of a line, of its path (1), of its root (2) or of its holder (3), and what it becomes. */
static const struct {
    int of;
    const char *key, *value;
} damages[] = {
    {0, "bytes", "-1"},
    {0, "bytes", "1.5"},
    {0, "bytes", "\"4096\""},
    {0, "bytes", "1"}, /* less than is explained */
    {0, "blocks", "null"},
    {0, "state", "\"kept\""},
    {0, "state", "7"},
    {0, "paths", "{}"},
    {0, "paths", "[]"}, /* held by none */
    {0, "lost_bytes", "5000"},
    {0, "cycle_bytes", "[]"},
    {1, "text", "1"},
    {1, "text", "\"\""},
    {1, "bytes", "5000"}, /* more than the line has */
    {1, "sole_bytes", "5000"},
    {1, "sole_bytes", "\"all\""},
    {1, "root", "null"},
    {1, "hops", "\"\""},
    {1, "hops", "[1]"},
    {1, "holder", "[]"},
    {2, "kind", "\"Local\""},
    {2, "kind", "\"\""},
    {2, "kind", "\"a-word-that-is-longer-than-any\""},
    {2, "name", "1"},
    {2, "line", "-7"},
    {3, "hop", "3"},
    {3, "length", "-480"},
    {3, "bound_by", "\"max\\nlen\""},
};

TEST(a_damaged_line_is_left_out_and_said, .to = N(damages))
{
    json_t *line, *path, *document = whole(&line, &path);
    json_t *of[] = {line, path, json_object_get(path, "root"), json_object_get(path, "holder")};

    add_path(add_line(document, 46, 100, "held"), "loader", "Annotations.by_name", 480);
    json_object_set_new(of[damages[_i].of], damages[_i].key,
                        json_loads(damages[_i].value, JSON_DECODE_ANY, NULL));
    add_file(0, document);
    ck_assert_uint_eq(files.n, 1);
    ck_assert_uint_eq(files.list[0].n_lines, 1);
    ck_assert_str_eq(files.list[0].lines[0].frame, "/home/user/train.py:46");
    ck_assert_str_eq(files.said[0], "holders-12-64.json: 1 part is damaged and left out");
}

TEST(texts_are_harmless_and_bounded)
{
    json_t *line, *path, *document = whole(&line, &path);
    char *longest = calloc(1, 100001);

    for (size_t i = 0; i + 1 < 100000; i += 2)
        memcpy(longest + i, "\xc3\xb6", 2);
    json_object_set_new(path, "text", json_string("local \033[31m'a\n'"));
    json_object_set_new(json_object_get(path, "root"), "name", json_string(longest));
    ck_assert_int_eq(read_json(document), 0);
    ck_assert_str_eq(json_string_value(read_it.lines[0].paths[0].text), "local ?[31m'a?'");
    const char *name = text_of(read_it.lines[0].paths[0].root, "name");
    ck_assert_uint_eq(strlen(name), SEEP_HOLDERS_TEXT_BYTES);
    ck_assert_ptr_null(strchr(name, '?'));
    free(longest);
    seep_holders_snapshot_fini(&read_it);
}

TEST(lines_paths_and_hops_are_bounded)
{
    json_t *document = snapshot(12, 0, 64), *hop;

    for (int i = 0; i < SEEP_HOLDERS_MAX_LINES + 10; i++)
        add_line(document, i + 1, 10, "unknown");
    json_t *line = json_array_get(json_object_get(document, "lines"), 0);
    for (int i = 0; i < SEEP_HOLDERS_MAX_PATHS + 1; i++)
        add_path(line, "loader", "Annotations.by_name", 480);
    json_t *path = add_path(json_array_get(json_object_get(document, "lines"), 1), "a", "b", 1);
    json_t *hops = json_object_get(path, "hops");
    hop = json_array_get(hops, 0);
    for (int i = 0; i < SEEP_HOLDERS_MAX_HOPS; i++)
        json_array_append(hops, hop);
    ck_assert_int_eq(read_json(document), 0);
    ck_assert_uint_eq(read_it.n_lines, SEEP_HOLDERS_MAX_LINES - 1);
    ck_assert_uint_eq(read_it.n_left_out, 10);
    ck_assert_uint_eq(read_it.n_wrong, 1);
    ck_assert_uint_eq(read_it.lines[0].n_paths, SEEP_HOLDERS_MAX_PATHS);
    seep_holders_snapshot_fini(&read_it);
}

/* Where not all was looked at, the holder may be what was not. */
static const char *const by_nobody[] = {"lost", "reference"};

TEST(what_was_not_seen_whole_is_never_lost, .to = N(by_nobody))
{
    json_t *document = snapshot(12, 0, 64);

    add_line(document, 45, 4096, by_nobody[_i]);
    json_object_set_new(document, "complete", json_false());
    json_object_set_new(document, "why_not", json_string("more than 5 M nodes"));
    add_file(0, document);
    ck_assert_int_eq(files.list[0].lines[0].state, SEEP_HOLDERS_UNKNOWN);
}

static const struct {
    const char *frame, *key;
} frames[] = {
    {"{\"kind\": \"python\", \"file\": \"/a/b.py\", \"line\": 7}", "/a/b.py:7"},
    {"{\"kind\": \"python\", \"file\": \"/a/b.py\", \"line\": null}", ""},
    {"{\"kind\": \"python\", \"file\": null, \"line\": 7}", ""},
    {"{\"kind\": \"native\", \"module\": \"/lib/a.so\", \"offset\": 64}", "/lib/a.so:64"},
    {"{\"kind\": \"native\", \"module\": \"/lib/a.so\", \"offset\": 64, \"file\": \"a.c\","
     " \"line\": 3}",
     "/lib/a.so:64"},
    {"{\"kind\": \"native\", \"module\": null, \"offset\": 64}", ""},
    {"null", ""},
};

TEST(a_frame_is_told_by_its_line_or_its_place_in_a_module, .to = N(frames))
{
    json_t *frame = json_loads(frames[_i].frame, JSON_DECODE_ANY, NULL);
    char *key = seep_holders_frame_key(frame);

    ck_assert_str_eq(key, frames[_i].key);
    free(key);
    json_decref(frame);
}

SUITE("holders read", .setup = setup, .teardown = teardown)
