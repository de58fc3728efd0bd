/* The live set of a process that runs under seep, read from outside: which block was made where,
 * and which memory is seep's own. The process does nothing for it, and may stand still. All that it
 * says is untrusted. */
#ifndef SEEP_LIBPROF_WHO_FIND_LIVE_SET_H
#define SEEP_LIBPROF_WHO_FIND_LIVE_SET_H

#include "libprof/format/snapshot_format.h"
#include "libprof/who/process/remote.h"

struct seep_live_set {
    struct seep_snapshot_block *blocks; /* [n] by address: of malloc and its kin */
    size_t n, capacity;
    struct seep_snapshot_range *own; /* [n_own] */
    size_t n_own;
};

/* Reads it, given what the profile's header says (`live`). What cannot be read is missing. Returns
 * 0 or -SEEP_ENOMEM. Allocates; seep_live_set_fini() in either case. */
SEEP_MUST_CHECK int seep_live_set_read(struct seep_live_set *set, uint64_t live,
                                       struct seep_remote *remote);
void seep_live_set_fini(struct seep_live_set *set);

/* The index of the block that begins at `address`; `n`: there is none. */
size_t seep_live_set_find(const struct seep_live_set *set, uint64_t address);

#endif
