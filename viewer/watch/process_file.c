#include "viewer/watch/process_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void seep_process_file(pid_t pid, const char *name, char text[SEEP_PROCESS_FILE_BYTES])
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, SEEP_PROCESS_FILE_BYTES - 1);
    if (fd >= 0)
        close(fd);
    text[n < 0 ? 0 : n] = '\0';
}

uint64_t seep_process_file_number(const char *text, const char *key)
{
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, strlen(key)) == 0)
            return strtoull(line + strlen(key), NULL, 10);
    }
    return 0;
}

uint64_t seep_process_file_kib(const char *text, const char *key)
{
    enum { KIB = 1024 };

    return seep_process_file_number(text, key) * KIB;
}
