#include "preload/job.h"

#include <string.h>

#include "libprof/os.h"

static struct seep_process private_process = {.period = 1};
static struct seep_job *job;

uint32_t *seep_period = &private_process.period;
struct seep_process *seep_process = &private_process;

static struct seep_job *map(int fd)
{
    void *p = (void *)seep_os_call6(SYS_mmap, 0, sizeof(struct seep_job), PROT_READ | PROT_WRITE,
                                    MAP_SHARED, fd, 0);
    return seep_os_failed(p) ? NULL : p;
}

/* Where the file system cannot promise room, zeros are written: a hole might raise SIGBUS. */
static bool reserve_disk(int fd, uint64_t bytes)
{
    long r = seep_os_call6(SYS_fallocate, fd, 0, 0, (long)bytes, 0, 0);
    if (r != -EOPNOTSUPP && r != -ENOSYS)
        return r >= 0;
    static const char zeros[4096];
    for (uint64_t at = 0; at < bytes;) {
        uint64_t n = bytes - at < sizeof(zeros) ? bytes - at : sizeof(zeros);
        if (seep_os_call6(SYS_pwrite64, fd, (long)zeros, (long)n, (long)at, 0, 0) != (long)n)
            return false;
        at += n;
    }
    return true;
}

static struct seep_job *make(int fd)
{
    if (!reserve_disk(fd, sizeof(struct seep_job)))
        return NULL;
    struct seep_job *made = map(fd);
    if (!made)
        return NULL;
    made->version = SEEP_FORMAT_VERSION;
    made->started_ns = seep_os_clock_ns(CLOCK_MONOTONIC);
    made->started_unix_ns = seep_os_clock_ns(CLOCK_REALTIME);
    __atomic_store_n(&made->magic, SEEP_JOB_MAGIC, __ATOMIC_RELEASE);
    return made;
}

static struct seep_job *join(int fd)
{
    struct stat st;
    for (int tries = 0; tries < 50; tries++) { /* whoever makes it may not be through */
        if (seep_os_call3(SYS_fstat, fd, (long)&st, 0) < 0)
            return NULL;
        if ((uint64_t)st.st_size >= sizeof(struct seep_job)) {
            struct seep_job *found = map(fd);
            if (!found)
                return NULL;
            if (__atomic_load_n(&found->magic, __ATOMIC_ACQUIRE) == SEEP_JOB_MAGIC &&
                found->version == SEEP_FORMAT_VERSION)
                return found;
            seep_os_unmap(found, sizeof(*found));
        }
        struct timespec pause = {.tv_nsec = 2000000};
        (void)seep_os_call3(SYS_nanosleep, (long)&pause, 0, 0);
    }
    return NULL;
}

void seep_job_open(const char *dir)
{
    char path[SEEP_PATH_BYTES + 32];
    size_t n = strlen(dir);
    if (n >= SEEP_PATH_BYTES)
        return;
    memcpy(path, dir, n);
    path[n] = '/';
    strcpy(path + n + 1, SEEP_JOB_FILE);
    int fd = seep_os_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (fd >= 0) {
        job = make(fd);
        if (!job)
            (void)seep_os_call3(SYS_unlinkat, AT_FDCWD, (long)path, 0);
    } else {
        fd = seep_os_open(path, O_RDWR | O_NOFOLLOW, 0);
        if (fd >= 0)
            job = join(fd);
    }
    if (fd >= 0)
        seep_os_close(fd);
}

static uint32_t count(void)
{
    uint32_t n = __atomic_load_n(&job->n_processes, __ATOMIC_RELAXED);
    return n < SEEP_MAX_PROCESSES ? n : SEEP_MAX_PROCESSES;
}

/* The youngest entry of a pid: after an exec it has two, and pids are used again. */
static uint32_t find(uint32_t pid)
{
    for (uint32_t i = count(); pid && i-- > 0;)
        if (__atomic_load_n(&job->processes[i].pid, __ATOMIC_ACQUIRE) == pid)
            return i + 1;
    return 0;
}

/* The same of a process that is there. */
static uint32_t find_alive(uint32_t pid)
{
    uint32_t index = find(pid);
    return index && !job->processes[index - 1].has_status ? index : 0;
}

uint32_t seep_job_enter(uint64_t start_ns, bool forked)
{
    uint32_t pid = (uint32_t)seep_os_pid(), ppid = (uint32_t)seep_os_ppid();
    uint32_t parent = 0;
    struct seep_process *entry = &private_process;
    uint32_t index_plus_1 = 0;
    if (job) {
        bool parent_listed = forked && seep_process != &private_process;
        parent = parent_listed ? (uint32_t)(seep_process - job->processes) + 1
                               : find_alive(pid);
        if (!parent)
            parent = find_alive(ppid);
        uint32_t index = __atomic_fetch_add(&job->n_processes, 1, __ATOMIC_RELAXED);
        if (index < SEEP_MAX_PROCESSES) {
            entry = &job->processes[index];
            index_plus_1 = index + 1;
        }
    }
    uint32_t period = forked ? *seep_period : 1;
    memset(entry, 0, sizeof(*entry));
    entry->ppid = ppid;
    entry->start_ns = start_ns;
    entry->period = period ? period : 1;
    entry->parent_plus_1 = parent;
    __atomic_store_n(&entry->pid, pid, __ATOMIC_RELEASE);
    seep_process = entry;
    seep_period = &entry->period;
    seep_job_tick(start_ns);
    return index_plus_1;
}

