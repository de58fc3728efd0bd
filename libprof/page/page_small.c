#include "libprof/base/json_build.h"
#include "libprof/page/page_boxes.h"
#include "libprof/page/page_parts.h"
#include "libprof/report_read/report_view.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 130 }; /* of a series, as many as the report has for a site */

static const char *const summed[] = {"allocations", "frees",      "allocated_bytes",
                                     "live_bytes",  "peak_bytes", "retained_bytes"};
enum { N_SUMMED = sizeof summed / sizeof *summed };

static json_t *series_of(const struct seep_page_small *first, size_t n)
{
    const json_t **sites = calloc(n, sizeof *sites);

    for (size_t i = 0; sites && i < n; i++)
        sites[i] = first[i].what;
    json_t *series = sites ? seep_page_series(sites, n, MOST_POINTS) : NULL;
    free(sites);
    return series;
}

static void take_box(void *columns, const struct seep_page_small *first, size_t n, uint32_t caller,
                     struct seep_page_tables *t, bool *failed)
{
    double sums[N_SUMMED] = {0}, growth = 0;

    for (size_t i = 0; i < n; i++) {
        struct seep_slope slope = {0, 0, 0};
        seep_get_slope(first[i].what, "growth_bytes_per_step", &slope);
        growth += slope.value;
        for (size_t k = 0; k < N_SUMMED; k++)
            sums[k] += seep_get_number(first[i].what, summed[k]);
    }
    seep_page_add(columns, "space",
                  json_integer(seep_page_text(t, seep_get_text(first->what, "space", ""))), failed);
    seep_page_add(columns, "stack", seep_page_number(caller), failed);
    seep_page_add(columns, "sites", json_integer((json_int_t)n), failed);
    for (size_t k = 0; k < N_SUMMED; k++)
        seep_page_add(columns, summed[k], json_real(sums[k]), failed);
    seep_page_add(columns, "growth", json_real(growth), failed);
    seep_page_add(columns, "series", series_of(first, n), failed);
}

static void add_space(const json_t *report, const json_t *small, const char *name, json_t *columns,
                      struct seep_page_tables *tables, bool *failed)
{
    const json_t *space = json_object_get(json_object_get(report, "spaces"), name), *site;
    struct seep_page_small *list = calloc(json_array_size(small) + 1, sizeof *list);
    size_t i, n = 0;

    *failed = *failed || !list;
    json_array_foreach (small, i, site) {
        if (!*failed && strcmp(seep_get_text(site, "space", ""), name) == 0)
            list[n++] =
                (struct seep_page_small){.what = site,
                                         .stack = json_object_get(site, "stack"),
                                         .peak = seep_get_number(site, "peak_bytes"),
                                         .allocated = seep_get_number(site, "allocated_bytes")};
    }
    struct seep_page_boxes boxes = {
        .peak = SEEP_PAGE_SMALL_BOX * seep_get_number(space, "peak_bytes"),
        .allocated = SEEP_PAGE_SMALL_BOX * seep_get_number(space, "allocated_bytes"),
        .take = take_box,
        .columns = columns};
    seep_page_boxes(list, n, &boxes, tables, failed);
    free(list);
}

json_t *seep_page_small_sites(const json_t *report, const json_t *small,
                              struct seep_page_tables *tables)
{
    json_t *columns = json_object(), *spaces = json_object(), *one;
    bool failed = false;
    const char *space;
    size_t i;

    json_array_foreach (small, i, one)
        seep_json_set(spaces, seep_get_text(one, "space", ""), json_true(), &failed);
    json_object_foreach (spaces, space, one)
        add_space(report, small, space, columns, tables, &failed);
    json_decref(spaces);
    return seep_json_whole(columns, failed || tables->failed);
}
