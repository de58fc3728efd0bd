/* How much of an address range the job has mapped, and how much is resident of maps that count by
 * touched pages. Inside the guard only. */
#ifndef SEEP_PRELOAD_RECORD_MAP_RESIDENT_H
#define SEEP_PRELOAD_RECORD_MAP_RESIDENT_H

#include "libprof/runtime/store/range_map.h"

/* Counts `piece` of a map as gone; `n` is 0 when only a part of a map, or of its bytes, has. */
void seep_map_count_gone(const struct seep_range *piece, unsigned n);

/* How many bytes of [start, end) the job itself has mapped as memory (not as mere address
 * space). */
uint64_t seep_map_overlap(uintptr_t start, uintptr_t end);

/* `resident_bytes` of [start, end), one line of /proc/self/smaps, are resident (of a private map of
 * a file: written): corrects maps that count only touched pages. Lines come by address, as in the
 * file, all of them each time, from one thread at a time. */
void seep_map_resident(uintptr_t start, uintptr_t end, uint64_t resident_bytes, bool is_file);

/* True while there are maps that count only touched pages. */
bool seep_map_any_by_touch(void);

#endif
