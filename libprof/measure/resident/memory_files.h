/* Files in memory, on a tmpfs: no process's pages, so no RSS has them, but the kernel counts them
 * against the job's limit. As `seep run` saw the main process's machine. */
#ifndef SEEP_LIBPROF_MEASURE_RESIDENT_MEMORY_FILES_H
#define SEEP_LIBPROF_MEASURE_RESIDENT_MEMORY_FILES_H

#include "libprof/base/statistics.h"
#include "libprof/measure/span.h"

struct seep_memory_files_growth {
    bool grows;              /* up to the end, by what is worth reporting, and the job's */
    struct seep_slope slope; /* bytes a step */
    int32_t from, to;        /* steps of the first and last pass that is judged */
    double first, last;      /* bytes then, without what the job has in its shared memory */
};

/* What any program writes to a tmpfs of the machine is seen. It is the job's if its processes wrote
 * half of the rise to whatever files, and the files that its user made or changed meanwhile and
 * left have half of it; if not all were looked at, half of those that were. Pure. */
struct seep_memory_files_growth seep_memory_files_measure(const struct seep_model *m,
                                                          const struct seep_span *span);

#endif
