/* Effects of a fork that a process or its owner would notice. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/snapshot/snapshot_copy_parts.h"
#include "preload/snapshot/snapshot_harm.h"
#include "tests/suite.h"

#define MIB       (UINT64_C(1) << 20)
#define USER_MODE 1 /* UFFD_USER_MODE_ONLY: faults of the kernel's need a privilege */

TEST(a_plain_process_can_be_copied)
{
    ck_assert(!seep_snapshot_fork_harms(0));
}

TEST(the_namespace_of_pids_is_known)
{
    struct stat st;

    ck_assert_int_eq(stat("/proc/self/ns/pid", &st), 0);
    ck_assert_uint_eq(seep_snapshot_namespace(), (uint32_t)st.st_ino);
}

TEST(whoever_reads_userfaultfd_would_be_told)
{
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | USER_MODE);

    if (fd < 0 && errno == EINVAL) /* before Linux 5.11 */
        fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    if (fd < 0 && (errno == EPERM || errno == ENOSYS))
        SKIP("userfaultfd is forbidden here");
    ck_assert_int_ge(fd, 0);
    ck_assert(seep_snapshot_fork_harms(0));
}

enum { SEEN, NOT_SEEN, FORBIDDEN, OTHER_ERROR };

/* Ends the process at once: at its end a sanitizer would fork into the namespace. */
static void *look_in_own_namespace(void *unused)
{
    (void)unused;
    if (unshare(CLONE_NEWPID) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0)
        _exit(seep_snapshot_fork_harms(0) ? SEEN : NOT_SEEN);
    _exit(errno == EPERM || errno == EINVAL || errno == ENOSPC ? FORBIDDEN : OTHER_ERROR);
}

static void look_in_namespace_of(bool second_thread)
{
    int status;
    pthread_t thread;
    pid_t child = fork();

    if (child == 0 && second_thread && pthread_create(&thread, NULL, look_in_own_namespace, NULL))
        _exit(OTHER_ERROR);
    if (child == 0 && second_thread)
        pause();
    if (child == 0)
        (void)look_in_own_namespace(NULL);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) == FORBIDDEN)
        SKIP("namespaces of pids are forbidden here");
    ck_assert_int_eq(WEXITSTATUS(status), SEEN);
}

TEST(a_copy_would_be_the_first_process_of_a_namespace)
{
    look_in_namespace_of(false);
}

TEST(that_is_so_of_a_thread_alone)
{
    look_in_namespace_of(true);
}

/* What is asked of files is not known then, nor what there is to let go of. */
TEST(where_no_descriptor_may_be_opened_nothing_is_copied)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        const struct rlimit none = {0, 0};
        bool known = setrlimit(RLIMIT_NOFILE, &none) != 0 || !seep_snapshot_fork_harms(0);
        _exit(known ? 1 : seep_snapshot_shed() ? 2 : 0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}

/* The number behind the last line of a file that begins so, 0: none. */
static uint64_t number_in(const char *path, const char *format)
{
    char line[256];
    uint64_t number = 0;
    FILE *file = fopen(path, "re");

    while (file && fgets(line, sizeof line, file))
        (void)sscanf(line, format, &number);
    if (file)
        fclose(file);
    return number;
}

static uint64_t huge_kib(void)
{
    return number_in("/proc/self/smaps_rollup", "AnonHugePages: %lu");
}

/* How often the kernel found none free. */
static uint64_t n_missed(void)
{
    return number_in("/proc/vmstat", "thp_fault_fallback %lu");
}

static bool are_for_asking(void)
{
    char line[64] = "[never]";
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");

    if (file && !fgets(line, sizeof line, file))
        line[0] = '\0';
    if (file)
        fclose(file);
    return !strstr(line, "[never]") && prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 0;
}

TEST(huge_pages_would_be_split_where_they_are_many)
{
    const size_t n = 64 * MIB;
    const uint64_t missed = n_missed();
    void *at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(at, MAP_FAILED);
    if (!are_for_asking())
        SKIP("huge pages are switched off");
    ck_assert_int_eq(madvise(at, n, MADV_HUGEPAGE), 0);
    memset(at, 1, n);
    if (huge_kib() * 1024 < 32 * MIB && n_missed() > missed)
        SKIP("too few huge pages are free");
    ck_assert_uint_ge(huge_kib() * 1024, 32 * MIB);
    ck_assert(seep_snapshot_fork_harms(n));
    ck_assert(!seep_snapshot_fork_harms(100 * n)); /* they are few of what there is */
}

SUITE("snapshot harm")
