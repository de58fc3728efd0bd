/* Series of a site over periods: bounded, coarsens when it grows (struct seep_series). Runtime
 * part. */
#ifndef SEEP_LIBPROF_RUNTIME_STORE_SITE_SERIES_H
#define SEEP_LIBPROF_RUNTIME_STORE_SITE_SERIES_H

#include "libprof/runtime/store/arena.h"

/* Notes what is live of `site` as its state at the end of `period`, unless the newest point already
 * says so. Threads: any; when two meet, one point is left out. Takes seep_arena.lock to make room,
 * so the caller must not hold it. */
void seep_series_note(struct seep_detail *detail, const struct seep_site *site, uint32_t period);

#endif
