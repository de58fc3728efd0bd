/* Series of a site over periods: bounded, coarsens when it grows (struct seep_series). Runtime
 * part. */
#ifndef SEEP_LIBPROF_STORE_SITE_SERIES_H
#define SEEP_LIBPROF_STORE_SITE_SERIES_H

#include "libprof/store/arena.h"

/* Notes what is live of `site` as its state at the end of `period`, unless it is what the newest
 * point says. Threads: any; when two meet, one point is left out. Takes seep_arena.lock when it
 * must make room, so the caller does not hold it. */
void seep_series_note(struct seep_detail *detail, const struct seep_site *site, uint32_t period);

#endif
