#include "viewer/doctor.h"

#include "libprof/base/text.h"
#include "viewer/job_limits.h"
#include "viewer/options/options.h"
#include "viewer/program.h"
#include "viewer/viewer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static bool something_missing;

void seep_doctor_line(const char *subject, enum seep_doctor_status verdict, const char *format, ...)
{
    static const char *const words[] = {"ok", "partly", "not here", "MISSING"};
    static const char *last = "";
    va_list args;

    printf("%-12s %-8s  ", strcmp(last, subject) == 0 ? "" : subject, words[verdict]);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    last = subject;
    something_missing |= verdict == SEEP_DOCTOR_MISSING;
}

_Noreturn static void become(char *const *argv, char *const *environment, unsigned seconds, int out)
{
    int null = open("/dev/null", O_RDWR);

    dup2(null, STDIN_FILENO);
    dup2(out >= 0 ? out : null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    signal(SIGALRM, SIG_DFL);
    alarm(seconds); /* survives exec */
    execve(argv[0], argv, environment);
    _exit(127);
}

int seep_doctor_spawn(char *const *argv, char *const *environment, unsigned seconds, char *output,
                      int capacity)
{
    int fds[2] = {-1, -1}, status = -1;

    fflush(stdout);
    if (output && pipe2(fds, O_CLOEXEC) < 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0)
        become(argv, environment, seconds, fds[1]);
    if (output) {
        int n = 0;
        close(fds[1]);
        while (pid > 0 && n + 1 < capacity) {
            ssize_t r = read(fds[0], output + n, (size_t)(capacity - 1 - n));
            if (r <= 0 && !(r < 0 && errno == EINTR))
                break;
            n += r > 0 ? (int)r : 0;
        }
        output[n] = '\0';
        close(fds[0]);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* Limits of single processes; what counts against them is not resident memory. */
static void show_rlimit(const char *name, int resource, const char *effect)
{
    struct rlimit limit;
    char text[SEEP_SIZE_TEXT];

    if (getrlimit((__rlimit_resource_t)resource, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return;
    seep_doctor_line("memory", SEEP_DOCTOR_PARTLY, "%s limited to %s: %s", name,
                     seep_text_size((double)limit.rlim_cur, text), effect);
}

void seep_doctor_memory(void)
{
    struct seep_limits limits;
    const char *kind;
    char text[SEEP_SIZE_TEXT];

    seep_limits_read("/proc", &limits);
    uint64_t tightest = seep_limits_tightest(&limits, &kind);
    if (limits.cgroup_bytes)
        seep_doctor_line("memory", SEEP_DOCTOR_OK, "limit of the cgroup: %s (version %d, %s)",
                         seep_text_size((double)limits.cgroup_bytes, text), limits.cgroup_version,
                         limits.cgroup_path);
    else
        seep_doctor_line("memory", SEEP_DOCTOR_OK, "no cgroup limit");
    if (limits.ram_bytes)
        seep_doctor_line("memory", SEEP_DOCTOR_OK, "memory of this machine: %s",
                         seep_text_size((double)limits.ram_bytes, text));
    if (tightest)
        seep_doctor_line(
            "memory", SEEP_DOCTOR_OK,
            "a job's processes together may use %s (%s): reports say how many steps are left",
            seep_text_size((double)tightest, text), kind);
    show_rlimit("each process's address space (ulimit -v)", RLIMIT_AS,
                "the library reserves part of it, and records less if it cannot");
    show_rlimit("each process's data segment (ulimit -d)", RLIMIT_DATA,
                "the job and the library share it");
    show_rlimit("the size of files (ulimit -f)", RLIMIT_FSIZE, "a profile ends there");
    if (access("/proc/self/smaps_rollup", R_OK) < 0)
        seep_doctor_line("memory", SEEP_DOCTOR_PARTLY,
                         "/proc/self/smaps_rollup cannot be read: reports have no PSS");
}

/* "python3" on PATH may be a pyenv script; only a program that is Python itself is run. */
static bool is_python_program(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    char head[2] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        if (read(fd, head, sizeof head) < 0)
            head[0] = '\0';
        close(fd);
    }
    return strncmp(name, "python", 6) == 0 && memcmp(head, "#!", 2) != 0;
}

void seep_doctor_command(char *const *argv)
{
    static struct seep_program program;

    seep_program_find(argv[0], &program);
    if (program.state != SEEP_PROGRAM_OK) {
        seep_doctor_line("command", SEEP_DOCTOR_MISSING, "%s", program.why);
        return;
    }
    if (program.own_malloc)
        seep_doctor_line("command", SEEP_DOCTOR_PARTLY,
                         "%s loads the library, but has its own malloc: only its maps are seen",
                         program.path);
    else
        seep_doctor_line("command", SEEP_DOCTOR_OK, "%s loads the library", program.path);
    if (is_python_program(program.path))
        (void)seep_doctor_python(program.path, true);
}

static bool take_none(void *to, const struct seep_option_given *given)
{
    (void)to;
    (void)given;
    return false;
}

int seep_doctor_main(int argc, char **argv)
{
    int status = seep_options_read(argc, argv, take_none, NULL);

    if (status >= 0)
        return status;
    seep_doctor_line("seep", SEEP_DOCTOR_OK, "%s", SEEP_VERSION);
    seep_doctor_shim();
    seep_doctor_pythons();
    seep_doctor_gpu();
    seep_doctor_memory();
    if (optind < argc)
        seep_doctor_command(argv + optind);
    if (fflush(stdout) != 0)
        return SEEP_EXIT_UNUSABLE;
    return something_missing ? 1 : 0;
}
