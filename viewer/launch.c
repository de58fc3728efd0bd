/* Signals stay blocked and are taken one by one with sigtimedwait(): no handlers, and the sender is
 * known. Signals from the terminal (SI_KERNEL), and those that the witness got too, were sent to
 * the whole process group, so the job has them already; those that a process sent to seep alone are
 * passed on. Stop signals are left alone: the terminal and the shell send them to the group, where
 * they stop the job and seep alike. */
#include "viewer/launch.h"

#include "viewer/watch/resident.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    NS_PER_S = 1000 * 1000 * 1000,
    LAST_ORPHANS_MS = 20, /* for children that end with the job; later ones are daemons */
};

static const int passed_on[] = {SIGHUP,  SIGINT,    SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
                                SIGALRM, SIGVTALRM, SIGPROF, SIGCONT, SIGPWR,  SIGIO};

static void fill_waited(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        sigaddset(set, passed_on[i]);
    for (int s = SIGRTMIN; s <= SIGRTMAX; s++)
        sigaddset(set, s);
    sigaddset(set, SIGCHLD);
}

struct pipes {
    int error[2]; /* carries an errno where exec() failed */
    int gate[2];  /* the job begins when it is closed */
};

static int pipes_open(struct pipes *p)
{
    if (pipe2(p->error, O_CLOEXEC) < 0)
        return -errno;
    if (pipe2(p->gate, O_CLOEXEC) == 0)
        return 0;
    int error = errno;
    close(p->error[0]);
    close(p->error[1]);
    return -error;
}

/* Reads up to `n` bytes, through signals; fewer at the end of the file. */
static size_t read_from(int fd, void *bytes, size_t n)
{
    ssize_t got;

    do
        got = read(fd, bytes, n);
    while (got < 0 && errno == EINTR);
    return got > 0 ? (size_t)got : 0;
}

/* What seep itself was started with, and changes for its own sake: every job begins with it. */
static struct beginning {
    bool known;
    sigset_t mask;
    struct sigaction on_child, on_pipe, on_file_size;
    int is_subreaper;
} beginning;

_Noreturn static void become_job(const char *path, char *const *argv, const struct pipes *p)
{
    char none;

    prctl(PR_SET_CHILD_SUBREAPER, beginning.is_subreaper, 0, 0, 0);

    close(p->gate[1]);
    read_from(p->gate[0], &none, 1);
    sigaction(SIGCHLD, &beginning.on_child, NULL);
    sigaction(SIGPIPE, &beginning.on_pipe, NULL);
    sigaction(SIGXFSZ, &beginning.on_file_size, NULL);
    sigprocmask(SIG_SETMASK, &beginning.mask, NULL);
    execvp(path, argv); /* a path with a slash: no search; a file without "#!" goes to the shell */
    int error = errno;
    ssize_t n = write(p->error[1], &error, sizeof error);
    (void)n;
    _exit(127);
}

static void hand_on(pid_t job, const siginfo_t *info)
{
    if (info->si_code == SI_QUEUE)
        sigqueue(job, info->si_signo, info->si_value);
    else
        kill(job, info->si_signo);
}

/* Passes on signals to the whole group that came before the job was born: they never reached it,
 * though the witness has them. The job has signals blocked until it begins, so a signal that it
 * also got itself stays one. Real-time signals would be doubled, so they wait for
 * seep_launch_wait(). */
static void pass_early(const struct seep_launch *launch)
{
    const struct timespec at_once = {0};
    sigset_t early = launch->waited;
    siginfo_t info;

    sigdelset(&early, SIGCHLD);
    for (int s = SIGRTMIN; s <= SIGRTMAX; s++)
        sigdelset(&early, s);
    while (sigtimedwait(&early, &info, &at_once) > 0)
        hand_on(launch->pid, &info);
}

/* A program may have become a subreaper and then exec'd seep to run the job. So the job gets the
 * attribute, and seep loses it. */
