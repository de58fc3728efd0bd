#include "libprof/page/page_parts.h"

#include "libprof/base/json_build.h"
#include "libprof/report_read/report_view.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 130 }; /* of a course, as sites have them in the report */

static const char *const summed[] = {"allocations", "frees",      "allocated_bytes",
                                     "live_bytes",  "peak_bytes", "retained_bytes"};
enum { N_SUMMED = sizeof summed / sizeof *summed };

struct small_site {
    const json_t *site;
    uint32_t stack; /* in `callers`; later the caller that has the box */
};

/* What is at work on the sites of a space. */
struct work {
    struct seep_page_tables
        callers; /* stacks of small sites alone: few of them get into the page */
    struct small_site *list;
    size_t n;
    double *peak, *allocated; /* [stacks] at or below each */
    uint32_t *box;            /* [stacks] the nearest caller that is broad enough, itself first */
    const json_t **run;       /* [n] sites of a box */
};

static int by_stack(const void *a, const void *b)
{
    const struct small_site *p = a, *q = b;

    return (p->stack > q->stack) - (p->stack < q->stack);
}

static void sum_up(struct work *w)
{
    for (size_t i = 0; i < w->n; i++) {
        if (w->list[i].stack == SEEP_HASH_NONE)
            continue;
        w->peak[w->list[i].stack] += seep_get_number(w->list[i].site, "peak_bytes");
        w->allocated[w->list[i].stack] += seep_get_number(w->list[i].site, "allocated_bytes");
    }
    for (size_t s = w->callers.n_stacks; s-- > 0;) {
        const uint32_t parent = w->callers.stacks[s].parent;
        if (parent != SEEP_HASH_NONE) {
            w->peak[parent] += w->peak[s];
            w->allocated[parent] += w->allocated[s];
        }
    }
}

/* Gives each site to its box, and brings those of a box together. */
static void find_boxes(struct work *w, const json_t *space)
{
    const double peak = SEEP_PAGE_SMALL_BOX * seep_get_number(space, "peak_bytes"),
                 allocated = SEEP_PAGE_SMALL_BOX * seep_get_number(space, "allocated_bytes");

    for (uint32_t s = 0; s < w->callers.n_stacks; s++) {
        const uint32_t parent = w->callers.stacks[s].parent;
        const bool is_broad = w->peak[s] >= peak || w->allocated[s] >= allocated;
        w->box[s] = is_broad ? s : parent == SEEP_HASH_NONE ? parent : w->box[parent];
    }
    for (size_t i = 0; i < w->n; i++) {
        if (w->list[i].stack != SEEP_HASH_NONE)
            w->list[i].stack = w->box[w->list[i].stack];
    }
    qsort(w->list, w->n, sizeof *w->list, by_stack);
}

/* The page's number of a caller: the outer frames of the stack of any site below it. */
static uint32_t stack_of(const struct work *w, uint32_t caller, const json_t *site,
                         struct seep_page_tables *tables)
{
    size_t depth = 0;

    for (uint32_t s = caller; s != SEEP_HASH_NONE; s = w->callers.stacks[s].parent)
        depth++;
    return seep_page_outer_stack(tables, json_object_get(site, "stack"), depth);
}

static void add_row(const struct work *w, const struct small_site *first, size_t n, json_t *columns,
                    struct seep_page_tables *t, bool *failed)
{
    double growth = 0;

    for (size_t i = 0; i < n; i++) {
        struct seep_slope slope = {0, 0, 0};
        seep_get_slope(first[i].site, "growth_bytes_per_step", &slope);
        growth += slope.value;
        w->run[i] = first[i].site;
    }
    seep_page_add(columns, "space",
                  json_integer(seep_page_text(t, seep_get_text(first->site, "space", ""))), failed);
    seep_page_add(columns, "stack", seep_page_number(stack_of(w, first->stack, first->site, t)),
                  failed);
    seep_page_add(columns, "sites", json_integer((json_int_t)n), failed);
    for (size_t k = 0; k < N_SUMMED; k++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += seep_get_number(first[i].site, summed[k]);
        seep_page_add(columns, summed[k], json_real(sum), failed);
    }
    seep_page_add(columns, "growth", json_real(growth), failed);
    seep_page_add(columns, "series", seep_page_series(w->run, n, MOST_POINTS), failed);
}

static void work_fini(struct work *w)
{
    seep_page_tables_fini(&w->callers);
    free(w->list);
    free(w->peak);
    free(w->allocated);
    free(w->box);
    free(w->run);
}

/* The sites of that space, with their stacks. Returns 0 or -SEEP_ENOMEM. */
static int work_init(struct work *w, const json_t *small, const char *space)
{
    size_t i;
    const json_t *site;

    seep_page_tables_init(&w->callers);
    w->list = malloc((json_array_size(small) + 1) * sizeof *w->list);
    json_array_foreach (small, i, site) {
        if (w->list && strcmp(seep_get_text(site, "space", ""), space) == 0)
            w->list[w->n++] = (struct small_site){
                site, seep_page_stack(&w->callers, json_object_get(site, "stack"))};
    }
    w->peak = calloc(w->callers.n_stacks + 1, sizeof *w->peak);
    w->allocated = calloc(w->callers.n_stacks + 1, sizeof *w->allocated);
    w->box = calloc(w->callers.n_stacks + 1, sizeof *w->box);
    w->run = calloc(w->n + 1, sizeof *w->run);
    return w->callers.failed || !w->list || !w->peak || !w->allocated || !w->box || !w->run
               ? -SEEP_ENOMEM
               : 0;
}

static void add_space(const json_t *report, const json_t *small, const char *space, json_t *columns,
                      struct seep_page_tables *tables, bool *failed)
{
    struct work w = {0};

    *failed = *failed || work_init(&w, small, space);
    if (!*failed) {
        sum_up(&w);
        find_boxes(&w, json_object_get(json_object_get(report, "spaces"), space));
    }
    for (size_t i = 0, n; i < w.n && !*failed; i += n) {
        for (n = 1; i + n < w.n && w.list[i + n].stack == w.list[i].stack;)
            n++;
        add_row(&w, &w.list[i], n, columns, tables, failed);
    }
    work_fini(&w);
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
