/* Whose maps grow: a library that has an allocator of its own maps at many places of the job's
 * code, so its maps are judged as one. */
#ifndef SEEP_LIBPROF_SIGNS_GROWN_MAPS_H
#define SEEP_LIBPROF_SIGNS_GROWN_MAPS_H

#include "libprof/code/code.h"

struct seep_grown_map {
    uint32_t site;
    int64_t bytes; /* that it gained */
};

struct seep_grown_maps {
    struct seep_grown_map *list; /* of one library, or one line: most first */
    size_t n;                    /* 0: nobody's maps gained so much */
    int64_t bytes;               /* that they gained together */
};

/* The maps of a class (private ones: SEEP_CLASS_MMAP, or SEEP_CLASS_SHM) of the library, or of the
 * line where no library asks, that gained most in a process from one step to another: at least half
 * of `all` bytes. Or, for they may be counted whole from the start, those of whoever has most.
 * Python's own arenas are judged elsewhere. Returns 0 or -SEEP_ENOMEM. Allocates: out->list, to be
 * freed. */
SEEP_MUST_CHECK int seep_grown_maps_find(const struct seep_code *code, enum seep_space_class class,
                                         uint32_t process, int32_t from, int32_t to, double all,
                                         struct seep_grown_maps *out);

#endif
