/* Sites too small to be in a page one by one, grouped in boxes below their callers. */
#include "libprof/base/json_build.h"
#include "libprof/page/page_parts.h"
#include "libprof/page/page_tables.h"
#include "libprof/report_read/report_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_BOX 1e-3 /* of a space: about one pixel in a picture of it */

/* One small thing with a stack, such as a site, by its caller's number. */
struct small {
    uint32_t caller; /* boxes_put() makes it the one that has its box */
    uint32_t number; /* the user's own */
};

/* What is below a stack. */
enum weight_of { PEAK, ALLOCATED, N_WEIGHTS };

struct weight {
    double of[N_WEIGHTS];
};

/* All zero: empty. */
struct boxes {
    struct seep_frames frames;       /* of the stacks */
    struct seep_page_stacks callers; /* stacks of small ones only: few get into the page */
    struct small *list;
    size_t n, capacity;
};

/* What one small thing weighs. */
typedef struct weight boxes_weigher(const void *context, uint32_t number);

/* Takes a box of `n` small ones below a caller, given as the page's number; SEEP_HASH_NONE: below
 * no caller. */
typedef void boxes_taker(const void *context, const struct small *first, size_t n, uint32_t caller,
                         struct seep_page_tables *tables, bool *failed);

/* The number of a stack among the callers. */
static int caller_of(struct boxes *boxes, const json_t *stack, uint32_t *caller)
{
    *caller = SEEP_HASH_NONE;
    for (size_t i = json_array_size(stack); i-- > 0;) {
        const json_t *frame = json_array_get(stack, i);
        if (!json_is_object(frame))
            continue;
        if (seep_frames_add(&boxes->frames, frame))
            return -SEEP_ENOMEM;
        *caller = seep_page_stacks_add(&boxes->callers, *caller,
                                       seep_frames_number(&boxes->frames, frame));
        if (*caller == SEEP_HASH_NONE)
            return -SEEP_ENOMEM;
    }
    return 0;
}

/* Adds one small thing. Its stack is not kept, but its frames are known by address. Returns 0 or
 * -SEEP_ENOMEM. */
static int boxes_add(struct boxes *boxes, const json_t *stack, uint32_t number)
{
    uint32_t caller;

    if (caller_of(boxes, stack, &caller) ||
        seep_grow(&boxes->list, &boxes->capacity, boxes->n + 1, sizeof *boxes->list))
        return -SEEP_ENOMEM;
    boxes->list[boxes->n++] = (struct small){caller, number};
    return 0;
}

static void boxes_fini(struct boxes *boxes)
{
    seep_frames_fini(&boxes->frames);
    seep_page_stacks_fini(&boxes->callers);
    free(boxes->list);
}

/* ---- boxes ----------------------------------------------------------------------------------- */

/* By box, and in each as they were added: sums of growth depend on the order. */
static int by_caller(const void *a, const void *b)
{
    const struct small *p = a, *q = b;

    if (p->caller != q->caller)
        return p->caller < q->caller ? -1 : 1;
    return (p->number > q->number) - (p->number < q->number);
}

/* Adds up what is below each stack, in room for all of them. */
static void sum_up_callers(const struct boxes *boxes, boxes_weigher *weigh, const void *context,
                           enum weight_of of, double *sums)
{
    memset(sums, 0, boxes->callers.n * sizeof *sums);
    for (size_t i = 0; i < boxes->n; i++) {
        if (boxes->list[i].caller != SEEP_HASH_NONE)
            sums[boxes->list[i].caller] += weigh(context, boxes->list[i].number).of[of];
    }
    for (size_t s = boxes->callers.n; s-- > 0;) {
        const uint32_t parent = boxes->callers.list[s].parent;
        if (parent != SEEP_HASH_NONE)
            sums[parent] += sums[s];
    }
}

/* Whether each stack has a box. One sum at a time, because stacks are many. NULL without memory. */
static bool *have_boxes(const struct boxes *boxes, boxes_weigher *weigh, const void *context,
                        struct weight limits)
{
    double *sums = malloc((boxes->callers.n + 1) * sizeof *sums);
    bool *have = calloc(boxes->callers.n + 1, sizeof *have);

    for (int of = 0; of < N_WEIGHTS && sums && have; of++) {
        sum_up_callers(boxes, weigh, context, (enum weight_of)of, sums);
        for (size_t s = 0; s < boxes->callers.n; s++)
            have[s] |= sums[s] >= limits.of[of];
    }
    if (!sums) {
        free(have);
        have = NULL;
    }
    free(sums);
    return have;
}

/* box[stack]: the nearest caller with a box; may be itself. */
static void find_boxes(struct boxes *boxes, const bool *have, uint32_t *box)
{
    for (uint32_t s = 0; s < boxes->callers.n; s++) {
        const uint32_t parent = boxes->callers.list[s].parent;
        box[s] = have[s] ? s : parent == SEEP_HASH_NONE ? parent : box[parent];
    }
    for (size_t i = 0; i < boxes->n; i++) {
        if (boxes->list[i].caller != SEEP_HASH_NONE)
            boxes->list[i].caller = box[boxes->list[i].caller];
    }
    if (boxes->n)
        qsort(boxes->list, boxes->n, sizeof *boxes->list, by_caller);
}

