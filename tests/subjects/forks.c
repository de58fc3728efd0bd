/* Children of every kind. Each process prints what it did on its own line, with one write:
 *   {"pid": P, "who": "…", "tally": {…}}
 *   usage: forks SECTION */
#include "tally.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;
static const char *self;

enum { BLOCKS = 1000 };
static void *blocks[BLOCKS];
static size_t sizes[BLOCKS];

/* One line per process; only the counters of functions that ran in it since forget(). */
static void say(const char *who)
{
    static char text[4096];
    int n = snprintf(text, sizeof text, "{\"pid\": %d, \"ppid\": %d, \"who\": \"%s\", \"tally\": {",
                     (int)getpid(), (int)getppid(), who);
    for (int i = 0, first = 1; i < tally_n; i++) {
        const struct tally *t = tally_list[i];
        if (t->allocations == 0 && t->frees == 0)
            continue;
        n += snprintf(
            text + n, sizeof text - (size_t)n,
            "%s\"%s\": {\"allocations\": %lld, \"frees\": %lld, \"allocated_bytes\": %lld}",
            first ? "" : ", ", t->function, (long long)t->allocations, (long long)t->frees,
            (long long)t->allocated_bytes);
        first = 0;
    }
    n += snprintf(text + n, sizeof text - (size_t)n, "}}\n");
    tally_write(text, (size_t)n);
}

static void forget(void)
{
    for (int i = 0; i < tally_n; i++)
        tally_list[i]->allocations = tally_list[i]->frees = tally_list[i]->allocated_bytes = 0;
}

TALLY(parent_malloc, "host");
static NOIPA void *parent_malloc(size_t size)
{
    void *p = malloc(size);
    tally_made(&tally_parent_malloc, size, __LINE__);
    return p;
}

TALLY(child_malloc, "host");
static NOIPA void *child_malloc(size_t size)
{
    void *p = malloc(size);
    tally_made(&tally_child_malloc, size, __LINE__);
    return p;
}

static void parent_fills(void)
{
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = parent_malloc(sizes[i] = (size_t)(100 + i));
}

static NOIPA void child_works(int n)
{
    for (int i = 0; i < n; i++) {
        void *p = child_malloc((size_t)(50 + i));
        if (i % 2) {
            free(p);
            tally_gone(&tally_child_malloc, 0);
        }
    }
}

static void wait_for(pid_t child, int want)
{
    int status = 0;
    MUST(waitpid(child, &status, 0) == child);
    if (status != want) {
        char text[64];
        tally_write(text, (size_t)snprintf(text, sizeof text, "{\"wait_status\": %d}\n", status));
    }
}

/* The child allocates, and frees half of what it inherited. */
static void section_fork(void)
{
    parent_fills();
    pid_t child = fork();
    if (child == 0) {
        forget();
        for (int i = 0; i < BLOCKS; i += 2)
            free(blocks[i]);
        child_works(300);
        say("child");
        _exit(0);
    }
    wait_for(child, 0);
    for (int i = 0; i < 10; i++) {
        free(blocks[i]);
        tally_gone(&tally_parent_malloc, sizes[i]);
    }
    say("parent");
}

static void nested(int depth)
{
    child_works(100 * depth);
    if (depth < 5) {
        pid_t child = fork();
        if (child == 0) {
            forget();
            nested(depth + 1);
            _exit(0);
        }
        wait_for(child, 0);
    }
    char who[32];
    snprintf(who, sizeof who, "depth %d", depth);
    say(who);
}

static volatile int stop;

static NOIPA void *busy_malloc(size_t n)
{
    return malloc(n);
}

static void *busy(void *arg)
{
    for (size_t i = 0; !stop; i++)
        free(busy_malloc(16 + i % 500));
    return arg;
}

/* Forks while other threads are in the middle of allocating: no lock may stay held in the child. */
static void section_threads(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, busy, NULL);
    for (int i = 0; i < 60; i++) {
        pid_t child = fork();
        if (child == 0) {
            forget();
            child_works(200);
            say("child");
            _exit(0);
        }
        wait_for(child, 0);
    }
    stop = 1;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void section_execs(void)
{
    char *worker[] = {(char *)self, "worker", NULL}, *bare[] = {NULL};
    pid_t child = vfork();
    if (child == 0) {
        execv(self, worker);
        _exit(127);
    }
    wait_for(child, 0);
    MUST(posix_spawn(&child, self, NULL, NULL, worker, environ) == 0);
    wait_for(child, 0);
    MUST(posix_spawnp(&child, self, NULL, NULL, worker, environ) == 0);
    wait_for(child, 0);
    MUST(posix_spawn(&child, self, NULL, NULL, worker, bare) == 0); /* scrubbed */
    wait_for(child, 0);
    if ((child = fork()) == 0) {
        execve(self, worker, bare); /* scrubbed */
        _exit(127);
    }
    wait_for(child, 0);
    if ((child = fork()) == 0) {
        unsetenv("LD_PRELOAD");
        unsetenv("SEEP_OUT");
        execlp(self, self, "worker", (char *)NULL);
        _exit(127);
    }
    wait_for(child, 0);
    if ((child = fork()) == 0) {
        clearenv();
        execl(self, self, "worker", (char *)NULL);
        _exit(127);
    }
    wait_for(child, 0);
    if ((child = fork()) == 0) {
        execle(self, self, "worker", (char *)NULL, bare);
        _exit(127);
    }
    wait_for(child, 0);
    if ((child = fork()) == 0) {
        execvpe(self, worker, bare);
        _exit(127);
    }
    wait_for(child, 0);
    if ((child = fork()) == 0) {
        fexecve(open(self, O_RDONLY | O_CLOEXEC), worker, bare);
        _exit(127);
    }
    wait_for(child, 0);
    char command[600];
    snprintf(command, sizeof command, "%s worker", self);
    MUST(system(command) == 0);
    FILE *f = popen(command, "w");
    MUST(f != NULL && pclose(f) == 0);
}

