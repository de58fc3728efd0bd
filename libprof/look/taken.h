/* What was taken of a process that nobody recorded: its memory, what is live in it, and which
 * Python it runs. Everything that is read is untrusted. */
#ifndef SEEP_LIBPROF_LOOK_TAKEN_H
#define SEEP_LIBPROF_LOOK_TAKEN_H

#include "libprof/who/blocks/block_list.h"
#include "libprof/who/find/dump.h"
#include "libprof/who/graph/py_layout.h"

#include <sys/types.h>

struct seep_taken {
    struct seep_dump dump;
    struct seep_block_list blocks; /* by address */
    struct seep_python python;     /* layout NULL: none was found, or one that is not known */
    uint32_t python_version;       /* hex, 0: there is none */
    const char *allocator;         /* that replaces libc's and is not known; NULL: none does */
    bool is_cut;                   /* more is live than could be kept */
};

/* Takes it from `pid`, which stands still or is a copy; `files` is the process whose files it sees
 * (itself where that is another one). Returns 0; -SEEP_EIO: it cannot be read, errno says why;
 * -SEEP_ENOMEM. Allocates; seep_taken_fini() in either case. */
SEEP_MUST_CHECK int seep_take(struct seep_taken *taken, pid_t pid, pid_t files, uint64_t max_bytes);

/* Thinks about what was taken, once the process is let go of: objects of pools, chunks that are
 * free. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_taken_settle(struct seep_taken *taken);
void seep_taken_fini(struct seep_taken *taken);

#endif
