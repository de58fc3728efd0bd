/* A report as the data of one page: what people look at, compact. Findings, processes and the
 * timeline are as docs/report.schema.json has them; sites are columns (page_sites.h) over tables
 * (page_tables.h). It is read by the page of the same version alone, and is no public format. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_DOCUMENT_H
#define SEEP_LIBPROF_PAGE_PAGE_DOCUMENT_H

#include <jansson.h>
#include <stdbool.h>

/* `report`: with all sites and series. `all`: leave no site out, however small. A new reference;
 * NULL without memory. Reads the sources that findings name. */
json_t *seep_page_document(const json_t *report, bool all);

#endif
