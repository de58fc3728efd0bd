/* Named segments of shared memory outlive their maps: the pages are the file's under /dev/shm. What
 * this process made under a name and then unmapped is counted until the name is gone. Memory that
 * another process made is counted there. Inside the guard only. */
#ifndef SEEP_PRELOAD_RECORD_SEGMENTS_H
#define SEEP_PRELOAD_RECORD_SEGMENTS_H

#include "libprof/store/range_map.h"

/* A call has mapped the file `fd` at `start`, shared. */
void seep_segment_mapped(uintptr_t start, int fd);

/* The job has unmapped `piece`. True: its pages stay, and it is counted until
 * seep_segments_check() finds that they do not. */
bool seep_segment_stays(const struct seep_range *piece);

/* Counts as gone what no name leads to any more: of some of the segments, or of all. */
void seep_segments_check(bool all);

void seep_segments_after_fork(void);
struct seep_lock *seep_segments_lock(void);

#endif
