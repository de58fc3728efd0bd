/* What of the job is resident, without seep's own, while it works: what the kernel compares with
 * the limits. */
#ifndef SEEP_LIBPROF_MEASURE_RESIDENT_RESIDENT_PACE_H
#define SEEP_LIBPROF_MEASURE_RESIDENT_RESIDENT_PACE_H

#include "libprof/base/statistics.h"
#include "libprof/measure/span.h"

/* At a time, of all processes on the main one's machine, and beside that seep's own in them. */
struct seep_resident {
    uint64_t bytes, own_bytes;
};
struct seep_resident seep_resident_at(const struct seep_model *m, uint64_t t_ns);

/* The same at the main process's highest: what grows is there at the end of the work, and a program
 * may free it before it ends. */
struct seep_resident seep_resident_at_most(const struct seep_model *m);

/* How it grows over the judged steps, in bytes a step. False: it does not, or too few rows tell. */
bool seep_resident_grows(const struct seep_model *m, const struct seep_span *span,
                         struct seep_slope *slope);

#endif
