/* What a process holds, as it is read: what it has mapped, and its memory. Where it is frozen for
 * long enough, its memory passes by while the heap is surveyed (who/survey/survey.h). Else it is
 * copied all at once: afterwards the process may go on, before anybody looks at the copy. Both
 * contain the process's private pages; of large blocks only those that look like tables of
 * addresses, because pictures and tensors are raw data. */
#ifndef SEEP_LIBPROF_WHO_FIND_DUMP_H
#define SEEP_LIBPROF_WHO_FIND_DUMP_H

#include "libprof/format/snapshot_format.h"
#include "libprof/who/graph/memory.h"
#include "libprof/who/process/file_pages.h"
#include "libprof/who/process/remote.h"

/* Blocks of fewer bytes are kept with all their pages. */
enum { SEEP_DUMP_LARGE = 64 << 10 };

struct seep_dump {
    struct seep_maps maps;
    struct seep_memory memory; /* reads from `files` what it does not contain */
    struct seep_file_pages files;
    struct seep_memory_range *ranges; /* [n_ranges] pages that pass by; NULL: they were copied */
    size_t n_ranges;
    struct seep_snapshot_range *own; /* seep's own memory, which is left out */
    size_t n_own;
};

/* What is known of the process already, and how much of it to keep. */
struct seep_dump_request {
    const struct seep_snapshot_block *blocks; /* all, or those of SEEP_DUMP_LARGE; then maps, */
    size_t n_blocks, n_all;                   /* from n_blocks on */
    uint64_t lowest, highest; /* where blocks and maps lie; `highest` 0: they are all in the list */
    bool recorded; /* the blocks are what the job asked for. Else they may be what an allocator
                    * places blocks in, with sizes between them */
    const struct seep_snapshot_range *own; /* seep's own memory, [n_own]; copied */
    size_t n_own;
    bool passes_by;     /* nothing is copied: pages are read when somebody asks for them */
    uint64_t max_bytes; /* of a copy */
    /* Called before any page is taken, with the most that is kept of them. False: it is given up.
     * NULL: never. */
    bool (*admits)(void *arg, uint64_t kept_bytes);
    void *arg;
};

/* Takes it from `remote`, which is not needed any more afterwards, or, if it passes by, until
 * seep_dump_let_go(). Copies at most `max_bytes`; if the process has more, sets dump->memory.full.
 * Returns 0; -SEEP_EIO: its mappings cannot be read, or the process is gone; -SEEP_ENOMEM, also
 * where it was not admitted. Allocates; seep_dump_fini() in either case. */
SEEP_MUST_CHECK int seep_dump_take(struct seep_dump *dump, struct seep_remote *remote,
                                   const struct seep_dump_request *request);
void seep_dump_fini(struct seep_dump *dump);

/* Nothing more is read of the process. */
void seep_dump_let_go(struct seep_dump *dump);

#endif
