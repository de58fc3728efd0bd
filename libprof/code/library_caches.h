/* Caches that libraries keep for themselves: library_caches.def. */
#ifndef SEEP_LIBPROF_CODE_LIBRARY_CACHES_H
#define SEEP_LIBPROF_CODE_LIBRARY_CACHES_H

#include "libprof/code/symbols.h"

#define SEEP_LIBRARY_CACHE_EACH UINT64_MAX

/* Patterns are as described in the table; none is NULL. */
struct seep_library_cache {
    const char *name;
    const char *module, *function; /* of a native frame */
    const char *file, *qualname;   /* of a Python frame */
    const char *holder;            /* the file whose static data holds it */
    uint64_t block_bytes;          /* of the largest block, of each size as many; 0: any size */
    uint64_t blocks;               /* of one stack, at most; SEEP_LIBRARY_CACHE_EACH: not known */
    const char *bound, *advice;
};

/* The cache that an allocation was made for, by the frames from `stack` outwards to `line`,
 * inclusive; NULL: none. Native functions have names only if they were looked up before. Pure. */
const struct seep_library_cache *seep_library_cache_of_stack(const struct seep_dictionary *d,
                                                             const struct seep_symbols *symbols,
                                                             uint32_t stack, uint32_t line);

/* The cache of blocks of each size that an allocation would go to once it is freed: that of the
 * library that asked for it; NULL: none. It says nothing about who has it now. Pure. */
const struct seep_library_cache *seep_library_cache_of_freed(const struct seep_dictionary *d,
                                                             uint32_t stack);

/* The cache that a file's static data is known to be; NULL: none. Pure. */
const struct seep_library_cache *seep_library_cache_of_holder(const char *file);

#endif
