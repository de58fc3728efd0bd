#include "libprof/page/page_document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/base/hash_index.h"
#include "libprof/base/json_build.h"
#include "libprof/page/page_parts.h"
#include "libprof/page/page_tables.h"
#include "libprof/report_read/report_pairs.h"
#include "libprof/report_read/report_view.h"

/* ---- findings ---------------------------------------------------------------------------- */

static void add_finding(json_t *list, const json_t *pair, bool *failed)
{
    const json_t *before = json_object_get(pair, "before"), *after = json_object_get(pair, "after");
    const bool was = json_is_object(before), is = json_is_object(after);
    json_t *row = json_object();

    seep_json_set(row, "state",
                  json_string(seep_get_text(pair, "state",
                                            was && is ? "remains"
                                            : was     ? "vanished"
                                                      : "new")),
                  failed);
    seep_json_set(row, "before", was ? seep_page_copy(before) : json_null(), failed);
    seep_json_set(row, "after",
                  is ? seep_page_cut(seep_report_finding_read(after).id) : json_null(), failed);
    seep_json_append(list, row, failed);
}

static json_t *findings(const json_t *pairs)
{
    json_t *list = json_array();
    const json_t *pair;
    bool failed = false;
    size_t i;

    json_array_foreach (pairs, i, pair)
        add_finding(list, pair, &failed);
    return seep_json_whole(list, failed);
}

/* Adds a member if it exists. */
static void add_part(json_t *made, const json_t *of, const char *key, bool *failed)
{
    const json_t *part = json_object_get(of, key);

    if (part)
        seep_json_set(made, key, seep_page_copy(part), failed);
}

static void add_verdict(json_t *made, const json_t *report, const struct seep_page_base *base,
                        bool *failed)
{
    static const char *const parts[] = {"verdict", "why", "savings", "notes"};
    json_t *pairs = NULL;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        add_part(made, base->verdict, parts[i], failed);
    if (base->verdict) {
        seep_json_set(made, "findings", findings(json_object_get(base->verdict, "findings")),
                      failed);
        return;
    }
    seep_json_set(made, "why_not", seep_page_cut(base->why_not ? base->why_not : ""), failed);
    *failed = seep_compare_findings(base->run.report, report, &pairs) || *failed;
    seep_json_set(made, "findings", findings(pairs), failed);
    json_decref(pairs);
}

/* ---- sites ------------------------------------------------------------------------------- */

static bool is_light(const struct seep_site_pair *pair, const json_t *report, const json_t *base)
{
    return seep_page_pair_peak(pair) <
           SEEP_PAGE_LIGHT * seep_page_space_peak(report, base, pair->space);
}

static void add_sides(struct seep_page_columns *columns, const struct seep_site_pair *pair,
                      bool *failed)
{
    static const struct {
        const char *kept, *peak, *growth;
    } names[] = {{"kept_before", "peak_before", "growth_before"},
                 {"kept_after", "peak_after", "growth_after"}};

    for (int i = 0; i < 2; i++) {
        const struct seep_pair_side *side = &pair->sides[i];
        const double values[] = {side->retained, side->peak, side->growth.value};
        const char *const columns_of[] = {names[i].kept, names[i].peak, names[i].growth};
        for (int k = 0; k < 3; k++)
            seep_page_columns_add(columns, columns_of[k],
                                  side->n ? json_real(values[k]) : json_null(), failed);
    }
}

/* The line to look at is a copy of a frame of the stack: returns the frame itself, which has a
 * number already. */
static const json_t *line_of(const json_t *site)
{
    const json_t *wanted = seep_get_site_frame(site), *one;
    size_t i;

    json_array_foreach (json_object_get(site, "stack"), i, one) {
        if (json_equal(one, wanted))
            return one;
    }
    return wanted;
}

/* If the report has the site, uses its lines, which may have moved since the older run. The
 * interpreter's maps share no stack, only what they are. */
static void add_place(struct seep_page_columns *columns, const json_t *line, const json_t *stack,
                      struct seep_page_tables *t, bool *failed)
{
    json_t *alone = stack ? NULL : json_pack("[O?]", line);

    seep_page_columns_add(columns, "look_at", seep_page_number(seep_page_frame(t, line)), failed);
    seep_page_columns_add(columns, "stack",
                          seep_page_number(seep_page_stack(t, stack ? stack : alone)), failed);
    json_decref(alone);
}

