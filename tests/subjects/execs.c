/* Starts a program in each possible way, and prints how it ended.
 *   usage: execs WAY PROGRAM [TIMES]
 * WAY: a name of the table below, "all", or "self-" and a name. TIMES: how often; then prints the
 * median time in ns instead. */
#include "tally.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static char *program, *base, *words[] = {"execs-child", "one", NULL};

static void by_execve(void)
{
    execve(program, words, environ);
}

static void by_execv(void)
{
    execv(program, words);
}

static void by_execvp(void)
{
    execvp(base, words);
}

static void by_execvpe(void)
{
    execvpe(base, words, environ);
}

static void by_execl(void)
{
    execl(program, words[0], words[1], (char *)NULL);
}

static void by_execlp(void)
{
    execlp(base, words[0], words[1], (char *)NULL);
}

static void by_execle(void)
{
    execle(program, words[0], words[1], (char *)NULL, environ);
}

static void by_fexecve(void)
{
    fexecve(open(program, O_PATH | O_CLOEXEC), words, environ);
}

static void by_execveat(void)
{
    execveat(AT_FDCWD, program, words, environ, 0);
}

static const struct {
    const char *name;
    void (*call)(void);
} ways[] = {
    {"execve", by_execve},   {"execv", by_execv},     {"execvp", by_execvp},
    {"execvpe", by_execvpe}, {"execl", by_execl},     {"execlp", by_execlp},
    {"execle", by_execle},   {"fexecve", by_fexecve}, {"execveat", by_execveat},
};

enum { N_WAYS = sizeof ways / sizeof *ways };

static pid_t start(const char *way)
{
    pid_t pid = -1;

    if (strcmp(way, "posix_spawn") == 0)
        return posix_spawn(&pid, program, NULL, NULL, words, environ) == 0 ? pid : -1;
    if (strcmp(way, "posix_spawnp") == 0)
        return posix_spawnp(&pid, base, NULL, NULL, words, environ) == 0 ? pid : -1;
    if (strcmp(way, "vfork") == 0) {
        pid = vfork();
        if (pid == 0) {
            execv(program, words);
            _exit(127);
        }
        return pid;
    }
    for (size_t i = 0; i < N_WAYS; i++) {
        if (strcmp(way, ways[i].name) != 0)
            continue;
        pid = fork();
        if (pid == 0) {
            ways[i].call();
            _exit(errno == ENOEXEC ? 126 : 127);
        }
        return pid;
    }
    return -1;
}

static void try(const char *way)
{
    int status = -1;

    pid_t pid = start(way);
    if (pid > 0)
        MUST(waitpid(pid, &status, 0) == pid);
    printf("%s %x\n", way, (unsigned)status);
    fflush(stdout);
}

static int by_value(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

static void measure(const char *way, int times)
{
    long *ns = calloc((size_t)times, sizeof *ns);

    MUST(ns);
    for (int i = 0; i < times; i++) {
        struct timespec from, to;
        int status;
        clock_gettime(CLOCK_MONOTONIC, &from);
        pid_t pid = start(way);
        MUST(pid > 0 && waitpid(pid, &status, 0) == pid);
        clock_gettime(CLOCK_MONOTONIC, &to);
        ns[i] = (to.tv_sec - from.tv_sec) * 1000000000L + (to.tv_nsec - from.tv_nsec);
    }
    qsort(ns, (size_t)times, sizeof *ns, by_value);
    printf("%ld\n", ns[times / 2]);
    free(ns);
}

int main(int argc, char **argv)
{
    static const char *const more[] = {"posix_spawn", "posix_spawnp", "vfork"};
    const char *way = argc > 2 ? argv[1] : "";

    MUST(argc > 2);
    program = argv[2];
    base = strrchr(program, '/');
    base = base && argc == 3 ? base + 1 : program;
    if (argc > 3) {
        measure(way, atoi(argv[3]));
        return 0;
    }
    if (strncmp(way, "self-", 5) == 0) {
        for (size_t i = 0; i < N_WAYS; i++)
            if (strcmp(way + 5, ways[i].name) == 0)
                ways[i].call();
        return errno == ENOEXEC ? 126 : 127;
    }
    if (strcmp(way, "all") != 0) {
        try(way);
        return 0;
    }
    for (size_t i = 0; i < N_WAYS; i++)
        try(ways[i].name);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        try(more[i]);
    return 0;
}
