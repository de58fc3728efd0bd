/* RSS at one instant: its peak, and what it consisted of then. Processes that were not alive
 * together do not add up, nor do samples taken at different times. */
#ifndef SEEP_LIBPROF_MEASURE_RESIDENT_RESIDENT_INSTANT_H
#define SEEP_LIBPROF_MEASURE_RESIDENT_RESIDENT_INSTANT_H

#include "libprof/model/model.h"

struct seep_rss_instant {
    bool known;             /* there is a sample */
    uint64_t highest_bytes; /* the most at any instant: by timelines, by samples, or by the kernel's
                             * peak of a single process */
    bool parts_known;       /* samples were taken close enough to the peak, within the steps */
    struct seep_rss_sample
        sum;      /* of the samples with most in use; t_ns is on the job's clock; no period */
    int32_t step; /* of the process with most of it */
};

/* Looks at processes[first, first + n) of the model together. Shared pages count in each process.
 * Returns 0 or -SEEP_ENOMEM. Allocates: scratch. */
SEEP_MUST_CHECK int seep_rss_find_instant(const struct seep_model *m, size_t first, size_t n,
                                          struct seep_rss_instant *out);

/* The last step before a process tears itself down. Without steps nothing tells which that is:
 * INT32_MAX. */
int32_t seep_rss_last_step(const struct seep_model *m, const struct seep_model_process *p);

#endif
