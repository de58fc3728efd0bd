/* What gate*.c share. */
#ifndef SEEP_LIBPROF_GATE_GATE_PARTS_H
#define SEEP_LIBPROF_GATE_GATE_PARTS_H

#include "libprof/gate/gate.h"

struct seep_judging {
    const struct seep_gate *gate;
    json_t *lines, *findings, *notes; /* of the check; findings are copies */
    bool violated, failed;            /* failed: no memory */
};

/* Adds a line with its verdict ("violated" makes the whole so). `more`, taken over, holds what only
 * some lines have; NULL: nothing. */
void seep_gate_add_line(struct seep_judging *j, const char *kind, const char *verdict, char *name,
                        char *text, json_t *more);
void seep_gate_note(struct seep_judging *j, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* New and grown findings and places against gate->baseline: gate_baseline.c. */
void seep_gate_baseline(struct seep_judging *j);

#endif
