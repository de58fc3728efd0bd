#include "viewer/look/remote_fork.h"

#include "libprof/base/clock.h"
#include "libprof/base/page_bytes.h"
#include "viewer/look/process_stat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef PTRACE_GET_RSEQ_CONFIGURATION
#define PTRACE_GET_RSEQ_CONFIGURATION 0x420f
#endif

enum { CLOSE_UNSHARE = 2 /* CLOSE_RANGE_UNSHARE */ };

/* ---- whether ----------------------------------------------------------------------------------*/

/* A list of groups may make the file long. */
static bool has_line(pid_t pid, const char *name, bool (*is_it)(const char *line))
{
    char path[64], line[4600];
    bool found = false;

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file))
        found = is_it(line);
    if (file)
        fclose(file);
    return found;
}

/* In its own pid namespace, as in a container. */
static bool is_of_first(const char *line)
{
    return strncmp(line, "NSpid:", 6) == 0 && strstr(line, "\t1\n");
}

static bool is_of_sandbox(const char *line)
{
    return strncmp(line, "Seccomp:\t", 9) == 0 && line[9] != '0';
}

static bool is_of_driver(const char *line)
{
    return strstr(line, "/libcuda.so") || strstr(line, "/dev/nvidia");
}

/* A reader of userfaultfd is told of forks, and may be who forks; memory that a network card writes
 * to stays with one of the two. */
static bool has_file_that_forbids(pid_t pid)
{
    char path[320], link[64];
    bool found = false;

    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && !found && (entry = readdir(directory));) {
        snprintf(path, sizeof path, "/proc/%d/fd/%s", (int)pid, entry->d_name);
        const ssize_t n = readlink(path, link, sizeof link - 1);
        link[n > 0 ? n : 0] = '\0';
        found = strcmp(link, "anon_inode:[userfaultfd]") == 0 ||
                strncmp(link, "/dev/infiniband/", 16) == 0;
    }
    if (directory)
        closedir(directory);
    return found;
}

/* Who may trace a process (CAP_SYS_PTRACE) need not be who may end its copy (CAP_KILL). */
static bool may_end(pid_t pid)
{
    return kill(pid, 0) == 0 || errno != EPERM;
}

const char *seep_remote_fork_why_not(pid_t pid)
{
    if (!may_end(pid))
        return "seep may not end a copy of it";
    if (pid == 1 || has_line(pid, "status", is_of_first))
        return "it is the first process here";
    if (has_line(pid, "status", is_of_sandbox))
        return "a sandbox may forbid it to fork";
    if (has_line(pid, "maps", is_of_driver))
        return "it uses the CUDA driver";
    if (has_file_that_forbids(pid))
        return "it uses userfaultfd or InfiniBand";
    return NULL;
}

/* ---- a system call in another process ---------------------------------------------------------*/

/* A thread, and where in its process the instruction is that makes a system call. */
struct caller {
    pid_t tid;
    uint64_t instruction;
};

static bool peek(pid_t pid, uint64_t address, void *to, size_t n)
{
    struct iovec here = {to, n}, there = {(void *)(uintptr_t)address, n};

    return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

/* The kernel's own page of code has one, and so has every libc. */
static uint64_t find_instruction(pid_t pid)
{
    enum { MOST = 4 << 20 };
    char path[64], line[4600];
    uint64_t found = 0;

    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        uint64_t start, end;
        char rights[5];
        if (sscanf(line, "%lx-%lx %4s", &start, &end, rights) != 3 || rights[2] != 'x' ||
            end - start > MOST || !(strstr(line, "[vdso]") || strstr(line, "/libc")))
            continue;
        const size_t n = (size_t)(end - start);
        uint8_t *bytes = malloc(n);
        const size_t at = bytes && peek(pid, start, bytes, n) ? seep_arch_find_call(bytes, n) : n;
        found = at < n ? start + at : 0;
        free(bytes);
    }
    if (file)
        fclose(file);
    return found;
}

/* Makes the call at the thread's place and puts everything back but what the call did. It is waited
 * for however long it takes: a thread that were left before its registers are back would crash.
 * `child`: where the call is a clone, who came of it. False: it was not made. */
