/* What libc10 does for tensors in host memory: an allocator that reports every block to a reporter,
 * which passes it on to the profiler. The memory is from malloc, or from an allocator of its own
 * that no hook of malloc sees, over maps taken by its own system call or from libc. */
#define _GNU_SOURCE
#include "libprof/arch/arch.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define EXPORT __attribute__((visibility("default")))

enum { FROM_MALLOC, FROM_KERNEL, FROM_ARENA, FROM_SHARED };
enum { ARENA_BYTES = 1 << 20, SLOT_BYTES = 4096 };

struct device {
    int8_t type, number;
};

EXPORT void
profiled(void *block, int64_t bytes, uint64_t allocated, uint64_t reserved,
         struct device d) __asm__("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE");
void profiled(void *block, int64_t bytes, uint64_t allocated, uint64_t reserved, struct device d)
{
    (void)block, (void)bytes, (void)allocated, (void)reserved, (void)d;
}

EXPORT void made(void *reporter, void *block,
                 size_t bytes) __asm__("_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm");
void made(void *reporter, void *block, size_t bytes)
{
    const struct device cpu = {0, 0};
    __atomic_fetch_add((uint64_t *)reporter, 1, __ATOMIC_RELAXED);
    profiled(block, (int64_t)bytes, 0, 0, cpu);
}

EXPORT void gone(void *reporter,
                 void *block) __asm__("_ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv");
void gone(void *reporter, void *block)
{
    const struct device cpu = {0, 0};
    __atomic_fetch_add((uint64_t *)reporter + 1, 1, __ATOMIC_RELAXED);
    profiled(block, -1, 0, 0, cpu);
}

/* What was told, as the reporter's object has it. */
EXPORT uint64_t c10_reporter[2];

/* ---- an allocator of slots of one size --------------------------------------------------------
 */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *free_slots;

static void *kernel_pages(size_t bytes)
{
    return (void *)seep_arch_call6(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static char *arena(int from)
{
    if (from == FROM_KERNEL)
        return kernel_pages(ARENA_BYTES);
    const int kind = from == FROM_SHARED ? MAP_SHARED : MAP_PRIVATE;
    return mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
}

static void *slot(int from)
{
    pthread_mutex_lock(&lock);
    if (!free_slots) {
        char *fresh = arena(from);
        for (size_t at = 0; at < ARENA_BYTES; at += SLOT_BYTES) {
            *(void **)(fresh + at) = free_slots;
            free_slots = fresh + at;
        }
    }
    void *block = free_slots;
    free_slots = *(void **)block;
    pthread_mutex_unlock(&lock);
    return block;
}

/* ---- what a program calls ---------------------------------------------------------------------
 */

/* Up to 4096 bytes where they are not from malloc. */
EXPORT void *c10_allocate(int from, size_t bytes)
{
    void *block = NULL;
    if (from != FROM_MALLOC)
        block = slot(from);
    else if (posix_memalign(&block, 64, bytes) != 0)
        return NULL;
    made(c10_reporter, block, bytes);
    return block;
}

EXPORT void c10_free(int from, void *block)
{
    gone(c10_reporter, block);
    if (from == FROM_MALLOC) {
        free(block);
        return;
    }
    pthread_mutex_lock(&lock);
    *(void **)block = free_slots;
    free_slots = block;
    pthread_mutex_unlock(&lock);
}
