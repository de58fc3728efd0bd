/* What of the job is resident, without seep's own, while it works: what the kernel compares with
 * the limits. */
#ifndef SEEP_LIBPROF_MEASURE_RESIDENT_RESIDENT_PACE_H
#define SEEP_LIBPROF_MEASURE_RESIDENT_RESIDENT_PACE_H

#include "libprof/base/statistics.h"
#include "libprof/measure/span.h"
#include "libprof/model/live_level.h"

/* At one time, of all processes on the main one's machine, and beside that seep's own in them. */
struct seep_resident {
    uint64_t bytes, own_bytes;
};

/* At the main process's highest: what grows is there at the end of the work, and a program may free
 * it before it ends. */
struct seep_resident seep_resident_at_most(const struct seep_model *m);

/* How it grows over the judged steps. */
struct seep_resident_trend {
    bool known;              /* there are rows enough */
    bool grows;              /* by what is worth reporting, up to the end */
    struct seep_slope slope; /* bytes a step; zeros where it only goes back to where it has been */
};

/* Of one process, by its own rows, or of all together (SEEP_LEVEL_ALL), by the main one's. */
struct seep_resident_trend seep_resident_trend(const struct seep_model *m,
                                               const struct seep_span *span, uint32_t process);

#endif
