/* out-of-memory: a request that a device had no room for, explained by what the profile and the
 * other findings say. */
#ifndef SEEP_LIBPROF_JUDGE_SHORTAGE_FINDINGS_H
#define SEEP_LIBPROF_JUDGE_SHORTAGE_FINDINGS_H

#include "libprof/code/code.h"
#include "libprof/measure/shortage.h"
#include "libprof/patterns/finding.h"

/* Adds a finding for each device that had no room, behind the last one of a leak or of what is kept
 * for good. The others are all there, in their order: they are referred to by their numbers.
 * Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_shortages_judge(const struct seep_code *code, struct seep_findings *out);

/* ---- its words (shortage_evidence.c) --------------------------------------------------------- */

/* A shortage that has been explained. Numbers are those of findings, 0: there is none. */
struct seep_shortage_told {
    const struct seep_code *code;
    const struct seep_shortage *s;
    const char *filler; /* the pattern of the finding that has most of it */
    unsigned cache;     /* an allocator's, that rose up to it */
    unsigned cure;      /* makes the step need less, or the pool of pinned memory */
};

/* Adds the evidence. */
void seep_shortage_note(const struct seep_shortage_told *t, struct seep_finding *f);

/* Allocates the result; NULL without memory. */
char *seep_shortage_advice(const struct seep_shortage_told *t);

#endif
