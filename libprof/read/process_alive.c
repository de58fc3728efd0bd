#include "libprof/read/process_alive.h"

#include "libprof/base/clock.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct stat_line {
    char state;
    unsigned long long ticks; /* of its start, since boot, suspended time included */
    int exit_code;            /* as wait(2) gives it; 0 if this user may not see it */
};

static bool read_stat(uint32_t pid, struct stat_line *line)
{
    char path[64], text[1024];

    snprintf(path, sizeof path, "/proc/%" PRIu32 "/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return false;
    text[n] = 0;
    /* The name before it may contain anything, even parentheses. */
    const char *after = strrchr(text, ')'), *last = strrchr(text, ' ');
    if (!after || !last)
        return false;
    line->exit_code = atoi(last);
    return sscanf(after + 1,
                  " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
                  "%*d %*d %*d %*d %llu",
                  &line->state, &line->ticks) == 2;
}

static bool began_by(const struct stat_line *line, uint64_t start_ns)
{
    int64_t asleep_ns = (int64_t)(seep_clock_ns(CLOCK_BOOTTIME) - seep_clock_ns(CLOCK_MONOTONIC));
    double asleep = asleep_ns > 0 ? (double)asleep_ns / 1e9 : 0; /* asked one after the other */
    double started = (double)line->ticks / (double)sysconf(_SC_CLK_TCK) - asleep;
    return started <= (double)start_ns / 1e9 + 2.0;
}

bool seep_process_is_alive(uint32_t pid, uint64_t start_ns)
{
    struct stat_line line;

    return read_stat(pid, &line) && line.state != 'Z' && line.state != 'X' &&
           began_by(&line, start_ns);
}

bool seep_process_is_there(uint32_t pid, uint64_t start_ns)
{
    struct stat_line line;

    return read_stat(pid, &line) && began_by(&line, start_ns);
}

bool seep_process_zombie_status(uint32_t pid, uint64_t start_ns, int *status)
{
    char path[64];
    struct stat owner;
    struct stat_line line;

    snprintf(path, sizeof path, "/proc/%" PRIu32, pid);
    if (stat(path, &owner) < 0 || owner.st_uid != geteuid() || !read_stat(pid, &line) ||
        line.state != 'Z' || !began_by(&line, start_ns))
        return false;
    *status = line.exit_code;
    return true;
}