static void add_pair(struct seep_page_columns *columns, const struct seep_site_pairs *pairs,
                     size_t i, struct seep_page_tables *t, bool *failed)
{
    const struct seep_site_pair *pair = &pairs->list[i];
    const uint32_t own_at = pair->sides[1].first;
    json_t *first = seep_site_pair_first(pairs, i);
    json_t *own = pair->sides[1].n ? pairs->sites[1]->make(pairs->sites[1], own_at) : NULL;

    *failed |= !first || (pair->sides[1].n && !own);
    seep_page_columns_add(columns, "space", json_integer(seep_page_text(t, pair->space)), failed);
    seep_page_columns_add(columns, "part", json_integer(seep_page_text(t, seep_get_part(first))),
                          failed);
    seep_page_columns_add(columns, "site",
                          json_integer(seep_page_text(t, seep_get_text(own, "id", NULL))), failed);
    if (pair->is_interpreters)
        add_place(columns, pairs->interpreter, NULL, t, failed);
    else if (own)
        add_place(columns, seep_get_site_frame(own), json_object_get(own, "stack"), t, failed);
    else
        add_place(columns, line_of(first), json_object_get(first, "stack"), t, failed);
    add_sides(columns, pair, failed);
    json_decref(first);
    json_decref(own);
}

/* ---- all --------------------------------------------------------------------------------- */

static void add_pairs(const json_t *report, const struct seep_page_base *base,
                      const struct seep_site_pairs *pairs, bool all,
                      struct seep_page_pairs *columns, struct seep_page_tables *tables,
                      bool *failed)
{
    uint32_t *small = calloc(pairs->n + 1, sizeof *small);
    size_t n = 0;

    *failed |= !small;
    for (uint32_t i = 0; i < pairs->n && !*failed; i++) {
        if (!all && is_light(&pairs->list[i], report, base->run.report))
            small[n++] = i;
        else
            add_pair(&columns->large, pairs, i, tables, failed);
    }
    if (!*failed)
        seep_page_small_pairs(report, base->run.report, pairs, small, n, &columns->small, tables,
                              failed);
    free(small);
}

json_t *seep_page_comparison(const json_t *report, const struct seep_page_base *base,
                             const struct seep_site_pairs *pairs, bool all,
                             struct seep_page_pairs *columns, struct seep_page_tables *tables)
{
    json_t *made = json_object();
    bool failed = false;

    add_part(made, base->run.report, "job", &failed);
    add_part(made, base->run.report, "timeline", &failed);
    add_verdict(made, report, base, &failed);
    seep_json_set(made, "spaces", seep_compare_spaces(base->run.report, report), &failed);
    seep_json_set(made, "pairs", json_null(), &failed);
    seep_json_set(made, "small", json_null(), &failed);
    add_pairs(report, base, pairs, all, columns, tables, &failed);
    return seep_json_whole(made, failed || tables->failed);
}

enum { OFTEN = 100 }; /* allocations of a site: fewer are never many, even in a short job */

static const json_t *space_of(const json_t *report, const json_t *site)
{
    return json_object_get(json_object_get(report, "spaces"), seep_get_text(site, "space", ""));
}

bool seep_page_is_light(const json_t *report, const json_t *site)
{
    const json_t *space = space_of(report, site);

    return seep_get_number(site, "peak_bytes") <
               SEEP_PAGE_LIGHT * seep_get_number(space, "peak_bytes") &&
           seep_get_number(site, "allocated_bytes") <
               SEEP_PAGE_LIGHT * seep_get_number(space, "allocated_bytes");
}

/* Small blocks weigh little, but the user may also ask how many of them a line makes. */
static bool is_seldom(const json_t *report, const json_t *site)
{
    const double n = seep_get_number(site, "allocations");

    return n < OFTEN ||
           n < SEEP_PAGE_LIGHT * seep_get_number(space_of(report, site), "allocations");
}

/* {id: true} of the sites that findings name or that are drawn in a device's layout: a new
 * reference. */
static json_t *page_named_sites(const json_t *report, bool *failed)
{
    json_t *named = json_object();
    size_t i, k;
    json_t *finding, *id;

    json_array_foreach (json_object_get(report, "findings"), i, finding) {
        json_array_foreach (seep_report_finding_read(finding).sites, k, id) {
            if (json_is_string(id))
                seep_json_set(named, json_string_value(id), json_true(), failed);
        }
    }
    seep_page_name_layout_sites(report, named, failed);
    return named;
}