static void note_beginning(void)
{
    if (beginning.known)
        return;
    sigprocmask(SIG_SETMASK, NULL, &beginning.mask);
    sigaction(SIGCHLD, NULL, &beginning.on_child);
    sigaction(SIGPIPE, NULL, &beginning.on_pipe);
    sigaction(SIGXFSZ, NULL, &beginning.on_file_size);
    prctl(PR_GET_CHILD_SUBREAPER, &beginning.is_subreaper, 0, 0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
    beginning.known = true;
}

int seep_launch_start(struct seep_launch *launch, const char *path, char *const *argv)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    struct pipes pipes;

    note_beginning();
    fill_waited(&launch->waited);
    sigprocmask(SIG_BLOCK, &launch->waited, NULL);
    sigaction(SIGCHLD, &plain, NULL);     /* if it were ignored, there would be no wait status */
    seep_witness_start(&launch->witness); /* before the pipes, whose ends it must not hold */
    int error = -pipes_open(&pipes);
    if (!error) {
        launch->pid = fork();
        if (launch->pid == 0)
            become_job(path, argv, &pipes);
        error = launch->pid < 0 ? errno : 0;
        if (!error)
            pass_early(launch);
        close(pipes.error[1]);
        close(pipes.gate[0]);
        close(pipes.gate[1]);
        if (!error && read_from(pipes.error[0], &error, sizeof error) == sizeof error)
            waitpid(launch->pid, NULL, 0);
        close(pipes.error[0]);
    }
    if (error) {
        seep_witness_stop(&launch->witness);
        return -error;
    }
    /* From here on no trouble with its own output may end seep before the job has ended. */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL);
    return 0;
}

/* Reaps every child that has ended. True once the job's first process is among them. */
static bool reap(struct seep_launch *launch, struct seep_job_folder *folder, int *job_status)
{
    struct rusage usage;
    bool ended = false;
    int status;

    for (pid_t pid; (pid = wait4(-1, &status, WNOHANG, &usage)) > 0;) {
        if (pid == launch->witness.pid)
            launch->witness.pid = 0;
        else if (!seep_devices_reaped(&launch->devices, pid) &&
                 !seep_copies_reaped(launch->holders, pid, status, &usage))
            seep_job_folder_reaped(folder, pid, status);
        if (pid == launch->pid) {
            *job_status = status;
            ended = true;
        }
    }
    return ended;
}

static void pass_on(struct seep_launch *launch, const siginfo_t *info)
{
    bool to_all = seep_witness_saw(&launch->witness, info->si_signo);

    if (to_all || info->si_code == SI_KERNEL || info->si_pid == launch->pid)
        return;
    hand_on(launch->pid, info);
}

/* DataLoader workers and the like end right after the trainer; what runs on after that is a
 * daemon. */
static void reap_last(struct seep_launch *launch, struct seep_job_folder *folder)
{
    struct timespec moment = {.tv_nsec = 1000 * 1000};
    int unused;

    for (int ms = 0; ms < LAST_ORPHANS_MS; ms++) {
        siginfo_t info = {0};
        reap(launch, folder, &unused);
        seep_ends_find(&launch->ends, folder, launch->pid);
        if (!seep_ends_any_lives(&launch->ends) &&
            waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
            break; /* no child is left */
        nanosleep(&moment, NULL);
    }
    seep_ends_close(&launch->ends);
}

int seep_launch_wait(struct seep_launch *launch, struct seep_job_folder *folder)
{
    struct seep_resident resident = {.own = folder->path};
    int status = 0;

    while (!reap(launch, folder, &status)) {
        siginfo_t info;
        const uint64_t look_ns = seep_copies_look(launch->holders);
        seep_devices_look(&launch->devices);
        seep_ends_find(&launch->ends, folder, launch->pid);
        uint64_t gap_ns = seep_resident_sample(&resident, folder->job);
        gap_ns = look_ns < gap_ns ? look_ns : gap_ns;
        struct timespec wait = {.tv_sec = (time_t)(gap_ns / NS_PER_S),
                                .tv_nsec = (long)(gap_ns % NS_PER_S)};
        int signal = sigtimedwait(&launch->waited, &info, &wait);
        if (signal > 0 && signal != SIGCHLD)
            pass_on(launch, &info);
    }
    seep_witness_stop(&launch->witness);
    seep_devices_close(&launch->devices);
    seep_copies_close(launch->holders);
    reap_last(launch, folder);
    seep_resident_end(&resident, folder->job);
    seep_job_folder_ended(folder, status);
    return status;
}
