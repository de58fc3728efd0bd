/* The data of a page that shows a look document (docs/look.schema.json, `seep look --format json`).
 * Everything in the document is untrusted. */
#ifndef SEEP_LIBPROF_PAGE_LOOK_H
#define SEEP_LIBPROF_PAGE_LOOK_H

#include "libprof/base/error.h"

#include <jansson.h>

/* *page is {"look": …}, a new reference: the document's known fields, with texts cleaned and cut,
 * at least one look at its first process, times that ascend, series as long as the looks, and
 * holders within others without circles. `name` is that of the file, for *err. Returns 0;
 * -SEEP_EFORMAT: it is no such document, *err says where; -SEEP_EVERSION; -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_page_look(const json_t *document, const char *name, json_t **page,
                                   struct seep_error *err);

#endif
