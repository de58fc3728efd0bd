/* Hooks of mmap and its kin. Only mappings that the job itself requests come here: libc makes
 * its own (for large blocks, thread stacks, libraries) internally. A shared mapping of memory
 * belongs to space shm, any other to mmap.
 *
 * The job's own allocator may call these with its lock held, so none of them looks up a name. If
 * the function after ours is known, it is called, else the kernel. */
#include "preload/hooks/maps.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "preload/hooks/signals.h"
#include "preload/life/start.h"
#include "preload/record/map_resident.h"
#include "preload/record/map_set.h"
#include "preload/record/record.h"
#include "preload/record/shm_segments.h"

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif

/* Of functions that take room on the stack: only seep_enter_call() tells whether there is any. A
 * signal handler's stack may suffice just for the real call. */
#define ENTERED static __attribute__((noinline))

/* Passes the call on if no function of its name is known after ours: by number if it came by
 * number, because a function after ours may itself call by number. */
static long passed_on(enum seep_hook hook, long number, long a, long b, long c, long d, long e,
                      long f)
{
    if (hook == SEEP_HOOK_syscall && seep_real.syscall)
        return seep_real.syscall(number, a, b, c, d, e, f);
    long result = seep_arch_call6(number, a, b, c, d, e, f);
    if (!seep_os_failed((void *)result))
        return result;
    errno = (int)-result;
    return -1;
}

/* The function after ours, NULL if it is unknown or must not be called. */
#define BEHIND(hook, name) (hook != SEEP_HOOK_syscall ? seep_real.name : NULL)

static bool is_shared(int flags)
{
    int type = flags & MAP_TYPE;
    return type == MAP_SHARED || type == MAP_SHARED_VALIDATE;
}

/* What is resident of a disk's file in a shared map is the kernel's cache of it, which it takes
 * back when memory is short: a database maps room for all that its file may ever hold. Asked once
 * for several files of a device, because a server may have to answer. */
ENTERED bool is_of_disk(int flags, int fd)
{
    static uint64_t disk;
    struct stat st;
    struct statfs fs;
    if (!is_shared(flags) || flags & MAP_ANONYMOUS ||
        seep_os_call3(SYS_fstat, fd, (long)&st, 0) < 0 || !S_ISREG(st.st_mode))
        return false;
    if (st.st_dev && __atomic_load_n(&disk, __ATOMIC_RELAXED) == st.st_dev)
        return true;
    if (seep_os_call3(SYS_fstatfs, fd, (long)&fs, 0) < 0 || fs.f_type == TMPFS_MAGIC ||
        fs.f_type == RAMFS_MAGIC || fs.f_type == HUGETLBFS_MAGIC)
        return false;
    __atomic_store_n(&disk, st.st_dev, __ATOMIC_RELAXED);
    return true;
}

/* Of a file's private map only pages that are written to are the job's memory. */
static enum seep_range_state state_of(int protection, int flags)
{
    if (protection == PROT_NONE)
        return SEEP_RANGE_RESERVED;
    bool by_touch = !is_shared(flags) && (flags & MAP_NORESERVE || !(flags & MAP_ANONYMOUS));
    return by_touch ? SEEP_RANGE_BY_TOUCH : SEEP_RANGE_COMMITTED;
}

/* [start, end) was mapped again, over whatever was there. */
static void replaced(uintptr_t start, uintptr_t end)
{
    seep_map_gone(start, end);
    seep_stack_range_unmap(start, end);
}

static void *real_mmap(enum seep_hook hook, void *at, size_t bytes, int protection, int flags,
                       int fd, off64_t offset)
{
    if (hook == SEEP_HOOK_mmap64 && seep_real.mmap64)
        return seep_real.mmap64(at, bytes, protection, flags, fd, offset);
    if (hook == SEEP_HOOK_mmap && seep_real.mmap)
        return seep_real.mmap(at, bytes, protection, flags, fd, offset);
    return (void *)passed_on(hook, SYS_mmap, (long)at, (long)bytes, protection, flags, fd, offset);
}

/* A reservation asks for addresses, and huge pages have another reserve: a program that gets
 * neither goes on without. */
static bool asks_for_memory(int protection, int flags)
{
    return protection != PROT_NONE && !(flags & (MAP_NORESERVE | MAP_HUGETLB));
}

