#include "libprof/page/page_parts.h"

#include "libprof/base/json_build.h"
#include "libprof/report_read/report_view.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIGHT_POINTS = 8 }; /* of a light site's series */

/* Numbers copied from the report. */
static const char *const plain[] = {"allocations", "frees",     "allocated_bytes", "live_bytes",
                                    "peak_bytes",  "peak_step", "retained_bytes"};
enum { N_PLAIN = sizeof plain / sizeof *plain };

static json_t *number(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_incref(value) : json_null();
}

static json_int_t integer_at(const json_t *list, size_t i)
{
    return json_integer_value(json_array_get(list, i));
}

/* Two columns as one list: [from, n, …], for example [age, frees, …]. */
static json_t *pairs(const json_t *columns, const char *from, const char *n)
{
    const json_t *froms = json_object_get(columns, from), *ns = json_object_get(columns, n);
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < json_array_size(froms) && !failed; i++) {
        seep_json_append(list, json_integer(integer_at(froms, i)), &failed);
        seep_json_append(list, json_integer(integer_at(ns, i)), &failed);
    }
    return seep_json_whole(list, failed);
}

static bool is_first_thread(const json_t *thread)
{
    return json_integer_value(json_object_get(thread, "tid")) ==
           json_integer_value(json_object_get(thread, "pid"));
}

/* The number of the text that lists threads, "5776 pt_autograd_0, …"; −1 if all blocks are from the
 * process's first thread. */
static json_int_t threads_text(struct seep_page_tables *t, const json_t *threads)
{
    char *text = NULL;
    bool others = false;
    size_t n, i;
    const json_t *thread;

    FILE *out = json_array_size(threads) ? open_memstream(&text, &n) : NULL;
    json_array_foreach (threads, i, thread) {
        others |= !is_first_thread(thread);
        if (out)
            fprintf(out, "%s%" JSON_INTEGER_FORMAT " %s", i ? ", " : "",
                    json_integer_value(json_object_get(thread, "tid")),
                    seep_get_text(thread, "name", ""));
    }
    t->failed |= (json_array_size(threads) && !out) || (out && fclose(out));
    const json_int_t id = others && !t->failed ? seep_page_text(t, text) : -1;
    free(text);
    return id;
}

static json_t *series_of(const json_t *series, size_t most)
{
    struct seep_page_changes changes = {0};
    json_t *list = NULL;

    if (seep_page_changes_add(&changes, series) == 0)
        list = seep_page_changes_json(&changes, most);
    free(changes.list);
    return list;
}

static void add_numbers(struct seep_page_columns *columns, const json_t *site, bool *failed)
{
    const json_t *ages_at = json_object_get(site, "lifetime_steps");
    struct seep_slope slope = {0, 0, 0};

    seep_get_slope(site, "growth_bytes_per_step", &slope);
    for (size_t i = 0; i < N_PLAIN; i++)
        seep_page_columns_add(columns, plain[i], number(site, plain[i]), failed);
    seep_page_columns_add(columns, "growth", json_real(slope.value), failed);
    seep_page_columns_add(columns, "age_p50", number(ages_at, "p50"), failed);
    seep_page_columns_add(columns, "age_max", number(ages_at, "max"), failed);
}

static void add_text(struct seep_page_columns *columns, const char *name, const char *text,
                     struct seep_page_tables *t, bool *failed)
{
    seep_page_columns_add(columns, name, json_integer(seep_page_text(t, text)), failed);
}

void seep_page_add_site(struct seep_page_columns *columns, const json_t *report, const json_t *json,
                        struct seep_page_tables *t, bool *failed)
{
    const struct seep_report_site site = seep_report_site_read(json);
    const size_t most = seep_page_is_light(report, json) ? LIGHT_POINTS : SIZE_MAX;

    add_text(columns, "id", site.id, t, failed);
    add_text(columns, "space", site.space, t, failed);
    add_text(columns, "part", seep_get_part(json), t, failed);
    seep_page_columns_add(columns, "look_at",
                          seep_page_number(seep_page_frame(t, seep_get_site_frame(json))), failed);
    seep_page_columns_add(columns, "stack", seep_page_number(seep_page_stack(t, site.stack)),
                          failed);
    add_numbers(columns, json, failed);
    seep_page_columns_add(columns, "processes", json_integer(seep_page_pids(t, site.processes)),
                          failed);
    if (site.n_processes >= 0) /* a digest knows how many, but not which */
        seep_page_columns_add(columns, "n_processes", json_integer(site.n_processes), failed);
    seep_page_columns_add(columns, "series", series_of(site.series, most), failed);
    seep_page_columns_add(columns, "lifetimes", pairs(site.lifetimes, "steps_at_least", "frees"),
                          failed);
    seep_page_columns_add(columns, "sizes", pairs(site.sizes, "bytes_at_least", "allocations"),
                          failed);
    seep_page_columns_add(columns, "threads", json_integer(threads_text(t, site.threads)), failed);
}
