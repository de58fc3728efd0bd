#include "viewer/top/top_target.h"

#include "libprof/format/profile_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);

    return n >= k && strcmp(text + n - k, end) == 0;
}

bool seep_top_folder_of_maps(FILE *maps, char folder[PATH_MAX])
{
    char *line = NULL;
    size_t room = 0;
    bool found = false;

    while (!found && getline(&line, &room, maps) > 0) {
        line[strcspn(line, "\n")] = '\0';
        char *path = strchr(line, '/');
        if (!path || strlen(path) >= PATH_MAX ||
            !(ends_with(path, SEEP_PROFILE_SUFFIX) || ends_with(path, "/" SEEP_JOB_FILE)))
            continue;
        *strrchr(path, '/') = '\0';
        snprintf(folder, PATH_MAX, "%s", path[0] ? path : "/");
        found = true;
    }
    free(line);
    return found;
}

bool seep_top_out_of(FILE *environment, char out[PATH_MAX])
{
    static const char name[] = "SEEP_OUT=";
    char *entry = NULL;
    size_t room = 0;
    bool found = false;

    while (!found && getdelim(&entry, &room, '\0', environment) > 0) {
        const char *value = entry + sizeof name - 1;
        if (strncmp(entry, name, sizeof name - 1) != 0 || !*value || strlen(value) >= PATH_MAX)
            continue;
        strcpy(out, value);
        found = true;
    }
    free(entry);
    return found;
}

static FILE *open_of(const char *pid, const char *name)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%.20s/%s", pid, name);
    return fopen(path, "re");
}

/* The folder that SEEP_OUT names, for a process that maps none of seep's files: it keeps its counts
 * to itself. */
static bool folder_of_environment(const char *pid, char folder[PATH_MAX])
{
    char link[64], cwd[PATH_MAX] = "", out[PATH_MAX];
    FILE *file = open_of(pid, "environ");
    bool told = file && seep_top_out_of(file, out);

    if (file)
        fclose(file);
    snprintf(link, sizeof link, "/proc/%.20s/cwd", pid);
    if (!told || (out[0] != '/' && readlink(link, cwd, sizeof cwd - 1) < 0))
        return false;
    int length = snprintf(folder, PATH_MAX, "%s%s%s", cwd, cwd[0] ? "/" : "", out);
    return length > 0 && length < PATH_MAX;
}

/* In another root (a container's) the same path is another folder. */
static void as_seen_here(const char *pid, char folder[PATH_MAX])
{
    char there[PATH_MAX + 64];
    struct stat here;

    if (stat(folder, &here) == 0)
        return;
    snprintf(there, sizeof there, "/proc/%.20s/root%s", pid, folder);
    if (strlen(there) < PATH_MAX && stat(there, &here) == 0)
        strcpy(folder, there);
}

static int find_process(const char *pid, char folder[PATH_MAX], struct seep_error *err)
{
    char name[64];
    FILE *maps = open_of(pid, "maps");

    snprintf(name, sizeof name, "process %.20s", pid);
    if (!maps && errno == ENOENT)
        return seep_error_set(err, SEEP_ENODATA, name, 0, "there is no such process");
    bool found = maps && seep_top_folder_of_maps(maps, folder);
    /* The kernel may refuse reading rather than opening. */
    int error = !maps || ferror(maps) ? errno : 0;
    if (maps)
        fclose(maps);
    if (!found && error)
        return seep_error_set(err, SEEP_EIO, name, 0, "it cannot be read (%s)", strerror(error));
    if (!found && !folder_of_environment(pid, folder))
        return seep_error_set(err, SEEP_ENODATA, name, 0,
                              "it does not belong to a job under seep, but `seep look %.20s` shows "
                              "what it holds",
                              pid);
    as_seen_here(pid, folder);
    return 0;
}

int seep_top_find(const char *target, char folder[PATH_MAX], struct seep_error *err)
{
    struct stat there;
    size_t n = strlen(target);

    if (n > 0 && n <= 10 && strspn(target, "0123456789") == n && stat(target, &there) < 0)
        return find_process(target, folder, err);
    if (n >= PATH_MAX)
        return seep_error_set(err, SEEP_EIO, "the folder", 0, "its name is too long");
    strcpy(folder, target);
    return 0;
}