/* Own steps come first, then those of the nearest ancestor that has any. */
static struct seep_process *leader(void)
{
    struct seep_process *p = seep_process, *oldest = p;
    if (p->steps || !job)
        return p;
    for (int depth = 0; depth < 64 && p->parent_plus_1; depth++) {
        if (p->parent_plus_1 > count())
            break;
        p = &job->processes[p->parent_plus_1 - 1];
        if (p->steps)
            return p;
        oldest = p;
    }
    return oldest; /* none yet: all follow one clock, so that it is theirs when steps begin */
}

void seep_job_tick(uint64_t now_ns)
{
    struct seep_process *p = leader();
    if (p != seep_process)
        __atomic_store_n(&seep_process->follows, (uint32_t)(p - job->processes) + 1,
                         __ATOMIC_RELAXED);
    else
        seep_process->follows = 0;
    if (!p->steps) {
        uint32_t slice =
            1 + (uint32_t)((now_ns - p->start_ns) / (SEEP_TIME_SLICE_MS * UINT64_C(1000000)));
        uint32_t period = __atomic_load_n(&p->period, __ATOMIC_RELAXED);
        while (now_ns > p->start_ns && period < slice && !p->steps &&
               !__atomic_compare_exchange_n(&p->period, &period, slice, true, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED))
            ;
    }
    /* Periods only rise for a process, also when it changes whom it follows. */
    if (&p->period != seep_period && p->period >= *seep_period)
        __atomic_store_n(&seep_period, &p->period, __ATOMIC_RELEASE);
}

void seep_job_step(enum seep_step_source source)
{
    struct seep_process *p = seep_process;
    if (p->steps && source < p->step_source)
        return; /* a better source is at work */
    if (seep_period != &p->period) {
        if (p->period < *seep_period)
            p->period = *seep_period;
        __atomic_store_n(&seep_period, &p->period, __ATOMIC_RELEASE);
        p->follows = 0;
    }
    if (!p->steps || source != p->step_source) {
        /* Never 0 in between: who follows would let time slices pass. */
        p->step_source = source;
        p->first_step_period = p->period;
        __atomic_store_n(&p->steps, 1, __ATOMIC_RELEASE);
    } else {
        __atomic_fetch_add(&p->steps, 1, __ATOMIC_RELAXED);
    }
    __atomic_fetch_add(&p->period, 1, __ATOMIC_RELAXED);
}

void seep_job_reaped(int pid, int wait_status)
{
    uint32_t index = job && pid > 0 ? find((uint32_t)pid) : 0;
    if (!index || job->processes[index - 1].has_status)
        return;
    job->processes[index - 1].wait_status = wait_status;
    __atomic_store_n(&job->processes[index - 1].has_status, 1, __ATOMIC_RELEASE);
}

/* Counted, so that its line makes room for others once it has ended. */
static struct seep_process *fresh_entry(int ppid, const char *name)
{
    uint32_t index = job ? __atomic_fetch_add(&job->n_processes, 1, __ATOMIC_RELAXED) : UINT32_MAX;
    if (index >= SEEP_MAX_PROCESSES)
        return NULL;
    struct seep_process *p = &job->processes[index];
    p->ppid = (uint32_t)ppid;
    p->start_ns = seep_os_clock_ns(CLOCK_MONOTONIC);
    p->period = *seep_period;
    p->flags = SEEP_PROCESS_COUNTED;
    p->uid = (uint32_t)seep_os_call3(SYS_geteuid, 0, 0, 0);
    if (seep_process != &private_process)
        p->parent_plus_1 = (uint32_t)(seep_process - job->processes) + 1;
    memcpy(p->name, name, strnlen(name, sizeof(p->name) - 1));
    return p;
}

struct seep_process *seep_job_list(int pid, int ppid, const char *path, enum seep_entry entry)
{
    const char *slash = strrchr(path, '/');
    bool own = seep_process->pid == (uint32_t)pid;
    struct seep_process *p = own ? seep_process : fresh_entry(ppid, slash ? slash + 1 : path);
    if (!p)
        return NULL;
    size_t n = strlen(path), most = sizeof(p->exec_path) - 1;
    memcpy(p->exec_path, n > most ? path + (n - most) : path, (n > most ? most : n) + 1);
    p->exec_entry = (uint16_t)entry;
    if (!own)
        __atomic_store_n(&p->pid, (uint32_t)pid, __ATOMIC_RELEASE);
    return p;
}

void seep_job_unlist(struct seep_process *listed)
{
    if (listed != seep_process)
        __atomic_store_n(&listed->pid, 0, __ATOMIC_RELEASE);
    listed->exec_entry = SEEP_ENTRY_OK;
    listed->exec_path[0] = '\0';
}
