/* The job's table is read and written as a file, not mapped: a file that is cut short meanwhile
 * does not end this command. */
#include "viewer/watch/ask.h"

#include "libprof/read/job_read.h"
#include "libprof/read/process_alive.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOK_MS = 20,
    PATIENCE_MS = 10 * 1000, /* until a process notices: one that allocates notices at once */
    READING_MS = 150 * 1000, /* longer than a reader may take */
};

#define SLOT_AT   offsetof(struct seep_job, snapshot)
#define WANTED_AT (SLOT_AT + offsetof(struct seep_snapshot_slot, wanted))

static bool read_slot(int fd, struct seep_snapshot_slot *slot)
{
    return pread(fd, slot, sizeof *slot, SLOT_AT) == (ssize_t)sizeof *slot;
}

static bool want(int fd, uint32_t process_plus_1)
{
    return pwrite(fd, &process_plus_1, sizeof process_plus_1, WANTED_AT) ==
           (ssize_t)sizeof process_plus_1;
}

static void pause_a_little(void)
{
    nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000 * 1000}, NULL);
}

/* Whether a copy is under way: the slot is in use, or a reader still works on its previous copy. */
static bool is_at_work(const struct seep_snapshot_slot *slot)
{
    return slot->state != SEEP_SNAPSHOT_FREE || slot->reading;
}

/* False: the process did not notice in time, or is gone. It cannot be copied while another
 * process's copy is read. */
static bool has_noticed(int fd, uint32_t process_plus_1, const struct seep_process *p)
{
    struct seep_snapshot_slot slot;
    int idle_ms = 0, busy_ms = 0;

    while (read_slot(fd, &slot) && slot.wanted == process_plus_1) {
        *(is_at_work(&slot) ? &busy_ms : &idle_ms) += LOOK_MS;
        if (idle_ms > PATIENCE_MS || busy_ms > READING_MS ||
            !seep_process_is_alive(p->pid, p->start_ns))
            return false;
        pause_a_little();
    }
    return true;
}

static bool ask_one(int fd, uint32_t process_plus_1, const struct seep_process *p)
{
    struct seep_snapshot_slot slot;

    if (!want(fd, process_plus_1))
        return false;
    if (!has_noticed(fd, process_plus_1, p)) {
        (void)want(fd, 0);
        return false;
    }
    for (int ms = 0; read_slot(fd, &slot) && is_at_work(&slot) && ms < READING_MS; ms += LOOK_MS)
        pause_a_little();
    return true;
}

static bool is_awaited(const struct seep_job *job)
{
    const uint32_t reader = job->snapshot.reader;

    return reader && reader <= INT_MAX && (kill((pid_t)reader, 0) == 0 || errno == EPERM);
}

/* A process that has exec'd has an entry for each program: the last one is current. */
static bool is_recorded(const struct seep_job *job, uint32_t n, uint32_t process)
{
    const struct seep_process *p = &job->processes[process];

    for (uint32_t i = process + 1; i < n; i++) {
        if (job->processes[i].pid == p->pid)
            return false;
    }
    return (p->flags & SEEP_PROCESS_PROFILE) && !p->has_status &&
           seep_process_is_alive(p->pid, p->start_ns);
}

static void ask_all(int fd, const struct seep_job *job, struct seep_asked *asked)
{
    const uint32_t n =
        job->n_processes < SEEP_MAX_PROCESSES ? job->n_processes : SEEP_MAX_PROCESSES;

    for (uint32_t i = 0; i < n; i++) {
        if (!is_recorded(job, n, i))
            continue;
        asked->n_asked++;
        asked->n_answered += ask_one(fd, i + 1, &job->processes[i]);
    }
}

int seep_ask_holders(const char *dir, struct seep_asked *asked, struct seep_error *err)
{
    char path[PATH_MAX];
    struct seep_job *job = NULL;

    *asked = (struct seep_asked){0};
    snprintf(path, sizeof path, "%s/%s", dir, SEEP_JOB_FILE);
    int rc = seep_job_read(path, &job, err);
    if (rc)
        return rc;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        rc = seep_error_set(err, SEEP_EIO, path, 0, "%s", strerror(errno));
    else if (job->ended_ns)
        rc = seep_error_set(err, SEEP_EINVAL, dir, 0, "the job has ended");
    else if (!is_awaited(job))
        rc = seep_error_set(err, SEEP_EINVAL, dir, 0, "no `seep run` with --holders is running");
    else
        ask_all(fd, job, asked);
    if (fd >= 0)
        close(fd);
    free(job);
    return rc;
}
