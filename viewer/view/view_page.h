/* The data of a page: of one profile folder or digest, of a newer one compared with an older, or
 * of a look. */
#ifndef SEEP_VIEWER_VIEW_VIEW_PAGE_H
#define SEEP_VIEWER_VIEW_VIEW_PAGE_H

#include "libprof/page/page_document.h"

/* What is shown. The texts stay the caller's. */
struct seep_view_of {
    const char *dir;                    /* the one, or the newer */
    bool look;                          /* `dir` is the file of a look */
    bool digest;                        /* `dir` is a digest */
    const struct seep_compared *before; /* the older run, or NULL */
    const char *roles;                  /* NULL: the shipped ones */
    bool all;                           /* leave no site out */
};

/* Profiles are folders: a file that is no digest can only be a look, that `seep look --format json
 * -o FILE` wrote. */
bool seep_view_is_look(const char *path);

/* Calls use(context, report, sites) with a run to compare with, as seep_analyse_streamed() does,
 * and returns what that does. */
SEEP_MUST_CHECK int seep_view_before(const char *dir, const char *roles, seep_json_stream_user *use,
                                     void *context, struct seep_error *err);

/* *page out: free it by seep_page_free(). *report out, unless it is NULL: the report of `dir`,
 * without its sites, a new reference; NULL of a look or a digest. Returns what seep_analyse() or
 * seep_page_look() does, or -SEEP_EIO. */
SEEP_MUST_CHECK int seep_view_page(const struct seep_view_of *of, struct seep_page **page,
                                   json_t **report, struct seep_error *err);

#endif
