/* Child processes of seep-lab, and the signals that are meant to end it: they stay blocked, and are
 * taken while it waits for a child, so that nothing is left behind. */
#include "kernels/lab/lab.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

static bool holds;
static sigset_t held, before; /* what is blocked, and this process's mask at its start */
static int came;              /* the first of `ending` that came, else 0 */

/* ---- signals --------------------------------------------------------------------------------- */

void seep_lab_hold_signals(void)
{
    sigemptyset(&held);
    sigaddset(&held, SIGCHLD);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
        struct sigaction now;
        /* nohup, and shells for background jobs, ignore some of them. */
        if (sigaction(ending[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&held, ending[i]);
    }
    sigprocmask(SIG_BLOCK, &held, &before);
    holds = true;
}

static void note(int number)
{
    if (number > 0 && number != SIGCHLD && !came)
        came = number;
}

bool seep_lab_interrupted(void)
{
    const struct timespec at_once = {0};

    for (int number = 1; holds && number > 0;) {
        number = sigtimedwait(&held, NULL, &at_once);
        note(number);
    }
    return came != 0;
}

void seep_lab_release_signals(void)
{
    if (!holds)
        return;
    if (seep_lab_interrupted()) {
        signal(came, SIG_DFL);
        raise(came);
    }
    sigprocmask(SIG_UNBLOCK, &held, NULL);
}

/* ---- children -------------------------------------------------------------------------------- */

/* Waits for the child; passes on to it the signals that ought to end this process. */
static int await(pid_t pid, int *status, struct seep_error *err)
{
    if (pid < 0)
        return seep_error_set(err, SEEP_EIO, "", 0, "cannot start a process: %s", strerror(errno));
    if (came) /* taken before this child began */
        kill(pid, came);
    for (pid_t ended; (ended = waitpid(pid, status, WNOHANG)) != pid;) {
        if (ended < 0 && errno != EINTR)
            return seep_error_set(err, SEEP_EIO, "", 0, "cannot wait for a process: %s",
                                  strerror(errno));
        int number = sigwaitinfo(&held, NULL);
        note(number);
        if (number > 0 && number != SIGCHLD)
            kill(pid, number); /* Ctrl-C has reached the child already: a second signal does no
                                * harm */
    }
    return seep_lab_interrupted() ? seep_error_set(err, SEEP_EIO, "", 0, "interrupted") : 0;
}

/* Runs in the child. The lab's verdicts must not depend on variables that the user has set for
 * other runs. */
static void start(char *const *argv, const char *log)
{
    static const char *const foreign[] = {"SEEP_OUT",   "SEEP_QUIET",       "SEEP_NO_REPORT",
                                          "SEEP_ROLES", "SEEP_MAX_PROFILE", "SEEP_SAMPLE",
                                          "RANK",       "LOCAL_RANK"};

    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        unsetenv(foreign[i]);
    setenv("SEEP_OVERHEAD", "off", 1); /* on a busy machine seep would sample */
    sigprocmask(SIG_SETMASK, &before, NULL);
    int null = open("/dev/null", O_WRONLY);
    int to = log ? open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666) : STDERR_FILENO;
    if (null < 0 || to < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(to, STDERR_FILENO) < 0)
        _exit(126);
    execvp(argv[0], argv);
    _exit(127);
}

int seep_lab_spawn(char *const *argv, const char *log, int *status, struct seep_error *err)
{
    pid_t pid = fork();

    if (pid == 0)
        start(argv, log);
    int rc = await(pid, status, err);
    if (!rc && WIFEXITED(*status) && WEXITSTATUS(*status) == 127)
        rc = seep_error_set(err, SEEP_EIO, argv[0], 0, "cannot be started");
    return rc;
}

struct answer {
    int rc;
    struct seep_error err;
};

struct seep_lab_child {
    pid_t pid;
    struct answer *answer; /* shared with it */
};

struct seep_lab_child *seep_lab_child_begin(seep_lab_work *work, void *arg, bool spawns,
                                            struct seep_error *err)
{
    struct seep_lab_child *child = calloc(1, sizeof *child);
    struct answer *a =
        mmap(NULL, sizeof *a, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (!child || a == MAP_FAILED) {
        if (a != MAP_FAILED)
            munmap(a, sizeof *a);
        free(child);
        seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory for a process");
        return NULL;
    }
    a->rc = -SEEP_EIO; /* until the work reports its result */
    *child = (struct seep_lab_child){.answer = a};
    fflush(NULL);
    child->pid = fork();
    if (child->pid == 0) {
        if (!spawns)
            sigprocmask(SIG_SETMASK, &before, NULL);
        seep_lab_progress_off();
        a->rc = work(arg, &a->err);
        _exit(0);
    }
    if (child->pid > 0)
        return child;
    seep_error_set(err, SEEP_EIO, "", 0, "cannot start a process: %s", strerror(errno));
    munmap(a, sizeof *a);
    free(child);
    return NULL;
}

/* Takes what it answered, and frees it. */
static int answer_of(struct seep_lab_child *child, int status, struct seep_error *err)
{
    int rc = child->answer->rc;

    if (WIFSIGNALED(status))
        rc = seep_error_set(err, SEEP_EIO, "", 0, "signal %d ended a process", WTERMSIG(status));
    else if (rc < 0 && err)
        *err = child->answer->err;
    munmap(child->answer, sizeof *child->answer);
    free(child);
    return rc;
}

bool seep_lab_child_ended(struct seep_lab_child *child, int *rc, struct seep_error *err)
{
    int status = 0;
    const pid_t ended = waitpid(child->pid, &status, WNOHANG);

    if (ended == 0 || (ended < 0 && errno == EINTR))
        return false;
    *rc = answer_of(child, status, err);
    return true;
}

void seep_lab_child_signal(const struct seep_lab_child *child, int number)
{
    kill(child->pid, number);
}

int seep_lab_wait_signal(double seconds)
{
    const struct timespec most = {.tv_sec = (time_t)seconds,
                                  .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
    const int number = sigtimedwait(&held, NULL, &most);

    note(number);
    return number > 0 && number != SIGCHLD ? number : 0;
}

int seep_lab_in_child(seep_lab_work *work, void *arg, struct seep_error *err)
{
    struct seep_lab_child *child = seep_lab_child_begin(work, arg, false, err);
    int status = 0;

    if (!child)
        return -SEEP_EIO;
    const int waited = await(child->pid, &status, err);
    struct seep_error its = {0};
    const int rc = answer_of(child, status, &its);
    if (waited)
        return waited;
    if (rc < 0 && err)
        *err = its;
    return rc;
}