/* Whether a site is in the page only as part of a sum: it is light, allocates seldom, and is not
 * named. */
static bool page_is_small(const json_t *report, const json_t *named, const json_t *site)
{
    return seep_page_is_light(report, site) && is_seldom(report, site) &&
           !json_object_get(named, seep_get_text(site, "id", ""));
}

/* ---- the map of nodes and local ranks ---------------------------------------------------- */

static void add_measure(json_t *measures, const char *name, const json_t *pair, bool *failed)
{
    json_t *columns = json_object_get(measures, name);

    if (!columns) {
        columns = json_object();
        seep_json_set(measures, name, columns, failed);
    }
    if (*failed)
        return;
    seep_page_add(columns, "sum", json_incref(json_array_get(pair, 0)), failed);
    seep_page_add(columns, "most", json_incref(json_array_get(pair, 1)), failed);
}

static void add_cell(json_t *columns, json_t *measures, const json_t *cell, bool *failed)
{
    static const char *const plain[] = {"node", "local_rank", "ranks"};
    const char *key;
    json_t *value;

    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        seep_page_add(columns, plain[i], json_incref(json_object_get(cell, plain[i])), failed);
    json_object_foreach ((json_t *)cell, key, value) {
        if (json_is_array(value))
            add_measure(measures, key, value, failed);
    }
}

static json_t *cells_of(const json_t *list)
{
    json_t *columns = json_object(), *measures = json_object(), *cell;
    bool failed = false;
    size_t i;

    json_array_foreach (list, i, cell)
        add_cell(columns, measures, cell, &failed);
    seep_json_set(columns, "measures", measures, &failed);
    return seep_json_whole(columns, failed);
}

/* ---- as a whole -------------------------------------------------------------------------- */

static json_t *many_of(const json_t *digest)
{
    json_t *made = json_object(), *value;
    bool failed = false;
    const char *key;

    json_object_foreach ((json_t *)digest, key, value)
        seep_json_set(made, key,
                      strcmp(key, "cells") == 0 ? cells_of(value) : seep_page_copy(value), &failed);
    return seep_json_whole(made, failed);
}

/* Of a report of a digest: sets `digest`, the report's, with its cells as columns {node,
 * local_rank, ranks, measures: {NAME: {sum, most}}}, and takes out what a digest does not know: RSS
 * over time, and the list of processes, of which the report has only the outermost. Leaves pages of
 * other reports as they are. */
static void page_add_many(json_t *page, const json_t *report, bool *failed)
{
    const json_t *digest = json_object_get(report, "digest");

    if (!digest)
        return;
    seep_json_set(page, "digest", many_of(digest), failed);
    seep_json_set(page, "processes", json_array(), failed);
    json_object_del(json_object_get(page, "timeline"), "rss_bytes");
}

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

static json_int_t integer_at(const json_t *list, size_t i)
{
    return json_integer_value(json_array_get(list, i));
}

int seep_page_changes_add(struct seep_page_changes *changes, const json_t *series)
{
    const json_t *steps = json_object_get(series, "step"),
                 *bytes = json_object_get(series, "live_bytes");
    const size_t n = json_array_size(steps);
    json_int_t level = 0;

    if (seep_grow(&changes->list, &changes->capacity, changes->n + n, sizeof *changes->list))
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const json_int_t now = integer_at(bytes, i);
        changes->list[changes->n++] = (struct seep_page_change){integer_at(steps, i), now - level};
        level = now;
    }
    return 0;
}

static int by_step(const void *a, const void *b)
{
    const struct seep_page_change *p = a, *q = b;

    return (p->step > q->step) - (p->step < q->step);
}

void seep_page_changes_merge(struct seep_page_changes *changes)
{
    size_t n = 0;

    if (changes->n)
        qsort(changes->list, changes->n, sizeof *changes->list, by_step);
    for (size_t i = 0; i < changes->n; i++) {
        if (n && changes->list[n - 1].step == changes->list[i].step)
            changes->list[n - 1].bytes += changes->list[i].bytes;
        else
            changes->list[n++] = changes->list[i];
    }
    changes->n = n;
}

