/* The job's own maps, for who looks at resident memory. */
#ifndef SEEP_PRELOAD_MAPS_H
#define SEEP_PRELOAD_MAPS_H

#include <stdbool.h>
#include <stdint.h>

/* How many bytes of [start, end) the job has mapped itself, as memory (not as mere address space). */
uint64_t seep_maps_overlap(uintptr_t start, uintptr_t end);

/* `resident_bytes` of [start, end), one line of /proc/self/smaps, are resident: corrects what is
 * counted of maps that count by what is touched. Inside the guard only. */
void seep_maps_resident(uintptr_t start, uintptr_t end, uint64_t resident_bytes);

/* True while there are maps that count by what is touched. */
bool seep_maps_any_by_touch(void);

#endif
