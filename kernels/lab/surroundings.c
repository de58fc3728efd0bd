/* What seep-lab needs of the machine: folders, programs, a device. */
#include "kernels/lab/lab.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int seep_lab_make_temporary(char *path, size_t capacity, struct seep_error *err)
{
    const char *base = getenv("TMPDIR");
    int n = snprintf(path, capacity, "%s/seep-lab-XXXXXX", base && *base ? base : "/tmp");

    if (n < 0 || (size_t)n >= capacity)
        return seep_error_set(err, SEEP_EIO, "", 0, "the path in TMPDIR is too long");
    if (!mkdtemp(path))
        return seep_error_set(err, SEEP_EIO, path, 0, "%s", strerror(errno));
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    remove(path);
    return 0;
}

void seep_lab_remove(const char *folder)
{
    if (*folder)
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int seep_lab_make_folder(const char *path, struct seep_error *err)
{
    char part[PATH_MAX];
    struct stat st;

    if (!*path)
        return seep_error_set(err, SEEP_EIO, "", 0, "a folder's name is empty");
    if ((size_t)snprintf(part, sizeof part, "%s", path) >= sizeof part)
        return seep_error_set(err, SEEP_EIO, path, 0, "the path is too long");
    for (char *at = part + 1;; at++) {
        if (*at && *at != '/')
            continue;
        char end = *at;
        *at = '\0';
        if (mkdir(part, 0777) && errno != EEXIST)
            return seep_error_set(err, SEEP_EIO, part, 0, "%s", strerror(errno));
        *at = end;
        if (!end)
            break;
    }
    if (stat(path, &st) || !S_ISDIR(st.st_mode))
        return seep_error_set(err, SEEP_EIO, path, 0, "not a folder");
    return 0;
}

bool seep_lab_is_empty(const char *folder)
{
    DIR *dir = opendir(folder);
    bool empty = dir || errno == ENOENT;

    for (struct dirent *e; dir && (e = readdir(dir));)
        empty &= strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
    if (dir)
        closedir(dir);
    return empty;
}

int seep_lab_find_self(char path[PATH_MAX], struct seep_error *err)
{
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);

    if (n <= 0)
        return seep_error_set(err, SEEP_ENODATA, "/proc/self/exe", 0, "%s", strerror(errno));
    path[n] = '\0';
    return 0;
}

int seep_lab_find_seep(char path[PATH_MAX], struct seep_error *err)
{
    int rc = seep_lab_find_self(path, err);

    if (rc)
        return rc;
    char *slash = strrchr(path, '/');
    size_t room = PATH_MAX - (size_t)(slash + 1 - path);
    if ((size_t)snprintf(slash + 1, room, "seep") < room && access(path, X_OK) == 0)
        return 0;
    const char *list = getenv("PATH");
    for (const char *at = list ? list : ""; *at; at += *at == ':') {
        size_t n = strcspn(at, ":");
        if (n && snprintf(path, PATH_MAX, "%.*s/seep", (int)n, at) < PATH_MAX &&
            access(path, X_OK) == 0)
            return 0;
        at += n;
    }
    return seep_error_set(err, SEEP_ENODATA, "seep", 0, "neither beside seep-lab nor in PATH");
}

static int try_device(void *arg, struct seep_error *err)
{
    struct seep_stream *stream;
    int rc = seep_stream_create_cuda(0, &stream, err);

    (void)arg;
    if (!rc)
        seep_stream_destroy(stream);
    return rc;
}

bool seep_lab_has_device(enum seep_device device)
{
    struct seep_error err = {0};
    int rc = device == SEEP_DEVICE_CUDA ? seep_lab_in_child(try_device, NULL, &err) : 0;

    if (rc && !seep_lab_interrupted())
        seep_lab_complain_error(rc, &err, "omit --device to run on the CPU");
    return rc == 0;
}
