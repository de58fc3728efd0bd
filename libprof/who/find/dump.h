/* A copy of what a process holds, taken all at once: afterwards a frozen copy may end and a waiting
 * process may go on, before anybody evaluates it. The copy contains the process's private pages; of
 * large blocks only those that look like tables of addresses, because pictures and tensors are raw
 * data. */
#ifndef SEEP_LIBPROF_WHO_FIND_DUMP_H
#define SEEP_LIBPROF_WHO_FIND_DUMP_H

#include "libprof/format/snapshot_format.h"
#include "libprof/who/find/file_pages.h"
#include "libprof/who/find/remote.h"
#include "libprof/who/graph/memory.h"

struct seep_dump {
    struct seep_maps maps;
    struct seep_memory memory; /* reads from `files` what it does not contain */
    struct seep_file_pages files;
    struct seep_snapshot_range *own; /* seep's own memory, which is left out */
    size_t n_own;
};

/* What is known of the process already, and how much of it to keep. */
struct seep_dump_request {
    const struct seep_snapshot_block *blocks; /* followed by maps, */
    size_t n_blocks, n_all;                   /* from n_blocks on */
    bool recorded; /* the blocks are what the job asked for. Else they may be what an allocator
                    * places blocks in, with sizes between them */
    const struct seep_snapshot_range *own; /* seep's own memory, [n_own]; copied */
    size_t n_own;
    uint64_t max_bytes;
    /* Called before any page is taken, with the most that is kept of them. False: it is given up.
     * NULL: never. */
    bool (*admits)(void *arg, uint64_t kept_bytes);
    void *arg;
};

/* Takes it from `remote`, which is not needed any more afterwards. Keeps at most `max_bytes`; if
 * the process has more, sets dump->memory.full. Returns 0; -SEEP_EIO: its mappings cannot be read,
 * or the process is gone; -SEEP_ENOMEM, also where it was not admitted. Allocates; seep_dump_fini()
 * in either case. */
SEEP_MUST_CHECK int seep_dump_take(struct seep_dump *dump, struct seep_remote *remote,
                                   const struct seep_dump_request *request);
void seep_dump_fini(struct seep_dump *dump);

#endif
