/* The hooks of mappings, for calls by number. */
#ifndef SEEP_PRELOAD_HOOKS_MAPS_H
#define SEEP_PRELOAD_HOOKS_MAPS_H

#include <sys/types.h>

#include "preload/objects/real.h"
#include "preload/stack/walk.h"

/* Does what the function of that name does, for a caller with these registers that called `hook`:
 * the function of that name, or SEEP_HOOK_syscall. */
void *seep_maps_mmap(enum seep_hook hook, void *at, size_t bytes, int protection, int flags, int fd,
                     off64_t offset, struct seep_regs regs);
int seep_maps_munmap(enum seep_hook hook, void *at, size_t bytes);
void *seep_maps_mremap(enum seep_hook hook, void *at, size_t old_bytes, size_t new_bytes, int flags,
                       void *wanted, struct seep_regs regs);
int seep_maps_mprotect(enum seep_hook hook, void *at, size_t bytes, int protection,
                       struct seep_regs regs);
int seep_maps_madvise(enum seep_hook hook, void *at, size_t bytes, int advice);
void *seep_maps_shmat(enum seep_hook hook, int id, const void *at, int flags,
                      struct seep_regs regs);
int seep_maps_shmdt(enum seep_hook hook, const void *at);
int seep_maps_memfd_create(enum seep_hook hook, const char *name, unsigned int flags);

#endif
