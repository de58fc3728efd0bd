/* How much memory a process of seep itself may take beside the job. */
#ifndef SEEP_VIEWER_WATCH_ROOM_H
#define SEEP_VIEWER_WATCH_ROOM_H

#include <stdint.h>

/* Bytes left before the nearest limit of this process: of the machine's memory, of its cgroups (the
 * page cache counts as left, since it can be reclaimed), of its address space or its data.
 * UINT64_MAX: no limit is known. Threads: any. Allocates: through stdio. */
uint64_t seep_room_left(void);

#endif
