/* Files that the maps of a process name, where they are seen from here. */
#include "libprof/who/process/file_pages.h"
#include "tests/suite.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[32], file[PATH_MAX], path[SEEP_MAPPED_PATH];
static uint64_t inode;

static void make_file(void)
{
    struct stat st;

    snprintf(folder, sizeof folder, "/tmp/mapped-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/libpython3.so", folder);
    int fd = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fstat(fd, &st), 0);
    close(fd);
    inode = (uint64_t)st.st_ino;
}

static void remove_file(void)
{
    unlink(file);
    rmdir(folder);
}

/* A process whose root is the folder; −1 where that is not allowed. */
static pid_t enter_folder(void)
{
    int ready[2];
    char done = 0;

    ck_assert_int_eq(pipe(ready), 0);
    pid_t pid = fork();
    if (!pid) {
        if (chroot(folder) && (unshare(CLONE_NEWUSER) || chroot(folder)))
            _exit(1);
        (void)!write(ready[1], "y", 1);
        pause();
        _exit(0);
    }
    close(ready[1]);
    ssize_t n = read(ready[0], &done, 1);
    close(ready[0]);
    if (n == 1)
        return pid;
    waitpid(pid, NULL, 0);
    return -1;
}

TEST(a_file_is_found_where_its_process_has_it)
{
    ck_assert(seep_mapped_file(getpid(), file, inode, path));
    ck_assert(!seep_mapped_file(getpid(), file, inode + 1, path));
    ck_assert(!seep_mapped_file(getpid(), "/no/such/file", inode, path));
    ck_assert(!seep_mapped_file(getpid(), folder, inode, path));
}

/* There the maps have the path as seen from outside; in a container, as seen from inside. */
TEST(a_process_in_a_chroot_has_its_files_with_their_whole_path)
{
    struct stat st;
    pid_t pid = enter_folder();
    if (pid > 0) {
        ck_assert(seep_mapped_file(pid, file, inode, path));
        ck_assert_int_eq(stat(path, &st), 0);
        ck_assert(seep_mapped_file(pid, "/libpython3.so", inode, path));
        ck_assert_int_eq(stat(path, &st), 0);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
}

SUITE("files of a process", .setup = make_file, .teardown = remove_file)
