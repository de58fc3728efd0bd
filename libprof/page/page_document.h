/* A report as the compact data of one page, for viewing. Findings, processes and the timeline are
 * as in docs/report.schema.json; sites are columns (page_parts.h) over tables (page_tables.h). Only
 * the page of the same version reads it; it is no public format. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_DOCUMENT_H
#define SEEP_LIBPROF_PAGE_PAGE_DOCUMENT_H

#include "libprof/base/json_stream.h"
#include "libprof/page/page_comparison.h"

struct seep_page {
    json_t *parts; /* every key of the page, in order; null where it has another table */
    struct seep_page_columns sites, small;
    struct seep_page_pairs pairs; /* of its `comparison` */
    struct seep_page_frames frames;
    struct seep_page_stacks stacks;
    struct seep_page_texts texts;
};

/* `report` and `sites`: with all sites, whose frames outlive the call, and series
 * (report/report_json.h). `base`: the run to compare with (page_comparison.h), or NULL. `all`:
 * leave out no site, however small. NULL without memory; free it by seep_page_free(). Reads the
 * sources that the report's findings name. */
struct seep_page *seep_page_document(const json_t *report, struct seep_json_stream *sites,
                                     const struct seep_page_base *base, bool all);

/* A page without columns, such as that of a look: takes over its parts. NULL without memory or
 * parts. */
struct seep_page *seep_page_of_parts(json_t *parts);
void seep_page_free(struct seep_page *page); /* Accepts NULL. */

/* Writes the page as JSON. `put` returns 0 or -1. Returns 0 or -SEEP_EIO. */
SEEP_MUST_CHECK int seep_page_write(const struct seep_page *page, json_dump_callback_t put,
                                    void *context);

#endif
