/* The job's own maps: for who looks at resident memory, and the hooks for who calls by number. */
#ifndef SEEP_PRELOAD_HOOKS_MAPS_H
#define SEEP_PRELOAD_HOOKS_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "preload/hooks/real.h"
#include "preload/stack/walk.h"

/* How many bytes of [start, end) the job has mapped itself, as memory (not as mere address space).
 */
uint64_t seep_maps_overlap(uintptr_t start, uintptr_t end);

/* `resident_bytes` of [start, end), one line of /proc/self/smaps, are resident: corrects what is
 * counted of maps that count by what is touched. Lines come by address, as the file has them, all
 * of them each time, and from one thread at a time. Inside the guard only. */
void seep_maps_resident(uintptr_t start, uintptr_t end, uint64_t resident_bytes);

/* True while there are maps that count by what is touched. */
bool seep_maps_any_by_touch(void);

/* What the functions of these names do, for a caller with these registers that called `hook`: the
 * function of that name, or SEEP_HOOK_syscall. */
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
