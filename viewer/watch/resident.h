/* Sampling the resident memory of a job's processes while it runs. */
#ifndef SEEP_VIEWER_WATCH_RESIDENT_H
#define SEEP_VIEWER_WATCH_RESIDENT_H

#include "libprof/format/profile_format.h"

#include <stdint.h>

/* When the next passes are due. Zero-initialised. */
struct seep_resident {
    uint64_t rss_due_ns;
    uint64_t pss_due_ns;
    uint64_t rss_gap_ns;
    uint64_t pss_gap_ns;
};

/* Makes the passes that are due: VmHWM of every listed process into rss_peak_bytes, PSS into
 * pss_peak_bytes, the peak of the sum of PSS into job->pss_peak_bytes. The gap between passes grows
 * from 10 ms to 250 ms (RSS) and 500 ms (PSS), and further where a pass is expensive: passes take
 * at most 1 % of the time. Returns the nanoseconds until the next one is due, above 0. Threads: one
 * per object. Allocates: nothing. */
uint64_t seep_resident_sample(struct seep_resident *resident, struct seep_job *job);

#endif
