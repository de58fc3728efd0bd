#include "libprof/base/json_build.h"
#include "libprof/page/page_boxes.h"
#include "libprof/page/page_parts.h"
#include "libprof/report_read/report_view.h"

#include <math.h>
#include <string.h>

/* Where the boxes of a space go. */
struct taking {
    const struct seep_site_pairs *pairs;
    const char *space;
    struct seep_page_columns *columns;
};

static struct seep_page_weight weigh(const void *context, uint32_t number)
{
    const struct taking *taking = context;

    return (struct seep_page_weight){{seep_page_pair_peak(&taking->pairs->list[number]), 0}};
}

static void take_box(const void *context, const struct seep_page_small *first, size_t n,
                     uint32_t caller, struct seep_page_tables *t, bool *failed)
{
    const struct taking *taking = context;
    struct seep_page_columns *columns = taking->columns;
    double kept[2] = {0}, peak[2] = {0}, growth[2] = {0};

    for (size_t i = 0; i < n; i++) {
        for (int run = 0; run < 2; run++) {
            const struct seep_pair_side *side = &taking->pairs->list[first[i].number].sides[run];
            kept[run] += side->retained;
            peak[run] += side->peak;
            growth[run] += side->growth.value;
        }
    }
    seep_page_columns_add(columns, "space", json_integer(seep_page_text(t, taking->space)), failed);
    seep_page_columns_add(columns, "stack", seep_page_number(caller), failed);
    seep_page_columns_add(columns, "pairs", json_integer((json_int_t)n), failed);
    seep_page_columns_add(columns, "kept_before", json_real(kept[0]), failed);
    seep_page_columns_add(columns, "kept_after", json_real(kept[1]), failed);
    seep_page_columns_add(columns, "peak_before", json_real(peak[0]), failed);
    seep_page_columns_add(columns, "peak_after", json_real(peak[1]), failed);
    seep_page_columns_add(columns, "growth_before", json_real(growth[0]), failed);
    seep_page_columns_add(columns, "growth_after", json_real(growth[1]), failed);
}

double seep_page_pair_peak(const struct seep_site_pair *pair)
{
    return fmax(pair->sides[0].peak, pair->sides[1].peak);
}

static double peak_of(const json_t *report, const char *space)
{
    return seep_get_number(json_object_get(json_object_get(report, "spaces"), space), "peak_bytes");
}

double seep_page_space_peak(const json_t *report, const json_t *base, const char *space)
{
    return fmax(peak_of(report, space), peak_of(base, space));
}

static int add_to_boxes(struct seep_page_boxes *boxes, const struct seep_site_pairs *pairs,
                        uint32_t number)
{
    json_t *site = seep_site_pair_first(pairs, number);
    const json_t *stack =
        pairs->list[number].is_interpreters ? NULL : json_object_get(site, "stack");
    int rc = site ? seep_page_boxes_add(boxes, stack, number) : -SEEP_ENOMEM;

    json_decref(site);
    return rc;
}

void seep_page_small_pairs(const json_t *report, const json_t *base,
                           const struct seep_site_pairs *pairs, const uint32_t *small, size_t n,
                           struct seep_page_columns *columns, struct seep_page_tables *tables,
                           bool *failed)
{
    json_t *spaces = json_object(), *one;
    const char *space;

    for (size_t i = 0; i < n; i++)
        seep_json_set(spaces, pairs->list[small[i]].space, json_true(), failed);
    json_object_foreach (spaces, space, one) {
        struct seep_page_boxes boxes = {0};
        for (size_t i = 0; i < n && !*failed; i++) {
            if (strcmp(pairs->list[small[i]].space, space) == 0)
                *failed = add_to_boxes(&boxes, pairs, small[i]);
        }
        const double limit = SEEP_PAGE_SMALL_BOX * seep_page_space_peak(report, base, space);
        seep_page_boxes_put(&boxes, (struct seep_page_weight){{limit, INFINITY}}, weigh, take_box,
                            &(struct taking){pairs, space, columns}, tables, failed);
        seep_page_boxes_fini(&boxes);
    }
    json_decref(spaces);
}
