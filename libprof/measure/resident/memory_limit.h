/* The memory limits that a job is under, and how far growth is from them. */
#ifndef SEEP_LIBPROF_MEASURE_RESIDENT_MEMORY_LIMIT_H
#define SEEP_LIBPROF_MEASURE_RESIDENT_MEMORY_LIMIT_H

#include "libprof/model/model.h"

struct seep_limit {
    uint64_t bytes;   /* 0: none */
    uint64_t used;    /* by the job */
    uint64_t own;     /* beside that, by seep in the job's processes */
    double growth;    /* bytes per step that count towards it */
    const char *kind; /* "cgroup-v2", "cgroup-v1", "ram", "RLIMIT_AS", "RLIMIT_DATA", "device",
                       * "capacity" or "none" */
};

/* The tightest limit on the job as a whole (cgroup, RAM of the main process's machine); where none
 * is known, the tightest on a single process. 0: none known; *kind says which. */
uint64_t seep_memory_limit_of(const struct seep_model *m, const char **kind);

/* The limit that host memory reaches first, the job's or that of one of processes[0, n) (indices),
 * which together grow evenly by `slope` bytes a step; bytes 0: none is known. */
struct seep_limit seep_memory_limit_nearest(const struct seep_model *m, double slope,
                                            const uint32_t *processes, size_t n);

/* The capacity of a space that grows by `slope`: of the device that it lies on (what PyTorch's
 * allocator has reserved but does not use counts as free), or as the program announced. bytes 0:
 * unknown, and always for host memory. */
struct seep_limit seep_memory_limit_of_space(const struct seep_model *m, uint16_t space,
                                             double slope);

/* Steps until it is reached; 0 where it is already. */
double seep_memory_limit_steps(const struct seep_limit *limit);

#endif
