#include "preload/life/sandbox.h"

#include <linux/audit.h>
#include <stdint.h>
#include <string.h>

#include "libprof/arch/arch.h"
#include "libprof/format/page_format.h"
#include "libprof/runtime/store/arena.h"
#include "preload/job/job.h"
#include "preload/life/environment.h"
#include "preload/life/seccomp_filter.h"
#include "preload/record/thread.h"

/* A line of /proc/self/status: what follows `key`, up to the line's end. */
static const char *find(const char *status, const char *key)
{
    const char *at = strstr(status, key);
    if (!at)
        return "";
    at += strlen(key);
    return at + strspn(at, " \t");
}

static uint32_t number(const char *text)
{
    uint32_t n = 0;
    while (*text >= '0' && *text <= '9')
        n = n * 10 + (uint32_t)(*text++ - '0');
    return n;
}

/* A program runs under a filter if the process that installed it, or a descendant of that, started
 * it: the environment says so (environment.c). Only then /proc is read, because that takes a
 * while. */
bool seep_sandbox_permits(bool told)
{
    static SEEP_LARGE char status[2048];
    char name[16];
    if (!told || seep_os_read_file("/proc/self/status", status, sizeof(status)) <= 0)
        return true;
    const char *comm = find(status, "Name:");
    size_t n_name = strcspn(comm, "\n");
    n_name = n_name < sizeof(name) ? n_name : sizeof(name) - 1;
    memcpy(name, comm, n_name);
    name[n_name] = '\0';
    seep_os_sandboxed = true;
    seep_job_note_sandboxed(number(find(status, "\nPid:")), number(find(status, "\nPPid:")), name);
    return false;
}

/* ---- filters --------------------------------------------------------------------------------- */

static uint32_t n_filters; /* installed, or about to be */

#define PRIVATE (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)
#define NO_FILE UINT64_MAX
#define LEAST   SEEP_LEAST_PAGE_BYTES

/* Permitted only if each of these calls is. */
static const struct {
    uint32_t permission;
    int number;
    uint64_t arguments[6];
} calls[] = {
    {SEEP_OS_MMAP, SYS_mmap, {0, LEAST, PROT_READ | PROT_WRITE, PRIVATE, NO_FILE, 0}},
    {SEEP_OS_MMAP, SYS_mmap, {0, 64 << 20, PROT_READ | PROT_WRITE, PRIVATE, NO_FILE, 0}},
    {SEEP_OS_MMAP, SYS_mmap, {0, 64 << 20, PROT_NONE, PRIVATE, NO_FILE, 0}},
    {SEEP_OS_MUNMAP, SYS_munmap, {1 << 20, LEAST, 0, 0, 0, 0}},
    {SEEP_OS_MUNMAP, SYS_munmap, {1 << 20, 64 << 20, 0, 0, 0, 0}},
    {SEEP_OS_FUTEX, SYS_futex, {1 << 20, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2, 1 << 20, 0, 0}},
    {SEEP_OS_FUTEX, SYS_futex, {1 << 20, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, 0, 0, 0}},
    {SEEP_OS_PROBE, SYS_rt_sigprocmask, {SEEP_OS_INVALID_HOW, 1 << 20, 0, 8, 0, 0}},
};

static bool is_readable(const void *at, size_t bytes)
{
    for (uintptr_t page = seep_os_page_down((uintptr_t)at); page < (uintptr_t)at + bytes;
         page += seep_os_page_bytes())
        if (!seep_os_readable((const void *)(page > (uintptr_t)at ? page : (uintptr_t)at)))
            return false;
    return true;
}

/* Whether the check is possible: if the filter does not allow it, nothing is read. */
static bool may_probe(void)
{
    return !seep_os_sandboxed || (seep_os_permitted & SEEP_OS_PROBE);
}

/* What seep may still do under this filter. */
static uint32_t permitted_by(const struct sock_fprog *given)
{
    struct sock_fprog program;
    uint32_t permitted = SEEP_OS_MMAP | SEEP_OS_MUNMAP | SEEP_OS_FUTEX | SEEP_OS_PROBE;
    if (!given || !may_probe() || !is_readable(given, sizeof(program)))
        return 0;
    program = *given;
    if (program.len > BPF_MAXINSNS ||
        !is_readable(program.filter, program.len * sizeof(*program.filter)))
        return 0;
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        struct seccomp_data call = {.nr = calls[i].number, .arch = SEEP_ARCH_AUDIT};
        memcpy(call.args, calls[i].arguments, sizeof(call.args));
        if (!seep_filter_allows(program.filter, program.len, &call))
            permitted &= ~calls[i].permission;
    }
    return permitted;
}

/* Does not wait for a thread that stalls, or that a signal took out of its call for good. Others
 * only need a CPU: going on too early may end the job. */
static void wait_for_others(void)
{
    enum { PATIENCE_MS = 200 };
    (void)seep_os_settle(PATIENCE_MS * UINT64_C(1000000), n_filters == 1 /* none is there yet */);
}

void seep_sandbox_before(const struct seep_filter_call *call, struct seep_sandbox_before *before)
{
    const int saved_errno = errno;
    const uint32_t permitted = call->strict ? 0 : permitted_by(call->filter);
    before->entered = seep_enter();
    if (before->entered && seep_os_lock(&seep_arena.lock)) {
        seep_arena_stock_up();
        seep_os_unlock(&seep_arena.lock);
    }
    seep_environment_note_reach();
    before->permitted = seep_os_permitted;
    before->activity = *seep_activity;
    before->trouble = seep_process->trouble;
    before->trouble_errno = seep_process->trouble_errno;
    if (before->entered)
        seep_job_trouble(SEEP_TROUBLE_SANDBOX, 0);
    if (call->strict)
        __atomic_store_n(seep_activity, SEEP_OFF, __ATOMIC_RELEASE);
    seep_os_permitted = seep_os_sandboxed ? seep_os_permitted & permitted : permitted;
    __atomic_add_fetch(&n_filters, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&seep_os_sandboxed, true, __ATOMIC_SEQ_CST);
    if (call->all_threads)
        wait_for_others();
    if (before->entered)
        seep_leave();
    errno = saved_errno;
}

/* With SECCOMP_FILTER_FLAG_TSYNC a positive result is the thread that could not follow. */
static bool has_worked(const struct seep_filter_call *call, long result)
{
    return result == 0 || (call->hands_out && result > 0);
}

void seep_sandbox_after(const struct seep_filter_call *call,
                        const struct seep_sandbox_before *before, long result)
{
    if (has_worked(call, result))
        return;
    if (__atomic_sub_fetch(&n_filters, 1, __ATOMIC_SEQ_CST))
        return; /* there is an earlier one: what it was found to permit stays */
    __atomic_store_n(&seep_os_sandboxed, false, __ATOMIC_SEQ_CST);
    seep_os_permitted = before->permitted;
    if (call->strict)
        __atomic_store_n(seep_activity, before->activity, __ATOMIC_RELEASE);
    if (before->entered)
        seep_job_trouble((enum seep_trouble)before->trouble, before->trouble_errno);
}
