/* What the modules of the shim do when a process forks and when code is unloaded. The rows, one a
 * module, are in preload/lifecycle.c, which alone knows all modules. */
#ifndef SEEP_PRELOAD_LIFE_LIFECYCLE_H
#define SEEP_PRELOAD_LIFE_LIFECYCLE_H

#include <stdint.h>

/* Takes the locks of all modules, before a fork. Returns which it got, a bit each, for
 * seep_lifecycle_unlock(): one whose owner stalls is left. */
uint32_t seep_lifecycle_lock(void);
void seep_lifecycle_unlock(uint32_t held);

/* In a forked child: nobody holds a lock, and what was known of the parent is forgotten. */
void seep_lifecycle_after_fork(void);

/* Makes objects that come and go known to those that keep something of their code. Once stacks are
 * to be recorded. */
void seep_lifecycle_watch_objects(void);

#endif
