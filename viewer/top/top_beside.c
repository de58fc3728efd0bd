#include "viewer/top/top_beside.h"

#include "libprof/base/error.h"
#include "libprof/format/profile_format.h"
#include "viewer/top/top_target.h"
#include "viewer/viewer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { TURN_MS = 50 };

struct beside {
    pid_t run, top; /* 0: it has ended, or was not started */
    bool was_shown;
    int status; /* of `run` */
    int output; /* what the job has written */
    off_t told; /* of it, on the terminal */
};

static bool has_ended(pid_t *child, int *status)
{
    int of;

    if (!*child || waitpid(*child, &of, WNOHANG) != *child)
        return false;
    *child = 0;
    if (status)
        *status = WIFSIGNALED(of) ? 128 + WTERMSIG(of) : WEXITSTATUS(of);
    return true;
}

/* Before its first profile there is nothing to show. */
static bool has_profile(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    bool found = false;

    while (dir && !found && (entry = readdir(dir))) {
        const size_t n = strlen(entry->d_name), k = strlen(SEEP_PROFILE_SUFFIX);
        found = n > k && strcmp(entry->d_name + n - k, SEEP_PROFILE_SUFFIX) == 0;
    }
    if (dir)
        closedir(dir);
    return found;
}

/* Signals from the terminal are the job's and top's; what asks seep alone to end asks the job. */
static void take_signals(sigset_t *asked)
{
    sigemptyset(asked);
    sigaddset(asked, SIGTERM);
    sigaddset(asked, SIGHUP);
    sigprocmask(SIG_BLOCK, asked, NULL);
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
}

static void show_top(struct beside *b)
{
    char folder[PATH_MAX], pid[16];
    struct seep_error err = {0};
    posix_spawnattr_t plain;
    sigset_t none, both;

    snprintf(pid, sizeof pid, "%d", (int)b->run);
    if (seep_top_find(pid, folder, &err) < 0 || !has_profile(folder))
        return;
    sigemptyset(&none);
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGQUIT);
    char *words[] = {"seep", "top", folder, NULL};
    posix_spawnattr_init(&plain);
    posix_spawnattr_setflags(&plain, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&plain, &none);
    posix_spawnattr_setsigdefault(&plain, &both);
    b->was_shown = true;
    if (posix_spawn(&b->top, "/proc/self/exe", NULL, &plain, words, environ) != 0)
        b->top = 0;
    posix_spawnattr_destroy(&plain);
}

/* Writes what the job has written since, all of it where it is many times a buffer. */
static void tell(struct beside *b)
{
    char some[65536];
    ssize_t n;

    while ((n = pread(b->output, some, sizeof some, b->told)) > 0) {
        for (ssize_t done = 0, more; done < n; done += more)
            if ((more = write(STDOUT_FILENO, some + done, (size_t)(n - done))) < 0)
                return; /* nobody reads it */
        b->told += n;
    }
}

static int stay(struct beside *b)
{
    const struct timespec turn = {.tv_nsec = TURN_MS * 1000000L};
    sigset_t asked;
    int number;

    take_signals(&asked);
    while (!has_ended(&b->run, &b->status)) {
        has_ended(&b->top, NULL);
        if (!b->was_shown)
            show_top(b);
        else if (!b->top)
            tell(b);
        if ((number = sigtimedwait(&asked, NULL, &turn)) > 0 && b->run)
            kill(b->run, number);
    }
    if (b->top)
        kill(b->top, SIGTERM);
    while (b->top && waitpid(b->top, NULL, 0) < 0 && errno == EINTR) {
    }
    tell(b);
    return b->status;
}

/* On the disk that the profile is written to: days of output are no matter for memory. */
static int open_nameless(void)
{
    char name[] = ".seep-output-XXXXXX";
    const int file = mkostemp(name, O_CLOEXEC);

    if (file >= 0)
        unlink(name);
    return file;
}

static void keep_output(int output)
{
    const int nothing = open("/dev/null", O_RDONLY);

    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    if (nothing > STDERR_FILENO)
        close(nothing);
}

bool seep_top_beside(int *status)
{
    struct beside b = {.output = -1};

    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !isatty(STDERR_FILENO)) {
        seep_complain("--top needs a terminal for input, output and errors: the job runs without "
                      "it; watch it by `seep top DIR` in another one");
        return true;
    }
    b.output = open_nameless();
    b.run = b.output < 0 ? -1 : fork();
    if (b.run < 0) {
        seep_complain("--top: %s: the job runs without it", strerror(errno));
        return true;
    }
    if (b.run == 0) {
        keep_output(b.output);
        return true;
    }
    *status = stay(&b);
    return false;
}
