/* What a process holds, taken out of it at once: a frozen copy may end, and a process that waits go
 * on, before anybody has thought about it. Taken are pages that the process has made its own; of
 * large blocks only those that look like tables of addresses, for pictures and tensors are raw. */
#ifndef SEEP_LIBPROF_WHO_FIND_DUMP_H
#define SEEP_LIBPROF_WHO_FIND_DUMP_H

#include "libprof/format/snapshot_format.h"
#include "libprof/who/find/copy_memory.h"
#include "libprof/who/find/file_pages.h"
#include "libprof/who/graph/memory.h"

struct seep_dump {
    struct seep_maps maps;
    struct seep_memory memory; /* what it has not, its files are asked for */
    struct seep_file_pages files;
    struct seep_snapshot_range *own; /* memory of seep's own, which is left out */
    size_t n_own;
};

/* Takes it from a process whose head and blocks (with its maps behind them) were read. No more than
 * `max_bytes` are kept: where it has more, dump->memory.full. Returns 0; -SEEP_EIO: what is mapped
 * is not told, or the process is not there any more; -SEEP_ENOMEM. Allocates; seep_dump_fini() in
 * either case. */
SEEP_MUST_CHECK int seep_dump_take(struct seep_dump *dump, struct seep_copy_memory *from,
                                   const struct seep_snapshot *head,
                                   const struct seep_snapshot_block *blocks, size_t n_blocks,
                                   uint64_t max_bytes);
void seep_dump_fini(struct seep_dump *dump);

#endif
