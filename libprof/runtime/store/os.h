/* System calls for the runtime part: no errno, no libc function that a preload may have replaced.
 * System calls return a value ≥ 0, or a negative errno; functions that give memory return NULL if
 * there is none. */
#ifndef SEEP_LIBPROF_RUNTIME_STORE_OS_H
#define SEEP_LIBPROF_RUNTIME_STORE_OS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "libprof/arch/arch.h"
#include "libprof/contract.h"
#include "libprof/runtime/store/os_page.h"
#include "libprof/runtime/store/own_pages.h"
#include "libprof/runtime/store/placement.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* Once set, the process has a seccomp filter of its own, which may kill it for an unknown call:
 * seep makes only calls in seep_os_permitted, which every filter was seen to allow. */
extern bool seep_os_sandboxed;
enum {
    SEEP_OS_MMAP = 1, /* private pages, as seep asks for them */
    SEEP_OS_MUNMAP = 2,
    SEEP_OS_FUTEX = 4,
    SEEP_OS_PROBE = 8, /* as seep_os_readable() asks */
};
enum { SEEP_OS_INVALID_HOW = 99 }; /* an invalid `how` to change a signal mask */
extern uint32_t seep_os_permitted;

/* What a filter for all threads has to wait for: seep's own calls in progress, by whether the
 * generation in which they began is odd, and signals held back. It is in a page that the kernel
 * clears in a forked child, which has no other threads; the forking thread's own count may fall
 * below 0 there. */
struct seep_os_inside {
    uint32_t generation;
    int32_t calls[2];
    int32_t masks;
};
extern struct seep_os_inside *seep_os_inside;

/* Enclose a look at the flag and the permissions, and the call that follows. */
uint32_t seep_os_begin(void);
void seep_os_end(uint32_t generation);

/* Call it after changing the flag or the permissions: waits at most `patience_ns` until no call
 * that began before is in progress. `sleeps`: waits by a system call. False: some call still is. */
bool seep_os_settle(uint64_t patience_ns, bool sleeps);

/* A call of seep's own; a hook passes the job's on by seep_arch_call6(). -EPERM: the sandbox does
 * not allow it. */
long seep_os_call6(long number, long a, long b, long c, long d, long e, long f);

static inline long seep_os_call3(long number, long a, long b, long c)
{
    return seep_os_call6(number, a, b, c, 0, 0, 0);
}

static inline bool seep_os_failed(const void *address)
{
    return (uintptr_t)address >= (uintptr_t)-4095;
}

static inline void *seep_os_map_private(size_t bytes, int flag)
{
    void *p = (void *)seep_os_call6(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flag, -1, 0);
    return seep_os_failed(p) ? NULL : p;
}

/* Zeroed private memory, or NULL. `bytes` is rounded up to pages by the kernel. As a stack, it
 * takes no huge pages since Linux 6.7: the kernel would join it with a mapping of the job's that
 * lies beside it, and where we write first give the job's part of such a page memory, too. No
 * further call says so, since a sandbox may end who makes one that it does not know. */
static inline void *seep_os_pages(size_t bytes)
{
    void *p = seep_os_map_private(bytes, MAP_STACK);
    if (p)
        seep_own_add(p, bytes);
    return p;
}

enum { SEEP_HUGE_PAGE = 2 << 20 };

/* The same for a table that is used at random places: if it has several MB, huge pages save most of
 * the walks of page tables, which a virtual machine pays twice. The kernel takes small ones where
 * it has no others. From SEEP_HUGE_PAGE on, `bytes` is a multiple of it. */
void *seep_os_table(size_t bytes);

