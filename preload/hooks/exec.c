/* Hooks of exec and posix_spawn. A program that this library can enter finds it in its
 * environment, even if the job has cleaned that. Any other program
 * (libprof/runtime/program/program_entry.h) finds its environment as without seep, and is listed in
 * the job's table.
 *
 * A child of vfork calls these with its parent's memory: everything is on the stack, and nothing
 * here looks up names. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "libprof/runtime/program/program_entry.h"
#include "libprof/runtime/store/os.h"
#include "preload/job/job.h"
#include "preload/life/environment.h"
#include "preload/life/start.h"
#include "preload/objects/real.h"
#include "preload/record/thread.h"

/* ---- judgement ------------------------------------------------------------------------------ */

/* The loader drops LD_PRELOAD if the real ids of the starting process differ from its effective
 * ones. */
static bool drops_preload(void)
{
    return seep_os_call3(SYS_getuid, 0, 0, 0) != seep_os_call3(SYS_geteuid, 0, 0, 0) ||
           seep_os_call3(SYS_getgid, 0, 0, 0) != seep_os_call3(SYS_getegid, 0, 0, 0);
}

/* Says what this library can do in the program that execve of `path` would run. */
static __attribute__((noinline)) enum seep_entry judge(int at, const char *path,
                                                       char *const environment[])
{
    struct seep_program_entry program;

    if (!seep_environment_known() || !seep_environment_text_readable(path))
        return SEEP_ENTRY_OK;
    if (!seep_environment_reaches())
        return SEEP_ENTRY_UNREACHABLE;
    if (seep_os_sandboxed)
        return SEEP_ENTRY_OK; /* a filter may kill the process for opening the file */
    seep_entry_of_exec(at, path, &program);
    if (program.entry == SEEP_ENTRY_RIGHTS && !program.gains)
        program.entry = SEEP_ENTRY_OK;
    if (program.entry == SEEP_ENTRY_DAMAGED)
        return SEEP_ENTRY_OK; /* the kernel, or a shell, reports what is wrong with it */
    if (program.entry == SEEP_ENTRY_OK && drops_preload())
        return SEEP_ENTRY_RIGHTS;
    if (program.entry == SEEP_ENTRY_OK && seep_environment_has_sanitizer(environment))
        return SEEP_ENTRY_SANITIZER;
    return program.entry;
}

/* True if a loader would trip over this library. Static and privileged programs do not notice it;
 * they pass the environment on to programs that can be entered again. */
static bool must_not_see(enum seep_entry entry)
{
    return entry == SEEP_ENTRY_MACHINE || entry == SEEP_ENTRY_LIBC ||
           entry == SEEP_ENTRY_SANITIZER || entry == SEEP_ENTRY_UNREACHABLE;
}

static const char *search_path(void)
{
    for (char *const *e = environ; e && *e; e++)
        if (strncmp(*e, "PATH=", 5) == 0)
            return *e + 5;
    return NULL;
}

/* Too large for a small stack, or for the kernel: it stays unchanged. */
enum { MAX_ROOM = 4096, MAX_TEXT = 32 * 1024 };

/* NULL: nothing needs to change. If it cannot be read, the kernel reports that. */
static char *const *usable(char *const *environment)
{
    return seep_environment_readable(environment) &&
                   seep_environment_room(environment) <= MAX_ROOM &&
                   seep_environment_text(environment) <= MAX_TEXT
               ? environment
               : NULL;
}

/* On the stack: a child of vfork shares everything else with its parent. */
#define PREPARE(at, file, environment)                                                             \
    char *const *given_ = environment, *const *usable_ = usable(given_);                           \
    enum seep_entry entry_ = judge(at, file, usable_);                                             \
    char *room_[seep_environment_room(usable_)], text_[seep_environment_text(usable_)];            \
    char *const *environment_ = usable_ != given_ ? given_                                         \
                                : must_not_see(entry_)                                             \
                                    ? seep_environment_without(usable_, room_, text_)              \
                                    : seep_environment_complete(usable_, room_, text_)

