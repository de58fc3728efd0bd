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

START_TEST(values_are_what_the_text_says)
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
END_TEST

/* What costs the most memory for its bytes. */
static const char *const items[] = {"0", "[]", "{}", "\"\"", "{\"\":0}", "[[[[]]]]"};

START_TEST(a_small_text_of_many_values_does_not_take_all_memory)
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
END_TEST

START_TEST(a_token_larger_than_the_bound_is_refused)
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
END_TEST

START_TEST(what_is_no_json_is_refused_with_its_place)
{
    ck_assert_int_eq(load("[1, 2, x]", 1 << 20), -SEEP_EFORMAT);
    ck_assert_msg(strstr(err.text, "no JSON: "), "\"%s\"", err.text);
    ck_assert_uint_eq(err.offset, 8);
    ck_assert_int_eq(seep_json_load("", NULL, 0, 1 << 20, &json, NULL), -SEEP_EFORMAT);
}
END_TEST

START_TEST(jansson_is_as_before_for_all_others)
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
END_TEST

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

START_TEST(a_text_is_one_that_json_can_hold_or_it_is_not)
{
    json_t *string = json_string(texts[_i].text);

    ck_assert_int_eq(seep_text_is_utf8(texts[_i].text), texts[_i].is_utf8);
    ck_assert_int_eq(string != NULL, texts[_i].is_utf8);
    json_decref(string);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("json_file");
    TCase *c = tcase_create("json_file");

    tcase_add_checked_fixture(c, set_up, tear_down);
    tcase_add_test(c, values_are_what_the_text_says);
    tcase_add_loop_test(c, a_small_text_of_many_values_does_not_take_all_memory, 0,
                        sizeof items / sizeof *items);
    tcase_add_test(c, a_token_larger_than_the_bound_is_refused);
    tcase_add_test(c, what_is_no_json_is_refused_with_its_place);
    tcase_add_test(c, jansson_is_as_before_for_all_others);
    tcase_add_loop_test(c, a_text_is_one_that_json_can_hold_or_it_is_not, 0,
                        sizeof texts / sizeof *texts);
    suite_add_tcase(suite, c);
    return suite_run(suite);
}
