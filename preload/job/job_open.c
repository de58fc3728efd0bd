#include "preload/job/job.h"

#include <string.h>

#include "libprof/runtime/store/arena.h"
#include "preload/job/job_table.h"

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

/* If the file system cannot promise space, zeros are written: a hole might raise SIGBUS. Returns
 * how many entries can be used, 0: there is no space. */
static uint32_t reserve_disk(int fd)
{
    static const char zeros[4096];
    long r = seep_os_call6(SYS_fallocate, fd, 0, 0, SEEP_JOB_FIRST_BYTES, 0, 0);
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
