/* What only addresses of its inside hold. Tables of Rust are known by where their buckets end, and
 * handles by numbers of Python: an address at a block's beginning leads to neither. Such addresses
 * are looked for where most of a line's memory would be called lost otherwise, and lead to that
 * memory alone: elsewhere numbers would be taken for them. */
#ifndef SEEP_LIBPROF_WHO_WAYS_INNER_H
#define SEEP_LIBPROF_WHO_WAYS_INNER_H

#include "libprof/who/ways/reach.h"

/* Adds the ways to what nobody else holds, cycles included, of a reach that has run: by any word of
 * what is reached that is an address in it. One that is just behind its end is none. Reads all of
 * what is native, and notes in the heap where that was too much. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_inner_find(struct seep_reach *reach);

#endif
