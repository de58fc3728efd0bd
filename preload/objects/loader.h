/* The loader's list of objects, read without its lock and without a call into it.
 *
 * Who holds that lock may be waiting for what this thread holds: a callback of dl_iterate_phdr()
 * may wait for any lock of the job's. So the list is read as a debugger reads it (_r_debug),
 * through a system call that fails where memory has gone; what is torn is found out by its checks,
 * and read again the next time. Threads: any, each with its own struct seep_object. */
#ifndef SEEP_PRELOAD_OBJECTS_LOADER_H
#define SEEP_PRELOAD_OBJECTS_LOADER_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libprof/format/profile_format.h"

enum {
    SEEP_OBJECT_HEADERS = 24,
    SEEP_BUILD_ID_BYTES = 32,
    SEEP_LOADER_MOST = 4096, /* a longer list is not believed */
};

/* Copied whole: the object may be gone when this is read. */
struct seep_object {
    const struct link_map *map;
    uintptr_t bias;
    uintptr_t start, end;           /* of its segments */
    uintptr_t text_start, text_end; /* of the segment with its code */
    const ElfW(Dyn) * dynamic;
    const uint8_t *eh_frame_hdr; /* NULL: none */
    uint32_t build_id_bytes;     /* 0: none */
    unsigned char build_id[SEEP_BUILD_ID_BYTES];
    char path[SEEP_PATH_BYTES]; /* as it was given to the loader; "" for the program */
};

/* The first of the list, and the one after `map`; NULL at its end, and if it cannot be read. */
const struct link_map *seep_loader_first(void);
const struct link_map *seep_loader_next(const struct link_map *map);

/* What the list says of an object. `start`: where it begins; 0: not known, and then one that is not
 * linked at 0 is not found. False: it is gone, or it is not an object that can be read. */
bool seep_loader_describe(const struct link_map *map, uintptr_t start, struct seep_object *object);

/* This library's own entry; NULL: it is not in the list. Only at start, while no object can be
 * unloaded. */
const struct link_map *seep_loader_self(void);

/* Up to `bytes` at `from`, which need not be mapped. Returns how many could be read. */
size_t seep_loader_read(uintptr_t from, void *to, size_t bytes);

/* While a program starts, nothing can be unloaded: memory is read directly, which is ten times
 * cheaper. */
extern bool seep_loader_starting;

#endif
