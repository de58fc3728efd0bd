#include "libprof/read/job_read.h"

#include "libprof/read/profile_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void close_texts(struct seep_job *job)
{
    job->limit_kind[sizeof job->limit_kind - 1] = 0;
    job->host[sizeof job->host - 1] = 0;
    job->cwd[sizeof job->cwd - 1] = 0;
    job->argv[sizeof job->argv - 1] = 0;
    if (job->argv_bytes > sizeof job->argv)
        job->argv_bytes = sizeof job->argv;
    if (job->n_processes > SEEP_MAX_PROCESSES)
        job->n_processes = SEEP_MAX_PROCESSES;
    if (job->seen.n > SEEP_SEEN_ROWS)
        job->seen.n = SEEP_SEEN_ROWS;
    if (job->files.n > SEEP_MEMORY_FOLDERS)
        job->files.n = SEEP_MEMORY_FOLDERS;
    for (int i = 0; i < SEEP_MEMORY_FOLDERS; i++) {
        struct seep_memory_folder *f = &job->files.folders[i];
        f->path[sizeof f->path - 1] = 0;
        f->largest[sizeof f->largest - 1] = 0;
    }
    for (uint32_t i = 0; i < job->n_processes; i++) {
        struct seep_process *p = &job->processes[i];
        p->name[sizeof p->name - 1] = 0;
        p->exec_path[sizeof p->exec_path - 1] = 0;
    }
    for (int i = 0; i < SEEP_MAX_FOLDED; i++) {
        struct seep_folded *line = &job->folded[i];
        line->name[sizeof line->name - 1] = 0;
        line->n = line->n < SEEP_FOLDED_NAMING ? line->n : 0;
    }
}

static int check(struct seep_job *job, const char *path, struct seep_error *err)
{
    if (job->magic != SEEP_JOB_MAGIC)
        return seep_error_set(err, SEEP_EFORMAT, path, 0, "not a job table of seep");
    if (job->version != SEEP_FORMAT_VERSION)
        return seep_version_error(err, path, job->version);
    close_texts(job);
    return 0;
}

int seep_job_from_bytes(const void *bytes, uint64_t size, struct seep_job **out,
                        struct seep_error *err)
{
    struct seep_job *job = calloc(1, sizeof *job);
    int rc;

    if (!job)
        return seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory");
    memcpy(job, bytes, size < sizeof *job ? size : sizeof *job);
    rc = check(job, "", err);
    if (rc) {
        free(job);
        return rc;
    }
    *out = job;
    return 0;
}

/* A part behind the room for processes; a file that was cut, or is older, does not have it. */
static bool read_part(int fd, size_t at, void *part, size_t size)
{
    return pread(fd, part, size, (off_t)at) == (ssize_t)size;
}

static void read_parts(int fd, struct seep_job *job)
{
    if (!read_part(fd, offsetof(struct seep_job, seen), &job->seen, sizeof job->seen))
        job->seen.n = 0;
    if (!read_part(fd, offsetof(struct seep_job, files), &job->files, sizeof job->files))
        job->files.n = 0;
}

/* How much of the file matters, of which `done` bytes were read: a report of many machines has as
 * many tables, each with room for thousands of processes. */
static size_t in_use(const struct seep_job *job, size_t done)
{
    const size_t head = offsetof(struct seep_job, processes);
    const uint32_t n =
        job->n_processes < SEEP_MAX_PROCESSES ? job->n_processes : SEEP_MAX_PROCESSES;

    return done < head ? head : head + n * sizeof *job->processes;
}

int seep_job_read(const char *path, struct seep_job **out, struct seep_error *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        return seep_error_set(err, SEEP_EIO, path, 0, "cannot open: %s", strerror(errno));
    struct seep_job *job = calloc(1, sizeof *job);
    int rc = -SEEP_EIO;
    if (!job) {
        rc = seep_error_set(err, SEEP_ENOMEM, path, 0, "no memory");
        goto fail;
    }
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        rc = seep_error_set(err, SEEP_EIO, path, 0, "not a regular file");
        goto fail;
    }
    for (size_t done = 0; done < in_use(job, done);) {
        ssize_t n = pread(fd, (char *)job + done, in_use(job, done) - done, (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            rc = seep_error_set(err, SEEP_EIO, path, done, "cannot read: %s", strerror(errno));
            goto fail;
        }
        if (n == 0)
            break;
        done += (size_t)n;
        /* A process that runs has published the entries that it has counted. */
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    }
    read_parts(fd, job);
    rc = check(job, path, err);
    if (rc)
        goto fail;
    close(fd);
    *out = job;
    return 0;
fail:
    free(job);
    close(fd);
    return rc;
}
