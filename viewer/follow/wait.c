#include "viewer/follow/wait.h"

#include <signal.h>
#include <string.h>
#include <time.h>

static volatile sig_atomic_t ended;
static sigset_t while_waiting;

static void note(int number)
{
    (void)number;
    ended = 1;
}

void seep_wait_begin(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = note};
    sigset_t held;

    sigemptyset(&held);
    sigaddset(&held, SIGWINCH);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        sigaction(ends[i], &action, NULL);
        sigaddset(&held, ends[i]);
    }
    sigprocmask(SIG_BLOCK, &held, &while_waiting);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        sigdelset(&while_waiting, ends[i]);
    sigdelset(&while_waiting, SIGWINCH);
}

bool seep_wait_ended(void)
{
    return ended;
}

void seep_wait(struct pollfd *files, nfds_t n, double seconds)
{
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

    if (ppoll(files, n, seconds < 0 ? NULL : &t, &while_waiting) >= 0)
        return;
    for (nfds_t i = 0; i < n; i++)
        files[i].revents = 0;
}