/* Whether a point is among the `most` evenly spread ones, which include the last. */
static bool is_wanted(size_t i, size_t n, size_t most)
{
    return n <= most || i == 0 || i + 1 == n || i * (most - 1) / n != (i - 1) * (most - 1) / n;
}

json_t *seep_page_changes_json(const struct seep_page_changes *changes, size_t most)
{
    json_t *list = json_array();
    json_int_t step = 0, bytes = 0;
    bool failed = false;

    for (size_t i = 0; i < changes->n && !failed; i++) {
        bytes += changes->list[i].bytes;
        if (!is_wanted(i, changes->n, most))
            continue;
        seep_json_append(list, json_integer(changes->list[i].step - step), &failed);
        seep_json_append(list, json_integer(bytes), &failed);
        step = changes->list[i].step;
        bytes = 0;
    }
    return seep_json_whole(list, failed);
}

/* Parts of the report that a page takes over unchanged. */
static const char *const parts[] = {"seep",      "job",      "findings",      "findings_left_out",
                                    "processes", "spaces",   "timeline",      "devices",
                                    "helpers",   "coverage", "out_of_memory", "holders"};

/* A source file changed after the job began (of two runs, the first) is not what ran. */
static void add_lines(struct seep_page_tables *tables, const json_t *report, const json_t *base)
{
    const struct seep_report_job job = seep_get_job(report);
    const double before =
        base ? fmin(job.started_unix_s, seep_get_job(base).started_unix_s) : job.started_unix_s;

    seep_page_add_frame_lines(tables, job.cwd, before);
}

/* Puts each site into the page, or into a box of small ones. */
static void add_sites(struct seep_page *page, const json_t *report, struct seep_json_stream *sites,
                      bool all, struct seep_page_tables *tables, bool *failed)
{
    struct seep_page_small_sites *small = seep_page_small_sites_create(sites);
    json_t *named = page_named_sites(report, failed);

    *failed = *failed || !small;
    for (size_t i = 0; i < sites->n && !*failed; i++) {
        json_t *site = sites->make(sites, i);
        if (!site)
            *failed = true;
        else if (all || !page_is_small(report, named, site))
            seep_page_add_site(&page->sites, report, site, tables, failed);
        else if (seep_page_small_sites_add(small, site, (uint32_t)i))
            *failed = true;
        json_decref(site);
    }
    if (!*failed)
        seep_page_small_sites_put(small, report, &page->small, tables, failed);
    seep_page_small_sites_destroy(small);
    json_decref(named);
}

static void fill(struct seep_page *page, const json_t *report, struct seep_json_stream *sites,
                 const struct seep_page_base *base, const struct seep_site_pairs *pairs, bool all,
                 struct seep_page_tables *tables, bool *failed)
{
    json_t *made = page->parts;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const json_t *part = json_object_get(report, parts[i]);
        if (part)
            seep_json_set(made, parts[i], seep_page_copy(part), failed);
    }
    page_add_many(made, report, failed);
    seep_json_set(made, "excerpts", seep_page_excerpts(report), failed);
    seep_json_set(made, "layouts", seep_page_layouts(report), failed);
    seep_json_set(made, "sites", json_null(), failed);
    seep_json_set(made, "small", json_null(), failed);
    add_sites(page, report, sites, all, tables, failed);
    if (base)
        seep_json_set(made, "comparison",
                      seep_page_comparison(report, base, pairs, all, &page->pairs, tables), failed);
    add_lines(tables, report, base ? base->run.report : NULL);
    seep_json_set(made, "stacks", json_null(), failed);
    seep_json_set(made, "frames", json_null(), failed);
    seep_json_set(made, "texts", json_null(), failed);
    *failed = *failed || tables->failed;
    page->frames = tables->frames;
    page->stacks = tables->stacks;
    page->texts = tables->texts;
    tables->frames = (struct seep_page_frames){0};
    tables->stacks = (struct seep_page_stacks){0};
    tables->texts = (struct seep_page_texts){0};
    seep_pair_fini(&page->stacks.index); /* nothing is added any more */
    seep_hash_fini(&page->texts.index);
    seep_page_columns_end(&page->sites, failed);
    seep_page_columns_end(&page->small, failed);
    seep_page_columns_end(&page->pairs.large, failed);
    seep_page_columns_end(&page->pairs.small, failed);
}