/* The guard is up around the real call in these: further calls that it makes are not the job's. */
void *seep_maps_mmap(enum seep_hook hook, void *at, size_t bytes, int protection, int flags, int fd,
                     off64_t offset, struct seep_regs regs)
{
    uint64_t mask;
    if (seep_start_is_allocator(regs.ra) || !seep_enter_call(&mask))
        return real_mmap(hook, at, bytes, protection, flags, fd, offset);
    void *made = real_mmap(hook, at, bytes, protection, flags, fd, offset);
    int saved_errno = errno;
    uintptr_t start = (uintptr_t)made, n = seep_os_page_up(bytes);
    seep_note_hook(hook);
    if (made != MAP_FAILED) {
        const bool of_disk = is_of_disk(flags, fd);
        if (flags & MAP_FIXED || of_disk)
            replaced(start, start + n);
        if (!of_disk)
            seep_map_made(is_shared(flags) ? SEEP_SPACE_SHM : SEEP_SPACE_MMAP,
                          state_of(protection, flags), start, n, &regs);
        if (__builtin_expect(seep_tls.thread->watches & SEEP_WATCH_RETRIES, 0))
            seep_host_oom_watch(seep_tls.thread, n, 0);
        if (is_shared(flags) && !(flags & MAP_ANONYMOUS) && !offset && !of_disk)
            seep_segment_mapped(start, fd);
    } else if (saved_errno == ENOMEM && n && asks_for_memory(protection, flags)) {
        seep_host_oom_note(n, &regs, SEEP_SPACE_MMAP);
    }
    errno = saved_errno;
    seep_leave_call(&mask);
    return made;
}

SEEP_EXPORT void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    return seep_maps_mmap(SEEP_HOOK_mmap, at, bytes, protection, flags, fd, offset, SEEP_REGS());
}

SEEP_EXPORT void *mmap64(void *at, size_t bytes, int protection, int flags, int fd, off64_t offset)
{
    return seep_maps_mmap(SEEP_HOOK_mmap64, at, bytes, protection, flags, fd, offset, SEEP_REGS());
}

static int real_munmap(enum seep_hook hook, void *at, size_t bytes)
{
    return BEHIND(hook, munmap)
               ? seep_real.munmap(at, bytes)
               : (int)passed_on(hook, SYS_munmap, (long)at, (long)bytes, 0, 0, 0, 0);
}

/* Counts what was taken out before a call as freed, or puts it back if the call failed. */
static void conclude(struct seep_map_taken *taken, bool gone)
{
    if (gone)
        seep_map_note_gone(taken);
    else
        seep_map_put_back(taken);
    seep_map_drop(taken);
}

/* Taken out before the real call, because another thread may get the address at once. */
ENTERED int munmap_entered(enum seep_hook hook, void *at, size_t bytes)
{
    struct seep_map_taken taken;
    uintptr_t start = (uintptr_t)at, end = start + seep_os_page_up(bytes);
    seep_note_hook(hook);
    seep_stack_range_unmap(start, end);
    /* Of an address within a page nothing goes: the call fails. */
    seep_map_take(&taken, start, seep_os_page_down(start) == start ? end : start);
    int result = real_munmap(hook, at, bytes);
    int saved_errno = errno;
    conclude(&taken, result == 0);
    errno = saved_errno;
    return result;
}

int seep_maps_munmap(enum seep_hook hook, void *at, size_t bytes)
{
    uint64_t mask;
    if (!seep_enter_call(&mask))
        return real_munmap(hook, at, bytes);
    int result = munmap_entered(hook, at, bytes);
    seep_leave_call(&mask);
    return result;
}

SEEP_EXPORT int munmap(void *at, size_t bytes)
{
    return seep_maps_munmap(SEEP_HOOK_munmap, at, bytes);
}

static void *real_mremap(enum seep_hook hook, void *at, size_t old_bytes, size_t new_bytes,
                         int flags, void *wanted)
{
    return BEHIND(hook, mremap) ? seep_real.mremap(at, old_bytes, new_bytes, flags, wanted)
                                : (void *)passed_on(hook, SYS_mremap, (long)at, (long)old_bytes,
                                                    (long)new_bytes, flags, (long)wanted, 0);
}

static void remapped(const struct seep_map_taken *taken, uintptr_t old, uintptr_t old_bytes,
                     uintptr_t fresh, uintptr_t new_bytes, int flags, const struct seep_regs *regs)
{
    if (flags & MREMAP_FIXED)
        seep_map_gone(fresh, fresh + new_bytes);
    if (taken->n)
        seep_map_moved(taken, old, old_bytes, fresh, new_bytes, flags & MREMAP_DONTUNMAP, regs);
    else if (!old_bytes && seep_map_overlap(old, old + 1) &&
             !seep_start_is_allocator(regs->ra)) /* a second map of shared pages */
        seep_map_made(SEEP_SPACE_SHM, SEEP_RANGE_COMMITTED, fresh, new_bytes, regs);
}

