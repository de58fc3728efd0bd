/* What a fork would do to a process that its owner would notice. */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/snapshot/snapshot_harm.h"
#include "tests/suite.h"

#define MIB (UINT64_C(1) << 20)

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
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | 1); /* of faults in user mode */

    if (fd >= 0)
        ck_assert(seep_snapshot_fork_harms(0));
}

/* In a child that ends at once: at the end of a process a sanitizer would fork into the namespace.
 */
TEST(a_copy_would_be_the_first_process_of_a_namespace)
{
    int status;
    pid_t child = fork();

    if (child == 0)
        _exit(unshare(CLONE_NEWPID) == 0 && !seep_snapshot_fork_harms(0));
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

static uint64_t huge_kib(void)
{
    char line[256];
    uint64_t kib = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "re");

    while (file && fgets(line, sizeof line, file))
        (void)sscanf(line, "AnonHugePages: %lu", &kib);
    if (file)
        fclose(file);
    return kib;
}

TEST(huge_pages_would_be_split_where_they_are_many)
{
    const size_t n = 64 * MIB;
    void *at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(at, MAP_FAILED);
    madvise(at, n, MADV_HUGEPAGE);
    memset(at, 1, n);
    if (huge_kib() * 1024 < 32 * MIB)
        return; /* this machine has none */
    ck_assert(seep_snapshot_fork_harms(n));
    ck_assert(!seep_snapshot_fork_harms(100 * n)); /* they are few of what there is */
}

SUITE("snapshot harm")
