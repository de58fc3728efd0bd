#include "libprof/model/stages/model_stages.h"

#include "libprof/foreign/foreign_file.h"
#include "libprof/model/stages/process_import.h"
#include "libprof/model/unprofiled_processes.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_FILES = 1 << 16 };

static bool has_suffix(const char *name, const char *suffix)
{
    size_t n = strlen(name), k = strlen(suffix);

    return n > k && strcmp(name + n - k, suffix) == 0;
}

/* Adds a process, all zero; NULL without memory. */
static struct seep_model_process *new_process(struct seep_model *m)
{
    if (seep_grow(&m->processes, &m->processes_capacity, m->n_processes + 1, sizeof *m->processes))
        return NULL;
    return memset(&m->processes[m->n_processes++], 0, sizeof *m->processes);
}

/* Takes the profile over, also on failure. */
static int add_process(struct seep_model *m, struct seep_profile *profile, uint32_t folder)
{
    struct seep_model_process *p = new_process(m);

    if (!p) {
        seep_profile_close(profile);
        return -SEEP_ENOMEM;
    }
    return seep_process_import(p, profile, folder, m->jobs[folder]);
}

/* Takes the table over, also on failure; NULL: there is none. */
static int adopt_job(struct seep_model *m, struct seep_job *job)
{
    struct seep_job **jobs = realloc(m->jobs, (m->n_jobs + 1) * sizeof *jobs);

    if (!jobs) {
        free(job);
        return -SEEP_ENOMEM;
    }
    m->jobs = jobs;
    m->jobs[m->n_jobs++] = job;
    return 0;
}

static int add_job(struct seep_model *m, const char *dir)
{
    char path[4096];

    if (adopt_job(m, NULL))
        return -SEEP_ENOMEM;
    if (snprintf(path, sizeof path, "%s/%s", dir, SEEP_JOB_FILE) >= (int)sizeof path)
        return 0;
    struct seep_error why = {0};
    int rc = seep_job_read(path, &m->jobs[m->n_jobs - 1], &why);
    if (rc == -SEEP_ENOMEM)
        return rc;
    if (rc)
        seep_model_not_read(m, SEEP_JOB_FILE, rc, why.text);
    return 0;
}

static bool has_job(const char *dir)
{
    char path[4096];
    struct stat st;

    return snprintf(path, sizeof path, "%s/%s", dir, SEEP_JOB_FILE) < (int)sizeof path &&
           !stat(path, &st);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_profile(const char *dir, const char *name)
{
    (void)dir;
    return has_suffix(name, SEEP_PROFILE_SUFFIX);
}

static bool is_snapshot(const char *dir, const char *name)
{
    char path[4096];

    return snprintf(path, sizeof path, "%s/%s", dir, name) < (int)sizeof path &&
           seep_foreign_is_at(path);
}

/* Names of the profiles, or the like, in `dir`, sorted so that a report does not depend on the
 * folder's order; a bounded number. Returns 0, -SEEP_EIO (said in *why) or -SEEP_ENOMEM. */
static int list_files(const char *dir, bool (*is_wanted)(const char *dir, const char *name),
                      char ***names, size_t *n, bool *more, struct seep_error *why)
{
    size_t capacity = 0;
    struct dirent *entry;
    int rc = 0;
    DIR *stream = opendir(dir);

    *names = NULL;
    *n = 0;
    *more = false;
    if (!stream)
        return seep_error_set(why, SEEP_EIO, dir, 0, "cannot read the folder: %s", strerror(errno));
    while (!rc && !*more && (entry = readdir(stream))) {
        if (entry->d_name[0] == '.' || !is_wanted(dir, entry->d_name))
            continue;
        if (*n == MAX_FILES) {
            *more = true;
            continue;
        }
        char *name = strdup(entry->d_name);
        if (!name || seep_grow(names, &capacity, *n + 1, sizeof **names)) {
            free(name);
            rc = -SEEP_ENOMEM;
        } else {
            (*names)[(*n)++] = name;
        }
    }
    closedir(stream);
    if (*n)
        qsort(*names, *n, sizeof **names, compare_names);
    return rc;
}

static int open_file(struct seep_model *m, const char *dir, const char *name, uint32_t folder)
{
    struct seep_profile *profile;
    struct seep_error why = {0};
    char path[4096];

    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path) {
        seep_model_not_read(m, name, SEEP_EIO, "the path is too long");
        return 0;
    }
    int rc = seep_profile_open(path, &profile, &why);
    if (rc == -SEEP_ENOMEM)
        return rc;
    if (rc) {
        seep_model_not_read(m, name, rc, why.text);
        return 0;
    }
    return add_process(m, profile, folder);
}

/* A snapshot of PyTorch's is a process with a table of its own. Among others, one that is empty is
 * of a process without a GPU, and says nothing. */
static int add_snapshot(struct seep_model *m, const char *path, bool is_alone)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const uint32_t folder = (uint32_t)m->n_jobs;
    struct seep_made_profile torch;
    struct seep_profile *profile;
    struct seep_error why = {0};
    int rc = seep_foreign_read(path, folder + 1, &torch, &why);

    if (!rc) {
        rc = seep_profile_from_bytes(name, torch.bytes, torch.n_bytes, &profile, &why);
        free(torch.bytes);
        if (rc)
            free(torch.job);
    }
    if (rc) {
        if (rc != -SEEP_ENOMEM && (rc != -SEEP_ENODATA || is_alone))
            seep_model_not_read(m, name, rc, why.text);
        return rc == -SEEP_ENOMEM ? rc : 0;
    }
    if (torch.is_cut)
        seep_model_not_read(m, name, SEEP_EFORMAT, "it ends early: the report is of what is there");
    rc = adopt_job(m, torch.job);
    if (rc) {
        seep_profile_close(profile);
        return rc;
    }
    return add_process(m, profile, folder);
}

