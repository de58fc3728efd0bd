#include "viewer/view/view_page.h"

#include "libprof/analysis.h"
#include "libprof/gate/fix_verdict.h"
#include "libprof/page/page_document.h"
#include "viewer/view/view_look.h"

int seep_view_before(const char *dir, const char *roles, seep_json_stream_user *use, void *context,
                     struct seep_error *err)
{
    const struct seep_analysis_options options = {
        .all_sites = true, .series = true, .roles_file = roles};

    return seep_analyse_streamed(&dir, 1, &options, use, context, err);
}

/* Where two runs cannot be judged the page says so, and shows the differences all the same. */
static struct seep_page *page_of_two(const struct seep_compared *before, const json_t *after,
                                     struct seep_json_stream *sites, bool all)
{
    struct seep_error err = {0};
    json_t *verdict = NULL;

    if (seep_verify(before->report, after, false, &verdict, &err) == -SEEP_ENOMEM)
        return NULL;
    const struct seep_page_base base = {*before, verdict, verdict ? NULL : err.text};
    struct seep_page *page = seep_page_document(after, sites, &base, all);
    json_decref(verdict);
    return page;
}

struct making {
    const struct seep_view_of *of;
    struct seep_page *page;
    json_t *report;
    struct seep_error *err;
};

/* A seep_json_stream_user. */
static int make_page(void *context, json_t *report, struct seep_json_stream *sites)
{
    struct making *making = context;
    const struct seep_view_of *of = making->of;

    making->page = of->before ? page_of_two(of->before, report, sites, of->all)
                              : seep_page_document(report, sites, NULL, of->all);
    if (!making->page)
        return seep_error_set(making->err, SEEP_ENOMEM, of->dir, 0, "out of memory for its page");
    making->report = json_incref(report);
    return 0;
}

static int page_of_look(const char *file, struct seep_page **page, struct seep_error *err)
{
    json_t *parts = NULL;
    int rc = seep_view_look(file, &parts, err);

    if (rc)
        return rc;
    *page = seep_page_of_parts(parts);
    return *page ? 0 : seep_error_set(err, SEEP_ENOMEM, file, 0, "out of memory for its page");
}

int seep_view_page(const struct seep_view_of *of, struct seep_page **page, json_t **report,
                   struct seep_error *err)
{
    const struct seep_analysis_options options = {
        .all_sites = true, .series = true, .layouts = true, .roles_file = of->roles};
    struct making making = {.of = of, .err = err};

    if (report)
        *report = NULL;
    if (of->look)
        return page_of_look(of->dir, page, err);
    int rc = seep_analyse_streamed(&of->dir, 1, &options, make_page, &making, err);
    if (!rc)
        *page = making.page;
    if (!rc && report && !of->digest)
        *report = json_incref(making.report);
    json_decref(making.report);
    return rc;
}
