/* The profile of one process of a running job, with the profiles whose stacks it inherits. */
#ifndef SEEP_LIBPROF_WHO_FIND_PROFILE_CHAIN_H
#define SEEP_LIBPROF_WHO_FIND_PROFILE_CHAIN_H

#include "libprof/read/profile_read.h"

/* Opens and loads DIR/PID-START.seep and the profiles of its ancestors by fork, as far as they
 * exist, linked by `parent`. Returns 0 or the status of seep_profile_open() or seep_profile_load().
 * Allocates: *out; free with seep_profile_chain_close(). */
SEEP_MUST_CHECK int seep_profile_chain_open(const char *dir, uint32_t pid, uint64_t start_ns,
                                            struct seep_profile **out, struct seep_error *err);
void seep_profile_chain_close(struct seep_profile *profile);

/* What the file of the process has on disk; 0: there is none. */
uint64_t seep_profile_chain_bytes(const char *dir, uint32_t pid, uint64_t start_ns);

#endif
