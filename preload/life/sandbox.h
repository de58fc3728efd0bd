/* Seccomp filters of the job's own: they may kill for a call that they do not know. */
#ifndef SEEP_PRELOAD_LIFE_SANDBOX_H
#define SEEP_PRELOAD_LIFE_SANDBOX_H

#include <stdbool.h>

/* A filter is about to be installed in this process: what will be needed is got now, and from then
 * on no call is made but those of malloc. `strict`: not even those. */
void seep_sandbox_before(bool strict);

/* Says whether this program may be entered; `told`: it runs under a filter that a process of the
 * job has installed, and is then only listed, by calls that any program's start makes. After
 * seep_job_open(). */
bool seep_sandbox_permits(bool told);

#endif