ENTERED void *mremap_entered(enum seep_hook hook, void *at, size_t old_bytes, size_t new_bytes,
                             int flags, void *wanted, const struct seep_regs *regs)
{
    struct seep_map_taken taken;
    uintptr_t old = (uintptr_t)at, n = seep_os_page_up(old_bytes),
              new_n = seep_os_page_up(new_bytes);
    seep_note_hook(hook);
    if (!(flags & MREMAP_DONTUNMAP))
        seep_stack_range_unmap(old, old + n);
    if (flags & MREMAP_FIXED)
        seep_stack_range_unmap((uintptr_t)wanted, (uintptr_t)wanted + new_n);
    seep_map_take(&taken, old, old + n);
    void *fresh = real_mremap(hook, at, old_bytes, new_bytes, flags, wanted);
    int saved_errno = errno;
    const bool may_move = flags & MREMAP_MAYMOVE; /* else ENOMEM says: not at this place */
    if (fresh == MAP_FAILED && saved_errno == ENOMEM && may_move && taken.n)
        seep_host_oom_note(new_n, regs, SEEP_SPACE_MMAP);
    if (fresh == MAP_FAILED)
        seep_map_put_back(&taken);
    else
        remapped(&taken, old, n, (uintptr_t)fresh, new_n, flags, regs);
    seep_map_drop(&taken);
    errno = saved_errno;
    return fresh;
}

void *seep_maps_mremap(enum seep_hook hook, void *at, size_t old_bytes, size_t new_bytes, int flags,
                       void *wanted, struct seep_regs regs)
{
    uint64_t mask;
    if (!seep_enter_call(&mask))
        return real_mremap(hook, at, old_bytes, new_bytes, flags, wanted);
    void *fresh = mremap_entered(hook, at, old_bytes, new_bytes, flags, wanted, &regs);
    seep_leave_call(&mask);
    return fresh;
}

SEEP_EXPORT void *mremap(void *at, size_t old_bytes, size_t new_bytes, int flags, ...)
{
    void *wanted = NULL;
    if (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) { /* a place, or a hint */
        va_list list;
        va_start(list, flags);
        wanted = va_arg(list, void *);
        va_end(list);
    }
    return seep_maps_mremap(SEEP_HOOK_mremap, at, old_bytes, new_bytes, flags, wanted, SEEP_REGS());
}

/* Compilers change the protection of their code all the time: if nothing is reserved, there is
 * nothing to do. */
int seep_maps_mprotect(enum seep_hook hook, void *at, size_t bytes, int protection,
                       struct seep_regs regs)
{
    uint64_t mask;
    int result = BEHIND(hook, mprotect) ? seep_real.mprotect(at, bytes, protection)
                                        : (int)passed_on(hook, SYS_mprotect, (long)at, (long)bytes,
                                                         protection, 0, 0, 0);
    if (result != 0 || protection == PROT_NONE || !seep_range_n(SEEP_RANGE_RESERVED) ||
        !seep_enter_call(&mask))
        return result;
    int saved_errno = errno;
    seep_note_hook(hook);
    seep_map_committed((uintptr_t)at, (uintptr_t)at + seep_os_page_up(bytes), &regs);
    errno = saved_errno;
    seep_leave_call(&mask);
    return result;
}

SEEP_EXPORT int mprotect(void *at, size_t bytes, int protection)
{
    return seep_maps_mprotect(SEEP_HOOK_mprotect, at, bytes, protection, SEEP_REGS());
}

static int real_madvise(enum seep_hook hook, void *at, size_t bytes, int advice)
{
    return BEHIND(hook, madvise)
               ? seep_real.madvise(at, bytes, advice)
               : (int)passed_on(hook, SYS_madvise, (long)at, (long)bytes, advice, 0, 0, 0);
}

static bool gives_back(int advice)
{
    return advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE ||
           advice == MADV_DONTNEED_LOCKED;
}

/* A shared mapping's pages are its file's: only MADV_REMOVE frees them. */
int seep_maps_madvise(enum seep_hook hook, void *at, size_t bytes, int advice)
{
    uint64_t mask;
    if (!gives_back(advice) || !seep_enter_call(&mask))
        return real_madvise(hook, at, bytes, advice);
    int result = real_madvise(hook, at, bytes, advice);
    int saved_errno = errno;
    seep_note_hook(hook);
    if (result == 0)
        seep_map_released((uintptr_t)at, (uintptr_t)at + seep_os_page_up(bytes),
                          advice == MADV_REMOVE);
    errno = saved_errno;
    seep_leave_call(&mask);
    return result;
}

SEEP_EXPORT int madvise(void *at, size_t bytes, int advice)
{
    return seep_maps_madvise(SEEP_HOOK_madvise, at, bytes, advice);
}

