/* A page's texts: each once, and written as they were given. */
#include "libprof/page/page_texts.h"
#include "tests/suite.h"

#include <string.h>

static char written[256];

static int put(const char *bytes, size_t n, void *context)
{
    (void)context;
    strncat(written, bytes, n);
    return 0;
}

static uint32_t number_of(struct seep_page_texts *texts, const char *text)
{
    json_t *json = json_string(text);
    const uint32_t number = seep_page_texts_number(texts, json);

    json_decref(json);
    return number;
}

TEST(each_text_is_there_once_and_comes_back_as_it_was)
{
    struct seep_page_texts texts = {0};

    ck_assert_uint_eq(number_of(&texts, "S1"), 0);
    ck_assert_uint_eq(number_of(&texts, "a \"b\",\n"), 1);
    ck_assert_uint_eq(number_of(&texts, ""), 2);
    ck_assert_uint_eq(number_of(&texts, "S1"), 0);
    ck_assert_uint_eq(number_of(&texts, "S"), 3);
    json_t *second = seep_page_texts_at(&texts, 1);
    ck_assert_str_eq(json_string_value(second), "a \"b\",\n");
    json_decref(second);
    ck_assert_ptr_null(seep_page_texts_at(&texts, -1));
    ck_assert_ptr_null(seep_page_texts_at(&texts, 4));
    written[0] = 0;
    ck_assert_int_eq(seep_page_texts_write(&texts, put, NULL), 0);
    ck_assert_str_eq(written, "[\"S1\",\"a \\\"b\\\",\\n\",\"\",\"S\"]");
    seep_page_texts_fini(&texts);
}

TEST(no_texts_are_an_empty_list)
{
    struct seep_page_texts texts = {0};

    written[0] = 0;
    ck_assert_int_eq(seep_page_texts_write(&texts, put, NULL), 0);
    ck_assert_str_eq(written, "[]");
    ck_assert_uint_eq(seep_page_texts_number(&texts, NULL), SEEP_HASH_NONE);
    seep_page_texts_fini(&texts);
}

SUITE("page texts")
