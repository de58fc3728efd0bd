#include "viewer/watch/devices.h"

#include "libprof/base/clock.h"
#include "libprof/read/process_alive.h"
#include "viewer/watch/device_looks.h"
#include "viewer/watch/nvml.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    GAP_NS = 250 * 1000 * 1000,
    ENVIRONMENT_BYTES = 256 * 1024,
    MAX_USERS = 256, /* processes of a job that use devices: usually one per device */
};

/* A process that uses devices. */
struct user {
    uint32_t process; /* in the job's table */
    uint32_t pid;
    struct seep_header *header; /* of its mapped profile; NULL: it cannot be mapped */
    char *visible;              /* its CUDA_VISIBLE_DEVICES; NULL: not set */
};

struct asker {
    const struct seep_job_folder *folder;
    const struct seep_nvml *nvml;
    struct user users[MAX_USERS];
    unsigned n_users;
};

static uint32_t listed(const struct seep_job *job)
{
    const uint32_t n = __atomic_load_n(&job->n_processes, __ATOMIC_ACQUIRE);

    return n < SEEP_MAX_PROCESSES ? n : SEEP_MAX_PROCESSES;
}

static bool uses_device(const struct seep_process *p)
{
    return __atomic_load_n(&p->pid, __ATOMIC_ACQUIRE) &&
           __atomic_load_n(&p->flags, __ATOMIC_ACQUIRE) & SEEP_PROCESS_DEVICE &&
           !__atomic_load_n(&p->has_status, __ATOMIC_ACQUIRE);
}

/* ---- one who uses them ----------------------------------------------------------------------- */

/* Maps its profile, after checking that it is one. */
static struct seep_header *map_header(const char *folder, const struct seep_process *p)
{
    char path[SEEP_PATH_BYTES + SEEP_NAME_BYTES];
    struct stat status;
    struct seep_header *header;

    snprintf(path, sizeof path, "%s/%" PRIu32 "-%" PRIx64 "%s", folder, p->pid, p->start_ns,
             SEEP_PROFILE_SUFFIX);
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    header = fstat(fd, &status) < 0 || status.st_size < (off_t)SEEP_HEADER_BYTES
                 ? MAP_FAILED
                 : mmap(NULL, SEEP_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (header == MAP_FAILED)
        return NULL;
    if (__atomic_load_n(&header->magic, __ATOMIC_ACQUIRE) == SEEP_PROFILE_MAGIC &&
        header->version == SEEP_FORMAT_VERSION)
        return header;
    munmap(header, SEEP_HEADER_BYTES);
    return NULL;
}

/* CUDA_VISIBLE_DEVICES at the start of the process: later changes cannot be read. NULL: not set. */
static char *read_visible(uint32_t pid)
{
    static const char name[] = "CUDA_VISIBLE_DEVICES=";
    static char text[ENVIRONMENT_BYTES];
    char path[64];
    size_t n = 0;

    snprintf(path, sizeof path, "/proc/%" PRIu32 "/environ", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t got = 1; fd >= 0 && got > 0 && n < sizeof text - 1; n += (size_t)got) {
        got = read(fd, text + n, sizeof text - 1 - n);
        if (got < 0)
            break;
    }
    if (fd >= 0)
        close(fd);
    text[n] = '\0';
    for (size_t at = 0; at < n; at += strlen(text + at) + 1)
        if (strncmp(text + at, name, sizeof name - 1) == 0)
            return strdup(text + at + sizeof name - 1);
    return NULL;
}

static void add_user(struct asker *a, uint32_t process)
{
    const struct seep_process *p = &a->folder->job->processes[process];

    for (unsigned i = 0; i < a->n_users; i++)
        if (a->users[i].process == process)
            return;
    if (a->n_users == MAX_USERS || !seep_process_is_alive(p->pid, p->start_ns))
        return;
    struct seep_header *header = map_header(a->folder->path, p);
    if (header)
        a->users[a->n_users++] = (struct user){
            .process = process, .pid = p->pid, .header = header, .visible = read_visible(p->pid)};
}

/* ---- what they use --------------------------------------------------------------------------- */

static uint64_t used_by(const struct seep_nvml_use *use, uint32_t pid)
{
    for (unsigned i = 0; i < use->n_users; i++)
        if (use->users[i].pid == pid)
            return use->users[i].bytes;
    return 0;
}

/* Notes nothing for a device on which the process has nothing. */
static void note(const struct seep_nvml_use *use, const struct user *u, unsigned number,
                 uint32_t period)
{
    struct seep_device_use *its = &u->header->devices.use[number];
    const uint64_t used = used_by(use, u->pid);

    if (!used && !its->looks)
        return;
    seep_device_looks_add(&u->header->devices,
                          &(struct seep_device_look){.t_ns = seep_clock_ns(CLOCK_MONOTONIC),
                                                     .used_bytes = used,
                                                     .period = period,
                                                     .device = number});
    its->capacity_bytes = use->capacity_bytes;
    its->all_used_bytes = use->used_bytes;
    its->used_bytes = used;
    if (used > its->used_peak_bytes)
        its->used_peak_bytes = used;
    its->looks++;
}

static void look(struct asker *a)
{
    static struct seep_nvml_use uses[SEEP_NVML_DEVICES];
    static bool answered[SEEP_NVML_DEVICES];

    for (unsigned i = 0; i < seep_nvml_count(a->nvml); i++)
        answered[i] = seep_nvml_ask(a->nvml, i, &uses[i]);
    for (unsigned i = 0; i < a->n_users; i++) {
        struct user *u = &a->users[i];
        const struct seep_process *p = &a->folder->job->processes[u->process];
        const uint32_t period = __atomic_load_n(&p->period, __ATOMIC_RELAXED);
        if (!uses_device(p))
            continue;
        for (unsigned number = 0; number < SEEP_MAX_DEVICES; number++) {
            const int index = seep_nvml_index(a->nvml, u->visible, number);
            if (index >= 0 && answered[index])
                note(&uses[index], u, number, period);
        }
    }
}

_Noreturn static void be_asker(const struct seep_job_folder *folder, pid_t run)
{
    static struct asker asker;
    const struct timespec gap = {.tv_nsec = GAP_NS};

    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    prctl(PR_SET_NAME, "seep-devices", 0, 0, 0);
    asker.folder = folder;
    asker.nvml = getppid() == run ? seep_nvml_open() : NULL;
    while (asker.nvml && getppid() == run) {
        const uint32_t n = listed(folder->job);
        for (uint32_t i = 0; i < n; i++)
            if (uses_device(&folder->job->processes[i]))
                add_user(&asker, i);
        look(&asker);
        nanosleep(&gap, NULL);
    }
    _exit(0);
}

/* ---- `seep run` ------------------------------------------------------------------------------ */

void seep_devices_look(struct seep_devices *d)
{
    const pid_t run = getpid();
    const uint32_t n = d->folder && !d->asker ? listed(d->folder->job) : 0;

    for (uint32_t i = 0; i < n && !d->asker; i++) {
        if (!uses_device(&d->folder->job->processes[i]))
            continue;
        d->asker = fork();
        if (d->asker == 0)
            be_asker(d->folder, run);
    }
}

bool seep_devices_reaped(struct seep_devices *d, pid_t pid)
{
    if (!d->folder || d->asker <= 0 || pid != d->asker)
        return false;
    d->asker = -1;
    return true;
}

void seep_devices_close(struct seep_devices *d)
{
    if (d->folder && d->asker > 0) {
        kill(d->asker, SIGKILL);
        waitpid(d->asker, NULL, 0);
    }
    d->folder = NULL;
}
