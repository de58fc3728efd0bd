/* Memory that grows though no line of code does: a little on each of many lines. */
#ifndef SEEP_LIBPROF_JUDGE_SPREAD_H
#define SEEP_LIBPROF_JUDGE_SPREAD_H

#include "libprof/judge/lines.h"
#include "libprof/patterns/finding.h"

struct seep_spread {
    bool found;
    uint32_t *sites; /* of all lines that do not grow by themselves; what gained most first */
    size_t n_sites;
    size_t n_gained;                    /* of those: have more at the end than when judging began */
    size_t n_lines;                     /* that these lie on */
    double gained_bytes, largest_bytes; /* of all of them; of the line of most */
    uint32_t stack;                     /* the common caller's, 0 none; … */
    double below_bytes;                 /* … what was gained below it */
};

/* Looks at one memory of the job's, `space` (the host's stands for host and mmap): whether what
 * lines have that are not among `explained` ([n_sites] of the model) grows as a whole, by an amount
 * worth a word, and no line has most of it. Returns 0 or -SEEP_ENOMEM. Allocates: *out; free with
 * seep_spread_fini(), also after an error. */
SEEP_MUST_CHECK int seep_spread_find(const struct seep_code *code, const struct seep_span *span,
                                     const struct seep_lines *lines, const bool *explained,
                                     uint16_t space, struct seep_spread *out);

/* Adds to a finding's evidence how it is spread. */
void seep_spread_note(const struct seep_spread *spread, struct seep_finding *f);

void seep_spread_fini(struct seep_spread *spread);

#endif
