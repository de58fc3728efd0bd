/* Reads the process in a copy, or in place while the process waits.
 *
 * clone() makes the copy without a signal for its end, so neither the job's SIGCHLD handlers nor
 * its waits see it. All signals are blocked before it begins: no handler of the job's runs in it.
 * It begins by sharing the job's descriptor table, and immediately leaves that for an empty one: a
 * copied table would keep files open that the job closes meanwhile. While it leaves, the kernel
 * holds the first 64 of them for some microseconds. Then it sheds whatever else of the job's
 * somebody might miss, and the caller goes on. It calls only the kernel, and has one thread. */
#include "preload/snapshot/snapshot_copy.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "libprof/arch/arch.h"
#include "libprof/runtime/program/memory_room.h"
#include "libprof/runtime/store/os.h"
#include "preload/snapshot/snapshot_copy_parts.h"
#include "preload/snapshot/snapshot_harm.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2
#endif

enum {
    PATIENCE_S = 5, /* wait this long for a reader to begin, … */
    READING_S = 10, /* … and this long for it to go on: reading takes half a second */
    LOOK_MS = 100,  /* how often it checks whether there still is a reader */
    MAX_CPU_S = 20, /* to build its lists, which takes a tenth of a second */
};

static _Noreturn void end(int status)
{
    for (;;)
        (void)seep_os_call3(SYS_exit_group, status, 0, 0);
}

struct maker {
    int pid, tid;
};

static void end_with(const struct maker *maker)
{
    if (seep_os_ppid() != maker->pid)
        end(0);
}

static _Noreturn void leave(struct seep_snapshot_slot *slot, int status)
{
    slot->process_plus_1 = 0;
    slot->snapshot = 0;
    __atomic_store_n(&slot->state, SEEP_SNAPSHOT_FREE, __ATOMIC_RELEASE);
    end(status);
}

static _Noreturn void refuse(struct seep_snapshot_slot *slot, enum seep_snapshot_refusal why)
{
    leave(slot, SEEP_COPY_REFUSED + (int)why);
}

/* If a container forbids leaving a shared table, the next copy gets a table of its own. */
static bool own_table;

/* Nothing may be closed in a shared table. */
static bool leave_files(void)
{
    if (seep_os_call3(SYS_close_range, 0, (long)UINT32_MAX, CLOSE_RANGE_UNSHARE) == 0)
        return true;
    if (!own_table && seep_os_call3(SYS_unshare, CLONE_FILES, 0, 0) < 0)
        return false;
    struct rlimit64 most = {.rlim_cur = 1024};
    (void)seep_os_call6(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&most, 0, 0);
    for (long fd = 0; fd < (long)most.rlim_cur; fd++) /* the kernel is older than 5.9 */
        (void)seep_os_call3(SYS_close, fd, 0, 0);
    return true;
}

static void limit(int resource, uint64_t most)
{
    struct rlimit64 both = {most, most};
    (void)seep_os_call6(SYS_prlimit64, 0, resource, (long)&both, 0, 0, 0);
}

/* The copy has no priority over others, and leaves no core dump: programs that receive cores
 * through a pipe respect a limit of 1 byte, too. */
static void step_back(void)
{
    const struct sched_param plain = {0};
    (void)seep_os_call3(SYS_sched_setscheduler, 0, SCHED_OTHER, (long)&plain);
    limit(RLIMIT_CORE, 1);
    limit(RLIMIT_CPU, MAX_CPU_S);
}

static bool is_awaited(const struct seep_snapshot_slot *slot)
{
    const uint32_t reader = __atomic_load_n(&slot->reader, __ATOMIC_ACQUIRE);
    return reader && seep_os_call3(SYS_kill, reader, 0, 0) != -ESRCH;
}

/* `seep run` sleeps until a child ends or there is something to look at: SIGCHLD wakes it. */
static void ring(const struct seep_snapshot_slot *slot)
{
    (void)seep_os_call3(SYS_kill, slot->reader, SIGCHLD, 0);
}

/* Yama lets a process be read only by its ancestors, and by the processes that it names and their
 * descendants. */
static void admit_reader(const struct seep_snapshot_slot *slot)
{
    (void)seep_os_call3(SYS_prctl, PR_SET_PTRACER, slot->reader, 0);
}

