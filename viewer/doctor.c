/* `seep doctor`: checks, one after the other, each of which prints a line for what it finds. */
#include "libprof/base/text.h"
#include "libprof/format/profile_format.h"
#include "libprof/format/python_layout.h"
#include "viewer/job_limits.h"
#include "viewer/options/options.h"
#include "viewer/program.h"
#include "viewer/viewer.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum status {
    OK,
    PARTLY,  /* works in part; nothing needed is missing */
    ABSENT,  /* not here, and not needed */
    MISSING, /* needed: the exit status is 1 */
};

static bool something_missing;

/* Prints a line; leaves the subject out where it is the same as the line above. */
__attribute__((format(printf, 3, 4))) static void tell(const char *subject, enum status verdict,
                                                       const char *format, ...)
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
    something_missing |= verdict == MISSING;
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

/* Runs argv[0] (a path) with `environment`, standard input and error on /dev/null, for at most
 * `seconds`; the first capacity − 1 bytes of its output go to `output` (NULL: nowhere). Returns its
 * wait status, or −1. */
static int run_program(char *const *argv, char *const *environment, unsigned seconds, char *output,
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

/* ---- the library ----------------------------------------------------------------------------- */

/* The library is tried on the smallest program at hand: seep itself. */

enum { PROBE_SECONDS = 20 };

/* Whether the profile's header is complete and has counted something. */
static bool is_good_profile(int dir_fd, const char *name)
{
    struct seep_header *header = malloc(sizeof *header);
    bool good = false;
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);

    if (header && fd >= 0 && pread(fd, header, sizeof *header, 0) == (ssize_t)sizeof *header)
        good = header->magic == SEEP_PROFILE_MAGIC && header->version == SEEP_FORMAT_VERSION &&
               header->check == seep_header_check(header) && header->n_chunks > 0;
    if (fd >= 0)
        close(fd);
    free(header);
    return good;
}

/* Looks for a good profile, and empties the folder as it goes. */
static bool take_profile(const char *folder)
{
    static const char suffix[] = SEEP_PROFILE_SUFFIX;
    bool good = false;
    DIR *d = opendir(folder);

    if (!d)
        return false;
    for (struct dirent *e; (e = readdir(d));) {
        size_t n = strlen(e->d_name);
        if (n > sizeof suffix - 1 && strcmp(e->d_name + n - (sizeof suffix - 1), suffix) == 0)
            good |= is_good_profile(dirfd(d), e->d_name);
        if (e->d_name[0] != '.')
            unlinkat(dirfd(d), e->d_name, 0);
    }
    closedir(d);
    return good;
}

static void show_crash(const char *shim, int signal)
{
    struct utsname kernel = {0};

    (void)uname(&kernel);
    tell("libseep.so", MISSING,
         "a program with %s crashed (signal %d) on %s %s: `seep run` runs jobs without "
         "seep here; report this line",
         shim, signal, kernel.sysname, kernel.release);
}

static void try_shim(const char *shim, const char *folder)
{
    char preload[SEEP_PATH_BYTES + 16], out[SEEP_PATH_BYTES], self[] = "/proc/self/exe";
    char name[] = "version", said[64];
    char *argv[] = {self, name, NULL}, *environment[] = {preload, out, NULL};

    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", shim);
    snprintf(out, sizeof out, "SEEP_OUT=%s", folder);
    int status = run_program(argv, environment, PROBE_SECONDS, said, sizeof said);
    bool recorded = take_profile(folder);
    if (status == 0 && strncmp(said, "seep ", 5) == 0 && recorded)
        tell("libseep.so", OK, "%s; a test profile was written and read", shim);
    else if (status == 0)
        tell("libseep.so", MISSING,
             "%s wrote no profile to %s: check that LD_PRELOAD works here and the disk has space",
             shim, folder);
    else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGALRM)
        show_crash(shim, WTERMSIG(status));
    else
        tell("libseep.so", MISSING, "a program with %s %s: build or install seep again", shim,
             WIFSIGNALED(status) ? "did not end" : "failed");
}

