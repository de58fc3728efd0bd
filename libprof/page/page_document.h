/* A report as the data of one page: what people look at, compact. Findings, processes and the
 * timeline are as docs/report.schema.json has them; sites are columns (page_parts.h) over tables
 * (page_tables.h). It is read by the page of the same version alone, and is no public format. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_DOCUMENT_H
#define SEEP_LIBPROF_PAGE_PAGE_DOCUMENT_H

#include "libprof/page/page_comparison.h"

/* `report`: with all sites and series. `base`: what it is compared with (page_comparison.h), or
 * NULL. `all`: leave no site out, however small. A new reference; NULL without memory. Reads the
 * sources that the report's findings name. */
json_t *seep_page_document(const json_t *report, const struct seep_page_base *base, bool all);

#endif
