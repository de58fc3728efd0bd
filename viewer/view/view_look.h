/* A file that `seep look --format json -o FILE` wrote, as the data of a page. */
#ifndef SEEP_VIEWER_VIEW_VIEW_LOOK_H
#define SEEP_VIEWER_VIEW_VIEW_LOOK_H

#include "libprof/base/error.h"

#include <jansson.h>
#include <stdbool.h>

/* Profiles are folders: a file that is no digest can only be a look. */
bool seep_view_is_look(const char *path);

/* *page out, a new reference (libprof/page/page_look.h). Returns what seep_page_look() does, or
 * -SEEP_EIO. */
SEEP_MUST_CHECK int seep_view_look(const char *file, json_t **page, struct seep_error *err);

#endif
