#include "libprof/page/page_document.h"

#include "libprof/base/json_build.h"
#include "libprof/page/page_parts.h"
#include "libprof/report_read/report_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Parts of the report that a page takes over unchanged. */
static const char *const parts[] = {"seep",      "job",      "findings",      "findings_left_out",
                                    "processes", "spaces",   "timeline",      "devices",
                                    "helpers",   "coverage", "out_of_memory", "holders"};

/* A source file changed after the job began (of two runs, the first) is not what ran. */
static void add_lines(struct seep_page_tables *tables, const json_t *report, const json_t *base)
{
    const json_t *job = json_object_get(report, "job");
    double before = seep_get_number(job, "started_unix_s");

    if (base)
        before = fmin(before, seep_get_number(json_object_get(base, "job"), "started_unix_s"));
    seep_page_add_frame_lines(tables, seep_get_text(job, "cwd", ""), before);
}

/* Puts each site into the page, or into a box of small ones. */
static void add_sites(struct seep_page *page, const json_t *report, struct seep_json_stream *sites,
                      bool all, struct seep_page_tables *tables, bool *failed)
{
    struct seep_page_small_sites *small = seep_page_small_sites_create(sites);
    json_t *named = seep_page_named_sites(report, failed);

    *failed = *failed || !small;
    for (size_t i = 0; i < sites->n && !*failed; i++) {
        json_t *site = sites->make(sites, i);
        if (!site)
            *failed = true;
        else if (all || !seep_page_is_small(report, named, site))
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
    seep_page_add_many(made, report, failed);
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
