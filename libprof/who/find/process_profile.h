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

/* Opens and loads DIR/PID-START.seep and the profiles of its ancestors by fork, as far as they
 * exist, linked by `parent`. Returns 0 or the status of seep_profile_open() or seep_profile_load().
 * Allocates: *out; free with seep_profile_chain_close(). */
SEEP_MUST_CHECK int seep_profile_chain_open(const char *dir, uint32_t pid, uint64_t start_ns,
                                            struct seep_profile **out, struct seep_error *err);
void seep_profile_chain_close(struct seep_profile *profile);

/* What the file of the process has on disk; 0: there is none. */
uint64_t seep_profile_chain_bytes(const char *dir, uint32_t pid, uint64_t start_ns);

#endif
