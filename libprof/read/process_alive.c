#include "libprof/read/process_alive.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* State and start (in ticks since boot, suspended time included) of a process. */
static bool read_stat(uint32_t pid, char *state, unsigned long long *ticks)
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
    /* The name before it may hold anything, parentheses too. */
    const char *after = strrchr(text, ')');
    return after && sscanf(after + 1,
                           " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
                           "%*d %*d %*d %*d %llu",
                           state, ticks) == 2;
}

bool seep_process_is_alive(uint32_t pid, uint64_t start_ns)
{
    unsigned long long ticks;
    struct timespec boot, mono;
    char state;

    if (!read_stat(pid, &state, &ticks) || state == 'Z' || state == 'X')
        return false;
    clock_gettime(CLOCK_BOOTTIME, &boot);
    clock_gettime(CLOCK_MONOTONIC, &mono);
    double asleep = (double)(boot.tv_sec - mono.tv_sec);
    double started = (double)ticks / (double)sysconf(_SC_CLK_TCK) - asleep;
    return started <= (double)start_ns / 1e9 + 2.0;
}
