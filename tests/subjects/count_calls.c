/* Runs a command and follows all its processes: when one of them ends, prints for its last program
 * a line of its name, its page faults, and how often it made each system call:
 *
 *   python3 823 0:85 1:2 3:70 … */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_TRACED = 64, N_CALLS = 512 };

static struct traced {
    pid_t pid;
    unsigned long faults_before; /* until it ran this program */
    unsigned calls[N_CALLS];
} traced[MAX_TRACED];

static struct traced *find(pid_t pid)
{
    struct traced *empty = NULL;
    for (int i = 0; i < MAX_TRACED; i++) {
        if (traced[i].pid == pid)
            return &traced[i];
        if (!traced[i].pid && !empty)
            empty = &traced[i];
    }
    if (!empty)
        abort();
    memset(empty, 0, sizeof(*empty));
    empty->pid = pid;
    return empty;
}

/* The name of the program, and its faults so far. */
static unsigned long look(pid_t pid, char name[32])
{
    char path[64], line[1024] = "";
    unsigned long faults = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (!f || !fgets(line, sizeof(line), f))
        abort();
    fclose(f);
    char *open = strchr(line, '('), *close = strrchr(line, ')');
    snprintf(name, 32, "%.*s", (int)(close - open - 1), open + 1);
    sscanf(close + 1, " %*c %*d %*d %*d %*d %*d %*u %lu", &faults);
    return faults;
}

static void begin_program(struct traced *t)
{
    char name[32];
    memset(t->calls, 0, sizeof(t->calls));
    t->faults_before = look(t->pid, name);
}

static void end_program(const struct traced *t)
{
    char name[32];
    const unsigned long faults = look(t->pid, name) - t->faults_before;
    printf("%s %lu", name, faults);
    for (unsigned i = 0; i < N_CALLS; i++)
        if (t->calls[i])
            printf(" %u:%u", i, t->calls[i]);
    printf("\n");
}

static void count(struct traced *t)
{
    struct __ptrace_syscall_info info = {0};
    ptrace(PTRACE_GET_SYSCALL_INFO, t->pid, sizeof(info), &info);
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr < N_CALLS)
        t->calls[info.entry.nr]++;
}

int main(int argc, char **argv)
{
    const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                         PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT |
                         PTRACE_O_EXITKILL;
    int status;
    pid_t first = argc > 1 ? fork() : -1;
    if (first == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    if (first < 0 || waitpid(first, &status, 0) != first)
        return 2;
    ptrace(PTRACE_SETOPTIONS, first, 0, options);
    for (pid_t pid = first;;) {
        struct traced *t = find(pid);
        int pass_on = 0;
        if (WIFSTOPPED(status)) {
            const int signal = WSTOPSIG(status), event = status >> 16;
            if (signal == (SIGTRAP | 0x80))
                count(t);
            else if (event == PTRACE_EVENT_EXIT)
                end_program(t);
            else if (event == PTRACE_EVENT_EXEC)
                begin_program(t);
            else if (!event && signal != SIGSTOP && signal != SIGTRAP)
                pass_on = signal;
            ptrace(PTRACE_SYSCALL, pid, 0, pass_on);
        } else {
            t->pid = 0;
        }
        while ((pid = waitpid(-1, &status, __WALL)) < 0 && errno == EINTR)
            ;
        if (pid < 0)
            return 0;
    }
}
