#include "libprof/page/page_document.h"

#include "libprof/base/json_build.h"
#include "libprof/page/page_parts.h"
#include "libprof/report_read/report_pairs.h"
#include "libprof/report_read/report_view.h"

#include <math.h>

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

static json_t *made_of(const json_t *report, const struct seep_page_base *base, const json_t *pairs,
                       bool all, struct seep_page_tables *tables)
{
    json_t *page = json_pack("{s:s, s:i}", "format", "seep-page", "version", 1);
    bool failed = false;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const json_t *part = json_object_get(report, parts[i]);
        if (part)
            seep_json_set(page, parts[i], seep_page_copy(part), &failed);
    }
    seep_page_add_many(page, report, &failed);
    seep_json_set(page, "excerpts", seep_page_excerpts(report), &failed);
    seep_json_set(page, "layouts", seep_page_layouts(report), &failed);
    json_t *list = seep_page_sites_in(report, all), *small = seep_page_small_ones(report, all);
    failed = failed || !list || !small;
    seep_json_set(page, "sites", seep_page_sites(report, list, tables), &failed);
    seep_json_set(page, "small", seep_page_small_sites(report, small, tables), &failed);
    json_decref(list);
    json_decref(small);
    if (base)
        seep_json_set(page, "comparison", seep_page_comparison(report, base, pairs, all, tables),
                      &failed);
    add_lines(tables, report, base ? base->report : NULL);
    seep_json_set(page, "stacks", seep_page_stacks_json(tables), &failed);
    seep_json_set(page, "frames", json_incref(tables->frames), &failed);
    seep_json_set(page, "texts", json_incref(tables->texts), &failed);
    return seep_json_whole(page, failed || tables->failed);
}

json_t *seep_page_document(const json_t *report, const struct seep_page_base *base, bool all)
{
    struct seep_page_tables tables;
    json_t *pairs = NULL, *page;

    if (base && seep_compare_sites(base->report, report, SEEP_BY_STACK, &pairs))
        return NULL;
    seep_page_tables_init(&tables);
    page = made_of(report, base, pairs, all, &tables);
    seep_page_tables_fini(&tables);
    json_decref(pairs); /* tables know frames by address, so they must go first */
    return page;
}
