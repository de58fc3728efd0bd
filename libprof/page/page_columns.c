#include "libprof/page/page_columns.h"

#include "libprof/base/hash_index.h"

#include <stdlib.h>
#include <string.h>

/* The column of that name; NULL: there is no more room for columns. */
static struct seep_page_column *column_of(struct seep_page_columns *columns, const char *name)
{
    for (size_t i = 0; i < columns->n; i++)
        if (strcmp(columns->list[i].name, name) == 0)
            return &columns->list[i];
    if (columns->n == SEEP_PAGE_MOST_COLUMNS)
        return NULL;
    columns->list[columns->n].name = name;
    return &columns->list[columns->n++];
}

static int append(const char *bytes, size_t n, void *to)
{
    struct seep_page_column *column = to;

    if (seep_grow(&column->text, &column->capacity, column->n + n, 1))
        return -1;
    memcpy(column->text + column->n, bytes, n);
    column->n += n;
    return 0;
}

void seep_page_columns_add(struct seep_page_columns *columns, const char *name, json_t *value,
                           bool *failed)
{
    struct seep_page_column *column = column_of(columns, name);

    if (!column || !value || (column->n && append(",", 1, column)) ||
        json_dump_callback(value, append, column, SEEP_PAGE_JSON))
        *failed = true;
    json_decref(value);
}

int seep_page_columns_write(const struct seep_page_columns *columns, json_dump_callback_t put,
                            void *context)
{
    bool failed = put("{", 1, context) != 0;

    for (size_t i = 0; i < columns->n && !failed; i++) {
        const struct seep_page_column *column = &columns->list[i];
        failed = (i && put(",", 1, context)) || put("\"", 1, context) ||
                 put(column->name, strlen(column->name), context) || put("\":[", 3, context) ||
                 put(column->text, column->n, context) || put("]", 1, context);
    }
    return failed || put("}", 1, context) ? -SEEP_EIO : 0;
}

void seep_page_columns_fini(struct seep_page_columns *columns)
{
    for (size_t i = 0; i < columns->n; i++)
        free(columns->list[i].text);
    *columns = (struct seep_page_columns){0};
}
