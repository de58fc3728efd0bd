/* A report as the compact data of one page, for viewing. Findings, processes and the timeline are
 * as in docs/report.schema.json; sites are columns (page_parts.h) over tables (page_tables.h). Only
 * the page of the same version reads it; it is no public format. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_DOCUMENT_H
#define SEEP_LIBPROF_PAGE_PAGE_DOCUMENT_H

#include "libprof/base/json_stream.h"
#include "libprof/page/page_tables.h"
#include "libprof/report_read/site_pairs.h"

/* A comparison with an older run of the same job, for the page that shows the newer one. */

/* An older run of the same job. */
struct seep_page_base {
    struct seep_compared run; /* with all sites and series */
    const json_t *verdict;    /* "seep-verify" of both; NULL: they could not be judged */
    const char *why_not;      /* if there is no verdict */
};

/* Those that are in the page one by one, and sums of the small ones. */
struct seep_page_pairs {
    struct seep_page_columns large, small;
};

/* `pairs`: the sites of both by stack. Adds frames of both to the tables; the frames of both runs
 * must outlive them. Fills *columns; where they stand below, the value is null.
 *   { "job": base's,
 *     "timeline": base's,
 *     "verdict", "why", "savings", "notes": of the verdict, or "why_not": text,
 *     "findings": [ { "state": "vanished|remains|new",
 *                     "before": FINDING|null,
 *                     "after": id|null } ],
 *     "spaces": as seep_compare_spaces() says,
 *     "pairs": COLUMNS,
 *     "small": COLUMNS, as page_parts.h has them }
 *   COLUMNS: space, part, look_at and stack as in page_parts.h, the report's own if it has the
 *   site; `site`: the text of the first id in the report, or −1; what both runs keep, the peak and
 *   the growth as kept_before, kept_after and so on, null if a run has no such site.
 *   "small": pairs that are light in both runs, unless `all`.
 * Without a verdict, findings are vanished or new if only one run has them. A new reference; NULL
 * without memory. */
json_t *seep_page_comparison(const json_t *report, const struct seep_page_base *base,
                             const struct seep_site_pairs *pairs, bool all,
                             struct seep_page_pairs *columns, struct seep_page_tables *tables);

struct seep_page {
    json_t *parts; /* every key of the page, in order; null where it has another table */
    struct seep_page_columns sites, small;
    struct seep_page_pairs pairs; /* of its `comparison` */
    struct seep_page_frames frames;
    struct seep_page_stacks stacks;
    struct seep_page_texts texts;
};

/* `report` and `sites`: with all sites, whose frames outlive the call, and series
 * (report/report_json.h). `base`: the run to compare with, or NULL. `all`:
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