/* Finds the file that execvp will find; if that is unknown, the name itself, which is judged OK. */
#define FIND(name)                                                                                 \
    char found_[SEEP_ENTRY_PATH_BYTES];                                                            \
    const char *path_ = seep_environment_known() && seep_environment_text_readable(name) &&        \
                                seep_entry_find(name, search_path(), found_, sizeof found_) == 0   \
                            ? found_                                                               \
                            : ""

/* ---- exec ----------------------------------------------------------------------------------- */

/* The profile says "exec" from now on; if the call fails, that is taken back. A child that has
 * recorded nothing yet gets no profile just for this. */
static struct seep_process *before_exec(enum seep_hook hook, const char *path,
                                        enum seep_entry entry)
{
    struct seep_process *listed = entry && seep_os_pid() > 0
                                      ? seep_job_list(seep_os_pid(), seep_os_ppid(), path, entry)
                                      : NULL;
    if (seep_is_recording() && seep_enter()) {
        seep_note_hook(hook);
        seep_end(SEEP_EXIT_EXEC, 0);
        seep_leave();
    }
    return listed;
}

static int exec_failed(int result, struct seep_process *listed)
{
    int saved_errno = errno;
    if (listed)
        seep_job_unlist(listed);
    if (seep_is_recording() && seep_enter()) {
        seep_end(SEEP_EXIT_NONE, 0);
        seep_leave();
    }
    errno = saved_errno;
    return result;
}

static int result_of(long r)
{
    errno = (int)-r;
    return -1;
}

static int call_execveat(int folder, const char *path, char *const argv[],
                         char *const environment[], int flags)
{
    if (seep_real.execveat)
        return seep_real.execveat(folder, path, argv, environment, flags);
    return result_of(
        seep_arch_call6(SYS_execveat, folder, (long)path, (long)argv, (long)environment, flags, 0));
}

SEEP_EXPORT int execve(const char *path, char *const argv[], char *const environment[])
{
    PREPARE(AT_FDCWD, path, environment);
    struct seep_process *listed = before_exec(SEEP_HOOK_execve, path, entry_);
    int r = seep_real.execve ? seep_real.execve(path, argv, environment_)
                             : result_of(seep_arch_call6(SYS_execve, (long)path, (long)argv,
                                                         (long)environment_, 0, 0, 0));
    return exec_failed(r, listed);
}

SEEP_EXPORT int execv(const char *path, char *const argv[])
{
    return execve(path, argv, environ);
}

SEEP_EXPORT int execvpe(const char *file, char *const argv[], char *const environment[])
{
    FIND(file);
    PREPARE(AT_FDCWD, path_, environment);
    struct seep_process *listed = before_exec(SEEP_HOOK_execvpe, path_, entry_);
    int r = seep_real.execvpe ? seep_real.execvpe(file, argv, environment_)
                              : result_of(seep_arch_call6(SYS_execve, (long)(*path_ ? path_ : file),
                                                          (long)argv, (long)environment_, 0, 0, 0));
    return exec_failed(r, listed);
}

SEEP_EXPORT int execvp(const char *file, char *const argv[])
{
    return execvpe(file, argv, environ);
}

/* The path behind a descriptor, for the list. */
static void path_of_descriptor(const char *name, char *path, size_t capacity)
{
    long n =
        seep_os_call6(SYS_readlinkat, AT_FDCWD, (long)name, (long)path, (long)capacity - 1, 0, 0);
    path[n > 0 ? n : 0] = '\0';
}

SEEP_EXPORT int fexecve(int fd, char *const argv[], char *const environment[])
{
    char name[SEEP_OS_DESCRIPTOR_PATH], path[SEEP_ENTRY_PATH_BYTES];
    seep_os_descriptor_path(fd, name);
    PREPARE(AT_FDCWD, name, environment);
    path_of_descriptor(name, path, sizeof path);
    struct seep_process *listed = before_exec(SEEP_HOOK_fexecve, path, entry_);
    int r = seep_real.fexecve ? seep_real.fexecve(fd, argv, environment_)
                              : call_execveat(fd, "", argv, environment_, AT_EMPTY_PATH);
    return exec_failed(r, listed);
}

