/* The data of a page: of one folder of profiles, or of a newer one beside an older. */
#ifndef SEEP_VIEWER_VIEW_VIEW_PAGE_H
#define SEEP_VIEWER_VIEW_VIEW_PAGE_H

#include "libprof/base/error.h"

#include <jansson.h>
#include <stdbool.h>

/* What is shown. The texts stay the caller's. */
struct seep_view_of {
    const char *dir;      /* the one, or the newer */
    const json_t *before; /* the report of the older, or NULL */
    const char *roles;    /* NULL: the shipped ones */
    bool all;             /* leave no site out */
};

/* The report that a page is made of: every site, with series. Returns what seep_analyse() does. */
SEEP_MUST_CHECK int seep_view_report(const char *dir, const char *roles, json_t **report,
                                     struct seep_error *err);

/* *page out, a new reference (libprof/page/page_document.h). Returns what seep_analyse() does. */
SEEP_MUST_CHECK int seep_view_page(const struct seep_view_of *of, json_t **page,
                                   struct seep_error *err);

#endif