static bool call(struct caller c, const long arguments[7], long *result, pid_t *child)
{
    struct user_regs_struct before, regs;
    uint64_t mask,
        all = ~(UINT64_C(1) << (SIGTRAP - 1)); /* who blocks it loses its handler by a step */
    int status = -1;

    if (!seep_stop_registers(c.tid, &before) ||
        ptrace(PTRACE_GETSIGMASK, c.tid, sizeof mask, &mask) < 0)
        return false;
    regs = before;
    seep_arch_set_call(&regs, c.instruction, arguments);
    if (ptrace(PTRACE_SETSIGMASK, c.tid, sizeof all, &all) == 0 &&
        seep_stop_set_registers(c.tid, &regs) && ptrace(PTRACE_SINGLESTEP, c.tid, NULL, NULL) == 0)
        status = seep_stop_wait(c.tid, SEEP_STOP_NO_DEADLINE);
    if (child && status >= 0 && status >> 8 == (SIGTRAP | PTRACE_EVENT_CLONE << 8)) {
        unsigned long pid = 0;
        (void)ptrace(PTRACE_GETEVENTMSG, c.tid, NULL, &pid);
        *child = (pid_t)pid;
        (void)ptrace(PTRACE_SINGLESTEP, c.tid, NULL, NULL);
        status = seep_stop_wait(c.tid, SEEP_STOP_NO_DEADLINE);
    }
    bool made = status >= 0 && WIFSTOPPED(status) && seep_stop_registers(c.tid, &regs) &&
                seep_arch_pc(&regs) == c.instruction + SEEP_ARCH_CALL_BYTES;
    *result = made ? seep_arch_result(&regs) : -1;
    (void)seep_stop_set_registers(c.tid, &before);
    (void)ptrace(PTRACE_SETSIGMASK, c.tid, sizeof mask, &mask);
    return made;
}

/* ---- the copy ---------------------------------------------------------------------------------*/

/* Where a thread is in a restartable sequence (rseq(2)), the kernel would take the call for its
 * end.
 */
static bool is_in_sequence(pid_t tid)
{
    struct {
        uint64_t address;
        uint32_t bytes, signature, flags, pad;
    } rseq = {0};
    uint64_t sequence = 0;

    if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, tid, sizeof rseq, &rseq) < 0 || !rseq.address)
        return false;
    return !peek(tid, rseq.address + 8, &sequence, sizeof sequence) || sequence != 0;
}

/* The first child in a new pid namespace is its init: all others end with it. */
static bool begins_namespace(pid_t tid)
{
    char path[64];
    struct stat own, of_children;

    snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)tid);
    bool known = stat(path, &own) == 0;
    snprintf(path, sizeof path, "/proc/%d/ns/pid_for_children", (int)tid);
    return !known || stat(path, &of_children) < 0 || own.st_ino != of_children.st_ino;
}

static pid_t choose_thread(const struct seep_stopped *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct user_regs_struct regs;
        const struct seep_stopped_thread *t = &s->threads[i];
        if (!t->signal && !t->by_job && seep_stop_registers(t->tid, &regs) &&
            !is_in_sequence(t->tid) && !begins_namespace(t->tid))
            return t->tid;
    }
    return 0;
}

static bool is_to_go_first(pid_t pid)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/oom_score_adj", (int)pid);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    const bool told = fd >= 0 && write(fd, "1000", 4) == 4;
    if (fd >= 0)
        close(fd);
    return told;
}

/* A clone without a signal at its end, traced from its first instruction on, which it has yet to
 * make: of this job the kernel ends it first, should its memory run out. `number`: that the
 * caller knows it by, who may be in a container. */
static pid_t clone_of(struct caller c, long options, long *number)
{
    const long arguments[7] = {SYS_clone, CLONE_FILES};
    pid_t child = 0;

    if (ptrace(PTRACE_SETOPTIONS, c.tid, NULL, (void *)(intptr_t)(options | PTRACE_O_TRACECLONE)))
        return 0;
    (void)call(c, arguments, number, &child);
    (void)ptrace(PTRACE_SETOPTIONS, c.tid, NULL, (void *)(intptr_t)options);
    if (child && (seep_stop_wait(child, SEEP_STOP_NO_DEADLINE) < 0 || !is_to_go_first(child))) {
        (void)seep_remote_fork_end(child);
        child = 0;
    }
    return child;
}

