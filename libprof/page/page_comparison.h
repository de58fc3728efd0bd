/* What a page says of an older run of the same job, beside the run that it shows. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_COMPARISON_H
#define SEEP_LIBPROF_PAGE_PAGE_COMPARISON_H

#include "libprof/page/page_tables.h"

/* An older run of the same job. */
struct seep_page_base {
    const json_t *report;  /* with all sites and series */
    const json_t *verdict; /* "seep-verify" on both; NULL: they could not be judged */
    const char *why_not;   /* without a verdict */
};

/* `pairs`: the sites of both by stack (report_pairs.h). Frames of both are added to the tables,
 * which `pairs` and both reports outlive.
 *   { "job": base's,
 *     "timeline": base's,
 *     "verdict", "why", "savings", "notes": of the verdict, or "why_not": text,
 *     "findings": [ { "state": "vanished|remains|new",
 *                     "before": FINDING|null,
 *                     "after": id|null } ],
 *     "spaces": as seep_compare_spaces() says,
 *     "pairs": COLUMNS,
 *     "small": COLUMNS, as seep_page_small_pairs() has them }
 *   COLUMNS: space, role, look_at and stack as page_parts.h has them, the report's own where it has
 *   the site; `site`, the text of the first of its own, or −1; what both runs keep, the peak, and
 *   the growth, as kept_before, kept_after and so on, null where a run has no such site.
 *   "small": of the pairs that are light in both runs, unless `all`.
 * Without a verdict findings are vanished or new where they are in one run alone. A new reference;
 * NULL without memory. */
json_t *seep_page_comparison(const json_t *report, const struct seep_page_base *base,
                             const json_t *pairs, bool all, struct seep_page_tables *tables);

#endif
