/* A job that is copied while it does everything that a copy could disturb.
 *   usage: snapshots all STEPS   prints what it counted, the same in every run
 *          snapshots obey        does what each letter on standard input says
 * With COPIES_IN=FOLDER in the environment, each step waits until its copy has been read. */
#include "tally.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "preload/seep.h"

enum { N_THREADS = 8, QUEUED = 3, PATIENCE_MS = 10000, KEPT_BYTES = 100000 };

static pid_t own_pid;
static volatile int ended_children, alarms, queued, strangers;
static volatile uint64_t queued_sum;
static int stop;

/* Handlers run in this process, and nowhere else. */
static void note(volatile int *n)
{
    if (getpid() != own_pid)
        strangers++;
    (*n)++;
}

static void on_child(int number)
{
    (void)number;
    note(&ended_children);
}

static void on_alarm(int number)
{
    (void)number;
    note(&alarms);
}

static void on_queued(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    note(&queued);
    queued_sum += (uint64_t)info->si_value.sival_int;
}

static void handle(int number, void (*handler)(int), void (*with_info)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_flags = SA_RESTART | (with_info ? SA_SIGINFO : 0)};
    if (with_info)
        action.sa_sigaction = with_info;
    else
        action.sa_handler = handler;
    MUST(sigaction(number, &action, NULL) == 0);
}

TALLY(churn, "host");

static NOIPA void churn(size_t bytes)
{
    char *block = malloc(bytes);
    tally_made(&tally_churn, bytes, 0);
    __asm__ volatile("" : : "r"(block) : "memory"); /* it is not to be left out */
    free(block);
    tally_gone(&tally_churn, bytes);
}

static void *busy(void *number)
{
    for (uint64_t i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
        churn(64 + (i * 37 + (uintptr_t)number) % 4000);
        if (i % 64 == 0)
            usleep(500);
    }
    return NULL;
}

TALLY(keep, "host");

static NOIPA void *keep(void)
{
    char *block = malloc(KEPT_BYTES);
    tally_made(&tally_keep, KEPT_BYTES, 0);
    memset(block, 1, KEPT_BYTES);
    return block;
}

static void await_copy(int step)
{
    char path[1024];
    const char *folder = getenv("COPIES_IN");
    if (!folder)
        return;
    snprintf(path, sizeof path, "%s/holders-%d-%d.json", folder, (int)own_pid, step);
    for (int ms = 0; access(path, F_OK) != 0 && ms < PATIENCE_MS; ms++)
        usleep(1000);
}