static void check_shim(void)
{
    struct seep_error err = {0};
    char shim[SEEP_PATH_BYTES], folder[512];
    const char *tmp = getenv("TMPDIR");

    if (seep_program_part(SEEP_PART_SHIM, shim, sizeof shim, &err) < 0) {
        tell("libseep.so", MISSING, "%s: %s: install seep again", err.file, err.text);
        return;
    }
    snprintf(folder, sizeof folder, "%.400s/seep-doctor-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(folder)) {
        tell("libseep.so", MISSING, "no test folder in %s (%s): set TMPDIR", folder,
             strerror(errno));
        return;
    }
    try_shim(shim, folder);
    rmdir(folder);
}

/* ---- Pythons --------------------------------------------------------------------------------- */

/* CPythons and the PyTorch beside them. Each is queried once, by a script that imports only modules
 * of the standard library. */

enum {
    ASK_SECONDS = 20,
    MAX_PYTHONS = 64,
};

static const char question[] = "import os, sys, sysconfig\n"
                               "print(sys.implementation.name, '%d.%d.%d' % sys.version_info[:3],\n"
                               "      sysconfig.get_config_var('Py_GIL_DISABLED') or 0)\n"
                               "for p in sys.path:\n"
                               "    t = os.path.join(p, 'torch')\n"
                               "    if os.path.isfile(os.path.join(t, 'version.py')):\n"
                               "        d = {}\n"
                               "        exec(open(os.path.join(t, 'version.py')).read(), d)\n"
                               "        print(d.get('__version__'), d.get('cuda') or '-', t)\n"
                               "        break\n";

extern char **environ;

static void show_torch(const char *line)
{
    char version[64], cuda[32], folder[PATH_MAX];

    if (sscanf(line, "%63s %31s %4095[^\n]", version, cuda, folder) != 3)
        return;
    if (strcmp(cuda, "-") == 0)
        tell("PyTorch", OK, "%-8s without CUDA, %s", version, folder);
    else
        tell("PyTorch", OK, "%-8s for CUDA %s, %s", version, cuda, folder);
}

static bool ask_python(const char *path, char *answer, int capacity)
{
    char program[PATH_MAX], option[] = "-c", script[sizeof question];
    char *argv[] = {program, option, script, NULL};

    snprintf(program, sizeof program, "%s", path);
    memcpy(script, question, sizeof question);
    return run_program(argv, environ, ASK_SECONDS, answer, capacity) == 0;
}

/* Prints a line for the CPython at `path` (absolute) and one for its PyTorch. False where it is not
 * a working CPython. `needed`: a version that seep cannot read counts as missing. */
static bool check_python(const char *path, bool needed)
{
    char answer[PATH_MAX + 256], name[32];
    int major, minor, micro, no_gil;

    if (!ask_python(path, answer, sizeof answer) ||
        sscanf(answer, "%31s %d.%d.%d %d", name, &major, &minor, &micro, &no_gil) != 5)
        return false;
    if (strcmp(name, "cpython") != 0)
        tell("Python", needed ? MISSING : PARTLY,
             "%s %d.%d.%d %s: native stacks only; seep reads Python stacks of CPython", name, major,
             minor, micro, path);
    else if (!seep_python_layout_find((uint32_t)major << 24 | (uint32_t)minor << 16))
        tell("Python", needed ? MISSING : PARTLY,
             "%d.%d.%d %s: native stacks only; seep reads Python stacks of 3.%u to 3.%u", major,
             minor, micro, path, seep_python_layouts[0]->minor,
             seep_python_layouts[SEEP_PYTHON_LAYOUTS - 1]->minor);
    else if (no_gil)
        tell("Python", needed ? MISSING : PARTLY,
             "%d.%d.%d %s: native stacks only; it has no GIL (free-threaded)", major, minor, micro,
             path);
    else
        tell("Python", OK, "%d.%d.%d %s", major, minor, micro, path);
    const char *torch = strchr(answer, '\n');
    if (torch && torch[1])
        show_torch(torch + 1);
    return true;
}

struct pythons {
    char *path[MAX_PYTHONS]; /* the path to run */
    char *key[MAX_PYTHONS];  /* resolved folder and file: one entry for python3 and python3.11 */
    int n;
};

