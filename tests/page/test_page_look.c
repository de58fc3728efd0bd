/* The page of a look: a document from anybody is refused with the place that is wrong, or all that
 * the page relies on holds. */
#include "libprof/page/page_look.h"
#include "tests/suite.h"

#include <stdlib.h>
#include <string.h>

/* The look of a process, the same of it and a child that could not be looked at, and that of a
 * process with tensors on a GPU under seep, and that of a core file. */
static const char *const whole[] = {
    "build/fuzz/corpus/fuzz_look_page/one", "build/fuzz/corpus/fuzz_look_page/tree",
    "build/fuzz/corpus/fuzz_look_page/devices", "build/fuzz/corpus/fuzz_look_page/core"};

static json_t *document, *page;
static struct seep_error err;

static void load(size_t i)
{
    document = json_load_file(whole[i], 0, NULL);
    ck_assert_msg(document, "%s is there", whole[i]);
}

static void teardown(void)
{
    json_decref(document);
    json_decref(page);
    document = page = NULL;
    err = (struct seep_error){0};
}

/* The value at "looks.1.rss_bytes" of a document, or its parent, with the last key in `key`. */
static json_t *parent_of(const char *path, char key[32])
{
    json_t *at = document;

    for (size_t n = strcspn(path, "."); path[n]; n = strcspn(path, ".")) {
        snprintf(key, 32, "%.*s", (int)n, path);
        at = json_is_array(at) ? json_array_get(at, (size_t)atoi(key)) : json_object_get(at, key);
        ck_assert_msg(at, "%s is there", key);
        path += n + 1;
    }
    snprintf(key, 32, "%s", path);
    return at;
}

/* "" takes it away. */
static void put(const char *path, const char *json)
{
    char key[32];
    json_t *parent = parent_of(path, key);

    if (*json)
        json_object_set_new(parent, key, json_loads(json, JSON_DECODE_ANY, NULL));
    else
        json_object_del(parent, key);
}

static int shown(void)
{
    return seep_page_look(document, "look.json", &page, &err);
}

TEST(a_look_is_shown_as_it_is, .to = N(whole))
{
    load((size_t)_i);
    ck_assert_int_eq(shown(), 0);
    json_object_del(document, "format");
    json_object_del(document, "version");
    for (size_t i = 0; i < 2; i++)
        json_object_del(json_array_get(json_object_get(document, "looks"), i), "complete");
    if (_i != 1)
        ck_assert(json_equal(json_object_get(page, "look"), document));
    ck_assert_uint_eq(json_array_size(json_object_get(json_object_get(page, "look"), "holders")),
                      2);
}

static const struct {
    const char *path, *json, *said;
} wrong[] = {
    {"format", "\"seep-report\"", "not a document of `seep look"},
    {"version", "2", "written by a newer seep"},
    {"pid", "-1", "pid is not a whole number"},
    {"command", "7", "command is not a text"},
    {"command", "", "command is missing"},
    {"looks", "[]", "there is no look"},
    {"looks", "{}", "looks is not a list"},
    {"looks.1.rss_bytes", "1.5", "looks[1].rss_bytes is not a whole number"},
    {"looks.1.live_bytes", "null", "looks[1].live_bytes is not a whole number"},
    {"looks.0.way", "\"luck\"", "looks[0].way is no word"},
    {"looks.1.t_s", "-3", "earlier than the one before"},
    {"limit", "[]", "limit is not an object"},
    {"holders.1.within", "2", "within one that does not exist"},
    {"holders.1.retained_by_look", "[1]", "not as long as the looks"},
    {"holders.1.length_by_look", "[1, 2, 3]", "not as long as the looks"},
    {"holders.0.by_another", "0", "holders[0].by_another is neither"},
    {"holders.0.path.root.kind", "\"<b>\"", "holders[0].path.root.kind is no word"},
    {"holders.0.path.hops", "[7]", "holders[0].path.hops[0] is not an object"},
    {"looks.0.device_bytes", "[]", "looks[0].device_bytes is not an object"},
    {"looks.0.device_bytes", "{\"cuda:0\": -1}", "looks[0].device_bytes[\"cuda:0\"] is not a"},
    {"looks.0.allocator", "1", "looks[0].allocator is not a text"},
    {"holders.0.device_bytes_by_look", "{\"cuda:0\": [1]}", "not as long as the looks"},
    {"core", "{\"file\": \"core\"}", "core.bytes is missing"},
    {"core", "{\"file\": 7, \"bytes\": 1}", "core.file is not a text"},
    {"holders.0.made_at", "{}", "holders[0].made_at is not a list"},
    {"holders.0.made_at", "[0, 1, 2, 3, 4, 5, 6, 7, 8]", "holders[0].made_at is too long"},
    {"holders.0.made_at", "[{\"bytes\": 1}]", "holders[0].made_at[0].frame is missing"},
    {"holders.0.made_at",
     "[{\"frame\": {\"kind\": \"C\", \"function\": null, \"file\": null, \"line\": 1}, \"bytes\": "
     "1}]",
     "holders[0].made_at[0].frame.kind is no word"},
    {"holders.0.device_bytes_by_look", "{\"cuda:0\": 1}", "[\"cuda:0\"] is not a list"},
    {"tree.processes.1.looks", "[7]", "tree.processes[1].looks[0] is not an object"},
    {"tree.complete", "null", "tree.complete is neither"},
};

TEST(what_is_wrong_is_refused_with_its_place, .to = N(wrong))
{
    load(1);
    put(wrong[_i].path, wrong[_i].json);
    ck_assert_int_lt(shown(), 0);
    ck_assert_ptr_null(page);
    ck_assert_str_eq(err.file, "look.json");
    ck_assert_msg(strstr(err.text, wrong[_i].said), "%s", err.text);
}

TEST(more_than_there_can_be_is_refused)
{
    load(0);
    json_t *looks = json_object_get(document, "looks");
    while (json_array_size(looks) <= 64)
        json_array_append(looks, json_array_get(looks, 1));
    ck_assert_int_lt(shown(), 0);
    ck_assert_str_eq(err.text, "looks is too long");
}

TEST(names_are_cut_and_hold_no_control_characters)
{
    static char name[20000];

    load(0);
    memset(name, 'a', sizeof name - 1);
    put("command", "\"a\\u001b[31mb\"");
    char key[32];
    json_object_set_new(parent_of("holders.0.type", key), "type", json_string(name));
    ck_assert_int_eq(shown(), 0);
    const json_t *look = json_object_get(page, "look");
    ck_assert_str_eq(json_string_value(json_object_get(look, "command")), "a?[31mb");
    const json_t *holder = json_array_get(json_object_get(look, "holders"), 0);
    ck_assert_uint_eq(json_string_length(json_object_get(holder, "type")), 512);
}

TEST(holders_within_each_other_are_taken_out_of_the_circle)
{
    load(0);
    put("holders.0.within", "1");
    ck_assert_int_eq(shown(), 0);
    const json_t *list = json_object_get(json_object_get(page, "look"), "holders");
    const json_t *first = json_object_get(json_array_get(list, 0), "within");
    const json_t *second = json_object_get(json_array_get(list, 1), "within");
    ck_assert_msg(json_is_null(first) != json_is_null(second), "one of them is the outer one");
}

SUITE("page look", .teardown = teardown)
