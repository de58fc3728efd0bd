/* How much memory a process of seep's own may take beside the job. */
#ifndef SEEP_VIEWER_WATCH_ROOM_H
#define SEEP_VIEWER_WATCH_ROOM_H

#include <stdint.h>

/* Bytes that are left to the nearest limit of this process: of the machine's memory, of its cgroups
 * (pages of files count as left: they can be had back), of its address space or its data.
 * UINT64_MAX: none is known. Threads: any. Allocates: through stdio. */
uint64_t seep_room_left(void);

#endif