/* The page's number of a caller. `path` has room for every caller. */
static uint32_t page_caller(const struct boxes *boxes, uint32_t caller, uint32_t *path,
                            struct seep_page_tables *tables)
{
    uint32_t stack = SEEP_HASH_NONE;
    size_t depth = 0;

    for (uint32_t s = caller; s != SEEP_HASH_NONE; s = boxes->callers.list[s].parent)
        path[depth++] = boxes->callers.list[s].frame;
    while (depth-- > 0 && !tables->failed) {
        const json_t *frame = boxes->frames.list[path[depth]];
        stack = seep_page_stacks_add(&tables->stacks, stack, seep_page_frame(tables, frame));
        tables->failed |= stack == SEEP_HASH_NONE;
    }
    return stack;
}

/* Puts each into the box of its innermost caller that has one, and lets `take` have the boxes. A
 * caller gets a box if the sum below it reaches either of `limits`. Once. */
static void boxes_put(struct boxes *boxes, struct weight limits, boxes_weigher *weigh,
                      boxes_taker *take, const void *context, struct seep_page_tables *tables,
                      bool *failed)
{
    const struct small *list = boxes->list;

    seep_pair_fini(&boxes->callers.index); /* no more are added, and the sums need room */
    bool *have = have_boxes(boxes, weigh, context, limits);
    uint32_t *scratch = calloc(boxes->callers.n + 1, sizeof *scratch);
    *failed = *failed || !have || !scratch;
    if (!*failed)
        find_boxes(boxes, have, scratch);
    free(have);
    for (size_t i = 0, k; i < boxes->n && !*failed; i += k) {
        for (k = 1; i + k < boxes->n && list[i + k].caller == list[i].caller;)
            k++;
        take(context, &list[i], k, page_caller(boxes, list[i].caller, scratch, tables), tables,
             failed);
    }
    free(scratch);
}

/* ---- sites of one run ------------------------------------------------------------------------ */

enum { MAX_POINTS = 130 }; /* of a series, as many as the report has for a site */

static const char *const summed[] = {"allocations", "frees",      "allocated_bytes",
                                     "live_bytes",  "peak_bytes", "retained_bytes"};
enum { N_SUMMED = sizeof summed / sizeof *summed };

/* What decides where its box is; the box's sums are made of the sites themselves. */
struct small_site {
    struct weight weight;
    uint32_t at; /* in the stream */
};

/* The sites of one space. */
struct small_space {
    char *name;
    struct boxes boxes;
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
        boxes_fini(&small->spaces[i].boxes);
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
    return boxes_add(&space->boxes, json_object_get(site, "stack"), (uint32_t)small->n++);
}

/* ---- their sums ------------------------------------------------------------------------------ */

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

static int sum_up(const struct seep_page_small_sites *small, const struct small *first, size_t n,
                  struct sums *sums)
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

static struct weight weigh(const void *context, uint32_t number)
{
    const struct taking *taking = context;

    return taking->small->sites[number].weight;
}

static void take_box(const void *context, const struct small *first, size_t n, uint32_t caller,
                     struct seep_page_tables *t, bool *failed)
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
        const struct weight limits = {{SMALL_BOX * seep_get_number(space, "peak_bytes"),
                                       SMALL_BOX * seep_get_number(space, "allocated_bytes")}};
        boxes_put(&small->spaces[i].boxes, limits, weigh, take_box,
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

static struct weight weigh_pair(const void *context, uint32_t number)
{
    const struct taking_pairs *taking_pairs = context;

    return (struct weight){{seep_page_pair_peak(&taking_pairs->pairs->list[number]), 0}};
}

static void take_box_of_pairs(const void *context, const struct small *first, size_t n,
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

static int add_to_boxes(struct boxes *boxes, const struct seep_site_pairs *pairs, uint32_t number)
{
    json_t *site = seep_site_pair_first(pairs, number);
    const json_t *stack =
        pairs->list[number].is_interpreters ? NULL : json_object_get(site, "stack");
    int rc = site ? boxes_add(boxes, stack, number) : -SEEP_ENOMEM;

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
        struct boxes boxes = {0};
        for (size_t i = 0; i < n && !*failed; i++) {
            if (strcmp(pairs->list[small[i]].space, space) == 0)
                *failed = add_to_boxes(&boxes, pairs, small[i]);
        }
        const double limit = SMALL_BOX * seep_page_space_peak(report, base, space);
        boxes_put(&boxes, (struct weight){{limit, INFINITY}}, weigh_pair, take_box_of_pairs,
                  &(struct taking_pairs){pairs, space, columns}, tables, failed);
        boxes_fini(&boxes);
    }
    json_decref(spaces);
}
