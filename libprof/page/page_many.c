#include "libprof/page/page_parts.h"

#include "libprof/base/json_build.h"

#include <string.h>

/* ---- the map of nodes and local ranks ---------------------------------------------------- */

static void add_measure(json_t *measures, const char *name, const json_t *pair, bool *failed)
{
    json_t *columns = json_object_get(measures, name);

    if (!columns) {
        columns = json_object();
        seep_json_set(measures, name, columns, failed);
    }
    if (*failed)
        return;
    seep_page_add(columns, "sum", json_incref(json_array_get(pair, 0)), failed);
    seep_page_add(columns, "most", json_incref(json_array_get(pair, 1)), failed);
}

static void add_cell(json_t *columns, json_t *measures, const json_t *cell, bool *failed)
{
    static const char *const plain[] = {"node", "local_rank", "ranks"};
    const char *key;
    json_t *value;

    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        seep_page_add(columns, plain[i], json_incref(json_object_get(cell, plain[i])), failed);
    json_object_foreach ((json_t *)cell, key, value) {
        if (json_is_array(value))
            add_measure(measures, key, value, failed);
    }
}

static json_t *cells_of(const json_t *list)
{
    json_t *columns = json_object(), *measures = json_object(), *cell;
    bool failed = false;
    size_t i;

    json_array_foreach (list, i, cell)
        add_cell(columns, measures, cell, &failed);
    seep_json_set(columns, "measures", measures, &failed);
    return seep_json_whole(columns, failed);
}

/* ---- as a whole -------------------------------------------------------------------------- */

static json_t *many_of(const json_t *digest)
{
    json_t *made = json_object(), *value;
    bool failed = false;
    const char *key;

    json_object_foreach ((json_t *)digest, key, value)
        seep_json_set(made, key,
                      strcmp(key, "cells") == 0 ? cells_of(value) : seep_page_copy(value), &failed);
    return seep_json_whole(made, failed);
}

void seep_page_add_many(json_t *page, const json_t *report, bool *failed)
{
    const json_t *digest = json_object_get(report, "digest");

    if (!digest)
        return;
    seep_json_set(page, "digest", many_of(digest), failed);
    seep_json_set(page, "processes", json_array(), failed);
    json_object_del(json_object_get(page, "timeline"), "rss_bytes");
}
