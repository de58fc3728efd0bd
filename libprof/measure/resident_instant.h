/* Resident memory of a job at one instant: processes that did not live together do not add up. */
#ifndef SEEP_LIBPROF_MEASURE_RESIDENT_INSTANT_H
#define SEEP_LIBPROF_MEASURE_RESIDENT_INSTANT_H

#include "libprof/model/model.h"

struct seep_rss_instant {
    bool known;                 /* there is a sample */
    struct seep_rss_sample sum; /* t_ns is on the job's clock; without a period */
    int32_t step;               /* of the process that had most of it then */
    uint64_t highest_bytes;     /* the most that timelines, or a process alone, had at all */
};

/* Finds the instant at which the last samples of the processes that live add up to most. Pages that
 * processes share count in each of them. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_rss_find_instant(const struct seep_model *m, struct seep_rss_instant *out);

#endif
