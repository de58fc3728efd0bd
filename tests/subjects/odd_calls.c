/* Calls that fail on purpose, and what a program does after them; prints their results.
 *   usage: odd_calls probe | probed     asks whether filters are there, allocates, becomes "probed"
 *          odd_calls exec               exec and posix_spawn of unreadable files
 *          odd_calls wait               waits whose status cannot be written */
#include "tally.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;

static NOIPA void after_the_question(void)
{
    static void *volatile kept;
    for (int i = 0; i < 3000; i++)
        kept = malloc(1000);
    (void)kept;
}

static void said(const char *what, long result)
{
    printf("%s %ld %d\n", what, result, result == -1 ? errno : 0);
    fflush(stdout);
    errno = 0;
}

/* As libseccomp, systemd and Chromium ask: EFAULT says that there are filters. */
static void ask(void)
{
    said("prctl", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 0, 0, 0));
    said("by number", syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 0, 0, 0));
    said("all threads",
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL));
    said("bad filter", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, 16));
    said("strict", syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL));
    said("no mode", prctl(PR_SET_SECCOMP, 77, 0, 0, 0));
}

static void spawn(const char *what, const char *path, char **words, char **environment)
{
    pid_t pid = -1;
    int status = -1, r = posix_spawn(&pid, path, NULL, NULL, words, environment);
    if (r == 0)
        MUST(waitpid(pid, &status, 0) == pid);
    printf("%s %d %x\n", what, r, (unsigned)status);
    fflush(stdout);
}

static void *volatile nowhere = (void *)8;

static void exec_what_cannot_be_read(void)
{
    const size_t page = PAGE;
    char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(two != MAP_FAILED && munmap(two + page, page) == 0);
    char *words[] = {"true", NULL}, *cut = memset(two + page - 4, 'x', 4);
    char **open_ended = (char **)(void *)(two + page - 8 - 2 * sizeof(char *));
    char *bad_text[] = {"A=b", (char *)16, NULL}, *cut_text[] = {cut, "LD_PRELOAD=", NULL};
    char **bad = nowhere, *program = "/bin/true";

    open_ended[0] = open_ended[1] = "A=b";
    *(char **)(void *)(two + page - 8) = "C=d";
    said("environment", execve(program, words, bad));
    said("its text", execve(program, words, bad_text));
    said("its end", execve(program, words, open_ended));
    memset(cut, 'x', 4);
    said("a text's end", execve(program, words, cut_text));
    said("arguments", execve(program, bad, environ));
    said("an argument", execve(program, bad_text, environ));
    said("path", execve((char *)16, words, environ));
    said("path's end", execve(cut, words, environ));
    said("execveat", execveat(AT_FDCWD, (char *)16, words, environ, AT_EMPTY_PATH));
    said("execveat's environment", execveat(AT_FDCWD, program, words, bad, 0));
    said("fexecve's environment", fexecve(open(program, O_RDONLY | O_CLOEXEC), words, bad));
    said("execvpe's environment", execvpe("true", words, bad));
    said("execle's environment", execle(program, "true", (char *)NULL, bad));
    spawn("posix_spawn", program, words, bad);
    spawn("posix_spawn's text", program, words, bad_text);
    spawn("posix_spawn's path", (char *)16, words, environ);
    spawn("no environment", program, words, NULL);
}

/* The kernel says EFAULT, though the child is reaped by then. */
static void wait_where_nothing_can_be_written(void)
{
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(3);
        said("wait", i == 0   ? waitpid(pid, nowhere, 0)
                     : i == 1 ? wait4(pid, nowhere, 0, NULL)
                              : waitid(P_PID, (id_t)pid, nowhere, WEXITED));
        said("again", wait(NULL) > 0);
    }
}

int main(int argc, char **argv)
{
    MUST(argc == 2);
    if (strcmp(argv[1], "wait") == 0) {
        wait_where_nothing_can_be_written();
        return 0;
    }
    if (strcmp(argv[1], "exec") == 0) {
        exec_what_cannot_be_read();
        return 0;
    }
    if (strcmp(argv[1], "probe") == 0) {
        ask();
        after_the_question();
        execl("/proc/self/exe", "odd_calls", "probed", (char *)NULL);
    }
    after_the_question();
    puts("done");
    return 2;
}
