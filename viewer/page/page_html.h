/* The page: one self-contained HTML file with its data in the middle. */
#ifndef SEEP_VIEWER_PAGE_PAGE_HTML_H
#define SEEP_VIEWER_PAGE_PAGE_HTML_H

#include "libprof/page/page_document.h"

#include <stdio.h>

/* The page may run only its own scripts, and may contact nobody. A served page may ask its
 * server. */
#define SEEP_PAGE_POLICY                                                                           \
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "   \
    "base-uri 'none'; form-action 'none'"
#define SEEP_PAGE_POLICY_SERVED SEEP_PAGE_POLICY "; connect-src 'self'"

/* Prints a page (libprof/page/page_document.h, page_look.h). Returns 0 or -SEEP_EIO. */
SEEP_MUST_CHECK int seep_page_html(const struct seep_page *page, FILE *out);

/* Its parts in order: what precedes the data, the data, what follows it; the last differs for a
 * look. The data is JSON in which nothing can end an HTML element. Each returns 0 or -SEEP_EIO. */
SEEP_MUST_CHECK int seep_page_put_begin(bool served, FILE *out);
SEEP_MUST_CHECK int seep_page_put_data(const struct seep_page *page, FILE *out);
SEEP_MUST_CHECK int seep_page_put_end(bool look, FILE *out);

#endif
