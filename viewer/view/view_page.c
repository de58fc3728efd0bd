#include "viewer/view/view_page.h"

#include "libprof/analysis.h"
#include "libprof/gate/fix_verdict.h"
#include "libprof/page/page_document.h"
#include "viewer/view/view_look.h"

int seep_view_report(const char *dir, const char *roles, json_t **report, struct seep_error *err)
{
    const struct seep_analysis_options options = {
        .all_sites = true, .series = true, .layouts = true, .roles_file = roles};

    return seep_analyse(&dir, 1, &options, report, err);
}

/* Where two runs cannot be judged the page says so, and shows the differences all the same. */
static json_t *page_of_two(const json_t *before, const json_t *after, bool all)
{
    struct seep_error err = {0};
    json_t *verdict = NULL;

    if (seep_verify(before, after, false, &verdict, &err) == -SEEP_ENOMEM)
        return NULL;
    json_t *page = seep_page_document(
        after, &(struct seep_page_base){before, verdict, verdict ? NULL : err.text}, all);
    json_decref(verdict);
    return page;
}

int seep_view_page(const struct seep_view_of *of, json_t **page, json_t **report,
                   struct seep_error *err)
{
    json_t *made = NULL;
    int r = of->look ? seep_view_look(of->dir, page, err)
                     : seep_view_report(of->dir, of->roles, &made, err);

    if (report)
        *report = NULL;
    if (r < 0 || of->look)
        return r;
    *page = of->before ? page_of_two(of->before, made, of->all)
                       : seep_page_document(made, NULL, of->all);
    if (*page && report && !of->digest)
        *report = json_incref(made);
    json_decref(made);
    return *page ? 0 : seep_error_set(err, SEEP_ENOMEM, of->dir, 0, "out of memory for its page");
}