SEEP_EXPORT int execveat(int folder, const char *path, char *const argv[],
                         char *const environment[], int flags)
{
    char name[SEEP_OS_DESCRIPTOR_PATH], behind[SEEP_ENTRY_PATH_BYTES];
    bool of_descriptor =
        seep_environment_text_readable(path) && !*path && (flags & AT_EMPTY_PATH) && folder >= 0;
    if (of_descriptor)
        seep_os_descriptor_path(folder, name);
    PREPARE(of_descriptor ? AT_FDCWD : folder, of_descriptor ? name : path, environment);
    if (of_descriptor)
        path_of_descriptor(name, behind, sizeof behind);
    struct seep_process *listed =
        before_exec(SEEP_HOOK_execveat, of_descriptor ? behind : path, entry_);
    return exec_failed(call_execveat(folder, path, argv, environment_, flags), listed);
}

/* Arguments up to the closing NULL, collected twice: to count, and to copy. */
#define GATHER(first)                                                                              \
    va_list list_;                                                                                 \
    size_t n_ = 1;                                                                                 \
    va_start(list_, first);                                                                        \
    while (va_arg(list_, char *))                                                                  \
        n_++;                                                                                      \
    va_end(list_);                                                                                 \
    char *argv_[n_ + 1];                                                                           \
    argv_[0] = (char *)(size_t)(first);                                                            \
    va_start(list_, first);                                                                        \
    for (size_t i_ = 1; i_ <= n_; i_++)                                                            \
    argv_[i_] = va_arg(list_, char *)

SEEP_EXPORT int execl(const char *path, const char *first, ...)
{
    GATHER(first);
    va_end(list_);
    return execve(path, argv_, environ);
}

SEEP_EXPORT int execlp(const char *file, const char *first, ...)
{
    GATHER(first);
    va_end(list_);
    return execvpe(file, argv_, environ);
}

SEEP_EXPORT int execle(const char *path, const char *first, ...)
{
    GATHER(first);
    char *const *environment = va_arg(list_, char *const *);
    va_end(list_);
    return execve(path, argv_, environment);
}

/* ---- posix_spawn ---------------------------------------------------------------------------- */

/* The child has an entry of its own, made here: it may not live long enough to make it. */
static int spawned(enum seep_hook hook, int result, pid_t pid, const char *path,
                   enum seep_entry entry)
{
    if (seep_is_recording())
        seep_note_hook(hook);
    if (result == 0 && entry != SEEP_ENTRY_OK && pid > 0)
        (void)seep_job_list(pid, seep_os_pid(), path, entry);
    return result;
}

SEEP_EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                            const posix_spawnattr_t *attributes, char *const argv[],
                            char *const environment[])
{
    pid_t own = 0;
    if (!seep_real.posix_spawn)
        return ENOSYS;
    PREPARE(AT_FDCWD, path, environment);
    int r = seep_real.posix_spawn(&own, path, actions, attributes, argv, environment_);
    if (r == 0 && pid)
        *pid = own;
    return spawned(SEEP_HOOK_posix_spawn, r, own, path, entry_);
}

SEEP_EXPORT int posix_spawnp(pid_t *pid, const char *file,
                             const posix_spawn_file_actions_t *actions,
                             const posix_spawnattr_t *attributes, char *const argv[],
                             char *const environment[])
{
    pid_t own = 0;
    if (!seep_real.posix_spawnp)
        return ENOSYS;
    FIND(file);
    PREPARE(AT_FDCWD, path_, environment);
    int r = seep_real.posix_spawnp(&own, file, actions, attributes, argv, environment_);
    if (r == 0 && pid)
        *pid = own;
    return spawned(SEEP_HOOK_posix_spawnp, r, own, path_, entry_);
}
