/* Cells of a page's tables, which are columns. */
#ifndef SEEP_TESTS_PAGE_PAGE_CELLS_H
#define SEEP_TESTS_PAGE_PAGE_CELLS_H

#include <check.h>
#include <jansson.h>

static inline json_t *cell(const json_t *document, const char *table, const char *column, size_t i)
{
    const json_t *list = json_object_get(json_object_get(document, table), column);

    ck_assert_msg(i < json_array_size(list), "%s.%s has %zu", table, column, json_array_size(list));
    return json_array_get(list, i);
}

static inline json_int_t number_at(const json_t *document, const char *table, const char *column,
                                   size_t i)
{
    return json_integer_value(cell(document, table, column, i));
}

/* The text that a column's number means; NULL for −1. */
static inline const char *text_at(const json_t *document, const char *table, const char *column,
                                  size_t i)
{
    const json_int_t number = number_at(document, table, column, i);

    return number < 0 ? NULL
                      : json_string_value(
                            json_array_get(json_object_get(document, "texts"), (size_t)number));
}

#endif
