#include "libprof/page/page_columns.h"

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

static int append(const char *bytes, size_t n, void *text)
{
    return seep_packed_text_add(text, bytes, n) ? -1 : 0;
}

void seep_page_columns_add(struct seep_page_columns *columns, const char *name, json_t *value,
                           bool *failed)
{
    const size_t before = columns->n;
    struct seep_page_column *column = column_of(columns, name);

    if (!column || !value || (columns->n == before && append(",", 1, &column->text)) ||
        json_dump_callback(value, append, &column->text, SEEP_PAGE_JSON))
        *failed = true;
    json_decref(value);
}

void seep_page_columns_end(struct seep_page_columns *columns, bool *failed)
{
    for (size_t i = 0; i < columns->n; i++)
        *failed |= seep_packed_text_end(&columns->list[i].text) != 0;
}

static int put_text(const char *text, json_dump_callback_t put, void *context)
{
    return put(text, strlen(text), context) ? -SEEP_EIO : 0;
}

int seep_page_columns_write(const struct seep_page_columns *columns, json_dump_callback_t put,
                            void *context)
{
    int rc = put_text("{", put, context);

    for (size_t i = 0; i < columns->n && !rc; i++) {
        const struct seep_page_column *column = &columns->list[i];
        rc = put_text(i ? ",\"" : "\"", put, context);
        if (!rc)
            rc = put_text(column->name, put, context);
        if (!rc)
            rc = put_text("\":[", put, context);
        if (!rc)
            rc = seep_packed_text_write(&column->text, put, context);
        if (!rc)
            rc = put_text("]", put, context);
    }
    return rc ? rc : put_text("}", put, context);
}

void seep_page_columns_fini(struct seep_page_columns *columns)
{
    for (size_t i = 0; i < columns->n; i++)
        seep_packed_text_fini(&columns->list[i].text);
    *columns = (struct seep_page_columns){0};
}
