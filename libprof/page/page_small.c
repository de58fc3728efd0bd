#include "libprof/base/json_build.h"
#include "libprof/page/page_boxes.h"
#include "libprof/page/page_parts.h"
#include "libprof/report_read/report_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_POINTS = 130 }; /* of a series, as many as the report has for a site */

static const char *const summed[] = {"allocations", "frees",      "allocated_bytes",
                                     "live_bytes",  "peak_bytes", "retained_bytes"};
enum { N_SUMMED = sizeof summed / sizeof *summed };

/* What decides where its box is; the box's sums are made of the sites themselves. */
struct small_site {
    struct seep_page_weight weight;
    uint32_t at; /* in the stream */
};

/* The sites of one space. */
struct small_space {
    char *name;
    struct seep_page_boxes boxes;
};

struct seep_page_small_sites {
    struct seep_json_stream *stream;
    struct small_space *spaces;
    size_t n_spaces, spaces_capacity;
    struct small_site *sites;
    size_t n, capacity;
};

struct seep_page_small_sites *seep_page_small_sites_create(struct seep_json_stream *stream)
{
    struct seep_page_small_sites *small = calloc(1, sizeof *small);

    if (small)
        small->stream = stream;
    return small;
}

void seep_page_small_sites_destroy(struct seep_page_small_sites *small)
{
    if (!small)
        return;
    for (size_t i = 0; i < small->n_spaces; i++) {
        free(small->spaces[i].name);
        seep_page_boxes_fini(&small->spaces[i].boxes);
    }
    free(small->spaces);
    free(small->sites);
    free(small);
}

/* NULL without memory. */
static struct small_space *space_of(struct seep_page_small_sites *small, const char *name)
{
    for (size_t i = 0; i < small->n_spaces; i++)
        if (strcmp(small->spaces[i].name, name) == 0)
            return &small->spaces[i];
    char *copy = strdup(name);
    if (!copy || seep_grow(&small->spaces, &small->spaces_capacity, small->n_spaces + 1,
                           sizeof *small->spaces)) {
        free(copy);
        return NULL;
    }
    small->spaces[small->n_spaces] = (struct small_space){.name = copy};
    return &small->spaces[small->n_spaces++];
}

int seep_page_small_sites_add(struct seep_page_small_sites *small, const json_t *site, uint32_t at)
{
    struct small_space *space = space_of(small, seep_get_text(site, "space", ""));

    if (!space || seep_grow(&small->sites, &small->capacity, small->n + 1, sizeof *small->sites))
        return -SEEP_ENOMEM;
    small->sites[small->n] = (struct small_site){
        {{seep_get_number(site, "peak_bytes"), seep_get_number(site, "allocated_bytes")}}, at};
    return seep_page_boxes_add(&space->boxes, json_object_get(site, "stack"), (uint32_t)small->n++);
}

/* ---- their sums -------------------------------------------------------------------------- */

struct sums {
    double numbers[N_SUMMED], growth;
    struct seep_page_changes changes;
};

static int add_to_sums(struct sums *sums, const json_t *site)
{
    struct seep_slope slope = {0, 0, 0};

    for (size_t i = 0; i < N_SUMMED; i++)
        sums->numbers[i] += seep_get_number(site, summed[i]);
    seep_get_slope(site, "growth_bytes_per_step", &slope);
    sums->growth += slope.value;
    return site ? seep_page_changes_add(&sums->changes, json_object_get(site, "series"))
                : -SEEP_ENOMEM;
}

static int sum_up(const struct seep_page_small_sites *small, const struct seep_page_small *first,
                  size_t n, struct sums *sums)
{
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i++) {
        json_t *site = small->stream->make(small->stream, small->sites[first[i].number].at);
        rc = add_to_sums(sums, site);
        json_decref(site);
    }
    if (n > 1)
        seep_page_changes_merge(&sums->changes);
    return rc;
}

/* Where the boxes of a space go. */
struct taking {
    const struct seep_page_small_sites *small;
    const struct small_space *space;
    struct seep_page_columns *columns;
};

static struct seep_page_weight weigh(const void *context, uint32_t number)
{
    const struct taking *taking = context;

    return taking->small->sites[number].weight;
}

static void take_box(const void *context, const struct seep_page_small *first, size_t n,
                     uint32_t caller, struct seep_page_tables *t, bool *failed)
{
    const struct taking *taking = context;
    struct seep_page_columns *columns = taking->columns;
    struct sums sums = {.growth = 0};

    *failed |= sum_up(taking->small, first, n, &sums) != 0;
    seep_page_columns_add(columns, "space", json_integer(seep_page_text(t, taking->space->name)),
                          failed);
    seep_page_columns_add(columns, "stack", seep_page_number(caller), failed);
    seep_page_columns_add(columns, "sites", json_integer((json_int_t)n), failed);
    for (size_t k = 0; k < N_SUMMED; k++)
        seep_page_columns_add(columns, summed[k], json_real(sums.numbers[k]), failed);
    seep_page_columns_add(columns, "growth", json_real(sums.growth), failed);
    seep_page_columns_add(columns, "series", seep_page_changes_json(&sums.changes, MAX_POINTS),
                          failed);
    free(sums.changes.list);
}

void seep_page_small_sites_put(struct seep_page_small_sites *small, const json_t *report,
                               struct seep_page_columns *columns, struct seep_page_tables *tables,
                               bool *failed)
{
    for (size_t i = 0; i < small->n_spaces; i++) {
        const json_t *space =
            json_object_get(json_object_get(report, "spaces"), small->spaces[i].name);
        const struct seep_page_weight limits = {
            {SEEP_PAGE_SMALL_BOX * seep_get_number(space, "peak_bytes"),
             SEEP_PAGE_SMALL_BOX * seep_get_number(space, "allocated_bytes")}};
        seep_page_boxes_put(&small->spaces[i].boxes, limits, weigh, take_box,
                            &(struct taking){small, &small->spaces[i], columns}, tables, failed);
    }
}

/* ---- pairs of two runs ----------------------------------------------------------------------- */

/* Where the boxes of a space go. */
struct taking_pairs {
    const struct seep_site_pairs *pairs;
    const char *space;
    struct seep_page_columns *columns;
};

static struct seep_page_weight weigh_pair(const void *context, uint32_t number)
{
    const struct taking_pairs *taking_pairs = context;

    return (struct seep_page_weight){{seep_page_pair_peak(&taking_pairs->pairs->list[number]), 0}};
}

static void take_box_of_pairs(const void *context, const struct seep_page_small *first, size_t n,
                              uint32_t caller, struct seep_page_tables *t, bool *failed)
{
    const struct taking_pairs *taking_pairs = context;
    struct seep_page_columns *columns = taking_pairs->columns;
    double kept[2] = {0}, peak[2] = {0}, growth[2] = {0};

    for (size_t i = 0; i < n; i++) {
        for (int run = 0; run < 2; run++) {
            const struct seep_pair_side *side =
                &taking_pairs->pairs->list[first[i].number].sides[run];
            kept[run] += side->retained;
            peak[run] += side->peak;
            growth[run] += side->growth.value;
        }
    }
    seep_page_columns_add(columns, "space", json_integer(seep_page_text(t, taking_pairs->space)),
                          failed);
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
        seep_page_boxes_put(&boxes, (struct seep_page_weight){{limit, INFINITY}}, weigh_pair,
                            take_box_of_pairs, &(struct taking_pairs){pairs, space, columns},
                            tables, failed);
        seep_page_boxes_fini(&boxes);
    }
    json_decref(spaces);
}