static bool is_late(const struct seep_snapshot_slot *slot, uint64_t since_ns)
{
    const bool read = __atomic_load_n(&slot->reading, __ATOMIC_ACQUIRE) == slot->copy;
    const uint64_t waited_ns = seep_os_clock_ns(CLOCK_MONOTONIC) - since_ns;
    return waited_ns > (read ? READING_S : PATIENCE_S) * UINT64_C(1000000000);
}

/* Another copy may wait in a slot that this one has lost. */
static bool is_own(const struct seep_snapshot_slot *slot)
{
    return __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == SEEP_SNAPSHOT_READY &&
           __atomic_load_n(&slot->copy, __ATOMIC_ACQUIRE) == (uint32_t)seep_os_pid();
}

static _Noreturn void wait_to_be_read(struct seep_snapshot_slot *slot, const struct maker *maker)
{
    const struct timespec moment = {.tv_nsec = LOOK_MS * 1000 * 1000};
    const uint64_t since_ns = seep_os_clock_ns(CLOCK_MONOTONIC);
    ring(slot);
    const uint64_t own_pages = seep_snapshot_own_pages();
    while (is_own(slot)) {
        end_with(maker);
        if (!is_awaited(slot) || is_late(slot, since_ns))
            refuse(slot, SEEP_REFUSED_UNREAD);
        (void)seep_os_call6(SYS_futex, (long)&slot->state, FUTEX_WAIT, SEEP_SNAPSHOT_READY,
                            (long)&moment, 0, 0);
    }
    if (slot->copy != (uint32_t)seep_os_pid() || slot->state != SEEP_SNAPSHOT_DONE)
        end(0); /* its maker has ended it, and the slot belongs to another */
    const uint64_t now = seep_snapshot_own_pages();
    slot->written = now > own_pages ? (uint32_t)(now - own_pages) : 0;
    leave(slot, 0);
}

/* If the job is killed, the copy ends too: nobody inherits a child that they do not know. The
 * kernel reports the end of the thread that made the copy, which is the end of the process for its
 * first thread only; copies made by other threads check the process while they wait. */
static void follow_maker(const struct maker *maker)
{
    if (maker->tid == maker->pid)
        (void)seep_os_call3(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0);
    end_with(maker);
}

static int describe(struct seep_snapshot *s, const uintptr_t *registers)
{
    s->stack_pointer = (uintptr_t)registers;
    s->thread_pointer = seep_arch_thread_pointer();
    return seep_snapshot_fill(s);
}

/* From here on it may be read. */
static void publish(struct seep_snapshot_slot *slot, struct seep_snapshot *s)
{
    __atomic_store_n(&s->magic, SEEP_SNAPSHOT_MAGIC, __ATOMIC_RELEASE);
    slot->snapshot = (uintptr_t)s;
    __atomic_store_n(&slot->state, SEEP_SNAPSHOT_READY, __ATOMIC_RELEASE);
}

/* `registers`, above the stack pointer, has what registers still hold of the caller's. The copy is
 * not born until it has released everything of the job's: until then its maker waits, and learns
 * why if it ended. */
static _Noreturn void be_copy(struct seep_snapshot_slot *slot, uint32_t step, uint32_t period,
                              const uintptr_t *registers, const struct maker *maker)
{
    struct seep_snapshot *s;
    follow_maker(maker);
    (void)seep_os_call3(SYS_prctl, PR_SET_NAME, (long)"seep-copy", 0);
    if (!leave_files())
        end(SEEP_COPY_REFUSED + SEEP_REFUSED_FILES);
    (void)seep_memory_volunteer(); /* needs a descriptor, which may not be one of the job's */
    if (!seep_snapshot_shed())
        end(SEEP_COPY_REFUSED + SEEP_REFUSED_MAPS);
    __atomic_store_n(&slot->copy, (uint32_t)seep_os_pid(), __ATOMIC_RELEASE);
    (void)seep_os_call3(SYS_futex, (long)&slot->copy, FUTEX_WAKE, 1);
    step_back();
    admit_reader(slot);
    s = seep_os_pages(sizeof(*s));
    if (!s)
        refuse(slot, SEEP_REFUSED_NO_ROOM);
    s->step = step;
    s->period = period;
    seep_snapshot_unlock_all();
    int refusal = describe(s, registers);
    if (refusal)
        refuse(slot, (enum seep_snapshot_refusal)refusal);
    seep_snapshot_drop(s);
    publish(slot, s);
    wait_to_be_read(slot, maker);
}

uint64_t seep_snapshot_block_signals(void)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t mask = 0;
    (void)seep_os_call6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&mask, sizeof(mask), 0,
                        0);
    return mask;
}

