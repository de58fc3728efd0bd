/* Asks to be called around the forks that libc knows of. */
#ifndef SEEP_PRELOAD_LIFE_FORK_H
#define SEEP_PRELOAD_LIFE_FORK_H

/* Asks libc to be called around forks; early, so that it is the last to be called before one: what
 * allocators do in their own turn may come back to the hooks. */
void seep_fork_watch(void);

#endif