static bool is_true(struct caller c, long option)
{
    /* PR_GET_CHILD_SUBREAPER stores into memory: below the stack's red zone nothing is kept. */
    struct user_regs_struct regs;
    long result;
    int32_t value = 0, was;

    if (!seep_stop_registers(c.tid, &regs))
        return true;
    const uint64_t at = (seep_arch_sp(&regs) - SEEP_ARCH_RED_ZONE - 896) & ~UINT64_C(7);
    if (!peek(c.tid, at, &was, sizeof was))
        return true;
    const long arguments[7] = {SYS_prctl, option, (long)at};
    bool made =
        call(c, arguments, &result, NULL) && result == 0 && peek(c.tid, at, &value, sizeof value);
    struct iovec here = {&was, sizeof was}, there = {(void *)(uintptr_t)at, sizeof was};
    (void)!process_vm_writev(c.tid, &here, 1, &there, 1, 0);
    return !made || value != 0;
}

/* What is mapped and shared would keep a file's lock, its room, a seal from being set. */
static bool unmap_shared(struct caller copy)
{
    enum { MOST = 256 };
    uint64_t ranges[MOST][2];
    char path[64], line[4600], rights[5];
    size_t n = 0;
    long result;
    bool done = true;

    snprintf(path, sizeof path, "/proc/%d/maps", (int)copy.tid);
    FILE *file = fopen(path, "re");
    while (file && n < MOST && fgets(line, sizeof line, file))
        n += sscanf(line, "%lx-%lx %4s", &ranges[n][0], &ranges[n][1], rights) == 3 &&
             rights[3] == 's';
    if (file)
        fclose(file);
    for (size_t i = 0; i < n && done; i++) {
        const long unmap[7] = {SYS_munmap, (long)ranges[i][0], (long)(ranges[i][1] - ranges[i][0])};
        done = call(copy, unmap, &result, NULL) && result == 0;
    }
    return file && n < MOST && done;
}

static bool shed(struct caller copy)
{
    const long close_all[7] = {SYS_close_range, 0, (long)UINT_MAX, CLOSE_UNSHARE};
    long result;

    return call(copy, close_all, &result, NULL) && result == 0 && unmap_shared(copy);
}

/* The copy of the go-between, which ends here. */
static pid_t copy_of(struct caller between)
{
    struct caller copy = between;
    long number;

    copy.tid = clone_of(between, PTRACE_O_EXITKILL, &number);
    if (copy.tid && !shed(copy)) {
        (void)seep_remote_fork_end(copy.tid);
        copy.tid = 0;
    }
    if (copy.tid)
        (void)ptrace(PTRACE_SETOPTIONS, copy.tid, NULL, (void *)(intptr_t)PTRACE_O_EXITKILL);
    kill(between.tid, SIGKILL);
    (void)waitpid(between.tid, NULL, __WALL);
    return copy.tid;
}

int seep_remote_fork(const struct seep_stopped *s, pid_t *copy)
{
    struct caller c = {.tid = choose_thread(s), .instruction = 0};
    struct caller between;
    long number = 0, result;

    *copy = 0;
    if (c.tid)
        c.instruction = find_instruction(s->pid);
    if (!c.instruction || is_true(c, PR_GET_CHILD_SUBREAPER))
        return -SEEP_EIO;
    between = c;
    between.tid = clone_of(c, 0, &number);
    if (between.tid)
        *copy = copy_of(between);
    const long wait[7] = {SYS_wait4, number, 0, __WALL};
    if (number > 0)
        (void)call(c, wait, &result, NULL);
    return *copy ? 0 : -SEEP_EIO;
}

static bool stands(pid_t copy)
{
    struct seep_process_stat stat;

    return seep_process_stat(copy, &stat) && stat.state == 't';
}

/* Whole pages between the ranges. One of a file comes back when it is read: also that of the
 * instruction. */
bool seep_remote_fork_keep(pid_t copy, const struct seep_dump *dump)
{
    enum { MUCH = 512 << 10 };
    const uint64_t page = seep_page_bytes();
    const struct caller c = {.tid = copy, .instruction = find_instruction(copy)};
    long result;

    for (size_t i = 1; i < dump->n_ranges && c.instruction; i++) {
        const uint64_t from = (dump->ranges[i - 1].end + page - 1) / page * page;
        const uint64_t bytes = dump->ranges[i].start / page * page - from;
        const long forget[7] = {SYS_madvise, (long)from, (long)bytes, MADV_DONTNEED};
        if (from + MUCH <= dump->ranges[i].start && !call(c, forget, &result, NULL))
            break;
    }
    return stands(copy);
}

/* Of one that was killed the memory goes before it is seen to have ended. */
bool seep_remote_fork_end(pid_t copy)
{
    const bool stood = stands(copy);

    kill(copy, SIGKILL);
    (void)waitpid(copy, NULL, __WALL);
    return stood;
}