/* "python3.13", "python3.14t"; not "python3-config" and others that begin like that. */
static bool is_python_name(const char *name)
{
    if (strncmp(name, "python", 6) != 0)
        return false;
    name += 6 + strspn(name + 6, "0123456789.");
    return strcmp(name, "") == 0 || strcmp(name, "t") == 0;
}

/* A virtual environment's python links to the system's, but has packages of its own. */
static void add_python(struct pythons *found, const char *path)
{
    char file[PATH_MAX], folder[PATH_MAX], copy[PATH_MAX], key[2 * PATH_MAX + 2];

    if (found->n == MAX_PYTHONS || strstr(path, "/shims/") || strlen(path) >= sizeof copy ||
        access(path, X_OK) < 0 || !realpath(path, file))
        return;
    const char *name = strrchr(file, '/') + 1;
    if (!is_python_name(name))
        return;
    strcpy(copy, path);
    *strrchr(copy, '/') = '\0';
    if (!realpath(copy[0] ? copy : "/", folder))
        return;
    snprintf(key, sizeof key, "%s %s", folder, file);
    for (int i = 0; i < found->n; i++) {
        if (strcmp(found->key[i], key) == 0)
            return;
    }
    found->path[found->n] = strdup(path);
    found->key[found->n] = strdup(key);
    if (found->path[found->n] && found->key[found->n])
        found->n++;
}

static void add_pattern(struct pythons *found, const char *folder, const char *pattern)
{
    char full[PATH_MAX];
    glob_t matches;

    if (!*folder || (size_t)snprintf(full, sizeof full, "%s/%s", folder, pattern) >= sizeof full)
        return;
    if (glob(full, 0, NULL, &matches) == 0) {
        for (size_t i = 0; i < matches.gl_pathc; i++)
            add_python(found, matches.gl_pathv[i]);
        globfree(&matches);
    }
}

static void add_folder(struct pythons *found, const char *folder)
{
    add_pattern(found, folder, "python3");
    add_pattern(found, folder, "python3.[0-9]*");
}

static void find_pythons(struct pythons *found)
{
    char folder[PATH_MAX];
    const char *list = getenv("PATH"), *home = getenv("HOME"), *pyenv = getenv("PYENV_ROOT");

    for (const char *p = list ? list : ""; *p; p += strspn(p, ":")) {
        int n = (int)strcspn(p, ":");
        if (n > 0 && n < PATH_MAX) {
            snprintf(folder, sizeof folder, "%.*s", n, p);
            add_folder(found, folder);
        }
        p += n;
    }
    add_folder(found, "/usr/bin");
    add_folder(found, "/usr/local/bin");
    if (pyenv)
        snprintf(folder, sizeof folder, "%s/versions/*/bin", pyenv);
    else
        snprintf(folder, sizeof folder, "%s/.pyenv/versions/*/bin", home ? home : "");
    add_pattern(found, folder, "python3");
}

static void check_pythons(void)
{
    static struct pythons found;
    int n = 0;

    find_pythons(&found);
    for (int i = 0; i < found.n; i++)
        n += check_python(found.path[i], false);
    if (n == 0)
        tell("Python", MISSING, "no CPython 3 on PATH, in /usr/bin or in pyenv: install python3");
}

/* ---- GPUs ------------------------------------------------------------------------------------ */

/* Looks libraries up as a job would. Initialises none: that would create a context on the device. A
 * machine without a GPU lacks nothing. */

/* The first of the names that the loader finds, and its path; NULL where it finds none. */
static void *find_library(const char *const *names, const char **path)
{
    for (; *names; names++) {
        void *handle = dlopen(*names, RTLD_LAZY | RTLD_LOCAL);
        struct link_map *map;
        if (!handle)
            continue;
        *path = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : *names;
        return handle;
    }
    return NULL;
}

static bool device_nodes(void)
{
    glob_t matches;
    bool found = glob("/dev/nvidia[0-9]*", 0, NULL, &matches) == 0;

    if (found)
        globfree(&matches);
    return found || access("/dev/dxg", F_OK) == 0; /* WSL */
}