/* A lock of an open file that goes as the file is closed: held by nobody else, it is free. */
static int lock_is_left(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    MUST(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0);
    seep_step();
    close(fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    int left = flock(fd, LOCK_EX | LOCK_NB) == 0;
    close(fd);
    return left;
}

static struct flock whole_file(void)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

/* A child that says by its status whether its parent still holds its lock. */
static int child_sees_lock(int fd)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        struct flock lock = whole_file();
        free(malloc(10));
        _exit(fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK && lock.l_pid == own_pid
                  ? 7
                  : 8);
    }
    MUST(waitpid(-1, &status, 0) == child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

struct counts {
    int alone, locks_left, locks_held, same_children;
};

static void one_step(int step, int locked, const char *own_lock, struct counts *n)
{
    MUST(keep() != NULL);
    n->locks_left += lock_is_left(own_lock);
    n->alone += waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD;
    for (int i = 0; i < QUEUED; i++)
        while (sigqueue(own_pid, SIGRTMIN, (union sigval){.sival_int = step + i}) != 0)
            usleep(1000);
    int before = ended_children;
    n->locks_held += child_sees_lock(locked);
    for (int ms = 0; ended_children == before && ms < PATIENCE_MS; ms++)
        usleep(1000);
    n->same_children += ended_children == before + 1;
    await_copy(step);
}

static int new_file(char *path)
{
    strcpy(path, "/tmp/seep-snapshots-XXXXXX");
    int fd = mkstemp(path);
    MUST(fd >= 0);
    return fd;
}

static int all(int n_steps)
{
    pthread_t threads[N_THREADS];
    struct itimerval often = {.it_interval.tv_usec = 5000, .it_value.tv_usec = 5000}, never = {0};
    struct flock lock = whole_file();
    struct counts n = {0};
    char path[64], held[64];
    close(new_file(path));
    int locked = new_file(held);
    MUST(fcntl(locked, F_SETLK, &lock) == 0);
    handle(SIGCHLD, on_child, NULL);
    handle(SIGALRM, on_alarm, NULL);
    handle(SIGRTMIN, NULL, on_queued);
    MUST(setitimer(ITIMER_REAL, &often, NULL) == 0);
    for (uintptr_t i = 0; i < N_THREADS; i++)
        MUST(pthread_create(&threads[i], NULL, busy, (void *)i) == 0);
    for (int step = 1; step <= n_steps; step++)
        one_step(step, locked, path, &n);
    for (int ms = 0; !alarms && ms < PATIENCE_MS; ms++)
        usleep(1000);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < N_THREADS; i++)
        MUST(pthread_join(threads[i], NULL) == 0);
    MUST(setitimer(ITIMER_REAL, &never, NULL) == 0);
    unlink(path);
    unlink(held);
    printf("%d steps: alone %d, locks left %d and held %d, children %d of %d, queued "
           "%d (%llu), strangers %d, alarms %s\n",
           n_steps, n.alone, n.locks_left, n.locks_held, n.same_children, ended_children, queued,
           (unsigned long long)queued_sum, strangers, alarms > 0 ? "came" : "stayed out");
    fflush(stdout);
    if (getenv("COUNTS_TO")) {
        int fd = open(getenv("COUNTS_TO"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        MUST(fd >= 0 && dup2(fd, 1) == 1);
        tally_print();
    }
    return 3;
}

/* ---- obey ------------------------------------------------------------------------------------ */

static int held_end = -1;

static void say(const char *word)
{
    MUST(write(1, word, strlen(word)) == (ssize_t)strlen(word));
}

/* The child says when nobody holds the other end any more. */
static void open_pipe(void)
{
    int ends[2];
    char none;
    MUST(pipe2(ends, O_CLOEXEC) == 0);
    if (fork() == 0) {
        close(ends[1]);
        MUST(read(ends[0], &none, 1) == 0);
        say("eof\n");
        _exit(0);
    }
    close(ends[0]);
    held_end = ends[1];
}

static void *step(void *unused)
{
    (void)unused;
    MUST(keep() != NULL);
    seep_step();
    return NULL;
}

static int asks;

static void *ask(void *unused)
{
    (void)unused;
    __atomic_store_n(&asks, 1, __ATOMIC_RELEASE);
    seep_holders();
    return NULL;
}

/* While another thread has a copy made, which takes some milliseconds of so much memory. */
static void exec_after(useconds_t pause)
{
    enum { LARGE = 64 << 20 };
    pthread_t thread;
    char *large = malloc(LARGE);
    MUST(large);
    memset(large, 1, LARGE);
    MUST(pthread_create(&thread, NULL, ask, NULL) == 0);
    while (!__atomic_load_n(&asks, __ATOMIC_ACQUIRE)) {
    }
    usleep(pause);
    execl("/bin/sh", "sh", "-c", "echo other; read line", (char *)NULL);
}

static int obey(void)
{
    pthread_t thread;
    char letter;
    while (read(0, &letter, 1) == 1) {
        if (letter == 's') {
            (void)step(NULL);
            say("step\n");
        } else if (letter == 't') { /* in a thread that ends */
            MUST(pthread_create(&thread, NULL, step, NULL) == 0);
            MUST(pthread_join(thread, NULL) == 0);
            say("step\n");
        } else if (letter == 'h') {
            seep_holders();
            say("asked\n");
        } else if (letter == 'p') {
            open_pipe();
            say("pipe\n");
        } else if (letter == 'c') {
            close(held_end);
            say("closed\n");
        } else if (letter == 'x') {
            execl("/bin/sh", "sh", "-c", "sleep 0.3; echo other", (char *)NULL);
        } else if (letter == 'r') { /* so many times 500 microseconds, a digit */
            MUST(read(0, &letter, 1) == 1);
            exec_after((useconds_t)(letter - '0') * 500);
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    own_pid = getpid();
    if (argc == 3 && strcmp(argv[1], "all") == 0)
        return all(atoi(argv[2]));
    return argc == 2 && strcmp(argv[1], "obey") == 0 ? obey() : 2;
}
