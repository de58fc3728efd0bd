/* The page: one HTML file that needs nothing else, its data in the middle of it. */
#ifndef SEEP_VIEWER_PAGE_PAGE_HTML_H
#define SEEP_VIEWER_PAGE_PAGE_HTML_H

#include "viewer/output.h"

/* What the page may do: run what stands in it, and ask nobody. One that is served may ask its
 * server. */
#define SEEP_PAGE_POLICY                                                                           \
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "   \
    "base-uri 'none'; form-action 'none'"
#define SEEP_PAGE_POLICY_SERVED SEEP_PAGE_POLICY "; connect-src 'self'"

/* Prints the page of a document (libprof/page/page_document.h). */
seep_printer seep_page_html;

/* Its parts in their order: what comes before the data, the data, what comes after it. The data is
 * JSON, and nothing in it ends an element of HTML. Each returns 0 or -SEEP_EIO. */
SEEP_MUST_CHECK int seep_page_put_begin(bool served, FILE *out);
SEEP_MUST_CHECK int seep_page_put_data(const json_t *document, FILE *out);
SEEP_MUST_CHECK int seep_page_put_end(FILE *out);

#endif
