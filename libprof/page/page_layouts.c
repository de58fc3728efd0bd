#include "libprof/page/page_parts.h"

#include "libprof/base/json_build.h"
#include "libprof/page/page_tables.h"
#include "libprof/report_read/report_view.h"

#include <stdlib.h>
#include <string.h>

/* "S12" is 12. */
static json_t *site_number(const json_t *id)
{
    const char *text = json_string_value(id);

    return json_integer(text && text[0] == 'S' ? atoll(text + 1) : -1);
}

static void add_tensors(json_t *columns, const json_t *segment, bool *failed)
{
    const json_t *its = json_object_get(segment, "tensors");
    const json_t *offsets = json_object_get(its, "offset"), *bytes = json_object_get(its, "bytes"),
                 *sites = json_object_get(its, "site");
    json_int_t end = 0;

    for (size_t i = 0; i < json_array_size(offsets) && !*failed; i++) {
        const json_int_t at = json_integer_value(json_array_get(offsets, i)),
                         n = json_integer_value(json_array_get(bytes, i));
        seep_page_add(columns, "gap", json_integer(at - end), failed);
        seep_page_add(columns, "bytes", json_integer(n), failed);
        seep_page_add(columns, "site", site_number(json_array_get(sites, i)), failed);
        end = at + n;
    }
}

static void add_segment(json_t *columns, const json_t *segment, bool *failed)
{
    const json_t *tensors = json_object_get(json_object_get(segment, "tensors"), "bytes");

    seep_page_add(columns, "address", json_string(seep_get_text(segment, "address", "")), failed);
    seep_page_add(columns, "bytes",
                  json_integer(json_integer_value(json_object_get(segment, "bytes"))), failed);
    seep_page_add(columns, "site", site_number(json_object_get(segment, "site")), failed);
    seep_page_add(columns, "cache", json_integer(json_is_true(json_object_get(segment, "cache"))),
                  failed);
    seep_page_add(columns, "small", json_integer(json_is_true(json_object_get(segment, "small"))),
                  failed);
    seep_page_add(columns, "tensors", json_integer((json_int_t)json_array_size(tensors)), failed);
}

static json_t *layout_of(const json_t *layout)
{
    json_t *made = json_object(), *segments = json_object(), *tensors = json_object(), *value;
    bool failed = false;
    const char *key;
    size_t i;

    json_object_foreach ((json_t *)layout, key, value) {
        if (strcmp(key, "segments") != 0)
            seep_json_set(made, key, seep_page_copy(value), &failed);
    }
    json_array_foreach (json_object_get(layout, "segments"), i, value) {
        add_segment(segments, value, &failed);
        add_tensors(tensors, value, &failed);
    }
    seep_json_set(made, "segments", segments, &failed);
    seep_json_set(made, "tensors", tensors, &failed);
    return seep_json_whole(made, failed);
}

json_t *seep_page_layouts(const json_t *report)
{
    json_t *list = json_array(), *layout;
    bool failed = false;
    size_t i;

    json_array_foreach (json_object_get(report, "layouts"), i, layout)
        seep_json_append(list, layout_of(layout), &failed);
    return seep_json_whole(list, failed);
}

static void name(const json_t *id, json_t *named, bool *failed)
{
    if (json_is_string(id))
        seep_json_set(named, json_string_value(id), json_true(), failed);
}

void seep_page_name_layout_sites(const json_t *report, json_t *named, bool *failed)
{
    json_t *layout, *segment, *id;
    size_t i, k, n;

    json_array_foreach (json_object_get(report, "layouts"), i, layout) {
        json_array_foreach (json_object_get(layout, "segments"), k, segment) {
            name(json_object_get(segment, "site"), named, failed);
            json_array_foreach (json_object_get(json_object_get(segment, "tensors"), "site"), n, id)
                name(id, named, failed);
        }
    }
}
