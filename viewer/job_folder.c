#include "viewer/job_folder.h"

#include "libprof/base/clock.h"
#include "libprof/base/page_bytes.h"
#include "viewer/job_limits.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_NUMBER = 1000 };

enum contents { CONTENTS_NONE, CONTENTS_FOREIGN, CONTENTS_PROFILE, CONTENTS_UNREADABLE };

static enum contents look_into(int dir_fd)
{
    static const char suffix[] = SEEP_PROFILE_SUFFIX;
    enum contents found = CONTENTS_NONE;
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;

    if (!d) {
        if (fd >= 0)
            close(fd);
        return CONTENTS_UNREADABLE;
    }
    for (struct dirent *e; (e = readdir(d)) && found != CONTENTS_PROFILE;) {
        size_t n = strlen(e->d_name);
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        found = CONTENTS_FOREIGN;
        if (strcmp(e->d_name, SEEP_JOB_FILE) == 0 ||
            (n > sizeof suffix - 1 && strcmp(e->d_name + n - (sizeof suffix - 1), suffix) == 0))
            found = CONTENTS_PROFILE;
    }
    closedir(d);
    return found;
}

static uint64_t boot_number(void)
{
    char text[SEEP_BOOT_TEXT] = "";
    int fd = open(SEEP_BOOT_FILE, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;

    if (fd >= 0)
        close(fd);
    return n > 0 ? seep_boot_number(text) : 0;
}

static void fill_job(struct seep_job_folder *folder, char *const *argv)
{
    struct seep_job *job = folder->job;
    const char *kind;
    size_t n = 0;

    job->version = SEEP_FORMAT_VERSION;
    job->started_ns = seep_clock_ns(CLOCK_MONOTONIC);
    job->started_unix_ns = seep_clock_ns(CLOCK_REALTIME);
    job->launcher_pid = (uint32_t)getpid();
    seep_limits_read("/proc", &folder->limits);
    job->limit_bytes = seep_limits_tightest(&folder->limits, &kind);
    snprintf(job->limit_kind, sizeof job->limit_kind, "%s", kind);
    if (gethostname(job->host, sizeof job->host - 1) < 0)
        job->host[0] = '\0';
    job->boot = boot_number();
    if (!getcwd(job->cwd, sizeof job->cwd))
        job->cwd[0] = '\0';
    for (size_t i = 0; argv[i] && n + 1 < sizeof job->argv; i++) {
        size_t room = sizeof job->argv - 1 - n, bytes = strlen(argv[i]);
        if (bytes > room)
            bytes = room;
        memcpy(job->argv + n, argv[i], bytes);
        n += bytes;
        job->argv[n++] = '\0';
    }
    job->argv_bytes = (uint32_t)n;
    __atomic_store_n(&job->magic, SEEP_JOB_MAGIC, __ATOMIC_RELEASE);
}

void seep_job_folder_limit(struct seep_job_folder *folder, uint64_t bytes)
{
    struct seep_job *job = folder->job;

    if (!bytes || (job->limit_bytes && job->limit_bytes <= bytes))
        return;
    job->limit_bytes = bytes;
    snprintf(job->limit_kind, sizeof job->limit_kind, "--memory-limit");
}

/* Reserves disk for what is used first, in whole pages; the rest grows as needed. A full disk shows
 * as an error here, not later as SIGBUS. Beyond RLIMIT_FSIZE there is also a signal, which must not
 * end seep; the job's disposition of it is restored. Returns an errno, or 0 and the number of
 * processes there is room for. */
static int reserve_disk(int fd, uint32_t *n_processes)
{
    const uint64_t page = seep_page_bytes();
    const off_t first = (off_t)((SEEP_JOB_FIRST_BYTES + page - 1) / page * page);
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
    int error = 0;

    sigaction(SIGXFSZ, &ignore, &old);
    *n_processes = SEEP_PROCESS_PIECE;
    if (ftruncate(fd, sizeof(struct seep_job)) < 0 || fallocate(fd, 0, 0, first) < 0)
        error = errno;
    if (error == EOPNOTSUPP) { /* then zeros are written, and those written so far stay */
        *n_processes = SEEP_MAX_PROCESSES;
        error = posix_fallocate(fd, 0, sizeof(struct seep_job));
    }
    sigaction(SIGXFSZ, &old, NULL);
    return error;
}

static int taken(const struct seep_job_folder *folder, struct seep_error *err)
{
    return seep_error_set(err, SEEP_EINVAL, folder->path, 0, "already holds a profile");
}

static int make_job_file(struct seep_job_folder *folder, int dir_fd, char *const *argv,
                         struct seep_error *err)
{
    void *map = MAP_FAILED;
    int fd =
        openat(dir_fd, SEEP_JOB_FILE, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0 && errno == EEXIST) /* another `seep run` was as quick */
        return taken(folder, err);
    if (fd < 0)
        return seep_error_set(err, SEEP_EIO, folder->path, 0, "is not writable (%s)",
                              strerror(errno));
    uint32_t n_reserved = 0;
    int error = reserve_disk(fd, &n_reserved);
    if (!error) {
        map = mmap(NULL, sizeof(struct seep_job), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (map == MAP_FAILED)
            error = errno;
        else /* or the first touch clears the pages of all processes that there may be */
            (void)madvise(map, sizeof(struct seep_job), MADV_RANDOM);
    }
    if (error) {
        close(fd);
        unlinkat(dir_fd, SEEP_JOB_FILE, 0);
        return seep_error_set(err, SEEP_EIO, folder->path, 0, "has no space for a profile (%s)",
                              strerror(error));
    }
    folder->job = map;
    folder->job->n_reserved = n_reserved;
    fill_job(folder, argv);
    close(fd); /* sends it to a file server: other machines see whose it is */
    return 0;
}

/* Anybody who may write there can delete files of the profile, or replace them. */
static bool is_anybodys(int dir_fd)
{
    struct stat st;

    return fstat(dir_fd, &st) == 0 && st.st_uid != geteuid() && (st.st_mode & S_IWOTH) &&
           !(st.st_mode & S_ISVTX);
}

/* Tries one folder. Returns 0 or the error; -SEEP_EINVAL: it holds a profile. */
static int try_folder(struct seep_job_folder *folder, char *const *argv, struct seep_error *err)
{
    folder->made = mkdir(folder->path, 0700) == 0;
    if (!folder->made && errno != EEXIST)
        return seep_error_set(err, SEEP_EIO, folder->path, 0, "cannot be created (%s)",
                              strerror(errno));
    int fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return seep_error_set(err, SEEP_EIO, folder->path, 0, "cannot be opened (%s)",
                              strerror(errno));
    int r;
    enum contents contents = folder->made ? CONTENTS_NONE : look_into(fd);
    if (contents == CONTENTS_UNREADABLE) {
        r = seep_error_set(err, SEEP_EIO, folder->path, 0, "cannot be read (%s)", strerror(errno));
    } else if (is_anybodys(fd)) {
        r = seep_error_set(err, SEEP_EIO, folder->path, 0,
                           "belongs to another user, and anybody may write there");
    } else if (contents == CONTENTS_PROFILE) {
        r = taken(folder, err);
    } else {
        if (contents == CONTENTS_NONE && !folder->made)
            (void)fchmod(fd, 0700); /* empty and made for us: private, as if seep had made it */
        r = make_job_file(folder, fd, argv, err);
    }
    close(fd);
    if (r < 0 && folder->made)
        rmdir(folder->path);
    return r;
}

static int make_absolute(char *path, size_t capacity, const char *dir, struct seep_error *err)
{
    char cwd[PATH_MAX] = "";

    if (dir[0] != '/' && !getcwd(cwd, sizeof cwd))
        return seep_error_set(err, SEEP_EIO, ".", 0, "the working folder no longer exists (%s)",
                              strerror(errno));
    int n = snprintf(path, capacity, "%s%s%s", cwd, cwd[0] && cwd[1] ? "/" : "", dir);
    if (n < 0 || (size_t)n + 8 >= capacity)
        return seep_error_set(err, SEEP_EIO, dir, 0, "the path is too long");
    return 0;
}

/* Makes the folders that lead to it. Whatever fails is told by whoever needs them. */
static void make_parents(struct seep_job_folder *folder)
{
    char *path = folder->path;

    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        folder->n_parents_made += mkdir(path, 0777) == 0;
        *slash = '/';
    }
}

/* Those that are still empty. */
static void remove_parents(struct seep_job_folder *folder)
{
    char path[sizeof folder->path], *slash;

    strcpy(path, folder->path);
    for (; folder->n_parents_made && (slash = strrchr(path, '/')); folder->n_parents_made--) {
        *slash = '\0';
        if (rmdir(path))
            return;
    }
}

/* The next name beside one that is taken: DIR.2, DIR.3, or with ".d" kept at the end. */
static int make_beside(struct seep_job_folder *folder, char *const *argv, struct seep_error *err)
{
    const size_t n = strlen(folder->path);
    const bool dot_d = n > 2 && strcmp(folder->path + n - 2, ".d") == 0;
    const size_t stem = dot_d ? n - 2 : n;
    int r = -SEEP_EINVAL;

    folder->beside = true;
    for (int number = 2; r == -SEEP_EINVAL && number < MAX_NUMBER; number++) {
        err->text[0] = '\0';
        snprintf(folder->path + stem, sizeof folder->path - stem, ".%d%s", number,
                 dot_d ? ".d" : "");
        r = try_folder(folder, argv, err);
    }
    return r;
}

static bool holds_profile(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool holds = fd >= 0 && look_into(fd) == CONTENTS_PROFILE;

    if (fd >= 0)
        close(fd);
    return holds;
}

int seep_job_folder_make(struct seep_job_folder *folder, const char *dir, const char *part,
                         char *const *argv, struct seep_error *err)
{
    memset(folder, 0, sizeof *folder);
    const bool within = folder->within = part && !holds_profile(dir);
    size_t n_dir = strlen(dir);
    while (within && n_dir > 1 && dir[n_dir - 1] == '/')
        n_dir--;
    const int length = snprintf(folder->asked, sizeof folder->asked, "%.*s%s%s", (int)n_dir, dir,
                                within ? "/" : "", within ? part : "");
    if (length < 0 || (size_t)length >= sizeof folder->asked)
        return seep_error_set(err, SEEP_EIO, dir, 0, "the path is too long");
    int r = make_absolute(folder->path, sizeof folder->path, folder->asked, err);
    if (r < 0)
        return r;
    for (size_t n = strlen(folder->path); n > 1 && folder->path[n - 1] == '/'; n--)
        folder->path[n - 1] = '\0';
    make_parents(folder);
    r = try_folder(folder, argv, err);
    if (r == -SEEP_EINVAL)
        r = make_beside(folder, argv, err);
    if (r < 0)
        remove_parents(folder);
    return r;
}

int seep_job_folder_none(struct seep_job_folder *folder)
{
    memset(folder, 0, sizeof *folder);
    folder->job = mmap(NULL, sizeof *folder->job, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (folder->job != MAP_FAILED)
        return 0;
    folder->job = NULL;
    return -errno;
}

void seep_job_folder_reaped(struct seep_job_folder *folder, pid_t pid, int wait_status)
{
    struct seep_job *job = folder->job;
    uint32_t n = __atomic_load_n(&job->n_processes, __ATOMIC_ACQUIRE);

    if (n > SEEP_MAX_PROCESSES)
        n = SEEP_MAX_PROCESSES;
    while (n-- > 0) {
        struct seep_process *p = &job->processes[n];
        if (__atomic_load_n(&p->pid, __ATOMIC_ACQUIRE) != (uint32_t)pid)
            continue;
        if (!p->has_status || p->wait_status == SEEP_STATUS_UNSEEN) {
            p->wait_status = wait_status;
            __atomic_store_n(&p->has_status, 1, __ATOMIC_RELEASE);
        }
        return;
    }
}

bool seep_job_folder_own_oom_kill(struct seep_job_folder *folder)
{
    if (seep_limits_oom_kills(&folder->limits) <= folder->limits.oom_kills + folder->own_oom_kills)
        return false;
    folder->own_oom_kills++;
    return true;
}

void seep_job_folder_ended(struct seep_job_folder *folder, int wait_status)
{
    const uint64_t kills = seep_limits_oom_kills(&folder->limits);
    const uint64_t not_the_jobs = folder->limits.oom_kills + folder->own_oom_kills;

    if (kills > not_the_jobs)
        folder->job->oom_kills = (uint32_t)(kills - not_the_jobs);
    folder->job->wait_status = wait_status;
    __atomic_store_n(&folder->job->ended_ns, seep_clock_ns(CLOCK_MONOTONIC), __ATOMIC_RELEASE);
}

void seep_job_folder_undo(struct seep_job_folder *folder)
{
    char path[SEEP_PATH_BYTES];

    munmap(folder->job, sizeof *folder->job);
    folder->job = NULL;
    if (!folder->path[0])
        return;
    snprintf(path, sizeof path, "%s/%s", folder->path, SEEP_JOB_FILE);
    unlink(path);
    if (folder->made)
        rmdir(folder->path);
    remove_parents(folder);
}
