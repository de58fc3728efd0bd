#include "libprof/page/page_boxes.h"
#include "libprof/page/page_parts.h"
#include "libprof/report_read/report_view.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 130 }; /* of a series, as many as the report has for a site */

enum { ALLOCATED = 2, PEAK = 4, N_SUMMED = 6 };
static const char *const summed[N_SUMMED] = {
    "allocations",         "frees",         [ALLOCATED] = "allocated_bytes", "live_bytes",
    [PEAK] = "peak_bytes", "retained_bytes"};

struct small_site {
    double numbers[N_SUMMED], growth;
    size_t n_changes; /* up to its own end in the changes of all */
};

/* The sites of one space. */
struct small_space {
    char *name;
    struct seep_page_boxes boxes;
};

struct seep_page_small_sites {
    struct small_space *spaces;
    size_t n_spaces, spaces_capacity;
    struct small_site *sites;
    size_t n, capacity;
    struct seep_page_changes changes; /* of the sites, in order */
};

struct seep_page_small_sites *seep_page_small_sites_create(void)
{
    return calloc(1, sizeof(struct seep_page_small_sites));
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
    free(small->changes.list);
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

int seep_page_small_sites_add(struct seep_page_small_sites *small, const json_t *site)
{
    struct small_space *space = space_of(small, seep_get_text(site, "space", ""));
    struct seep_slope slope = {0, 0, 0};

    if (!space || seep_grow(&small->sites, &small->capacity, small->n + 1, sizeof *small->sites) ||
        seep_page_changes_add(&small->changes, json_object_get(site, "series")))
        return -SEEP_ENOMEM;
    struct small_site *its = &small->sites[small->n];
    for (size_t i = 0; i < N_SUMMED; i++)
        its->numbers[i] = seep_get_number(site, summed[i]);
    seep_get_slope(site, "growth_bytes_per_step", &slope);
    its->growth = slope.value;
    its->n_changes = small->changes.n;
    return seep_page_boxes_add(&space->boxes, json_object_get(site, "stack"), (uint32_t)small->n++);
}

/* ---- their sums -------------------------------------------------------------------------- */

static json_t *series_of(const struct seep_page_small_sites *small,
                         const struct seep_page_small *first, size_t n)
{
    struct seep_page_changes all = {0};
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i++) {
        const uint32_t k = first[i].number;
        const size_t from = k ? small->sites[k - 1].n_changes : 0;
        const size_t more = small->sites[k].n_changes - from;
        rc = seep_grow(&all.list, &all.capacity, all.n + more, sizeof *all.list);
        if (!rc && more)
            memcpy(all.list + all.n, small->changes.list + from, more * sizeof *all.list);
        all.n += rc ? 0 : more;
    }
    if (n > 1)
        seep_page_changes_merge(&all);
    json_t *list = rc ? NULL : seep_page_changes_json(&all, MOST_POINTS);
    free(all.list);
    return list;
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
    const struct small_site *site = &taking->small->sites[number];

    return (struct seep_page_weight){{site->numbers[PEAK], site->numbers[ALLOCATED]}};
}

static void take_box(const void *context, const struct seep_page_small *first, size_t n,
                     uint32_t caller, struct seep_page_tables *t, bool *failed)
{
    const struct taking *taking = context;
    struct seep_page_columns *columns = taking->columns;
    double sums[N_SUMMED] = {0}, growth = 0;

    for (size_t i = 0; i < n; i++) {
        const struct small_site *site = &taking->small->sites[first[i].number];
        growth += site->growth;
        for (size_t k = 0; k < N_SUMMED; k++)
            sums[k] += site->numbers[k];
    }
    seep_page_columns_add(columns, "space", json_integer(seep_page_text(t, taking->space->name)),
                          failed);
    seep_page_columns_add(columns, "stack", seep_page_number(caller), failed);
    seep_page_columns_add(columns, "sites", json_integer((json_int_t)n), failed);
    for (size_t k = 0; k < N_SUMMED; k++)
        seep_page_columns_add(columns, summed[k], json_real(sums[k]), failed);
    seep_page_columns_add(columns, "growth", json_real(growth), failed);
    seep_page_columns_add(columns, "series", series_of(taking->small, first, n), failed);
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
