/* The page: one HTML file that needs nothing else, its data in the middle of it. */
#ifndef SEEP_VIEWER_PAGE_PAGE_HTML_H
#define SEEP_VIEWER_PAGE_PAGE_HTML_H

#include "viewer/output.h"

/* Prints the page of a document (libprof/page/page_document.h). */
seep_printer seep_page_html;

#endif
