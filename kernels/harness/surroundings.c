/* What seep-lab needs of the machine: folders, programs, a device. */
#include "kernels/harness/lab.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int seep_lab_make_temporary(char *path, size_t capacity, struct seep_error *err)
{
    const char *base = getenv("TMPDIR");
    int n = snprintf(path, capacity, "%s/seep-lab-XXXXXX", base && *base ? base : "/tmp");

    if (n < 0 || (size_t)n >= capacity)
        return seep_error_set(err, SEEP_EIO, "", 0, "the path in TMPDIR is too long");
    if (!mkdtemp(path))
        return seep_error_set(err, SEEP_EIO, path, 0, "%s", strerror(errno));
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    remove(path);
    return 0;
}

void seep_lab_remove(const char *folder)
{
    if (*folder)
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int seep_lab_make_folder(const char *path, struct seep_error *err)
{
    char part[PATH_MAX];
    struct stat st;

    if ((size_t)snprintf(part, sizeof part, "%s", path) >= sizeof part)
        return seep_error_set(err, SEEP_EIO, path, 0, "the path is too long");
    for (char *at = part + 1;; at++) {
        if (*at && *at != '/')
            continue;
        char end = *at;
        *at = '\0';
        if (mkdir(part, 0777) && errno != EEXIST)
            return seep_error_set(err, SEEP_EIO, part, 0, "%s", strerror(errno));
        *at = end;
        if (!end)
            break;
    }
    if (stat(path, &st) || !S_ISDIR(st.st_mode))
        return seep_error_set(err, SEEP_EIO, path, 0, "not a folder");
    return 0;
}

int seep_lab_find_self(char path[PATH_MAX], struct seep_error *err)
{
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);

    if (n <= 0)
        return seep_error_set(err, SEEP_ENODATA, "/proc/self/exe", 0, "%s", strerror(errno));
    path[n] = '\0';
    return 0;
}

int seep_lab_find_seep(char path[PATH_MAX], struct seep_error *err)
{
    int rc = seep_lab_find_self(path, err);

    if (rc)
        return rc;
    char *slash = strrchr(path, '/');
    size_t room = PATH_MAX - (size_t)(slash + 1 - path);
    if ((size_t)snprintf(slash + 1, room, "seep") < room && access(path, X_OK) == 0)
        return 0;
    const char *list = getenv("PATH");
    for (const char *at = list ? list : ""; *at; at += *at == ':') {
        size_t n = strcspn(at, ":");
        if (n && snprintf(path, PATH_MAX, "%.*s/seep", (int)n, at) < PATH_MAX &&
            access(path, X_OK) == 0)
            return 0;
        at += n;
    }
    return seep_error_set(err, SEEP_ENODATA, "seep", 0, "neither beside seep-lab nor in PATH");
}

/* In the child. The lab's verdicts must not hang on what the user's shell has set for other runs.
 */
static void start(char *const *argv, const char *log)
{
    static const char *const foreign[] = {"SEEP_OUT",   "SEEP_QUIET",       "SEEP_NO_REPORT",
                                          "SEEP_ROLES", "SEEP_MAX_PROFILE", "SEEP_SAMPLE",
                                          "RANK",       "LOCAL_RANK"};

    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        unsetenv(foreign[i]);
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    int null = open("/dev/null", O_WRONLY);
    int to = log ? open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666) : STDERR_FILENO;
    if (null < 0 || to < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(to, STDERR_FILENO) < 0)
        _exit(126);
    execvp(argv[0], argv);
    _exit(127);
}

int seep_lab_spawn(char *const *argv, const char *log, int *status, struct seep_error *err)
{
    /* Ctrl-C ends the child, and this process then tidies up. */
    void (*interrupt)(int) = signal(SIGINT, SIG_IGN);
    void (*quit)(int) = signal(SIGQUIT, SIG_IGN);
    pid_t pid = fork();
    int rc = 0;

    if (pid == 0)
        start(argv, log);
    if (pid < 0)
        rc = seep_error_set(err, SEEP_EIO, argv[0], 0, "cannot be started: %s", strerror(errno));
    while (pid > 0 && waitpid(pid, status, 0) < 0 && errno == EINTR)
        ;
    signal(SIGINT, interrupt);
    signal(SIGQUIT, quit);
    if (!rc && WIFEXITED(*status) && WEXITSTATUS(*status) == 128 + SIGINT)
        rc = seep_error_set(err, SEEP_EIO, "", 0, "interrupted");
    else if (!rc && WIFEXITED(*status) && WEXITSTATUS(*status) == 127)
        rc = seep_error_set(err, SEEP_EIO, argv[0], 0, "cannot be started");
    return rc;
}

bool seep_lab_has_device(enum seep_device device)
{
    if (device == SEEP_DEVICE_CPU)
        return true;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct seep_stream *stream;
        struct seep_error err = {0};
        int rc = seep_stream_create_cuda(0, &stream, &err);
        if (rc)
            seep_lab_complain_error(rc, &err, "leave --device away to run on the CPU");
        _exit(rc ? 1 : 0);
    }
    int status = 1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && status == 0;
}
