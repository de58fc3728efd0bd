#include "viewer/watch/ends.h"

#include "libprof/read/process_alive.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ENVIRONMENT_BYTES = 256 * 1024 };

/* Linux 6.13's struct pidfd_info, up to the last field needed; exit_code is 6.15's. */
struct info {
    uint64_t mask;
    uint64_t cgroup;
    uint32_t pid, tgid, ppid, ids[8];
    int32_t exit_code;
};
_Static_assert(sizeof(struct info) == 64, "the kernel tells versions by their size");

#define GET_INFO  _IOWR(0xff, 11, struct info)
#define INFO_EXIT (UINT64_C(1) << 3)

/* The wait status of a reaped process. False: not reaped yet, or the kernel does not keep it. */
static bool kept_status(int fd, int *status)
{
    struct info info = {.mask = INFO_EXIT};

    if (ioctl(fd, GET_INFO, &info) < 0 || !(info.mask & INFO_EXIT))
        return false;
    *status = info.exit_code;
    return true;
}

static bool is_reaped(int fd)
{
    return syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) < 0;
}

/* Checks a watched process. True: it has ended, and needs no more checks. A parent that reaped it
 * may know its status better, and its note takes precedence. */
static bool settle(const struct seep_ended *e, struct seep_job_folder *folder)
{
    int status = SEEP_STATUS_UNSEEN;

    if (!kept_status(e->fd, &status) && !seep_process_zombie_status(e->pid, e->start_ns, &status) &&
        !is_reaped(e->fd))
        return false;
    seep_job_folder_reaped(folder, (pid_t)e->pid, status);
    return true;
}

static void check_watched(struct seep_ends *ends, struct seep_job_folder *folder)
{
    struct pollfd polled[SEEP_ENDS_WATCHED];

    for (unsigned i = 0; i < ends->n; i++)
        polled[i] = (struct pollfd){.fd = ends->watched[i].fd, .events = POLLIN};
    if (!ends->n || poll(polled, ends->n, 0) <= 0)
        return;
    for (unsigned i = ends->n; i-- > 0;) {
        if (!polled[i].revents || !settle(&ends->watched[i], folder))
            continue;
        close(ends->watched[i].fd);
        ends->watched[i] = ends->watched[--ends->n];
    }
}

static bool is_watched(const struct seep_ends *ends, uint32_t pid)
{
    for (unsigned i = 0; i < ends->n; i++)
        if (ends->watched[i].pid == pid)
            return true;
    return false;
}

/* Whether the process has the variable by which the library finds the job's folder. Process ids of
 * another namespace may name unrelated processes here, whose ends must not be taken for the
 * job's. */
static bool is_of_job(const struct seep_job_folder *folder, uint32_t pid)
{
    static char text[ENVIRONMENT_BYTES];
    char path[64], wanted[sizeof folder->path + 16] = "";
    size_t n = 1; /* every variable is between two zeros */

    snprintf(path, sizeof path, "/proc/%" PRIu32 "/environ", pid);
    int n_wanted = 2 + snprintf(wanted + 1, sizeof wanted - 1, "SEEP_OUT=%s", folder->path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t got = 1; fd >= 0 && got > 0 && n<sizeof text; n += got> 0 ? (size_t)got : 0)
        got = read(fd, text + n, sizeof text - n);
    if (fd >= 0)
        close(fd);
    return memmem(text, n, wanted, (size_t)n_wanted) != NULL;
}

/* The pid may have been reused: it is checked after the descriptor is open, which stays with that
 * one process. Without a descriptor, only the process itself can note its end. */
static void watch(struct seep_ends *ends, const struct seep_job_folder *folder,
                  const struct seep_process *p, uint32_t pid)
{
    int fd = is_watched(ends, pid) ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);

    if (fd >= 0 && seep_process_is_there(pid, p->start_ns) && is_of_job(folder, pid))
        ends->watched[ends->n++] = (struct seep_ended){fd, pid, p->start_ns};
    else if (fd >= 0)
        close(fd);
}

void seep_ends_find(struct seep_ends *ends, struct seep_job_folder *folder, pid_t child)
{
    struct seep_job *job = folder->job;
    uint32_t n = __atomic_load_n(&job->n_processes, __ATOMIC_ACQUIRE);

    if (!ends->known)
        ends->known = calloc(SEEP_MAX_PROCESSES, sizeof *ends->known);
    check_watched(ends, folder);
    for (uint32_t i = 0; ends->known && i < n && i < SEEP_MAX_PROCESSES; i++) {
        if (ends->n == SEEP_ENDS_WATCHED)
            break;
        struct seep_process *p = &job->processes[i];
        uint32_t pid = __atomic_load_n(&p->pid, __ATOMIC_ACQUIRE);
        if (!pid || pid > INT32_MAX || pid == (uint32_t)child || ends->known[i] == pid ||
            __atomic_load_n(&p->has_status, __ATOMIC_ACQUIRE))
            continue;
        watch(ends, folder, p, pid);
        ends->known[i] = pid;
    }
}

bool seep_ends_any_lives(const struct seep_ends *ends)
{
    return ends->n > 0;
}

void seep_ends_close(struct seep_ends *ends)
{
    while (ends->n)
        close(ends->watched[--ends->n].fd);
    free(ends->known);
    *ends = (struct seep_ends){0};
}
