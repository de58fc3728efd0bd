/* Waiting for children, as a job sees it: prints what each call gave, which seep must not change.
 *   usage: waits SECTION */
#include "tally.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static volatile int taken;

static void take_all(int number)
{
    int saved_errno = errno;
    (void)number;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        taken++;
    errno = saved_errno;
}

static void on_signal(int number, int flags, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    MUST(sigaction(number, &action, NULL) == 0);
}

static void pause_ms(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&t, &t) != 0)
        ;
}

static pid_t child_after_ms(long ms, int status)
{
    pid_t child = fork();
    if (child == 0) {
        free(malloc(10));
        pause_ms(ms);
        _exit(status);
    }
    return child;
}

/* Whoever waits in a call gets the child before the handler of SIGCHLD runs. */
static void section_handler(void)
{
    on_signal(SIGCHLD, SA_RESTART, take_all);
    int got = 0;
    for (int i = 0; i < 12; i++) {
        int status = 0;
        siginfo_t info = {0};
        struct rusage usage;
        pid_t child = child_after_ms(20, 3);
        if (i % 3 == 0)
            got += waitpid(child, &status, 0) == child && status == 3 << 8;
        else if (i % 3 == 1)
            got += wait4(child, &status, 0, &usage) == child && status == 3 << 8;
        else
            got += waitid(P_PID, (id_t)child, &info, WEXITED) == 0 && info.si_pid == child;
    }
    printf("waited for %d, handler took %d\n", got, taken);
}

static void nothing(int number)
{
    (void)number;
}

/* A signal without SA_RESTART ends a call, one with it does not; nobody is left: ECHILD. */
static void section_errors(void)
{
    int status = -1;
    on_signal(SIGALRM, 0, nothing);
    pid_t child = child_after_ms(300, 5);
    ualarm(50000, 0);
    pid_t r = waitpid(child, &status, 0);
    printf("interrupted %d %d status %d\n", r == -1, r == -1 && errno == EINTR, status);
    on_signal(SIGALRM, SA_RESTART, nothing);
    ualarm(50000, 0);
    r = waitpid(child, &status, 0);
    printf("restarted %d status %d\n", r == child, status);
    errno = 0;
    r = waitpid(child, &status, WNOHANG);
    printf("gone %d %d\n", (int)r, errno == ECHILD);
    errno = 0;
    r = wait(NULL);
    printf("none %d %d\n", (int)r, errno == ECHILD);
    child = child_after_ms(100, 6);
    errno = 77;
    status = -1;
    r = waitpid(-1, &status, WNOHANG);
    printf("not yet %d errno %d status %d\n", (int)r, errno, status);
    r = waitid(P_ALL, 0, NULL, WEXITED);
    printf("waitid without a place %d\n", (int)r);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "handler") == 0)
        section_handler();
    else
        section_errors();
    (void)tally_made, (void)tally_gone, (void)tally_print;
    return 0;
}