static void check_driver(void)
{
    static const char *const names[] = {"libcuda.so.1", NULL};
    const char *path;
    void *handle = find_library(names, &path);
    int version = 0;

    if (!handle && !device_nodes()) {
        tell("GPU", ABSENT, "no NVIDIA driver and no GPU");
        return;
    }
    if (!handle) {
        tell("GPU", PARTLY, "a GPU, but no libcuda.so.1: install the driver's libraries");
        return;
    }
    int (*get)(int *);
    *(void **)&get = dlsym(handle, "cuDriverGetVersion");
    if (get)
        (void)get(&version);
    tell("GPU", device_nodes() ? OK : PARTLY, "driver for CUDA %d.%d, %s%s", version / 1000,
         version % 1000 / 10, path, device_nodes() ? "" : ", but no GPU");
    tell("GPU", PARTLY,
         "tensors and memory of a shared CUDA runtime are recorded; memory of a static one is not");
}

static void check_library(const char *subject, const char *const *names)
{
    const char *path;

    if (find_library(names, &path))
        tell(subject, OK, "%s", path);
    else
        tell(subject, ABSENT, "%s is not among the system's libraries", names[0]);
}

static void check_gpu(void)
{
    static const char *const runtimes[] = {"libcudart.so.13", "libcudart.so.12",
                                           "libcudart.so.11.0", "libcudart.so", NULL};
    static const char *const cuptis[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so", NULL};

    check_driver();
    check_library("CUDA", runtimes);
    check_library("CUPTI", cuptis);
}

/* ---- memory, and the command
 * ---------------------------------------------------------------------- */

/* Limits of single processes; what counts against them is not resident memory. */
static void show_rlimit(const char *name, int resource, const char *effect)
{
    struct rlimit limit;
    char text[SEEP_SIZE_TEXT];

    if (getrlimit((__rlimit_resource_t)resource, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return;
    tell("memory", PARTLY, "%s limited to %s: %s", name,
         seep_text_size((double)limit.rlim_cur, text), effect);
}

static void check_memory(void)
{
    struct seep_limits limits;
    const char *kind;
    char text[SEEP_SIZE_TEXT];

    seep_limits_read("/proc", &limits);
    uint64_t tightest = seep_limits_tightest(&limits, &kind);
    if (limits.cgroup_bytes)
        tell("memory", OK, "limit of the cgroup: %s (version %d, %s)",
             seep_text_size((double)limits.cgroup_bytes, text), limits.cgroup_version,
             limits.cgroup_path);
    else
        tell("memory", OK, "no cgroup limit");
    if (limits.ram_bytes)
        tell("memory", OK, "memory of this machine: %s",
             seep_text_size((double)limits.ram_bytes, text));
    if (tightest)
        tell("memory", OK,
             "a job's processes together may use %s (%s): reports say how many steps are left",
             seep_text_size((double)tightest, text), kind);
    show_rlimit("each process's address space (ulimit -v)", RLIMIT_AS,
                "the library reserves part of it, and records less if it cannot");
    show_rlimit("each process's data segment (ulimit -d)", RLIMIT_DATA,
                "the job and the library share it");
    show_rlimit("the size of files (ulimit -f)", RLIMIT_FSIZE, "a profile ends there");
    if (access("/proc/self/smaps_rollup", R_OK) < 0)
        tell("memory", PARTLY, "/proc/self/smaps_rollup cannot be read: reports have no PSS");
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

static void check_command(char *const *argv)
{
    static struct seep_program program;

    seep_program_find(argv[0], &program);
    if (program.state != SEEP_PROGRAM_OK) {
        tell("command", MISSING, "%s", program.why);
        return;
    }
    if (program.own_malloc)
        tell("command", PARTLY,
             "%s loads the library, but has its own malloc: only its maps are seen", program.path);
    else
        tell("command", OK, "%s loads the library", program.path);
    if (is_python_program(program.path))
        (void)check_python(program.path, true);
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
    tell("seep", OK, "%s", SEEP_VERSION);
    check_shim();
    check_pythons();
    check_gpu();
    check_memory();
    if (optind < argc)
        check_command(argv + optind);
    if (fflush(stdout) != 0)
        return SEEP_EXIT_UNUSABLE;
    return something_missing ? 1 : 0;
}
