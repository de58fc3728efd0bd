/* The memory limits that a job is under, and how far growth is from them. */
#ifndef SEEP_LIBPROF_MEASURE_MEMORY_LIMIT_H
#define SEEP_LIBPROF_MEASURE_MEMORY_LIMIT_H

#include "libprof/model/model.h"

struct seep_limit {
    uint64_t bytes; /* 0: none */
    uint64_t used;
    double growth;    /* bytes a step that count towards it */
    const char *kind; /* "cgroup-v2", "cgroup-v1", "ram", "RLIMIT_AS", "RLIMIT_DATA", "device" or
                       * "none" */
};

/* The tightest limit that holds for the job as a whole (cgroup, RAM of the main process's machine);
 * where none is known, the tightest of single processes. 0 none known; *kind says which. */
uint64_t seep_memory_limit_of(const struct seep_model *m, const char **kind);

/* The limit that host memory reaches first, of the job or of one of processes[0, n), indices, which
 * grow by `slope` bytes a step together, evenly; bytes 0: none is known. */
struct seep_limit seep_memory_limit_nearest(const struct seep_model *m, double slope,
                                            const uint32_t *processes, size_t n);

/* The capacity of a device, which its space grows towards by `slope`; what PyTorch's allocator has
 * in reserve is free for it. bytes 0: it is not known. */
struct seep_limit seep_memory_limit_of_device(const struct seep_model *m, int device, double slope);

/* Steps until it is reached; 0 where it is already. */
double seep_memory_limit_steps(const struct seep_limit *limit);

#endif
