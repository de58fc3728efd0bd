/* Hooks of other ways into the kernel: the end of the heap, calls by number, and the call by which
 * a job restricts its own calls. */
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "libprof/arch/arch.h"
#include "preload/hooks/maps.h"
#include "preload/hooks/signals.h"
#include "preload/life/sandbox.h"
#include "preload/life/start.h"
#include "preload/record/capture.h"
#include "preload/record/map_set.h"

/* libc's variable, which its malloc reads: whoever moves the end of the heap updates it. */
extern void *__curbrk __attribute__((weak));

static uintptr_t raw_break(uintptr_t end)
{
    return (uintptr_t)seep_arch_call6(SYS_brk, (long)end, 0, 0, 0, 0, 0);
}

static uintptr_t known_break(void)
{
    return &__curbrk && __curbrk ? (uintptr_t)__curbrk : raw_break(0);
}

static int real_brk(void *end)
{
    if (seep_real.brk)
        return seep_real.brk(end);
    uintptr_t now = raw_break((uintptr_t)end);
    if (&__curbrk)
        __curbrk = (void *)now;
    if (now >= (uintptr_t)end)
        return 0;
    errno = ENOMEM;
    return -1;
}

static void *real_sbrk(intptr_t more)
{
    if (seep_real.sbrk)
        return seep_real.sbrk(more);
    uintptr_t before = known_break(), wanted = before + (uintptr_t)more;
    if ((more > 0 && wanted < before) || (more < 0 && wanted > before)) {
        errno = ENOMEM;
        return (void *)-1;
    }
    return more && real_brk((void *)wanted) != 0 ? (void *)-1 : (void *)before;
}

/* Counts only what the job itself has moved: libc's malloc moves the end of the heap without coming
 * here. Inside the guard. */
static void moved(enum seep_hook hook, uintptr_t before, uintptr_t now,
                  const struct seep_regs *regs)
{
    int saved_errno = errno;
    seep_note_hook(hook);
    if (now < before)
        seep_map_gone(now, before);
    else if (now > before)
        seep_map_made(SEEP_SPACE_MMAP, SEEP_RANGE_COMMITTED, before, now - before, regs);
    errno = saved_errno;
}

SEEP_EXPORT void *sbrk(intptr_t more)
{
    uint64_t mask;
    struct seep_regs regs = SEEP_REGS();
    if (!more || seep_start_is_allocator(regs.ra) || !seep_enter_call(&mask))
        return real_sbrk(more);
    void *before = real_sbrk(more);
    if (before != (void *)-1)
        moved(SEEP_HOOK_sbrk, (uintptr_t)before, (uintptr_t)before + (uintptr_t)more, &regs);
    seep_leave_call(&mask);
    return before;
}

SEEP_EXPORT int brk(void *end)
{
    uint64_t mask;
    struct seep_regs regs = SEEP_REGS();
    if (seep_start_is_allocator(regs.ra) || !seep_enter_call(&mask))
        return real_brk(end);
    uintptr_t before = known_break();
    int result = real_brk(end);
    if (result == 0)
        moved(SEEP_HOOK_brk, before, (uintptr_t)end, &regs);
    seep_leave_call(&mask);
    return result;
}

static long break_by_number(uintptr_t end, const struct seep_regs *regs)
{
    uint64_t mask;
    if (!end || seep_start_is_allocator(regs->ra) || !seep_enter_call(&mask))
        return (long)raw_break(end);
    uintptr_t before = raw_break(0), now = raw_break(end);
    moved(SEEP_HOOK_syscall, before, now, regs);
    seep_leave_call(&mask);
    return (long)now;
}

/* The calls that are hooked under their names. */
const unsigned char seep_syscall_table[] = {
    [SYS_mmap] = 1,   [SYS_mprotect] = 1, [SYS_munmap] = 1,       [SYS_brk] = 1,
    [SYS_mremap] = 1, [SYS_madvise] = 1,  [SYS_shmat] = 1,        [SYS_shmdt] = 1,
    [SYS_prctl] = 1,  [SYS_seccomp] = 1,  [SYS_memfd_create] = 1,
};

/* Always six arguments, as libc's own function takes them. */
typedef long call_fn(long number, long a, long b, long c, long d, long e, long f);

call_fn seep_syscall_unwatched, seep_syscall_watched;
long seep_syscall_unwatched(long number, long a, long b, long c, long d, long e, long f)
{
    long result = seep_arch_call6(number, a, b, c, d, e, f);
    if (!seep_os_failed((void *)result))
        return result;
    errno = (int)-result;
    return -1;
}

static long pass_by_number(const long *call)
{
    call_fn *behind =
        seep_real.syscall ? (call_fn *)(void *)seep_real.syscall : seep_syscall_unwatched;
    return behind(call[0], call[1], call[2], call[3], call[4], call[5], call[6]);
}

