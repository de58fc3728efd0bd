/* Finds out what the resident memory of this process is: each resident page gets one kind. */
#ifndef SEEP_PRELOAD_RECORD_RSS_LOOK_H
#define SEEP_PRELOAD_RECORD_RSS_LOOK_H

#include <stdbool.h>
#include <stdint.h>

struct seep_rss_sample;

/* The job's malloc is not libc's (set once, at start): its heaps are not walked. */
extern bool seep_rss_other_malloc;

/* Fills the bytes of `sample` (all but t_ns and period). `host_live_bytes`: recorded as live in
 * space host; `about_bytes`: recently resident. False: /proc does not say. Called inside the guard,
 * by one thread at a time: static buffers. No libc call that may lock or allocate. Its time grows
 * with the number of maps and resident bytes: about 3 us a map and 10 ms a GiB. */
bool seep_rss_look(uint64_t host_live_bytes, uint64_t about_bytes, struct seep_rss_sample *sample);

#endif
