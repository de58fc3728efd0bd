/* The words of an out-of-memory finding: its evidence (shortage_evidence.c) and advice
 * (shortage_advice.c). */
#ifndef SEEP_LIBPROF_JUDGE_SHORTAGE_TOLD_H
#define SEEP_LIBPROF_JUDGE_SHORTAGE_TOLD_H

#include "libprof/code/code.h"
#include "libprof/measure/shortage.h"
#include "libprof/patterns/finding.h"

/* An explained shortage. Numbers are those of findings; 0: none. */
struct seep_shortage_told {
    const struct seep_code *code;
    const struct seep_shortage *s;
    const char *filler; /* pattern of the finding with most of the memory */
    unsigned cache;     /* an allocator's cache that grew until the request failed */
    unsigned cure;      /* its fix makes the step need less, or shrinks the pool of pinned memory */
};

/* Adds the evidence. */
void seep_shortage_note(const struct seep_shortage_told *t, struct seep_finding *f);

/* Allocates the result; NULL without memory. */
char *seep_shortage_advice(const struct seep_shortage_told *t);

#endif