static long lock_in(const long *call, const struct seep_filter_call *what)
{
    struct seep_sandbox_before before;
    seep_sandbox_before(what, &before);
    long result = pass_by_number(call);
    seep_sandbox_after(what, &before, result);
    return result;
}

/* UCX and other libraries of MPI's write jumps into libc's sbrk() and mmap(), so that what malloc
 * asks the system for comes here by number. It is for a block that is counted as such. */
static bool is_mallocs(long number, const struct seep_regs *regs)
{
    uint64_t mask;
    bool within;
    if ((number != SYS_brk && number != SYS_mmap && number != SYS_mremap) ||
        !seep_enter_call(&mask))
        return false;
    within = seep_capture_is_within_hook(seep_tls.thread, regs);
    seep_leave_call(&mask);
    return within;
}

static __attribute__((noinline)) long by_number(const long *call, struct seep_regs regs)
{
    if (is_mallocs(call[0], &regs))
        return pass_by_number(call);
    switch (call[0]) {
    case SYS_mmap:
        return (long)seep_maps_mmap(SEEP_HOOK_syscall, (void *)call[1], (size_t)call[2],
                                    (int)call[3], (int)call[4], (int)call[5], call[6], regs);
    case SYS_munmap:
        return seep_maps_munmap(SEEP_HOOK_syscall, (void *)call[1], (size_t)call[2]);
    case SYS_mremap:
        return (long)seep_maps_mremap(SEEP_HOOK_syscall, (void *)call[1], (size_t)call[2],
                                      (size_t)call[3], (int)call[4], (void *)call[5], regs);
    case SYS_mprotect:
        return seep_maps_mprotect(SEEP_HOOK_syscall, (void *)call[1], (size_t)call[2], (int)call[3],
                                  regs);
    case SYS_madvise:
        return seep_maps_madvise(SEEP_HOOK_syscall, (void *)call[1], (size_t)call[2], (int)call[3]);
    case SYS_brk:
        return break_by_number((uintptr_t)call[1], &regs);
    case SYS_shmat:
        return (long)seep_maps_shmat(SEEP_HOOK_syscall, (int)call[1], (const void *)call[2],
                                     (int)call[3], regs);
    case SYS_shmdt:
        return seep_maps_shmdt(SEEP_HOOK_syscall, (const void *)call[1]);
    case SYS_memfd_create:
        return seep_maps_memfd_create(SEEP_HOOK_syscall, (const char *)call[1], (unsigned)call[2]);
    case SYS_seccomp:
        if (call[1] == SECCOMP_SET_MODE_STRICT || call[1] == SECCOMP_SET_MODE_FILTER)
            return lock_in(
                call, &(struct seep_filter_call){
                          .strict = call[1] == SECCOMP_SET_MODE_STRICT,
                          .all_threads = (unsigned long)call[2] & SECCOMP_FILTER_FLAG_TSYNC,
                          .hands_out = (unsigned long)call[2] & SECCOMP_FILTER_FLAG_NEW_LISTENER,
                          .filter = (const void *)call[3]});
        break;
    case SYS_prctl:
        if (call[1] == PR_SET_SECCOMP)
            return lock_in(call,
                           &(struct seep_filter_call){.strict = call[2] == SECCOMP_MODE_STRICT,
                                                      .filter = (const void *)call[3]});
        break;
    }
    return pass_by_number(call);
}

long seep_syscall_watched(long number, long a, long b, long c, long d, long e, long f)
{
    const long call[] = {number, a, b, c, d, e, f};
    return by_number(call, SEEP_REGS());
}

/* A call that is not watched finds registers and stack as if it had come there at once, for it may
 * be clone(). Nor is the last argument's place written to: where there are fewer, it is something
 * of the caller's. */
SEEP_ARCH_ENTRY(syscall,
                SEEP_ARCH_SELECT_CALL("seep_syscall_table", "seep_syscall_watched", "seep_real",
                                      "seep_syscall_unwatched"),
                [n] "i"(sizeof(seep_syscall_table)), [at] "i"(offsetof(struct seep_real, syscall)))

SEEP_EXPORT int prctl(int option, ...)
{
    va_list list;
    unsigned long a[4];
    va_start(list, option);
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(list, unsigned long);
    va_end(list);
    const struct seep_filter_call what = {.strict = a[0] == SECCOMP_MODE_STRICT,
                                          .filter = (const void *)a[1]};
    struct seep_sandbox_before before;
    if (option == PR_SET_SECCOMP)
        seep_sandbox_before(&what, &before);
    int result = seep_real.prctl
                     ? seep_real.prctl(option, a[0], a[1], a[2], a[3])
                     : (int)seep_syscall_unwatched(SYS_prctl, option, (long)a[0], (long)a[1],
                                                   (long)a[2], (long)a[3], 0);
    if (option == PR_SET_SECCOMP)
        seep_sandbox_after(&what, &before, result);
    return result;
}