/* The size of a System V segment, in whole pages; 0 if the kernel does not say. */
static uintptr_t segment_bytes(int id)
{
    struct shmid_ds status = {0};
    return seep_os_call3(SYS_shmctl, id, IPC_STAT, (long)&status) < 0
               ? 0
               : seep_os_page_up(status.shm_segsz);
}

static void *real_shmat(enum seep_hook hook, int id, const void *at, int flags)
{
    return BEHIND(hook, shmat) ? seep_real.shmat(id, at, flags)
                               : (void *)passed_on(hook, SYS_shmat, id, (long)at, flags, 0, 0, 0);
}

void *seep_maps_shmat(enum seep_hook hook, int id, const void *at, int flags, struct seep_regs regs)
{
    uint64_t mask;
    if (seep_start_is_allocator(regs.ra) || !seep_enter_call(&mask))
        return real_shmat(hook, id, at, flags);
    void *made = real_shmat(hook, id, at, flags);
    int saved_errno = errno;
    uintptr_t start = (uintptr_t)made, n = made == MAP_FAILED ? 0 : segment_bytes(id);
    seep_note_hook(hook);
    if (n && (flags & SHM_REMAP))
        replaced(start, start + n);
    if (n)
        seep_map_made(SEEP_SPACE_SHM, SEEP_RANGE_COMMITTED, start, n, &regs);
    errno = saved_errno;
    seep_leave_call(&mask);
    return made;
}

SEEP_EXPORT void *shmat(int id, const void *at, int flags)
{
    return seep_maps_shmat(SEEP_HOOK_shmat, id, at, flags, SEEP_REGS());
}

static int real_shmdt(enum seep_hook hook, const void *at)
{
    return BEHIND(hook, shmdt) ? seep_real.shmdt(at)
                               : (int)passed_on(hook, SYS_shmdt, (long)at, 0, 0, 0, 0, 0);
}

ENTERED int shmdt_entered(enum seep_hook hook, const void *at)
{
    struct seep_range segment;
    struct seep_map_taken taken;
    uintptr_t start = (uintptr_t)at;
    seep_note_hook(hook);
    bool known = seep_range_find(start, SEEP_RANGES_OF_MEMORY, &segment) &&
                 segment.start == start && segment.space == SEEP_SPACE_SHM;
    seep_map_take(&taken, start, known ? segment.end : start);
    int result = real_shmdt(hook, at);
    int saved_errno = errno;
    conclude(&taken, result == 0);
    errno = saved_errno;
    return result;
}

int seep_maps_shmdt(enum seep_hook hook, const void *at)
{
    uint64_t mask;
    if (!seep_enter_call(&mask))
        return real_shmdt(hook, at);
    int result = shmdt_entered(hook, at);
    seep_leave_call(&mask);
    return result;
}

SEEP_EXPORT int shmdt(const void *at)
{
    return seep_maps_shmdt(SEEP_HOOK_shmdt, at);
}

/* Names for memory that mmap then maps: hooked so that coverage can tell. */
static void seen(enum seep_hook hook)
{
    uint64_t mask;
    if (!seep_enter_call(&mask))
        return;
    seep_note_hook(hook);
    seep_leave_call(&mask);
}

/* As libc does: shared memory is files in a folder. */
static int raw_shm_open(const char *name, int flags, mode_t mode)
{
    char path[sizeof("/dev/shm/") + NAME_MAX] = "/dev/shm/";
    name += strspn(name, "/");
    size_t n = strlen(name);
    if (!n || n > NAME_MAX || strchr(name, '/')) {
        errno = n > NAME_MAX ? ENAMETOOLONG : EINVAL;
        return -1;
    }
    strcpy(path + strlen(path), name);
    int fd = (int)passed_on(SEEP_HOOK_shm_open, SYS_openat, AT_FDCWD, (long)path,
                            flags | O_NOFOLLOW | O_CLOEXEC, mode, 0, 0);
    if (fd < 0 && errno == EISDIR)
        errno = EINVAL;
    return fd;
}

SEEP_EXPORT int shm_open(const char *name, int flags, mode_t mode)
{
    seen(SEEP_HOOK_shm_open);
    return seep_real.shm_open ? seep_real.shm_open(name, flags, mode)
                              : raw_shm_open(name, flags, mode);
}

int seep_maps_memfd_create(enum seep_hook hook, const char *name, unsigned int flags)
{
    seen(hook);
    return BEHIND(hook, memfd_create)
               ? seep_real.memfd_create(name, flags)
               : (int)passed_on(hook, SYS_memfd_create, (long)name, flags, 0, 0, 0, 0);
}

SEEP_EXPORT int memfd_create(const char *name, unsigned int flags)
{
    return seep_maps_memfd_create(SEEP_HOOK_memfd_create, name, flags);
}
