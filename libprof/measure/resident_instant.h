/* Resident memory at one instant: its peak, and what it was made of then. Processes that did not
 * live together do not add up, nor do samples of different times. */
#ifndef SEEP_LIBPROF_MEASURE_RESIDENT_INSTANT_H
#define SEEP_LIBPROF_MEASURE_RESIDENT_INSTANT_H

#include "libprof/model/model.h"

struct seep_rss_instant {
    bool known;             /* there is a sample */
    uint64_t highest_bytes; /* the most at any instant, by timelines, by samples, or by what the
                             * kernel says of one process alone */
    bool parts_known;       /* samples were taken near enough to it, within the steps */
    struct seep_rss_sample
        sum;      /* of those that had most in use; t_ns is on the job's clock; without a period */
    int32_t step; /* of the process that had most of it then */
};

/* Looks at processes[first, first + n) of the model together. Pages that they share count in each
 * of them. Returns 0 or -SEEP_ENOMEM. Allocates: scratch. */
SEEP_MUST_CHECK int seep_rss_find_instant(const struct seep_model *m, size_t first, size_t n,
                                          struct seep_rss_instant *out);

#endif
