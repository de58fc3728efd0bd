/* What we read from a seccomp filter about a call is what the kernel would do. */
#include "preload/life/seccomp_filter.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <linux/audit.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NR     BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define ARG(n) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[n]))
#define ALLOW  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define KILL   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static bool allows(const struct sock_filter *f, size_t n, int number, uint64_t first)
{
    struct seccomp_data call = {.nr = number, .arch = AUDIT_ARCH_X86_64, .args = {first}};
    return seep_filter_allows(f, n, &call);
}

TEST(a_list_of_calls)
{
    struct sock_filter f[] = {NR,    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 1),
                              ALLOW, BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 300, 0, 1),
                              ALLOW, KILL};
    ck_assert(allows(f, N(f), SYS_mmap, 0));
    ck_assert(!allows(f, N(f), SYS_munmap, 0));
    ck_assert(allows(f, N(f), 300, 0));
    ck_assert(!allows(f, N(f), 299, 0));
}

TEST(whatever_is_no_plain_yes_is_a_no)
{
    static const uint32_t answers[] = {SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_TRAP,
                                       SECCOMP_RET_TRACE,         SECCOMP_RET_LOG,
                                       SECCOMP_RET_USER_NOTIF,    SECCOMP_RET_KILL_THREAD};
    for (size_t i = 0; i < N(answers); i++) {
        struct sock_filter f[] = {BPF_STMT(BPF_RET | BPF_K, answers[i])};
        ck_assert(!allows(f, 1, SYS_mmap, 0));
    }
    struct sock_filter with_data[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW | 7)};
    ck_assert(allows(with_data, 1, SYS_mmap, 0));
}

TEST(what_is_not_known_allows_nothing)
{
    static const uint16_t codes[] = {BPF_LD | BPF_IMM,          BPF_LD | BPF_MEM,
                                     BPF_LDX | BPF_IMM,         BPF_ST,
                                     BPF_MISC | BPF_TAX,        BPF_ALU | BPF_ADD | BPF_K,
                                     BPF_ALU | BPF_AND | BPF_X, BPF_JMP | BPF_JEQ | BPF_X};
    for (size_t i = 0; i < N(codes); i++) {
        struct sock_filter f[] = {BPF_STMT(codes[i], 0), ALLOW};
        ck_assert(!allows(f, N(f), SYS_mmap, 0));
    }
    struct sock_filter by_a[] = {NR, BPF_STMT(BPF_RET | BPF_A, 0)};
    ck_assert(!allows(by_a, 2, SECCOMP_RET_ALLOW, 0));
}

TEST(what_the_kernel_would_not_take_allows_nothing)
{
    struct sock_filter beyond[] = {BPF_JUMP(BPF_JMP | BPF_JA, UINT32_MAX, 0, 0), ALLOW};
    struct sock_filter odd[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 3), ALLOW};
    struct sock_filter outside[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64), ALLOW};
    struct sock_filter endless[] = {NR};
    ck_assert(!allows(beyond, 2, 0, 0));
    ck_assert(!allows(odd, 2, 0, 0));
    ck_assert(!allows(outside, 2, 0, 0));
    ck_assert(!allows(endless, 1, 0, 0));
    ck_assert(!seep_filter_allows(NULL, 0, &(struct seccomp_data){0}));
}

/* One that uses all there is, on the argument. */
static const struct sock_filter computing[] = {
    NR,
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close, 1, 0),
    ALLOW,
    ARG(0),
    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff),
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0xc0, 0, 2),
    BPF_STMT(BPF_JMP | BPF_JA, 4),
    KILL,
    BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 0x80, 1, 0),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x14, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 77),
    ALLOW,
};

/* close(number + 2^16) under that filter: EBADF where it passes. */
static void ask_the_kernel(bool passes[64])
{
    int fds[2];
    ck_assert_int_eq(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct sock_fprog program = {N(computing), (struct sock_filter *)(uintptr_t)computing};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
            _exit(1);
        for (int i = 0; i < 64; i++)
            passes[i] = syscall(SYS_close, i * 4 + 0x10000) == -1 && errno == EBADF;
        _exit(write(fds[1], passes, 64) != 64);
    }
    int status = -1;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(read(fds[0], passes, 64), 64);
    close(fds[0]);
    close(fds[1]);
}

TEST(every_operation_is_computed_as_the_kernel_does)
{
    bool passes[64];
    int n = 0;
    ask_the_kernel(passes);
    for (int i = 0; i < 64; i++) {
        n += passes[i];
        ck_assert_int_eq(allows(computing, N(computing), SYS_close, (uint64_t)i * 4 + 0x10000),
                         passes[i]);
    }
    ck_assert_int_gt(n, 0);
    ck_assert_int_lt(n, 64);
}

SUITE("filters")
