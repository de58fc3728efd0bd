/* The function that a call would have reached without us. Two libraries of one name may be in a
 * process (a CUDA runtime for each of two packages), so that depends on who calls: it is what the
 * caller itself exports, or what the libraries that it names as needed do, nearest first; else the
 * first that is loaded at all. */
#ifndef SEEP_PRELOAD_DEVICE_CALLER_H
#define SEEP_PRELOAD_DEVICE_CALLER_H

#include "preload/objects/real.h"

/* The hook of a function whose name is also a macro. */
#define SEEP_HOOK_OF(name)  SEEP_HOOK_OF_(name)
#define SEEP_HOOK_OF_(name) SEEP_HOOK_##name

/* `ra`: the return address, in the caller's code. NULL: no library exports the function of that
 * hook. Reads the tables of loaded objects: no call into the loader. Threads: any. */
void *seep_caller_real(uintptr_t ra, enum seep_hook hook);

/* The first function of that name that any loaded object exports. NULL: none does. */
void *seep_caller_anyone(const char *name);

struct seep_lock *seep_caller_lock(void);
void seep_caller_after_fork(void);

#endif
