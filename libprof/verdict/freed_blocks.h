/* Whether a line's memory may be blocks that are free for their library: a cache of freed blocks
 * keeps so many of each size, and while ever new sizes come it looks like a leak of whoever asked
 * for them. */
#ifndef SEEP_LIBPROF_VERDICT_FREED_BLOCKS_H
#define SEEP_LIBPROF_VERDICT_FREED_BLOCKS_H

#include "libprof/verdict/case.h"

/* The cache that may have it all, by which library asked, and by the blocks' number, sizes and mean
 * size. NULL: none, or a snapshot saw who holds them. */
const struct seep_library_cache *seep_freed_blocks_cache(const struct seep_case *c,
                                                         const struct seep_signs *signs);

#endif
