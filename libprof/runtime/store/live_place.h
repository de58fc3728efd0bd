/* Where this process keeps its live set and seep's own memory, for its profile's header: so code
 * outside can read both (libprof/format/live_format.h). Runtime part. Allocates: nothing. */
#ifndef SEEP_LIBPROF_RUNTIME_STORE_LIVE_PLACE_H
#define SEEP_LIBPROF_RUNTIME_STORE_LIVE_PLACE_H

#include "libprof/format/live_format.h"

/* The address of it, which stays. Threads: any. */
uint64_t seep_live_place(void);

#endif
