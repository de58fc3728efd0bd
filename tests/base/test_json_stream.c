/* A report is the same bytes whether its sites are dumped as they are made or all at once. */
#include "libprof/base/json_stream.h"
#include "tests/suite.h"

#include <stdlib.h>
#include <string.h>

static char dumped[4096];
static size_t n_dumped, room;

static int put(const char *bytes, size_t n, void *context)
{
    (void)context;
    if (n > room - n_dumped)
        return -1;
    memcpy(dumped + n_dumped, bytes, n);
    n_dumped += n;
    return 0;
}

static int dump(json_t *object, const json_t *list, size_t up_to)
{
    struct seep_json_stream_of_list values;

    room = up_to;
    n_dumped = 0;
    seep_json_stream_of_list(&values, list);
    return seep_json_stream_dump(object, "sites", &values.stream, put, NULL);
}

static json_t *parsed(const char *text)
{
    json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);

    ck_assert_ptr_nonnull(json);
    return json;
}

static const char *const lists[] = {
    "[]", "[{}]", "[1, -2.5, null]", "[[], {\"a\": []}]",
    "[{\"t\": \"a\\nb \\u001b \\\"c\\\"\", \"stack\": [{\"line\": 7}, {\"line\": null}]}, "
    "{\"series\": {\"step\": [1, 2], \"live_bytes\": []}}]"};

/* The object with the list in it, and its text as jansson writes it. */
static char *whole_text(const char *list, json_t **object)
{
    *object =
        parsed("{\"job\": {\"cwd\": \"/a\\nb\", \"none\": {}}, \"a\\nkey\": [], \"sites\": [], "
               "\"timeline\": [1, [2]]}");
    json_object_set_new(*object, "sites", parsed(list));
    return json_dumps(*object, JSON_INDENT(1));
}

TEST(what_is_dumped_one_by_one_reads_as_what_is_dumped_whole)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        json_t *object;
        char *text = whole_text(lists[i], &object);
        json_t *list = json_incref(json_object_get(object, "sites"));
        json_object_set_new(object, "sites", json_array());
        ck_assert_int_eq(dump(object, list, sizeof dumped), 0);
        ck_assert_uint_eq(n_dumped, strlen(text));
        ck_assert_mem_eq(dumped, text, n_dumped);
        json_decref(list);
        json_decref(object);
        free(text);
    }
}

TEST(a_full_disk_is_noticed_at_every_byte)
{
    json_t *object;
    char *text = whole_text(lists[4], &object);

    for (size_t i = 0; i < strlen(text); i++)
        ck_assert_int_eq(dump(object, json_object_get(object, "sites"), i), -SEEP_EIO);
    json_decref(object);
    free(text);
}

static json_t *two_of_three(struct seep_json_stream *stream, size_t i)
{
    (void)stream;
    return i < 2 ? json_integer((json_int_t)i) : NULL;
}

TEST(without_memory_for_a_value_the_list_is_no_shorter_one)
{
    struct seep_json_stream values = {3, two_of_three};
    json_t *object = parsed("{\"sites\": []}");

    room = sizeof dumped;
    n_dumped = 0;
    ck_assert_int_eq(seep_json_stream_dump(object, "sites", &values, put, NULL), -SEEP_ENOMEM);
    json_decref(object);
}

TEST(all_of_a_stream_are_a_list)
{
    struct seep_json_stream_of_list values;
    json_t *list = parsed(lists[4]);

    seep_json_stream_of_list(&values, list);
    json_t *all = seep_json_stream_all(&values.stream);
    ck_assert(json_equal(all, list));
    json_decref(all);
    json_decref(list);
}

SUITE("json stream")
