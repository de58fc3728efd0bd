/* Hooks of what changes the uid. Profiles are private, so a process that gives up its rights could
 * not write there any more: while it has them, exactly the user that it becomes is let in, by
 * access control lists on the folder, the job's file and its own profile. Where there are none, or
 * a folder above is closed to that user, nothing is opened; the profile ends where it has disk.
 *
 * A child of vfork may call these: nothing is kept but what has been done to the files. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "libprof/runtime/store/os.h"
#include "preload/job/job.h"
#include "preload/life/acl.h"
#include "preload/life/start.h"
#include "preload/objects/real.h"
#include "preload/record/thread.h"

enum { FOLDER = 1, JOB = 2, PROFILE = 4 }; /* the files whose list gained an entry */
enum { CLOSED = 8 };                       /* there was none */

static uint32_t effective_uid(void)
{
    return (uint32_t)seep_os_call3(SYS_geteuid, 0, 0, 0);
}

/* Judges by modes alone: if an access list or another group would let the user in, the folder stays
 * closed. */
static bool may_search(const char *path, uint32_t uid)
{
    struct stat st;
    if (seep_os_call6(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st, 0, 0, 0) < 0)
        return false;
    if (st.st_uid == uid)
        return st.st_mode & S_IXUSR;
    if (st.st_gid == (gid_t)seep_os_call3(SYS_getegid, 0, 0, 0))
        return st.st_mode & S_IXGRP;
    return st.st_mode & S_IXOTH;
}

/* Every folder above the folder of profiles. */
static bool may_reach(uint32_t uid)
{
    char path[SEEP_PATH_BYTES];
    size_t n = strlen(seep_run_settings.dir);
    if (n >= sizeof(path))
        return false;
    memcpy(path, seep_run_settings.dir, n + 1);
    while (n > 0 && path[n - 1] == '/')
        path[--n] = '\0';
    for (char *slash; (slash = strrchr(path, '/'));) {
        slash[slash == path] = '\0';
        if (!may_search(path, uid))
            return false;
        if (slash == path)
            break;
    }
    return true;
}

/* Who may create files in the folder must not remove those of others: hence the sticky bit. */
static int grant_folder(uint32_t uid, unsigned permissions)
{
    struct stat st;
    int fd = seep_os_open(seep_run_settings.dir, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return fd;
    int r = (int)seep_os_call3(SYS_fstat, fd, (long)&st, 0);
    if (r == 0 && st.st_uid == uid)
        permissions = 0; /* its own already */
    if (r == 0 && permissions && !(st.st_mode & S_ISVTX))
        r = (int)seep_os_call3(SYS_fchmod, fd, (st.st_mode & 07777) | S_ISVTX, 0);
    if (r == 0)
        r = seep_acl_grant(fd, uid, permissions);
    seep_os_close(fd);
    return r;
}

static int grant_file(const char *path, uint64_t inode, uint32_t uid, unsigned permissions)
{
    struct stat st;
    int fd = seep_os_open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd < 0)
        return fd;
    int r = (int)seep_os_call3(SYS_fstat, fd, (long)&st, 0);
    if (r == 0 && (!S_ISREG(st.st_mode) || (inode && st.st_ino != inode)))
        r = -ESTALE;
    if (r == 0 && st.st_uid != uid)
        r = seep_acl_grant(fd, uid, permissions);
    seep_os_close(fd);
    return r;
}

static int grant_job(uint32_t uid, unsigned permissions)
{
    char path[SEEP_PATH_BYTES + sizeof(SEEP_JOB_FILE) + 1];
    size_t n = strlen(seep_run_settings.dir);
    memcpy(path, seep_run_settings.dir, n);
    path[n] = '/';
    memcpy(path + n + 1, SEEP_JOB_FILE, sizeof(SEEP_JOB_FILE));
    return grant_file(path, 0, uid, permissions);
}

/* PID-START.seep: in a child of vfork, or one that has no file yet, it belongs to another
 * process. */
static bool is_own_profile(const char *path)
{
    const char *name = strrchr(path, '/');
    int pid = 0;
    for (name = name ? name + 1 : path; *name >= '0' && *name <= '9' && pid < 100000000; name++)
        pid = pid * 10 + (*name - '0');
    return pid == seep_os_pid();
}