/* Address space without memory behind it, or NULL. */
static inline void *seep_os_reserve(size_t bytes)
{
    void *p = (void *)seep_os_call6(SYS_mmap, 0, (long)bytes, PROT_NONE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return seep_os_failed(p) ? NULL : p;
}

static inline int seep_os_map_file(void *at, size_t bytes, int fd, uint64_t offset, int flags)
{
    long r = seep_os_call6(SYS_mmap, (long)at, (long)bytes, PROT_READ | PROT_WRITE, flags, fd,
                           (long)offset);
    return r < 0 && r >= -4095 ? (int)r : 0;
}

static inline void seep_os_unmap(void *p, size_t bytes)
{
    seep_own_drop(p, bytes);
    (void)seep_os_call3(SYS_munmap, (long)p, (long)bytes, 0);
}

/* Gives memory to all pages at once, for tables that soon have an entry in each: one by one a page
 * that is read before it is written costs two faults. Before Linux 5.14 nothing happens. */
static inline void seep_os_populate(const void *p, size_t bytes)
{
    enum { POPULATE_WRITE = 23 }; /* MADV_POPULATE_WRITE: newer than the headers */
    const uintptr_t from = seep_os_page_down((uintptr_t)p);
    (void)seep_os_call3(SYS_madvise, (long)from, (long)((uintptr_t)p + bytes - from),
                        POPULATE_WRITE);
}

/* Zeroes pages of seep_os_pages(), which costs nothing until they are used again. */
static inline void seep_os_clear(void *p, size_t bytes)
{
    if (seep_os_call3(SYS_madvise, (long)p, (long)bytes, MADV_DONTNEED) < 0)
        __builtin_memset(p, 0, bytes); /* locked in memory */
}

static inline int seep_os_open(const char *path, int flags, int mode)
{
    return (int)seep_os_call6(SYS_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC, mode, 0, 0);
}

static inline void seep_os_close(int fd)
{
    (void)seep_os_call3(SYS_close, fd, 0, 0);
}

static inline long seep_os_read(int fd, void *buffer, size_t bytes)
{
    return seep_os_call3(SYS_read, fd, (long)buffer, (long)bytes);
}

static inline int seep_os_pid(void)
{
    return (int)seep_os_call3(SYS_getpid, 0, 0, 0);
}

static inline int seep_os_tid(void)
{
    return (int)seep_os_call3(SYS_gettid, 0, 0, 0);
}

static inline int seep_os_ppid(void)
{
    return (int)seep_os_call3(SYS_getppid, 0, 0, 0);
}

/* The kernel's clock, whatever clock_gettime() says in this process: a preload may fake it. No
 * system call if there is a vDSO; in a sandbox the coarse clocks, which never need one. */
uint64_t seep_os_clock_ns(clockid_t clock);

/* Whether 8 bytes can be read from the page that contains `at`. In a sandbox that does not allow
 * the check, the answer is yes. */
bool seep_os_readable(const void *at);

/* Copies memory of this process that need not be there. Returns how many bytes could be read. A
 * kernel or a container may not have the call for it: then by /proc, and without that nothing can
 * be read, and seep_os_is_blind says so. */
size_t seep_os_read_memory(uintptr_t from, void *to, size_t bytes);
extern bool seep_os_is_blind;

/* Reads a whole small file into `text` (always NUL-terminated). Returns bytes read or negative
 * errno. */
static inline long seep_os_read_file(const char *path, char *text, size_t capacity)
{
    int fd = seep_os_open(path, O_RDONLY, 0);
    if (fd < 0) {
        text[0] = '\0';
        return fd;
    }
    size_t n = 0;
    while (n + 1 < capacity) {
        long r = seep_os_read(fd, text + n, capacity - 1 - n);
        if (r <= 0)
            break;
        n += (size_t)r;
    }
    seep_os_close(fd);
    text[n] = '\0';
    return (long)n;
}

/* Writes a number and a NUL, at most 21 bytes. Returns where the NUL is. */
static inline char *seep_os_put_decimal(char *at, uint64_t value)
{
    char digits[20];
    int n = 0;
    do
        digits[n++] = (char)('0' + value % 10);
    while (value /= 10);
    while (n)
        *at++ = digits[--n];
    *at = '\0';
    return at;
}

enum { SEEP_OS_DESCRIPTOR_PATH = sizeof("/proc/self/fd/") + 20 };

/* A name for the file behind `fd`, which also works if the descriptor itself cannot be read
 * (O_PATH). */
static inline void seep_os_descriptor_path(int fd, char path[SEEP_OS_DESCRIPTOR_PATH])
{
    strcpy(path, "/proc/self/fd/");
    (void)seep_os_put_decimal(path + strlen(path), fd < 0 ? 0 : (uint64_t)fd);
}

/* A lock that survives its holder: a thread that has waited for more than about two seconds gives
 * up, and no thread waits for it again until it has been released. The word is 0 free, 1 held, 2
 * held and waited for. After a fork the child sets it to 0: what the lock guards is consistent at
 * every instant. */
struct seep_lock {
    uint32_t word;
    uint32_t given_up;
#ifdef SEEP_CHECKED
    uint32_t rank; /* its row in preload/lifecycle.c, from 1 on; 0: none yet */
#endif
};

/* A thread takes locks by rising ranks. A lock that a signal's longjmp left held may be asked for
 * again, in vain. */
#ifdef SEEP_CHECKED
extern __thread uint32_t seep_os_ranks_held; /* bit rank − 1 */

static inline void seep_os_may_take(const struct seep_lock *lock)
{
    SEEP_CHECK(!lock->rank || seep_os_ranks_held >> lock->rank == 0);
}

static inline void seep_os_note_held(const struct seep_lock *lock, bool held)
{
    const uint32_t bit = lock->rank ? UINT32_C(1) << (lock->rank - 1) : 0;

    seep_os_ranks_held = held ? seep_os_ranks_held | bit : seep_os_ranks_held & ~bit;
}
#else
#define seep_os_may_take(lock)        ((void)(lock))
#define seep_os_note_held(lock, held) ((void)(lock))
#endif

/* For SEEP_CHECK() where a contract says who holds a lock; somebody does. */
static inline bool seep_os_is_locked(const struct seep_lock *lock)
{
    return __atomic_load_n(&lock->word, __ATOMIC_RELAXED) != 0;
}

static inline void seep_os_unlock(struct seep_lock *lock)
{
    SEEP_CHECK(seep_os_is_locked(lock));
    seep_os_note_held(lock, false);
    if (__atomic_load_n(&lock->given_up, __ATOMIC_RELAXED))
        __atomic_store_n(&lock->given_up, 0, __ATOMIC_RELAXED);
    if (__atomic_exchange_n(&lock->word, 0, __ATOMIC_RELEASE) == 2)
        (void)seep_os_call3(SYS_futex, (long)&lock->word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
}

/* Takes the lock if it is free: nobody waits, so its rank does not matter. */
static inline bool seep_os_try_lock(struct seep_lock *lock)
{
    uint32_t expected = 0;
    const bool taken = __atomic_compare_exchange_n(&lock->word, &expected, 1, false,
                                                   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);

    if (taken)
        seep_os_note_held(lock, true);
    return taken;
}

static inline bool seep_os_lock(struct seep_lock *lock)
{
    seep_os_may_take(lock);
    for (int spin = 0; spin < 100; spin++) {
        uint32_t expected = 0;
        if (__atomic_load_n(&lock->word, __ATOMIC_RELAXED) == 0 &&
            __atomic_compare_exchange_n(&lock->word, &expected, 1, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            seep_os_note_held(lock, true);
            return true;
        }
        seep_arch_pause();
    }
    if (__atomic_load_n(&lock->given_up, __ATOMIC_RELAXED))
        return false;
    uint64_t deadline = seep_os_clock_ns(CLOCK_MONOTONIC) + UINT64_C(2000000000);
    while (__atomic_exchange_n(&lock->word, 2, __ATOMIC_ACQUIRE) != 0) {
        struct timespec wait = {.tv_sec = 0, .tv_nsec = 100 * 1000 * 1000};
        seep_arch_pause(); /* in a sandbox without the call there is no other way to wait */
        (void)seep_os_call6(SYS_futex, (long)&lock->word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2,
                            (long)&wait, 0, 0);
        if (seep_os_clock_ns(CLOCK_MONOTONIC) > deadline) {
            __atomic_store_n(&lock->given_up, 1, __ATOMIC_RELAXED);
            return false;
        }
    }
    seep_os_note_held(lock, true);
    return true;
}

#endif
