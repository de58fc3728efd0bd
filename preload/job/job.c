#include "preload/job/job.h"

#include <string.h>
#include <sys/prctl.h>

#include "libprof/runtime/store/arena.h"
#include "libprof/runtime/store/site_table.h"
#include "preload/job/job_table.h"

enum { ENOUGH_TASKS = 16 };    /* a run with fewer steps is better divided by time */
enum { MAX_SLICES = 1 << 24 }; /* 19 days: in another time namespace a clock may be years off */

static struct seep_process private_process = {.period = 1};

SEEP_HOT uint32_t *seep_period = &private_process.period;
struct seep_process *seep_process = &private_process;

/* Keeps the counts from before an exec; what was live then is gone. */
static struct seep_count counted_before[SEEP_COUNTED_SPACES];

/* Before an entry is written anew: whoever sees what is written then does not see the old pid. */
static void withdraw(struct seep_process *entry)
{
    __atomic_store_n(&entry->pid, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static void fill_entry(struct seep_process *entry, uint32_t pid, uint32_t ppid, uint64_t start_ns,
                       uint32_t period, uint32_t parent)
{
    char name[sizeof(entry->name)] = "";
    if (seep_process != entry)
        memcpy(name, seep_process->name, sizeof(name));
    (void)seep_os_call3(SYS_prctl, PR_GET_NAME, (long)name, 0);
    withdraw(entry);
    memset(entry, 0, sizeof(*entry));
    memcpy(entry->name, name, sizeof(name));
    entry->ppid = ppid;
    entry->start_ns = start_ns;
    entry->period = period ? period : 1;
    entry->parent_plus_1 = parent;
    long uid = seep_os_call3(SYS_geteuid, 0, 0, 0);
    entry->uid = uid >= 0 ? (uint32_t)uid : 0;
    memcpy(entry->counts, counted_before, sizeof(entry->counts));
    __atomic_store_n(&entry->pid, pid, __ATOMIC_RELEASE);
}

uint32_t seep_job_enter(uint64_t start_ns, bool forked)
{
    uint32_t pid = (uint32_t)seep_os_pid(), ppid = (uint32_t)seep_os_ppid();
    uint32_t parent = 0, index_plus_1 = 0;
    struct seep_process *entry = &private_process;
    memset(counted_before, 0, sizeof(counted_before));
    if (seep_job_map) {
        uint32_t own = forked ? 0 : seep_table_find_alive(pid);
        bool parent_listed = forked && seep_process != &private_process;
        parent = parent_listed ? (uint32_t)(seep_process - seep_job_map->processes) + 1 : own;
        if (!parent)
            parent = seep_table_find_alive(ppid);
        index_plus_1 = seep_table_take(own);
        if (index_plus_1)
            entry = &seep_job_map->processes[index_plus_1 - 1];
        if (own && index_plus_1 == own) {
            parent = entry->parent_plus_1;
            memcpy(counted_before, entry->counts, sizeof(counted_before));
            for (unsigned s = 0; s < SEEP_COUNTED_SPACES; s++)
                counted_before[s].live_bytes = 0;
        }
    }
    uint32_t period = forked ? *seep_period : 1;
    fill_entry(entry, pid, ppid, start_ns, period, parent);
    if (index_plus_1)
        __atomic_store_n(&seep_job_map->by_pid[pid % SEEP_PID_HINTS], (uint16_t)index_plus_1,
                         __ATOMIC_RELEASE);
    seep_process = entry;
    seep_period = &entry->period;
    seep_job_tick(start_ns);
    return index_plus_1;
}

void seep_job_note_sandboxed(uint32_t pid, uint32_t ppid, const char *name)
{
    uint32_t index_plus_1 = seep_job_map ? seep_table_take(seep_table_find_alive(pid)) : 0;
    if (!index_plus_1)
        return;
    struct seep_process *entry = &seep_job_map->processes[index_plus_1 - 1];
    uint32_t parent = entry->pid == pid ? entry->parent_plus_1 : seep_table_find_alive(ppid);
    fill_entry(entry, pid, ppid, seep_os_clock_ns(CLOCK_MONOTONIC), 1, parent);
    strncpy(entry->name, name, sizeof(entry->name) - 1);
    entry->trouble = SEEP_TROUBLE_SANDBOX;
    __atomic_store_n(&seep_job_map->by_pid[pid % SEEP_PID_HINTS], (uint16_t)index_plus_1,
                     __ATOMIC_RELEASE);
}

bool seep_job_is_root(void)
{
    return !seep_job_map || seep_process == &private_process ||
           seep_process == &seep_job_map->processes[0] ||
           seep_process->pid == seep_job_map->processes[0].pid;
}

void seep_job_flag(uint32_t flag)
{
    uint32_t kept = seep_process->flags & (SEEP_PROCESS_OWN_MALLOC | SEEP_PROCESS_DEVICE);
    __atomic_store_n(&seep_process->flags, kept | flag, __ATOMIC_RELEASE);
}

void seep_job_device(void)
{
    __atomic_fetch_or(&seep_process->flags, SEEP_PROCESS_DEVICE, __ATOMIC_RELEASE);
}

void seep_job_trouble(enum seep_trouble trouble, int error)
{
    seep_process->trouble_errno = error;
    __atomic_store_n(&seep_process->trouble, (uint16_t)trouble, __ATOMIC_RELEASE);
}

void seep_job_count(void)
{
    for (unsigned s = 0; s < SEEP_COUNTED_SPACES; s++) {
        struct seep_count *count = &seep_process->counts[s];
        const struct seep_count *before = &counted_before[s];
        uint32_t index = seep_arena.overflow[s];
        if (!index)
            continue;
        const struct seep_site *site = seep_site_at(index);
        const struct seep_detail *detail = seep_site_detail(site);
        uint64_t frees = site->frees + (detail ? detail->remote_frees : 0);
        uint64_t freed = site->freed_bytes + (detail ? detail->remote_freed_bytes : 0);
        uint64_t peak = site->peak_bytes;
        count->allocations = before->allocations + site->allocations;
        count->frees = before->frees + frees;
        count->allocated_bytes = before->allocated_bytes + site->allocated_bytes;
        count->live_bytes = site->allocated_bytes > freed ? site->allocated_bytes - freed : 0;
        count->peak_bytes = before->peak_bytes > peak ? before->peak_bytes : peak;
    }
}

uint64_t seep_job_allocated_bytes(void)
{
    uint64_t sum = 0;
    seep_job_count();
    for (unsigned s = 0; s < SEEP_COUNTED_SPACES; s++)
        sum += seep_process->counts[s].allocated_bytes;
    return sum;
}

/* A process follows its own steps first, then those of its nearest ancestor that has any. */
static struct seep_process *leader(void)
{
    struct seep_process *p = seep_process, *oldest = p;
    if (p->steps || !seep_job_map)
        return p;
    for (int depth = 0; depth < 64 && p->parent_plus_1; depth++) {
        if (p->parent_plus_1 > seep_table_count())
            break;
        const struct seep_process *child = p;
        p = &seep_job_map->processes[p->parent_plus_1 - 1];
        if (p->start_ns > child->start_ns)
            break; /* another process now has the parent's entry */
        if (p->steps)
            return p;
        oldest = p;
    }
    return oldest; /* no steps yet: all follow one clock, which belongs to this process once steps
                      begin */
}

void seep_job_tick(uint64_t now_ns)
{
    struct seep_process *p = leader();
    if (p != seep_process)
        __atomic_store_n(&seep_process->follows, (uint32_t)(p - seep_job_map->processes) + 1,
                         __ATOMIC_RELAXED);
    else
        seep_process->follows = 0;
    if (!p->steps) {
        uint64_t n = (now_ns - p->start_ns) / (SEEP_TIME_SLICE_MS * UINT64_C(1000000));
        uint32_t slice = 1 + (uint32_t)(n < MAX_SLICES ? n : MAX_SLICES);
        uint32_t period = __atomic_load_n(&p->period, __ATOMIC_RELAXED);
        while (now_ns > p->start_ns && period < slice && !p->steps &&
               !__atomic_compare_exchange_n(&p->period, &period, slice, true, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED))
            ;
    }
    /* A process's periods only rise, even if it changes whom it follows. */
    if (&p->period != seep_period && p->period >= *seep_period)
        __atomic_store_n(&seep_period, &p->period, __ATOMIC_RELEASE);
}

void seep_job_step(enum seep_step_source source, enum seep_step_why why, uint32_t frame, bool anew)
{
    struct seep_process *p = seep_process;
    if (seep_period != &p->period) {
        if (p->period < *seep_period)
            p->period = *seep_period;
        __atomic_store_n(&seep_period, &p->period, __ATOMIC_RELEASE);
        p->follows = 0;
    }
    const bool after = seep_why_is_after(why);
    if (after != (p->trained_steps != 0))
        p->trained_steps = after ? p->steps : 0;
    if (!p->steps || anew || source != p->step_source) {
        /* Never 0 in between: followers would let time slices pass. */
        p->step_source = source;
        p->step_frame = frame;
        p->first_step_period = p->back_period = p->period;
        p->back_steps = 1;
        __atomic_store_n(&p->steps, 1, __ATOMIC_RELEASE);
    } else {
        __atomic_fetch_add(&p->steps, 1, __ATOMIC_RELAXED);
    }
    p->step_why = why;
    __atomic_fetch_add(&p->period, 1, __ATOMIC_RELAXED);
    seep_arena_release();
}

void seep_job_count_back(uint32_t rounds, uint32_t since_period)
{
    struct seep_process *p = seep_process;
    if (p->steps != 1 || rounds < 2)
        return;
    p->back_period =
        since_period && since_period < p->first_step_period ? since_period : p->first_step_period;
    p->back_steps = rounds;
    __atomic_store_n(&p->steps, rounds, __ATOMIC_RELEASE);
}

const struct seep_process *seep_job_leader(void)
{
    uint32_t follows = seep_process->follows;
    return follows && seep_job_map && follows <= SEEP_MAX_PROCESSES
               ? &seep_job_map->processes[follows - 1]
               : NULL;
}

bool seep_job_follows_steps(void)
{
    const struct seep_process *p = seep_job_leader();
    return p && p->steps;
}

/* Which process has the pool that this process works for. NULL: its tasks are not steps. */
static struct seep_process *pool_owner(void)
{
    uint32_t parent = seep_process->parent_plus_1;
    if (!seep_job_map || !parent || parent > seep_table_count() || seep_process->steps)
        return NULL;
    struct seep_process *owner = &seep_job_map->processes[parent - 1];
    if (owner->pid != seep_process->ppid || owner->start_ns > seep_process->start_ns)
        return NULL;
    if (__atomic_load_n(&owner->steps, __ATOMIC_ACQUIRE)) /* published after the source */
        return owner->step_source == SEEP_STEP_TASK ? owner : NULL;
    return seep_job_follows_steps() ? NULL : owner;
}

/* Several workers may reach the first task together: they then write the same. */
bool seep_job_task(void)
{
    struct seep_process *owner = pool_owner();
    if (!owner || __atomic_add_fetch(&owner->tasks, 1, __ATOMIC_RELAXED) < ENOUGH_TASKS)
        return false;
    if (!owner->steps) {
        uint32_t now = *seep_period, period = __atomic_load_n(&owner->period, __ATOMIC_RELAXED);
        while (period < now && !__atomic_compare_exchange_n(&owner->period, &period, now, true,
                                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            ;
        owner->step_source = SEEP_STEP_TASK;
        owner->step_why = SEEP_WHY_TASKS;
        owner->step_frame = 0;
        owner->first_step_period = owner->period;
    }
    __atomic_fetch_add(&owner->steps, 1, __ATOMIC_RELEASE);
    __atomic_fetch_add(&owner->period, 1, __ATOMIC_RELAXED);
    return true;
}

void seep_job_reaped(int pid, int wait_status)
{
    uint32_t index = seep_job_map && pid > 0 ? seep_table_find((uint32_t)pid) : 0;
    struct seep_process *p = &seep_job_map->processes[index ? index - 1 : 0];
    if (!index || (p->has_status && p->wait_status != SEEP_STATUS_UNSEEN))
        return;
    p->wait_status = wait_status;
    __atomic_store_n(&p->has_status, 1, __ATOMIC_RELEASE);
}

/* Counted, so its line can serve others once it has ended. Not published yet. */
static struct seep_process *fresh_entry(int ppid, const char *name)
{
    uint32_t index_plus_1 = seep_job_map ? seep_table_take(0) : 0;
    if (!index_plus_1)
        return NULL;
    struct seep_process *p = &seep_job_map->processes[index_plus_1 - 1];
    withdraw(p);
    memset(p, 0, sizeof(*p));
    p->ppid = (uint32_t)ppid;
    p->start_ns = seep_os_clock_ns(CLOCK_MONOTONIC);
    p->period = *seep_period;
    p->flags = SEEP_PROCESS_COUNTED;
    p->uid = (uint32_t)seep_os_call3(SYS_geteuid, 0, 0, 0);
    if (seep_process != &private_process)
        p->parent_plus_1 = (uint32_t)(seep_process - seep_job_map->processes) + 1;
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
    if (!own) {
        __atomic_store_n(&p->pid, (uint32_t)pid, __ATOMIC_RELEASE);
        __atomic_store_n(&seep_job_map->by_pid[(uint32_t)pid % SEEP_PID_HINTS],
                         (uint16_t)(p - seep_job_map->processes + 1), __ATOMIC_RELEASE);
    }
    return p;
}

void seep_job_unlist(struct seep_process *listed)
{
    if (listed != seep_process)
        withdraw(listed);
    listed->exec_entry = SEEP_ENTRY_OK;
    listed->exec_path[0] = '\0';
}

/* ---- opening the job's file ------------------------------------------------------------------ */

enum { MAX_FOLDERS = 64 }; /* of one name: restarts on machines that share it */

enum found { FOUND_OURS, FOUND_NONE, FOUND_FOREIGN, FOUND_UNUSABLE };

/* A process touches a few pages of the table. Without the advice the kernel reads ahead: it clears
 * those of all processes that there may ever be. `quietly`: a sandbox may kill for the call. */
static struct seep_job *map(int fd, bool quietly)
{
    void *p = (void *)seep_os_call6(SYS_mmap, 0, sizeof(struct seep_job), PROT_READ | PROT_WRITE,
                                    MAP_SHARED, fd, 0);
    if (seep_os_failed(p))
        return NULL;
    if (!quietly)
        (void)seep_os_call3(SYS_madvise, (long)p, sizeof(struct seep_job), MADV_RANDOM);
    return p;
}

/* If the file system cannot promise space, zeros are written: a hole might raise SIGBUS, and so
 * might one in the rest of an entry's page. Returns how many entries can be used, 0: there is no
 * space. */
static uint32_t reserve_disk(int fd)
{
    static const char zeros[4096];
    long r =
        seep_os_call6(SYS_fallocate, fd, 0, 0, (long)seep_os_page_up(SEEP_JOB_FIRST_BYTES), 0, 0);
    if (r >= 0)
        r = seep_os_call3(SYS_ftruncate, fd, sizeof(struct seep_job), 0);
    if (r != -EOPNOTSUPP && r != -ENOSYS)
        return r >= 0 ? SEEP_PROCESS_PIECE : 0;
    for (uint64_t at = 0; at < sizeof(struct seep_job);) {
        uint64_t n = sizeof(struct seep_job) - at;
        n = n < sizeof(zeros) ? n : sizeof(zeros);
        if (seep_os_call6(SYS_pwrite64, fd, (long)zeros, (long)n, (long)at, 0, 0) != (long)n)
            return 0;
        at += n;
    }
    return SEEP_MAX_PROCESSES;
}

static struct seep_job *make(int fd, const struct seep_job_request *want, bool is_part)
{
    uint32_t n_reserved = reserve_disk(fd);
    struct seep_job *made = n_reserved ? map(fd, false) : NULL;
    if (!made)
        return NULL;
    made->n_reserved = n_reserved;
    made->version = SEEP_FORMAT_VERSION;
    made->started_ns = seep_os_clock_ns(CLOCK_MONOTONIC);
    made->started_unix_ns = seep_os_clock_ns(CLOCK_REALTIME);
    made->max_folder_bytes = want->max_folder_bytes;
    made->boot = want->boot;
    made->is_part = is_part;
    memcpy(made->host, want->host, strnlen(want->host, sizeof(made->host) - 1));
    __atomic_store_n(&made->magic, SEEP_JOB_MAGIC, __ATOMIC_RELEASE);
    return made;
}

/* Another machine's table is looked at, and never written to: its memory is not this one's. */
static enum found join(int fd, const struct seep_job_request *want)
{
    struct stat st;
    for (int tries = 0; tries < 50; tries++) { /* its maker may not be done */
        if (seep_os_call3(SYS_fstat, fd, (long)&st, 0) < 0)
            return FOUND_UNUSABLE;
        if ((uint64_t)st.st_size >= sizeof(struct seep_job)) {
            struct seep_job *found = map(fd, !want->may_make);
            if (!found)
                return FOUND_UNUSABLE;
            const bool whole = __atomic_load_n(&found->magic, __ATOMIC_ACQUIRE) == SEEP_JOB_MAGIC &&
                               found->version == SEEP_FORMAT_VERSION;
            if (whole && seep_job_is_of(found, want->boot, want->host)) {
                seep_job_map = found;
                return FOUND_OURS;
            }
            seep_os_unmap(found, sizeof(*found));
            if (whole)
                return FOUND_FOREIGN;
        }
        struct timespec pause = {.tv_nsec = 2000000};
        (void)seep_os_call3(SYS_nanosleep, (long)&pause, 0, 0);
    }
    return FOUND_UNUSABLE;
}

/* seep_job_path: that of a table. Closing a new one also sends it to a file server, so that other
 * machines see whose it is. */
static enum found open_table(const struct seep_job_request *want, bool may_make, bool is_part)
{
    bool made = false;
    int fd = seep_os_open(seep_job_path, O_RDWR | O_NOFOLLOW, 0);
    if (fd == -ENOENT && may_make) {
        char *slash = strrchr(seep_job_path, '/');
        *slash = '\0';
        (void)seep_os_call3(SYS_mkdirat, AT_FDCWD, (long)seep_job_path, 0700);
        *slash = '/';
        fd = seep_os_open(seep_job_path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
        made = fd >= 0;
        if (fd == -EEXIST) /* another process was first */
            fd = seep_os_open(seep_job_path, O_RDWR | O_NOFOLLOW, 0);
    }
    if (fd < 0)
        return fd == -ENOENT ? FOUND_NONE : FOUND_UNUSABLE;
    enum found found = FOUND_OURS;
    if (made)
        seep_job_map = make(fd, want, is_part);
    else
        found = join(fd, want);
    seep_os_close(fd);
    if (made && !seep_job_map)
        (void)seep_os_call3(SYS_unlinkat, AT_FDCWD, (long)seep_job_path, 0);
    return seep_job_map || !made ? found : FOUND_UNUSABLE;
}

/* "DIR/NAME", from the second on "DIR/NAME.2"; n: the length of DIR. */
static bool name_within(char *dir, size_t n, size_t capacity, const char *name, int number)
{
    const size_t n_name = strlen(name);
    if (n + 1 + n_name + 4 > capacity)
        return false;
    dir[n] = '/';
    memcpy(dir + n + 1, name, n_name);
    char *at = dir + n + 1 + n_name;
    if (number > 1) {
        *at++ = '.';
        if (number > 9)
            *at++ = (char)('0' + number / 10);
        *at++ = (char)('0' + number % 10);
    }
    *at = '\0';
    return true;
}

static enum found try_folder(const struct seep_job_request *want, bool may_make, bool is_part)
{
    const size_t n = strlen(want->dir);
    if (n + sizeof(SEEP_JOB_FILE) + 1 > sizeof(seep_job_path))
        return FOUND_UNUSABLE;
    memcpy(seep_job_path, want->dir, n);
    seep_job_path[n] = '/';
    strcpy(seep_job_path + n + 1, SEEP_JOB_FILE);
    return open_table(want, may_make, is_part);
}

/* The first folder of that name that is this machine's, or is nobody's yet. */
static bool open_within(struct seep_job_request *want, const char *name, bool may_make,
                        bool is_part)
{
    const size_t n = strlen(want->dir);
    enum found found = FOUND_FOREIGN;
    for (int number = 1; number < MAX_FOLDERS && found == FOUND_FOREIGN; number++) {
        if (!name_within(want->dir, n, want->capacity, name, number))
            break;
        found = try_folder(want, may_make, is_part);
    }
    if (found == FOUND_OURS)
        return true;
    want->dir[n] = '\0';
    return false;
}

/* Whoever began in the folder itself has children that belong there, too: torchrun starts its ranks
 * with variables that it does not have. */
static void open_any(struct seep_job_request *want)
{
    enum found found = try_folder(want, want->may_make && !want->part, false);
    const bool foreign = found == FOUND_FOREIGN;
    if (found == FOUND_OURS || found == FOUND_UNUSABLE || !(foreign || want->part))
        return;
    if (foreign && open_within(want, want->machine, want->may_make && !want->part, true))
        return;
    if (!want->part)
        return;
    if (want->may_make) /* like any folder above a profile's */
        (void)seep_os_call3(SYS_mkdirat, AT_FDCWD, (long)want->dir, 0777);
    (void)open_within(want, want->part, want->may_make, foreign);
}

void seep_job_open(struct seep_job_request *want)
{
    open_any(want);
    if (!seep_job_map)
        return;
    seep_arena.folder_bytes = &seep_job_map->folder_bytes;
    seep_arena.max_folder_bytes = seep_job_map->max_folder_bytes;
}
