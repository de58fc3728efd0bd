#include "libprof/who/process/mapped_file.h"

#include <stdio.h>
#include <sys/stat.h>

static bool is_file(const char *path, uint64_t inode)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_ino == inode;
}

bool seep_mapped_file(pid_t pid, const char *file, uint64_t inode, char path[SEEP_MAPPED_PATH])
{
    int n = snprintf(path, SEEP_MAPPED_PATH, "/proc/%d/root%s", (int)pid, file);

    if (n > 0 && n < SEEP_MAPPED_PATH && is_file(path, inode))
        return true;
    n = snprintf(path, SEEP_MAPPED_PATH, "%s", file);
    return n > 0 && n < SEEP_MAPPED_PATH && is_file(path, inode);
}
