/* Named segments of shared memory outlive their maps: the pages belong to the file under /dev/shm.
 * A segment that this process made under a name and then unmapped counts until the name is gone.
 * Memory that another process made counts there. Inside the guard only. */
#ifndef SEEP_PRELOAD_RECORD_SEGMENTS_H
#define SEEP_PRELOAD_RECORD_SEGMENTS_H

#include "libprof/runtime/store/range_map.h"

/* A call has mapped the file `fd` at `start`, shared. */
void seep_segment_mapped(uintptr_t start, int fd);

/* The job has unmapped `piece`. True: its pages stay, and it counts until seep_segments_check()
 * finds that they are gone. */
bool seep_segment_stays(const struct seep_range *piece);

/* Counts segments as gone if no name leads to them any more: checks some of them, or all. */
void seep_segments_check(bool all);

void seep_segments_after_fork(void);
struct seep_lock *seep_segments_lock(void);

#endif