static int compare_numbers(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Those of a folder in which no profile is: rank10 comes after rank9. */
static int add_snapshots(struct seep_model *m, const char *dir)
{
    struct seep_error why = {0};
    char **names, path[4096];
    bool more;
    size_t n, i = 0;
    int rc = list_files(dir, is_snapshot, &names, &n, &more, &why);

    if (n)
        qsort(names, n, sizeof *names, compare_numbers);
    for (; i < n && !rc && m->n_processes < MAX_FILES; i++)
        if (snprintf(path, sizeof path, "%s/%s", dir, names[i]) < (int)sizeof path)
            rc = add_snapshot(m, path, n == 1);
    for (i = 0; i < n; i++)
        free(names[i]);
    free(names);
    return rc == -SEEP_EIO ? 0 : rc;
}

/* If no profile could be read, all of the job's processes may have been only counted. */
static int add_counted(struct seep_model *m, uint32_t folder)
{
    const struct seep_job *job = m->jobs[folder];
    uint32_t entry;

    if (!job || !seep_unprofiled_first(job, &entry))
        return 0;
    struct seep_model_process *p = new_process(m);
    return p ? seep_process_import_counted(p, folder, job, entry) : -SEEP_ENOMEM;
}

/* Whatever cannot be read in a folder is noted; only lack of memory is an error. */
static int open_folder(struct seep_model *m, const char *dir)
{
    struct seep_error why = {0};
    uint32_t folder = (uint32_t)m->n_jobs;
    char **names;
    size_t n, i = 0;
    bool more;

    if (seep_foreign_is_at(dir))
        return add_snapshot(m, dir, true);
    int rc = list_files(dir, is_profile, &names, &n, &more, &why);

    if (rc == -SEEP_EIO) {
        m->n_folders_not_read++;
        seep_model_not_read(m, dir, rc, why.text);
        rc = 0;
    } else if (!rc && (n || has_job(dir))) {
        rc = add_job(m, dir);
    }
    size_t n_before = m->n_processes;
    if (!rc && !n && m->n_jobs == folder)
        rc = add_snapshots(m, dir);
    for (; i < n && !rc && m->n_processes < MAX_FILES; i++)
        rc = open_file(m, dir, names[i], folder);
    if (!rc && m->n_processes == n_before && m->n_jobs > folder)
        rc = add_counted(m, folder);
    if (!rc && !n && m->n_processes == n_before && why.text[0] == 0)
        seep_model_not_read(m, dir, SEEP_ENODATA, "no profile is in it");
    if (!rc && (more || i < n))
        seep_model_not_read(m, dir, SEEP_EINVAL,
                            "more profiles than one report takes: the rest is left out");
    for (i = 0; i < n; i++)
        free(names[i]);
    free(names);
    return rc;
}

/* Whether dirs[i] is a folder that came before, under whatever name. */
static bool is_repeated(const char *const *dirs, size_t i)
{
    struct stat st, other;

    if (stat(dirs[i], &st))
        return false;
    for (size_t k = 0; k < i; k++) {
        if (!stat(dirs[k], &other) && st.st_dev == other.st_dev && st.st_ino == other.st_ino)
            return true;
    }
    return false;
}

/* Why nothing was read: because of a file, else for the folder's own reason. */
static int nothing_read(const struct seep_model *m, const char *const *dirs, size_t n_dirs,
                        struct seep_error *err)
{
    const struct seep_not_read *why = NULL;

    for (size_t i = 0; i < m->n_not_read && !why; i++) {
        if (strcmp(m->not_read[i].name, SEEP_JOB_FILE) != 0)
            why = &m->not_read[i];
    }
    int code = n_dirs && m->n_folders_not_read == n_dirs ? SEEP_EIO : SEEP_ENODATA;
    if (why && why->code == SEEP_EVERSION) /* its message says what to do */
        return seep_error_set(err, SEEP_EVERSION, dirs[0], 0, "%s", why->reason);
    if (n_dirs && why && seep_foreign_is_at(dirs[0]))
        return seep_error_set(err, SEEP_EFORMAT, dirs[0], 0, "%s", why->reason);
    return seep_error_set(err, code, n_dirs ? dirs[0] : "", 0,
                          "%s: name a folder that `seep run` has written",
                          why ? why->reason : "no profile is in it");
}

int seep_folders_open(struct seep_model *m, const char *const *dirs, size_t n_dirs,
                      struct seep_error *err)
{
    size_t n_given = 0;
    int rc = 0;

    seep_model_begin(m, SEEP_MODEL_OPENED);
    for (size_t i = 0; i < n_dirs && !rc; i++) {
        if (is_repeated(dirs, i))
            continue;
        n_given++;
        rc = open_folder(m, dirs[i]);
    }
    if (!rc && !m->n_processes)
        return nothing_read(m, dirs, n_given, err);
    return rc ? seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory") : 0;
}

int seep_folders_adopt(struct seep_model *m, struct seep_profile **profiles, size_t n,
                       struct seep_job *job)
{
    int rc = n ? 0 : -SEEP_ENODATA;

    seep_model_begin(m, SEEP_MODEL_OPENED);
    m->jobs = calloc(1, sizeof *m->jobs);
    if (!m->jobs) {
        free(job);
        rc = -SEEP_ENOMEM;
    } else {
        m->jobs[m->n_jobs++] = job;
    }
    for (size_t i = 0; i < n; i++) {
        if (rc)
            seep_profile_close(profiles[i]);
        else
            rc = add_process(m, profiles[i], 0);
    }
    return rc;
}