static int grant_profile(uint32_t uid, unsigned permissions)
{
    return is_own_profile(seep_arena.path)
               ? grant_file(seep_arena.path, seep_arena.inode, uid, permissions)
               : 0;
}

/* Gives `uid` access to `files`; permissions as for files, 0 takes them back. Returns what it had
 * no access to before. */
static int grant(uint32_t uid, int files, unsigned permissions)
{
    int changed = 0;
    unsigned search = permissions ? permissions | SEEP_ACL_SEARCH : 0;
    if (files & FOLDER) {
        int r = grant_folder(uid, search);
        changed |= r < 0 ? CLOSED : r ? FOLDER : 0;
    }
    if ((files & JOB) && grant_job(uid, permissions) == 1)
        changed |= JOB;
    if ((files & PROFILE) && grant_profile(uid, permissions) == 1)
        changed |= PROFILE;
    return changed;
}

/* The last chance to reserve disk space. */
static void stock_up(void)
{
    if (!is_own_profile(seep_arena.path) || !seep_os_lock(&seep_arena.lock))
        return;
    seep_arena_stock_up();
    seep_os_unlock(&seep_arena.lock);
}

/* Called before the effective uid becomes `uid`. Returns what to take back if it does not. A forked
 * child that has not yet noticed its fork does so here, while it may still write. */
static int before_change(enum seep_hook hook, uint32_t uid)
{
    int changed = 0;
    if (seep_os_sandboxed || uid == UINT32_MAX || uid == 0 || uid == effective_uid() ||
        !seep_enter())
        return 0;
    seep_note_hook(hook);
    changed = may_reach(uid) ? grant(uid, FOLDER | JOB | PROFILE, SEEP_ACL_READ | SEEP_ACL_WRITE)
                             : CLOSED;
    if (changed & CLOSED)
        stock_up();
    seep_leave();
    return changed;
}

/* Enters this process's uid in the job's table, and whether it can still write. */
static void note_change(void)
{
    if (seep_process->pid != (uint32_t)seep_os_pid())
        return; /* the parent's entry: of a child of vfork, or one that has recorded nothing */
    seep_process->uid = effective_uid();
    long r = seep_os_call6(SYS_faccessat2, AT_FDCWD, (long)seep_run_settings.dir, W_OK | X_OK,
                           AT_EACCESS, 0, 0);
    if (r == -EACCES && seep_process->trouble == SEEP_TROUBLE_NONE) {
        seep_process->trouble_errno = EACCES;
        seep_process->trouble = SEEP_TROUBLE_GROW;
    } else if (r == 0 && seep_process->trouble == SEEP_TROUBLE_GROW &&
               seep_process->trouble_errno == EACCES) {
        seep_process->trouble = SEEP_TROUBLE_NONE;
    }
}

static int after_change(int result, uint32_t uid, int changed)
{
    int saved_errno = errno;
    if (!seep_os_sandboxed && seep_is_recording() && !seep_tls.depth) {
        if (result != 0 && changed)
            (void)grant(uid, changed, 0);
        else if (result == 0)
            note_change();
    }
    errno = saved_errno;
    return result;
}

static int result_of(long r)
{
    if (r < 0)
        errno = (int)-r;
    return r < 0 ? -1 : 0;
}

/* The raw call is enough while the real function is unknown: then there is only one thread. */
#define CHANGE(name, effective, arguments, number, a, b, c)                                        \
    int changed_ = before_change(SEEP_HOOK_##name, effective);                                     \
    return after_change(seep_real.name ? seep_real.name arguments                                  \
                                       : result_of(seep_os_call3(number, a, b, c)),                \
                        effective, changed_)

SEEP_EXPORT int setuid(uid_t uid)
{
    CHANGE(setuid, uid, (uid), SYS_setuid, uid, 0, 0);
}

SEEP_EXPORT int seteuid(uid_t uid)
{
    CHANGE(seteuid, uid, (uid), SYS_setresuid, -1, uid, -1);
}

SEEP_EXPORT int setreuid(uid_t real, uid_t effective)
{
    CHANGE(setreuid, effective, (real, effective), SYS_setreuid, real, effective, 0);
}

SEEP_EXPORT int setresuid(uid_t real, uid_t effective, uid_t saved)
{
    CHANGE(setresuid, effective, (real, effective, saved), SYS_setresuid, real, effective, saved);
}
