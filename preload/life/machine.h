/* Which machine this is, and which folder of a launch's is this process's. */
#ifndef SEEP_PRELOAD_LIFE_MACHINE_H
#define SEEP_PRELOAD_LIFE_MACHINE_H

#include <stdbool.h>

/* Finds the folder of this process from seep_run_settings.dir, which it changes, and opens the
 * job's table there. `sandboxed`: it runs under a filter of the job's, so only calls are made that
 * any program's start makes, and nothing is created. `by_wake`: the folder was chosen for it. */
void seep_machine_join(bool sandboxed, bool by_wake);

#endif
