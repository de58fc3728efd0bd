/* Memory that grows though no single line does: a little on each of many lines. */
#ifndef SEEP_LIBPROF_JUDGE_SPREAD_H
#define SEEP_LIBPROF_JUDGE_SPREAD_H

#include "libprof/judge/lines.h"
#include "libprof/patterns/finding.h"

struct seep_spread {
    bool found;
    uint32_t *sites; /* of all lines that do not grow by themselves; largest gain first */
    size_t n_sites;
    size_t n_gained;                    /* sites that have more at the end than when judging
                                         * began */
    size_t n_lines;                     /* lines that these sites lie on */
    double gained_bytes, largest_bytes; /* of all of them; of the line with most */
    uint32_t stack;                     /* the common caller's, 0 none; … */
    double below_bytes;                 /* … bytes gained below it */
};

/* Looks at one memory of the job, `space` (host stands for host and mmap): whether the sites of
 * lines that are not `explained` ([n_sites] of the model) grow as a whole, by an amount worth
 * reporting, without one line having most of it. Returns 0 or -SEEP_ENOMEM. Allocates: *out; free
 * with seep_spread_fini(), also after an error. */
SEEP_MUST_CHECK int seep_spread_find(const struct seep_code *code, const struct seep_span *span,
                                     const struct seep_lines *lines, const bool *explained,
                                     uint16_t space, struct seep_spread *out);

/* Notes in a finding's evidence how the growth is spread. */
void seep_spread_note(const struct seep_spread *spread, struct seep_finding *f);

void seep_spread_fini(struct seep_spread *spread);

#endif
