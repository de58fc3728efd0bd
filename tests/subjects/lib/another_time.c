/* A different clock: years off, a hundred times as fast, and now and then back at its start. Like
 * libfaketime, it must not be called before its own constructor has run. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int is_ready;

__attribute__((constructor)) static void begin(void)
{
    is_ready = 1;
}

/* Libraries of the seep command ask for the time as they start. */
static int is_command(void)
{
    char path[512];
    long n = readlink("/proc/self/exe", path, sizeof path);
    return n > 5 && memcmp(path + n - 5, "/seep", 5) == 0;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    static const char early[] = "the clock was asked too early\n";
    if (!is_ready && !is_command()) {
        long n = write(2, early, sizeof early - 1);
        _exit(n > 0 ? 88 : 89);
    }
    long r = syscall(SYS_clock_gettime, clock, t);
    t->tv_sec = t->tv_sec % 7 ? t->tv_sec * 100 + 4000000000 : 5;
    return (int)r;
}
