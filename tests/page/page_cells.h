/* Cells of a page's tables, which are columns. */
#ifndef SEEP_TESTS_PAGE_PAGE_CELLS_H
#define SEEP_TESTS_PAGE_PAGE_CELLS_H

#include "libprof/page/page_document.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static inline int put_in_file(const char *bytes, size_t n, void *file)
{
    return fwrite(bytes, 1, n, file) == n ? 0 : -1;
}

/* The page of a report that has its sites in it, as its scripts read it. */
static inline json_t *page_document(const json_t *report, const struct seep_page_base *base,
                                    bool all)
{
    struct seep_json_stream_of_list sites;
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);

    seep_json_stream_of_list(&sites, json_object_get(report, "sites"));
    struct seep_page *page = seep_page_document(report, &sites.stream, base, all);
    ck_assert_ptr_nonnull(page);
    ck_assert_int_eq(seep_page_write(page, put_in_file, out), 0);
    fclose(out);
    seep_page_free(page);
    json_t *document = json_loadb(text, n, 0, NULL);
    ck_assert_ptr_nonnull(document);
    free(text);
    return document;
}

/* The same beside an older run, which has its sites in it, too. */
static inline json_t *compared_document(const json_t *report, const json_t *base,
                                        const json_t *verdict, const char *why_not, bool all)
{
    struct seep_json_stream_of_list sites;

    seep_json_stream_of_list(&sites, json_object_get(base, "sites"));
    const struct seep_page_base it = {{base, &sites.stream}, verdict, why_not};
    return page_document(report, &it, all);
}

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
