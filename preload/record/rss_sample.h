/* Samples of what the process's resident memory consists of, kept in its profile's header. They
 * take about a thousandth of the time. Under the tick's lock. */
#ifndef SEEP_PRELOAD_RECORD_RSS_SAMPLE_H
#define SEEP_PRELOAD_RECORD_RSS_SAMPLE_H

#include "preload/record/thread.h"

/* Takes a sample if one is due; `now_ns` is of CLOCK_MONOTONIC_COARSE. The timeline's newest row
 * says whether the process has grown since the largest sample. */
void seep_rss_tick(const struct seep_thread *thread, uint64_t now_ns);

/* The last sample, as the process ends. None if it would take too long: with many GiB, in a small
 * process that has just begun, or if the last sample is recent and RSS is the same. */
void seep_rss_final(const struct seep_thread *thread);

void seep_rss_after_fork(void);

#endif
