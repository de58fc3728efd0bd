#include "viewer/watch/start_crash.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { PATH_BYTES = SEEP_PATH_BYTES + 32 };

static void name_offered(const struct seep_job_folder *folder, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s/%s", folder->path, SEEP_STARTING_FILE);
}

void seep_start_crash_watch(const struct seep_job_folder *folder)
{
    char path[PATH_BYTES];

    name_offered(folder, path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}

bool seep_start_crash_seen(const struct seep_job_folder *folder, pid_t job)
{
    char offered[PATH_BYTES], taken[PATH_BYTES];

    if (!folder->path[0])
        return false;
    name_offered(folder, offered);
    snprintf(taken, sizeof taken, "%s/%s-%d", folder->path, SEEP_STARTING_FILE, (int)job);
    unlink(offered);
    return unlink(taken) == 0;
}
