/* Files in memory: what the tmpfs mounts hold while a job runs, and what it leaves there. Such a
 * file is no process's, so no RSS shows it, but the kernel counts it against the job's limit. */
#ifndef SEEP_VIEWER_WATCH_TMPFS_H
#define SEEP_VIEWER_WATCH_TMPFS_H

#include "libprof/format/profile_format.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { SEEP_TMPFS_MOUNTS = 8 };

struct seep_tmpfs_mount {
    char path[SEEP_MEMORY_PATH_BYTES];
    dev_t device;
    uint64_t first_bytes; /* that it held at the first look */
};

struct seep_tmpfs { /* all zero: not looked for yet */
    bool known;
    uint32_t n;
    struct seep_tmpfs_mount mounts[SEEP_TMPFS_MOUNTS];
    dev_t own_device; /* of the profile's folder, which is seep's own */
    ino_t own_inode;
};

/* Finds the mounts in which this user may write, up to SEEP_TMPFS_MOUNTS of them. Leaves out those
 * whose path passes another mount than "/" and a tmpfs: a file server might not answer. `own`: the
 * profile's folder; "": there is none. */
void seep_tmpfs_find(struct seep_tmpfs *tmpfs, const char *own);

/* What they hold now in KiB, without the `own_bytes` of the profiles if these lie there. One system
 * call for each. Allocates nothing. */
uint32_t seep_tmpfs_held_kib(struct seep_tmpfs *tmpfs, uint64_t own_bytes);

/* Lists the files that this user has made or changed since the job began, in those mounts that hold
 * clearly more than at first. Looks at no more than 8,192 entries, follows no link, opens
 * directories only, and leaves the profile's folder out. The result is not published. */
void seep_tmpfs_list(const struct seep_tmpfs *tmpfs, const struct seep_job *job,
                     struct seep_memory_files *out);

#endif