/* exec that fails leaves the process running, and profiled. */
static void section_failed_exec(void)
{
    char *worker[] = {(char *)self, "worker", NULL};
    child_works(10);
    MUST(execv("/nonexistent/program", worker) == -1 && errno == ENOENT);
    MUST(execve("/", worker, environ) == -1 && errno == EACCES);
    child_works(10);
    say("survivor");
}

/* A program that replaces itself: one process, two profiles or one, nothing lost. */
static void section_exec_self(void)
{
    parent_fills();
    say("before");
    char *worker[] = {(char *)self, "worker", NULL};
    execv(self, worker);
    _exit(127);
}

/* A child that libc's fork knows nothing about. */
static void section_raw_clone(void)
{
    parent_fills();
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        forget();
        child_works(300);
        say("clone");
        _exit(0);
    }
    wait_for(child, 0);
    say("parent");
}

/* A child of fork, and, after much more has been allocated, one of a bare clone. */
static void section_inherit(void)
{
    parent_fills();
    for (int raw = 0; raw < 2; raw++) {
        pid_t child = raw ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
        if (child == 0) {
            forget();
            child_works(1);
            say(raw ? "clone" : "fork");
            _exit(0);
        }
        wait_for(child, 0);
        (void)parent_malloc(9 << 20);
    }
}

/* A child that cannot have a profile, and a child of that one. */
static void section_chroot(void)
{
    MUST(mkdir("root", 0700) == 0 && chroot("root") == 0);
    pid_t child = fork();
    if (child == 0) {
        forget();
        child_works(10);
        pid_t grandchild = fork();
        if (grandchild == 0) {
            child_works(10);
            say("grandchild");
            _exit(0);
        }
        wait_for(grandchild, 0);
        say("child");
        _exit(0);
    }
    wait_for(child, 0);
    say("parent");
}

static void section_daemon(void)
{
    child_works(20);
    say("parent");
    forget();
    int out = dup(1);
    MUST(daemon(1, 0) == 0);
    dup2(out, 1);
    child_works(40);
    say("daemon");
    exit(0);
}

static pid_t child_that(void (*ends)(void))
{
    pid_t child = fork();
    if (child == 0) {
        forget();
        child_works(30);
        say("ends");
        ends();
        _exit(99);
    }
    return child;
}

static void by_exit(void)
{
    exit(3);
}
static void by_underscore_exit(void)
{
    _exit(4);
}
static void by_Exit(void)
{
    _Exit(5);
}
static void by_quick_exit(void)
{
    quick_exit(6);
}
static void by_abort(void)
{
    abort();
}
static void by_segv(void)
{
    *(volatile int *)0 = 1;
}
static void by_kill(void)
{
    kill(getpid(), SIGKILL);
}
static void by_syscall(void)
{
    syscall(SYS_exit_group, 7);
}
static void by_term(void)
{
    raise(SIGTERM);
}

static void section_ends(void)
{
    wait_for(child_that(by_exit), 3 << 8);
    wait_for(child_that(by_underscore_exit), 4 << 8);
    wait_for(child_that(by_Exit), 5 << 8);
    wait_for(child_that(by_quick_exit), 6 << 8);
    wait_for(child_that(by_syscall), 7 << 8);
    int status;
    void (*signals[])(void) = {by_abort, by_segv, by_kill, by_term};
    int numbers[] = {SIGABRT, SIGSEGV, SIGKILL, SIGTERM};
    for (int i = 0; i < 4; i++) {
        pid_t child = child_that(signals[i]);
        MUST(waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
             WTERMSIG(status) == numbers[i]);
    }
}

/* Many children, one after the other: none may cost much. */
static void section_many(void)
{
    parent_fills();
    for (int i = 0; i < 200; i++) {
        pid_t child = fork();
        if (child == 0) {
            forget();
            child_works(20);
            say("child");
            _exit(0);
        }
        wait_for(child, 0);
    }
}

int main(int argc, char **argv)
{
    self = argv[0];
    const char *section = argc > 1 ? argv[1] : "";
    static const struct {
        const char *name;
        void (*run)(void);
    } sections[] = {
        {"fork", section_fork},           {"threads", section_threads},
        {"execs", section_execs},         {"failed-exec", section_failed_exec},
        {"exec-self", section_exec_self}, {"raw-clone", section_raw_clone},
        {"daemon", section_daemon},       {"ends", section_ends},
        {"many", section_many},           {"inherit", section_inherit},
        {"chroot", section_chroot},
    };
    if (strcmp(section, "worker") == 0) {
        child_works(500);
        say("worker");
        return 0;
    }
    if (strcmp(section, "nested") == 0)
        nested(0);
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        if (strcmp(section, sections[i].name) == 0)
            sections[i].run();
    (void)tally_print;
    return 0;
}