void seep_snapshot_restore_signals(uint64_t mask)
{
    (void)seep_os_call6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof(mask), 0, 0);
}

long seep_snapshot_clone(struct seep_snapshot_slot *slot, uint32_t step, uint32_t period)
{
    const struct maker maker = {seep_os_pid(), seep_os_tid()};
    uintptr_t registers[SEEP_ARCH_N_SAVED];
    SEEP_ARCH_SAVE(registers);
    long pid =
        seep_os_call6(SYS_clone, CLONE_UNTRACED | (own_table ? 0 : CLONE_FILES), 0, 0, 0, 0, 0);
    if (pid == 0)
        be_copy(slot, step, period, registers, &maker);
    return pid;
}

/* Waits until the reader is done; if none has come in time, the slot is taken away from it. */
static bool wait_in_place(struct seep_snapshot_slot *slot, uint64_t most_ns)
{
    const uint64_t end_ns = seep_os_clock_ns(CLOCK_MONOTONIC) + most_ns;
    const struct timespec moment = {.tv_nsec = 10 * 1000 * 1000};
    ring(slot);
    while (__atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == SEEP_SNAPSHOT_READY) {
        uint32_t ready = SEEP_SNAPSHOT_READY;
        if (seep_os_clock_ns(CLOCK_MONOTONIC) > end_ns || !is_awaited(slot))
            (void)__atomic_compare_exchange_n(&slot->state, &ready, SEEP_SNAPSHOT_TAKEN, false,
                                              __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
        else
            (void)seep_os_call6(SYS_futex, (long)&slot->state, FUTEX_WAIT, SEEP_SNAPSHOT_READY,
                                (long)&moment, 0, 0);
    }
    return slot->state == SEEP_SNAPSHOT_DONE;
}

int seep_snapshot_in_place(struct seep_snapshot_slot *slot, uint32_t step, uint32_t period,
                           uint64_t most_ns)
{
    struct seep_snapshot *s = seep_os_pages(sizeof(*s));
    uintptr_t registers[SEEP_ARCH_N_SAVED];
    int refusal = SEEP_REFUSED_NO_ROOM;
    if (!s)
        return refusal;
    SEEP_ARCH_SAVE(registers);
    s->step = step;
    s->period = period;
    slot->copy = (uint32_t)seep_os_pid();
    refusal = describe(s, registers);
    if (!refusal) {
        publish(slot, s);
        if (!wait_in_place(slot, most_ns))
            refusal = SEEP_REFUSED_UNREAD;
    }
    seep_snapshot_forget(s);
    seep_os_unmap(s, sizeof(*s));
    return refusal ? refusal : SEEP_N_SNAPSHOT_REFUSALS;
}

/* For children whose end raises no signal, like a copy's: if somebody else has reaped it, this
 * cannot reap another child that now has its pid. 0: it has not ended. */
static long take_end(long pid, int *status)
{
    return seep_os_call6(SYS_wait4, pid, (long)status, WNOHANG | __WCLONE, 0, 0, 0);
}

bool seep_snapshot_end(long pid, unsigned most_ms)
{
    const struct timespec moment = {.tv_nsec = 1000 * 1000};
    const uint32_t never = 0;
    int status;
    if (take_end(pid, &status) != 0)
        return true;
    (void)seep_os_call3(SYS_kill, pid, SIGKILL, 0);
    for (unsigned ms = 0; ms < most_ms; ms++) {
        if (take_end(pid, &status) != 0)
            return true;
        (void)seep_os_call6(SYS_futex, (long)&never, FUTEX_WAIT, 0, (long)&moment, 0, 0);
    }
    return false;
}

int seep_snapshot_reap(long pid, enum seep_snapshot_refusal *refusal)
{
    int status = 0;
    const long found = take_end(pid, &status);
    if (found == 0)
        return 0;
    *refusal = SEEP_REFUSED_DIED;
    if (found == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        *refusal = SEEP_N_SNAPSHOT_REFUSALS;
    else if (found == pid && WIFEXITED(status) && WEXITSTATUS(status) >= SEEP_COPY_REFUSED &&
             WEXITSTATUS(status) < SEEP_COPY_REFUSED + SEEP_N_SNAPSHOT_REFUSALS)
        *refusal = (enum seep_snapshot_refusal)(WEXITSTATUS(status) - SEEP_COPY_REFUSED);
    own_table = own_table || *refusal == SEEP_REFUSED_FILES;
    return 1;
}
