/* The job's own maps: for who looks at resident memory, and the hooks for who calls by number. */
#ifndef SEEP_PRELOAD_MAPS_H
#define SEEP_PRELOAD_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "libprof/os.h"
#include "preload/real.h"
#include "preload/walk.h"

/* How many bytes of [start, end) the job has mapped itself, as memory (not as mere address space).
 */
uint64_t seep_maps_overlap(uintptr_t start, uintptr_t end);

/* `resident_bytes` of [start, end), one line of /proc/self/smaps, are resident: corrects what is
 * counted of maps that count by what is touched. Lines come by address, as the file has them, all
 * of them each time, and from one thread at a time. Inside the guard only. */
void seep_maps_resident(uintptr_t start, uintptr_t end, uint64_t resident_bytes);

/* True while there are maps that count by what is touched. */
bool seep_maps_any_by_touch(void);

/* The job's own call, which a hook passes on: made whatever seep itself may not do. */
static inline long seep_passed_on(long number, long a, long b, long c, long d, long e, long f)
{
    return seep_os_raw6(number, a, b, c, d, e, f);
}

/* What the functions of these names do, for a caller with these registers. */
void *seep_maps_mmap(enum seep_hook hook, void *at, size_t bytes, int protection, int flags, int fd,
                     off64_t offset, struct seep_regs regs);
int seep_maps_munmap(void *at, size_t bytes);
void *seep_maps_mremap(void *at, size_t old_bytes, size_t new_bytes, int flags, void *wanted,
                       struct seep_regs regs);
int seep_maps_mprotect(void *at, size_t bytes, int protection, struct seep_regs regs);
int seep_maps_madvise(void *at, size_t bytes, int advice);
void *seep_maps_shmat(int id, const void *at, int flags, struct seep_regs regs);
int seep_maps_shmdt(const void *at);
int seep_maps_memfd_create(const char *name, unsigned int flags);

#endif
