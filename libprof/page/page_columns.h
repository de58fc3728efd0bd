/* A page's largest tables as columns of text: a value in memory as JSON takes about 40 bytes, its
 * text takes four, and one where all are packed. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_COLUMNS_H
#define SEEP_LIBPROF_PAGE_PAGE_COLUMNS_H

#include "libprof/base/packed_text.h"

#include <jansson.h>
#include <stdbool.h>

enum { SEEP_PAGE_MOST_COLUMNS = 24 };

/* How JSON is written in pages. */
#define SEEP_PAGE_JSON (JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12))

/* Its values as JSON, with commas between them. */
struct seep_page_column {
    const char *name;
    struct seep_packed_text text;
};

/* All zero: empty. */
struct seep_page_columns {
    struct seep_page_column list[SEEP_PAGE_MOST_COLUMNS];
    size_t n;
};

/* Appends a value, which it takes over, to the column of that name, a literal; the first value
 * creates it. Without memory *failed becomes true. */
void seep_page_columns_add(struct seep_page_columns *columns, const char *name, json_t *value,
                           bool *failed);

/* Nothing more is added. */
void seep_page_columns_end(struct seep_page_columns *columns, bool *failed);

/* After their end: writes {NAME: [VALUE, …], …}. `put` returns 0 or -1. Returns 0, -SEEP_ENOMEM or
 * -SEEP_EIO. */
SEEP_MUST_CHECK int seep_page_columns_write(const struct seep_page_columns *columns,
                                            json_dump_callback_t put, void *context);

void seep_page_columns_fini(struct seep_page_columns *columns);

#endif
