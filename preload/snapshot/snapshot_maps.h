/* What is mapped in a process that has no other thread: a frozen copy. */
#ifndef SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_MAPS_H
#define SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct seep_snapshot_map {
    uintptr_t start, end;
    bool shared, of_file;
    bool writable; /* and readable */
    bool is_heap;  /* it grows by brk() */
};

/* False: something is wrong, but the others are visited all the same. */
typedef bool seep_snapshot_map_visitor(const struct seep_snapshot_map *map, void *arg);

/* Visits all maps, by address; the visitor may unmap what it is given. False: some visit said so,
 * or the maps are unknown, as without /proc or if no descriptor may be opened. */
bool seep_snapshot_maps_each(seep_snapshot_map_visitor *visit, void *arg);

#endif
