/* A comparison with an older run of the same job, for the page that shows the newer one. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_COMPARISON_H
#define SEEP_LIBPROF_PAGE_PAGE_COMPARISON_H

#include "libprof/page/page_tables.h"
#include "libprof/report_read/site_pairs.h"

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
 *   COLUMNS: space, role, look_at and stack as in page_parts.h, the report's own if it has the
 *   site; `site`: the text of the first id in the report, or −1; what both runs keep, the peak and
 *   the growth as kept_before, kept_after and so on, null if a run has no such site.
 *   "small": pairs that are light in both runs, unless `all`.
 * Without a verdict, findings are vanished or new if only one run has them. A new reference; NULL
 * without memory. */
json_t *seep_page_comparison(const json_t *report, const struct seep_page_base *base,
                             const struct seep_site_pairs *pairs, bool all,
                             struct seep_page_pairs *columns, struct seep_page_tables *tables);

#endif
