#include "libprof/page/page_document.h"

#include "libprof/base/json_build.h"
#include "libprof/page/page_parts.h"
#include "libprof/report_read/report_pairs.h"
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
    struct seep_page_small_sites *small = seep_page_small_sites_create();
    json_t *named = seep_page_named_sites(report, failed);

    *failed = *failed || !small;
    for (size_t i = 0; i < sites->n && !*failed; i++) {
        json_t *site = sites->make(sites, i);
        if (!site)
            *failed = true;
        else if (all || !seep_page_is_small(report, named, site))
            seep_page_add_site(&page->sites, report, site, tables, failed);
        else if (seep_page_small_sites_add(small, site))
            *failed = true;
        json_decref(site);
    }
    if (!*failed)
        seep_page_small_sites_put(small, report, &page->small, tables, failed);
    seep_page_small_sites_destroy(small);
    json_decref(named);
}

static void fill(struct seep_page *page, const json_t *report, struct seep_json_stream *sites,
                 const struct seep_page_base *base, const json_t *pairs, bool all,
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
        seep_json_set(made, "comparison", seep_page_comparison(report, base, pairs, all, tables),
                      failed);
    add_lines(tables, report, base ? base->report : NULL);
    seep_json_set(made, "stacks", json_null(), failed);
    seep_page_put_stacks(&tables->stacks, &page->stacks, failed);
    seep_json_set(made, "frames", json_incref(tables->frames), failed);
    seep_json_set(made, "texts", json_incref(tables->texts), failed);
    *failed = *failed || tables->failed;
}

struct seep_page *seep_page_document(const json_t *report, struct seep_json_stream *sites,
                                     const struct seep_page_base *base, bool all)
{
    struct seep_page *page =
        seep_page_of_parts(json_pack("{s:s, s:i}", "format", "seep-page", "version", 1));
    struct seep_page_tables tables;
    bool failed = !page;
    json_t *pairs = NULL;

    if (!failed && base && seep_compare_sites(base->report, report, SEEP_BY_STACK, &pairs))
        failed = true;
    seep_page_tables_init(&tables);
    if (!failed)
        fill(page, report, sites, base, pairs, all, &tables, &failed);
    seep_page_tables_fini(&tables);
    json_decref(pairs); /* tables know frames by address, so they must go first */
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
    seep_page_columns_fini(&page->stacks);
    free(page);
}

/* ---- writing ----------------------------------------------------------------------------- */

static const struct seep_page_columns *columns_of(const struct seep_page *page, const char *key)
{
    return strcmp(key, "sites") == 0    ? &page->sites
           : strcmp(key, "small") == 0  ? &page->small
           : strcmp(key, "stacks") == 0 ? &page->stacks
                                        : NULL;
}

int seep_page_write(const struct seep_page *page, json_dump_callback_t put, void *context)
{
    const char *key, *before = "{\"";
    json_t *value;

    json_object_foreach (page->parts, key, value) {
        const struct seep_page_columns *columns = columns_of(page, key);
        if (put(before, strlen(before), context) || put(key, strlen(key), context) ||
            put("\":", 2, context) ||
            (columns ? seep_page_columns_write(columns, put, context)
                     : json_dump_callback(value, put, context, SEEP_PAGE_JSON)))
            return -SEEP_EIO;
        before = ",\"";
    }
    return put(*before == '{' ? "{}" : "}", *before == '{' ? 2 : 1, context) ? -SEEP_EIO : 0;
}
