/* A report as the compact data of one page, for viewing. Findings, processes and the timeline are
 * as in docs/report.schema.json; sites are columns (page_parts.h) over tables (page_tables.h). Only
 * the page of the same version reads it; it is no public format. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_DOCUMENT_H
#define SEEP_LIBPROF_PAGE_PAGE_DOCUMENT_H

#include "libprof/page/page_comparison.h"

/* `report`: with all sites and series. `base`: the run to compare with (page_comparison.h), or
 * NULL. `all`: leave out no site, however small. A new reference; NULL without memory. Reads the
 * sources that the report's findings name. */
json_t *seep_page_document(const json_t *report, const struct seep_page_base *base, bool all);

#endif
