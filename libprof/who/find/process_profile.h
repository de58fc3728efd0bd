/* The profile that a process writes, found by its mappings: nobody needs to name its folder. */
#ifndef SEEP_LIBPROF_WHO_FIND_PROCESS_PROFILE_H
#define SEEP_LIBPROF_WHO_FIND_PROCESS_PROFILE_H

#include "libprof/read/profile_read.h"
#include "libprof/who/graph/process_maps.h"

struct seep_process_profile {
    char folder[SEEP_PATH_BYTES]; /* as seen from here; "": it writes none */
    uint32_t pid;                 /* as the file's name says: that in the process's namespace */
    uint64_t start_ns;
    uint64_t live; /* of its header: where it keeps its live set */
};

/* Of the process with these mappings; `pid`: whose files it sees. A forked child that has none of
 * its own yet has its parent's, which tells of all that it inherited. */
void seep_process_profile_find(struct seep_process_profile *profile, const struct seep_maps *maps,
                               pid_t pid);

#endif
