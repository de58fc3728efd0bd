#include "libprof/base/json_build.h"
#include "libprof/page/page_boxes.h"
#include "libprof/page/page_parts.h"
#include "libprof/report_read/report_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *side, *number, *column;
} summed[] = {
    {"before", "retained_bytes", "kept_before"}, {"after", "retained_bytes", "kept_after"},
    {"before", "peak_bytes", "peak_before"},     {"after", "peak_bytes", "peak_after"},
    {"before", NULL, "growth_before"},           {"after", NULL, "growth_after"}};

static double number_of(const json_t *side, const char *number)
{
    struct seep_slope slope = {0, 0, 0};

    if (number)
        return seep_get_number(side, number);
    seep_get_slope(side, "growth_bytes_per_step", &slope);
    return slope.value;
}

static void take_box(void *columns, const struct seep_page_small *first, size_t n, uint32_t caller,
                     struct seep_page_tables *t, bool *failed)
{
    seep_page_add(columns, "space",
                  json_integer(seep_page_text(t, seep_get_text(first->what, "space", ""))), failed);
    seep_page_add(columns, "stack", seep_page_number(caller), failed);
    seep_page_add(columns, "pairs", json_integer((json_int_t)n), failed);
    for (size_t k = 0; k < sizeof summed / sizeof *summed; k++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += number_of(json_object_get(first[i].what, summed[k].side), summed[k].number);
        seep_page_add(columns, summed[k].column, json_real(sum), failed);
    }
}

static double peak(const json_t *of, const char *key)
{
    return seep_get_number(json_object_get(of, key), "peak_bytes");
}

double seep_page_pair_peak(const json_t *pair)
{
    return fmax(peak(pair, "before"), peak(pair, "after"));
}

double seep_page_space_peak(const json_t *report, const json_t *base, const char *space)
{
    return fmax(peak(json_object_get(report, "spaces"), space),
                peak(json_object_get(base, "spaces"), space));
}

json_t *seep_page_small_pairs(const json_t *report, const json_t *base, const json_t *small,
                              struct seep_page_tables *tables)
{
    struct seep_page_small *list = calloc(json_array_size(small) + 1, sizeof *list);
    json_t *columns = json_object(), *spaces = json_object(), *pair, *one;
    bool failed = !list;
    const char *space;
    size_t i;

    json_array_foreach (small, i, pair)
        seep_json_set(spaces, seep_get_text(pair, "space", ""), json_true(), &failed);
    json_object_foreach (spaces, space, one) {
        size_t n = 0;
        json_array_foreach (small, i, pair) {
            if (!failed && strcmp(seep_get_text(pair, "space", ""), space) == 0)
                list[n++] = (struct seep_page_small){.what = pair,
                                                     .stack = json_object_get(pair, "stack"),
                                                     .peak = seep_page_pair_peak(pair)};
        }
        struct seep_page_boxes boxes = {.peak = SEEP_PAGE_SMALL_BOX *
                                                seep_page_space_peak(report, base, space),
                                        .allocated = INFINITY,
                                        .take = take_box,
                                        .columns = columns};
        seep_page_boxes(list, n, &boxes, tables, &failed);
    }
    free(list);
    json_decref(spaces);
    return seep_json_whole(columns, failed || tables->failed);
}
