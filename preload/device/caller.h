/* The function that a call would have reached without us. Two libraries of one name may be in a
 * process (a CUDA runtime for each of two packages), so that depends on who calls: it is what the
 * caller itself exports, or what the libraries that it names as needed do, nearest first; else the
 * first that is loaded at all. */
#ifndef SEEP_PRELOAD_DEVICE_CALLER_H
#define SEEP_PRELOAD_DEVICE_CALLER_H

#include "preload/objects/real.h"

/* The hook of a function whose name is a macro. */
#define SEEP_HOOK_OF(name)  SEEP_HOOK_OF_(name)
#define SEEP_HOOK_OF_(name) SEEP_HOOK_##name

/* `ra`: where the call returns to, in the caller's code. NULL: nobody exports the
 * function of that hook. Asks the tables of what is loaded: no call into the loader. Threads: any.
 */
void *seep_caller_real(uintptr_t ra, enum seep_hook hook);

/* The first that is exported under a name at all, by whatever is loaded. NULL: none is. */
void *seep_caller_anyone(const char *name);

struct seep_lock *seep_caller_lock(void);
void seep_caller_after_fork(void);

#endif
