/* JSON in bounded memory. */
#include "kernels/formats/json_file.h"
#include "libprof/base/text.h"
#include "tests/suite.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct seep_json json;
static struct seep_error err;

static void set_up(void)
{
    json = (struct seep_json){NULL, NULL};
    err = (struct seep_error){.text = ""};
}

static void tear_down(void)
{
    seep_json_free(&json);
}

static int load(const char *text, size_t most_bytes)
{
    return seep_json_load("file", text, strlen(text), most_bytes, &json, &err);
}

/* "[ITEM,ITEM,…]"; free()d by the caller. */
static char *list_of(const char *item, size_t n)
{
    size_t n_item = strlen(item);
    char *text = malloc(n * (n_item + 1) + 2), *to = text;

    ck_assert_ptr_nonnull(text);
    *to++ = '[';
    for (size_t i = 0; i < n; i++) {
        memcpy(to, item, n_item);
        to[n_item] = i + 1 < n ? ',' : ']';
        to += n_item + 1;
    }
    *to = 0;
    return text;
}

TEST(values_are_what_the_text_says)
{
    char *text = list_of("{\"key\":[12.5,-7,true,null,\"a string past sixteen bytes\"]}", 5000);

    ck_assert_int_eq(load(text, 64 << 20), 0);
    free(text);
    ck_assert_uint_eq(json_array_size(json.root), 5000);
    for (size_t i = 0; i < 5000; i++) {
        const json_t *list = json_object_get(json_array_get(json.root, i), "key");
        ck_assert_uint_eq(json_array_size(list), 5);
        ck_assert(json_real_value(json_array_get(list, 0)) == 12.5);
        ck_assert_int_eq(json_integer_value(json_array_get(list, 1)), -7);
        ck_assert_str_eq(json_string_value(json_array_get(list, 4)), "a string past sixteen bytes");
    }
}

/* What costs the most memory for its bytes. */
static const char *const items[] = {"0", "[]", "{}", "\"\"", "{\"\":0}", "[[[[]]]]"};

TEST(a_small_text_of_many_values_does_not_take_all_memory, .to = N(items))
{
    char *text = list_of(items[_i], 100000);

    ck_assert_int_eq(load(text, 1 << 20), -SEEP_EFORMAT);
    ck_assert_msg(strstr(err.text, "more than 1048576 bytes"), "\"%s\"", err.text);
    ck_assert_str_eq(err.file, "file");
    ck_assert_ptr_null(json.blocks);
    ck_assert_int_eq(load(text, 64 << 20), 0);
    ck_assert_uint_eq(json_array_size(json.root), 100000);
    free(text);
}

TEST(a_token_larger_than_the_bound_is_refused)
{
    char *text = malloc(3 << 20);

    ck_assert_ptr_nonnull(text);
    memset(text, 'a', 3 << 20);
    memcpy(text, "[\"", 2);
    strcpy(text + (3 << 20) - 3, "\"]");
    ck_assert_int_eq(load(text, 1 << 20), -SEEP_EFORMAT);
    ck_assert_int_eq(load(text, 32 << 20), 0);
    ck_assert_uint_eq(json_string_length(json_array_get(json.root, 0)), (3 << 20) - 5);
    free(text);
}

TEST(what_is_no_json_is_refused_with_its_place)
{
    ck_assert_int_eq(load("[1, 2, x]", 1 << 20), -SEEP_EFORMAT);
    ck_assert_msg(strstr(err.text, "no JSON: "), "\"%s\"", err.text);
    ck_assert_uint_eq(err.offset, 8);
    ck_assert_int_eq(seep_json_load("", NULL, 0, 1 << 20, &json, NULL), -SEEP_EFORMAT);
}

TEST(jansson_is_as_before_for_all_others)
{
    json_t *own = json_pack("{s:[i, i]}", "a", 1, 2);

    ck_assert_int_eq(load("[1]", 1 << 20), 0);
    ck_assert_int_eq(json_array_append_new(json_object_get(own, "a"), json_integer(3)), 0);
    seep_json_free(&json);
    ck_assert_int_eq(load("[", 1 << 20), -SEEP_EFORMAT);
    ck_assert_int_eq(load("[[]]", 8), -SEEP_EFORMAT);
    ck_assert_uint_eq(json_array_size(json_object_get(own, "a")), 3);
    json_decref(own);
}

static const struct {
    const char *text;
    bool is_utf8;
} texts[] = {
    {"", true},
    {"a", true},
    {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", true},
    {"\xff", false},
    {"a\xc3", false},
    {"\xc3\x28", false},
    {"\xc0\xaf", false},
    {"\xed\xa0\x80", false},
    {"\xf5\x80\x80\x80", false},
};

TEST(a_text_is_one_that_json_can_hold_or_it_is_not, .to = N(texts))
{
    json_t *string = json_string(texts[_i].text);

    ck_assert_int_eq(seep_text_is_utf8(texts[_i].text), texts[_i].is_utf8);
    ck_assert_int_eq(string != NULL, texts[_i].is_utf8);
    json_decref(string);
}

SUITE("json_file", .setup = set_up, .teardown = tear_down)
