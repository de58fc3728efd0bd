/* Sampling the resident memory of a job's processes while it runs. */
#ifndef SEEP_VIEWER_WATCH_RESIDENT_H
#define SEEP_VIEWER_WATCH_RESIDENT_H

#include "viewer/watch/tmpfs.h"

#include <stdint.h>

/* When the next passes are due. Zero-initialised but for `own`. */
struct seep_resident {
    const char *own; /* the profile's folder, "" or NULL: none */
    uint64_t rss_due_ns;
    uint64_t pss_due_ns;
    uint64_t rss_gap_ns;
    uint64_t pss_gap_ns;
    struct seep_tmpfs tmpfs;     /* from the first pass that is kept on */
    bool knows_written;          /* by the job's processes, */
    uint64_t last_written_bytes; /* in all by the last pass that was kept, */
    uint64_t written_bytes;      /* and since the first */
    uint32_t held_kib;           /* what the mounts held in the last pass that was kept … */
    uint32_t listed_kib;         /* … and when files were listed */
    uint64_t list_due_ns;
};

/* Makes the passes that are due: VmHWM of every listed process into rss_peak_bytes, PSS into
 * pss_peak_bytes, the peak of the sum of PSS into job->pss_peak_bytes. The gap between passes grows
 * from 10 ms to 250 ms (RSS) and 500 ms (PSS), and further where a pass is expensive: passes take
 * at most 1 % of the time. Returns the nanoseconds until the next one is due, above 0. Passes of a
 * job that lasts are kept in job->seen, with what the tmpfs mounts hold; where that has clearly
 * risen, the files are listed into job->files: nobody may be left to do it at the end. Threads: one
 * per object. Allocates: only at the first pass that is kept, and frees that. */
uint64_t seep_resident_sample(struct seep_resident *resident, struct seep_job *job);

/* Lists what the job, which has just ended, left in the tmpfs mounts, into job->files: only where a
 * pass was kept and they hold more than then. Takes some 15 ms at most. */
void seep_resident_end(struct seep_resident *resident, struct seep_job *job);

#endif
