/* A comparison with an older run of the same job, for the page that shows the newer one. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_COMPARISON_H
#define SEEP_LIBPROF_PAGE_PAGE_COMPARISON_H

#include "libprof/page/page_tables.h"

/* An older run of the same job. */
struct seep_page_base {
    const json_t *report;  /* with all sites and series */
    const json_t *verdict; /* "seep-verify" of both; NULL: they could not be judged */
    const char *why_not;   /* if there is no verdict */
};

/* `pairs`: the sites of both by stack (report_pairs.h). Adds frames of both to the tables;
 * `pairs` and both reports must outlive the tables.
 *   { "job": base's,
 *     "timeline": base's,
 *     "verdict", "why", "savings", "notes": of the verdict, or "why_not": text,
 *     "findings": [ { "state": "vanished|remains|new",
 *                     "before": FINDING|null,
 *                     "after": id|null } ],
 *     "spaces": as seep_compare_spaces() says,
 *     "pairs": COLUMNS,
 *     "small": COLUMNS, as seep_page_small_pairs() has them }
 *   COLUMNS: space, role, look_at and stack as in page_parts.h, the report's own if it has the
 *   site; `site`: the text of the first id in the report, or −1; what both runs keep, the peak and
 *   the growth as kept_before, kept_after and so on, null if a run has no such site.
 *   "small": pairs that are light in both runs, unless `all`.
 * Without a verdict, findings are vanished or new if only one run has them. A new reference; NULL
 * without memory. */
json_t *seep_page_comparison(const json_t *report, const struct seep_page_base *base,
                             const json_t *pairs, bool all, struct seep_page_tables *tables);

#endif
