/* The words of an out-of-memory: its evidence (shortage_evidence.c) and what to do about it
 * (shortage_advice.c). */
#ifndef SEEP_LIBPROF_JUDGE_SHORTAGE_TOLD_H
#define SEEP_LIBPROF_JUDGE_SHORTAGE_TOLD_H

#include "libprof/code/code.h"
#include "libprof/measure/shortage.h"
#include "libprof/patterns/finding.h"

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
