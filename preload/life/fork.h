/* Forks, as libc announces them, and what a child has from its parent. */
#ifndef SEEP_PRELOAD_LIFE_FORK_H
#define SEEP_PRELOAD_LIFE_FORK_H

#include "libprof/format/profile_format.h"

/* Asks libc to call back around forks; early, so that it is called last before one: handlers of
 * allocators may come back to the hooks. */
void seep_fork_watch(void);

/* From the parent's profile, at the fork. */
struct seep_inherited {
    uint64_t live_bytes[SEEP_MAX_SPACES];
    char names[SEEP_MAX_SPACES][sizeof(((struct seep_space *)0)->name)];
    uint64_t end; /* of what it had written */
    uint32_t python_version, python_support;
};

/* Called in a child before it leaves its parent's profile. For a fork that libc announced, returns
 * what was noted before it; for others, what the profile says now. */
const struct seep_inherited *seep_fork_inherited(void);

#endif
