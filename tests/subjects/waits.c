/* Waiting for children, as a job sees it: prints the result of each call, which seep must not
 * change.
 *   usage: waits SECTION */
#include "tally.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { PATIENCE_MS = 10000, ALARM_US = 50000, ALARMS = 3 };
static volatile int taken, alarms, held_by = -1;

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

/* The letter of /proc/PID/stat. */
static char state_of(pid_t pid)
{
    char path[32], text[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    MUST(fd >= 0 && read(fd, text, sizeof text - 1) > 0);
    close(fd);
    const char *end = strrchr(text, ')');
    MUST(end != NULL && end[1] == ' ');
    return end[2];
}

/* A child that ends once its parent sleeps, which is in the call that waits for it. */
static pid_t child_to_wait_for(int status)
{
    pid_t child = fork();
    if (child == 0) {
        free(malloc(10));
        for (int i = 0; i < PATIENCE_MS && state_of(getppid()) != 'S'; i++)
            usleep(1000);
        _exit(status);
    }
    return child;
}

/* A child that lives until its parent calls let_go(). */
static pid_t child_on_hold(int status)
{
    int fds[2];
    MUST(pipe(fds) == 0);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        free(malloc(10));
        close(fds[1]);
        while (read(fds[0], &byte, 1) != 0)
            ;
        _exit(status);
    }
    close(fds[0]);
    held_by = fds[1];
    return child;
}

static void let_go(void)
{
    close(held_by);
    held_by = -1;
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
        pid_t child = child_to_wait_for(3);
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

static void let_go_later(int number)
{
    (void)number;
    if (++alarms == ALARMS)
        let_go();
}

/* A signal without SA_RESTART ends a call, one with it does not; nobody is left: ECHILD.
 * Alarms repeat: one alone may come while the job is on its way into the call. */
static void section_errors(void)
{
    int status = -1;
    on_signal(SIGALRM, 0, nothing);
    pid_t child = child_on_hold(5);
    ualarm(ALARM_US, ALARM_US);
    pid_t r = waitpid(child, &status, 0);
    int error = errno;
    ualarm(0, 0);
    printf("interrupted %d %d status %d\n", r == -1, r == -1 && error == EINTR, status);
    on_signal(SIGALRM, SA_RESTART, let_go_later);
    ualarm(ALARM_US, ALARM_US);
    r = waitpid(child, &status, 0);
    ualarm(0, 0);
    if (held_by >= 0)
        let_go();
    printf("restarted %d status %d\n", r == child, status);
    errno = 0;
    r = waitpid(child, &status, WNOHANG);
    printf("gone %d %d\n", (int)r, errno == ECHILD);
    errno = 0;
    r = wait(NULL);
    printf("none %d %d\n", (int)r, errno == ECHILD);
    child = child_on_hold(6);
    errno = 77;
    status = -1;
    r = waitpid(-1, &status, WNOHANG);
    int untouched = errno;
    let_go();
    printf("not yet %d errno %d status %d\n", (int)r, untouched, status);
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
