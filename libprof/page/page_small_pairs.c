#include "libprof/base/json_build.h"
#include "libprof/page/page_boxes.h"
#include "libprof/page/page_parts.h"
#include "libprof/report_read/report_view.h"

#include <math.h>
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

/* Where the boxes of a space go. */
struct taking {
    const json_t *small;
    const char *space;
    json_t *columns;
};

static struct seep_page_weight weigh(const void *context, uint32_t number)
{
    const struct taking *taking = context;

    return (struct seep_page_weight){seep_page_pair_peak(json_array_get(taking->small, number)), 0};
}

static void take_box(const void *context, const struct seep_page_small *first, size_t n,
                     uint32_t caller, struct seep_page_tables *t, bool *failed)
{
    const struct taking *taking = context;
    json_t *columns = taking->columns;

    seep_page_add(columns, "space", json_integer(seep_page_text(t, taking->space)), failed);
    seep_page_add(columns, "stack", seep_page_number(caller), failed);
    seep_page_add(columns, "pairs", json_integer((json_int_t)n), failed);
    for (size_t k = 0; k < sizeof summed / sizeof *summed; k++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            const json_t *pair = json_array_get(taking->small, first[i].number);
            sum += number_of(json_object_get(pair, summed[k].side), summed[k].number);
        }
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

static void add_space(const json_t *small, const char *space, double limit, json_t *columns,
                      struct seep_page_tables *tables, bool *failed)
{
    struct seep_page_boxes boxes = {0};
    const json_t *pair;
    size_t i;

    json_array_foreach (small, i, pair) {
        if (!*failed && strcmp(seep_get_text(pair, "space", ""), space) == 0)
            *failed = seep_page_boxes_add(&boxes, json_object_get(pair, "stack"), (uint32_t)i);
    }
    seep_page_boxes_put(&boxes, (struct seep_page_weight){limit, INFINITY}, weigh, take_box,
                        &(struct taking){small, space, columns}, tables, failed);
    seep_page_boxes_fini(&boxes);
}

json_t *seep_page_small_pairs(const json_t *report, const json_t *base, const json_t *small,
                              struct seep_page_tables *tables)
{
    json_t *columns = json_object(), *spaces = json_object(), *one;
    bool failed = false;
    const char *space;
    size_t i;

    json_array_foreach (small, i, one)
        seep_json_set(spaces, seep_get_text(one, "space", ""), json_true(), &failed);
    json_object_foreach (spaces, space, one)
        add_space(small, space, SEEP_PAGE_SMALL_BOX * seep_page_space_peak(report, base, space),
                  columns, tables, &failed);
    json_decref(spaces);
    return seep_json_whole(columns, failed || tables->failed);
}