struct seep_page *seep_page_document(const json_t *report, struct seep_json_stream *sites,
                                     const struct seep_page_base *base, bool all)
{
    struct seep_page *page =
        seep_page_of_parts(json_pack("{s:s, s:i}", "format", "seep-page", "version", 1));
    struct seep_page_tables tables = {.failed = false};
    struct seep_site_pairs pairs = {.n = 0};
    bool failed = !page;

    if (!failed && base)
        failed = seep_site_pairs_init(&pairs, (struct seep_compared[]){base->run, {report, sites}},
                                      SEEP_BY_STACK);
    if (!failed)
        fill(page, report, sites, base, &pairs, all, &tables, &failed);
    seep_page_tables_fini(&tables);
    seep_site_pairs_fini(&pairs);
    if (!failed)
        return page;
    seep_page_free(page);
    return NULL;
}

struct seep_page *seep_page_of_parts(json_t *parts_of)
{
    struct seep_page *page = parts_of ? calloc(1, sizeof *page) : NULL;

    if (page)
        page->parts = parts_of;
    else
        json_decref(parts_of);
    return page;
}

void seep_page_free(struct seep_page *page)
{
    if (!page)
        return;
    json_decref(page->parts);
    seep_page_columns_fini(&page->sites);
    seep_page_columns_fini(&page->small);
    seep_page_columns_fini(&page->pairs.large);
    seep_page_columns_fini(&page->pairs.small);
    free(page->frames.list);
    seep_page_stacks_fini(&page->stacks);
    seep_page_texts_fini(&page->texts);
    free(page);
}

/* ---- writing ----------------------------------------------------------------------------- */

/* Writes one of the tables that are null in the parts. */
typedef int table_writer(const struct seep_page *page, json_dump_callback_t put, void *context);

#define COLUMNS(name, of)                                                                          \
    static int write_##name(const struct seep_page *page, json_dump_callback_t put, void *context) \
    {                                                                                              \
        return seep_page_columns_write(&page->of, put, context);                                   \
    }
COLUMNS(sites, sites)
COLUMNS(small, small)
COLUMNS(pairs, pairs.large)
COLUMNS(small_pairs, pairs.small)
#undef COLUMNS

static int write_frames(const struct seep_page *page, json_dump_callback_t put, void *context)
{
    return seep_page_frames_write(&page->frames, put, context);
}

static int write_stacks(const struct seep_page *page, json_dump_callback_t put, void *context)
{
    return seep_page_stacks_write(&page->stacks, put, context);
}

static int write_texts(const struct seep_page *page, json_dump_callback_t put, void *context)
{
    return seep_page_texts_write(&page->texts, put, context);
}

struct table {
    const char *key;
    table_writer *write;
};

static int put_text(const char *text, json_dump_callback_t put, void *context)
{
    return put(text, strlen(text), context);
}

/* `tables` ends with a NULL key. */
static int write_object(const struct seep_page *page, const json_t *object,
                        const struct table *tables, json_dump_callback_t put, void *context)
{
    const char *key, *before = "{\"";
    json_t *value;

    json_object_foreach ((json_t *)object, key, value) {
        const struct table *table = tables;
        while (table->key && strcmp(table->key, key) != 0)
            table++;
        if (put_text(before, put, context) || put_text(key, put, context) ||
            put_text("\":", put, context) ||
            (table->key ? table->write(page, put, context)
                        : json_dump_callback(value, put, context, SEEP_PAGE_JSON)))
            return -SEEP_EIO;
        before = ",\"";
    }
    return put_text(*before == '{' ? "{}" : "}", put, context) ? -SEEP_EIO : 0;
}

static int write_comparison(const struct seep_page *page, json_dump_callback_t put, void *context)
{
    static const struct table tables[] = {
        {"pairs", write_pairs}, {"small", write_small_pairs}, {NULL, NULL}};

    return write_object(page, json_object_get(page->parts, "comparison"), tables, put, context);
}

int seep_page_write(const struct seep_page *page, json_dump_callback_t put, void *context)
{
    static const struct table tables[] = {{"sites", write_sites},
                                          {"small", write_small},
                                          {"comparison", write_comparison},
                                          {"frames", write_frames},
                                          {"stacks", write_stacks},
                                          {"texts", write_texts},
                                          {NULL, NULL}};

    return write_object(page, page->parts, tables, put, context);
}
