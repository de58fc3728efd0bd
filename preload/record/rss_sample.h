/* Samples of what the resident memory of this process is, kept in its profile's header: about a
 * thousandth of the time goes into them. Under the tick's lock. */
#ifndef SEEP_PRELOAD_RECORD_RSS_SAMPLE_H
#define SEEP_PRELOAD_RECORD_RSS_SAMPLE_H

#include "preload/record/thread.h"

/* Takes one where it is due; `now_ns` is of CLOCK_MONOTONIC_COARSE. The timeline's newest row says
 * whether the process has grown since the largest one. */
void seep_rss_tick(const struct seep_thread *thread, uint64_t now_ns);

/* The last one, as the process ends; none where it would take too long: of many GiB, of a small
 * process that has just begun, or where the last one has just been taken and RSS is the same. */
void seep_rss_final(const struct seep_thread *thread);

void seep_rss_after_fork(void);

#endif
