/* Clocks that no library can change, memory that cannot be read, calls in a sandbox, and locks. */
#include "libprof/runtime/store/os.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE ((size_t)seep_os_page_bytes())

static int n_asked;

/* As a library that shows another time has it: everything that is linked finds this one. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
    (void)clock;
    n_asked++;
    *t = (struct timespec){.tv_sec = 4000000000};
    return 0;
}

static uint64_t of_the_kernel(clockid_t clock)
{
    struct timespec t;
    ck_assert_int_eq((int)seep_arch_call6(SYS_clock_gettime, clock, (long)&t, 0, 0, 0, 0), 0);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

TEST(the_time_is_the_kernels)
{
    static const clockid_t clocks[] = {CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_MONOTONIC_COARSE};
    for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
        n_asked = 0;
        uint64_t before = of_the_kernel(clocks[i]), now = seep_os_clock_ns(clocks[i]);
        uint64_t after = of_the_kernel(clocks[i]);
        ck_assert_uint_ge(now, before);
        ck_assert_uint_le(now, after);
        ck_assert_int_eq(n_asked, 0);
    }
}

TEST(what_cannot_be_read_is_told)
{
    char *two = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(two, MAP_FAILED);
    ck_assert_int_eq(mprotect(two + PAGE, PAGE, PROT_NONE), 0);
    ck_assert(seep_os_readable(two) && seep_os_readable(two + 4095));
    ck_assert(!seep_os_readable(two + PAGE) && !seep_os_readable(two + 2 * PAGE - 1));
    ck_assert(!seep_os_readable(NULL) && !seep_os_readable((void *)9));
    munmap(two, 2 * PAGE);
}

/* The call number `call` fails from now on, in this test's process. False: no filter can be made.
 */
static bool forbid(int call, int error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {N(code), code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void expect_read(bool any)
{
    char *two = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char copy[16] = "";
    ck_assert_ptr_ne(two, MAP_FAILED);
    memcpy(two + PAGE - 8, "to read", 8);
    munmap(two + PAGE, PAGE);
    ck_assert_uint_eq(seep_os_read_memory((uintptr_t)two + PAGE - 8, copy, 8), any ? 8 : 0);
    ck_assert_str_eq(copy, any ? "to read" : "");
    ck_assert_uint_eq(seep_os_read_memory((uintptr_t)two + PAGE - 8, copy, 16), any ? 8 : 0);
    ck_assert_uint_eq(seep_os_read_memory((uintptr_t)two + PAGE, copy, 8), 0);
    ck_assert_uint_eq(seep_os_read_memory(0, copy, 8), 0);
    ck_assert(seep_os_is_blind == !any);
    munmap(two, PAGE);
}

static const int errors[] = {ENOSYS, EPERM};

TEST(memory_that_may_be_gone_is_read_whatever_the_kernel_allows, .to = N(errors))
{
    expect_read(true);
    if (!forbid(SYS_process_vm_readv, errors[_i]))
        SKIP("no filter can be made here");
    expect_read(true);
    ck_assert(forbid(SYS_openat, EACCES));
    ck_assert_uint_eq(seep_os_read_memory((uintptr_t)errors, &(int){0}, 4), 0);
    expect_read(false);
}

TEST(in_a_sandbox_no_call_is_made_but_those_permitted)
{
    seep_os_sandboxed = true;
    seep_os_permitted = SEEP_OS_MMAP;
    ck_assert_int_eq(seep_os_pid(), -EPERM);
    ck_assert(seep_os_readable((void *)9)); /* it cannot be asked */
    ck_assert_uint_gt(seep_os_clock_ns(CLOCK_MONOTONIC), 0);
    char *page = seep_os_pages(PAGE);
    ck_assert_ptr_nonnull(page);
    page[0] = 1;
    seep_os_permitted = 0;
    ck_assert_ptr_null(seep_os_pages(PAGE));
    ck_assert_int_eq(seep_os_inside->calls[0] | seep_os_inside->calls[1], 0);
    seep_os_sandboxed = false;
    ck_assert_int_eq(seep_os_pid(), getpid());
    seep_os_unmap(page, PAGE);
}

enum { A_MOMENT_NS = 1000 * 1000 };
#define LONG_NS UINT64_C(600000000000) /* no test waits for it: the run would be over */

static void *settle(void *arg)
{
    (void)arg;
    return (void *)(uintptr_t)seep_os_settle(LONG_NS, true);
}

/* With an end that comes, and while others go on. */
TEST(only_what_began_before_is_waited_for)
{
    pthread_t waiter;
    void *settled;
    const uint32_t before = seep_os_begin();
    ck_assert_int_eq(pthread_create(&waiter, NULL, settle, NULL), 0);
    while (__atomic_load_n(&seep_os_inside->generation, __ATOMIC_SEQ_CST) == before)
        (void)sched_yield();
    const uint32_t later = seep_os_begin();
    seep_os_end(before);
    ck_assert_int_eq(pthread_join(waiter, &settled), 0);
    ck_assert(settled);
    ck_assert(!seep_os_settle(A_MOMENT_NS, true)); /* one more filter: this one began before */
    seep_os_end(later);
}

static volatile bool over;

static void *ask_on(void *arg)
{
    while (!over)
        (void)seep_os_readable(arg);
    return NULL;
}

/* Threads that make calls without end hold no filter up. */
TEST(calls_without_end_come_to_an_end_for_each_filter)
{
    enum { THREADS = 4, FILTERS = 20 };
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, ask_on, &threads), 0);
    for (size_t i = 0; i < FILTERS; i++)
        ck_assert(seep_os_settle(LONG_NS, i % 2));
    over = true;
    for (size_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_int_eq(seep_os_inside->calls[0] | seep_os_inside->calls[1], 0);
}

TEST(a_lock_whose_owner_stalls_is_given_up_on_until_it_has_been_given_back)
{
    struct seep_lock lock = {.word = 1};
    uint64_t begun = seep_os_clock_ns(CLOCK_MONOTONIC);
    ck_assert(!seep_os_lock(&lock));
    ck_assert_uint_ge(seep_os_clock_ns(CLOCK_MONOTONIC) - begun, 1900000000u);
    begun = seep_os_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    ck_assert(!seep_os_lock(&lock)); /* nobody waits for it again */
    ck_assert_uint_le(seep_os_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun, 100000000u);
    seep_os_unlock(&lock);
    ck_assert(seep_os_lock(&lock));
}

#ifdef SEEP_CHECKED
/* How a child ends that takes the first lock while it holds the second. */
static int taking(struct seep_lock *first, struct seep_lock *second)
{
    int status;
    const pid_t child = fork();

    if (!child) {
        seep_os_lock(second);
        seep_os_lock(first);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(a_checked_build_ends_who_takes_locks_out_of_order)
{
    struct seep_lock outer = {.rank = 3}, inner = {.rank = 9}, unranked = {0};

    ck_assert_int_eq(taking(&inner, &outer), 0);
    ck_assert_int_ne(taking(&outer, &inner), 0);
    ck_assert_int_eq(taking(&unranked, &inner), 0);
    ck_assert(seep_os_lock(&inner));
    seep_os_unlock(&inner);
    ck_assert(seep_os_lock(&outer));
    ck_assert(seep_os_lock(&inner));
    seep_os_unlock(&inner);
    seep_os_unlock(&outer);
    ck_assert_uint_eq(seep_os_ranks_held, 0);
}
#endif

SUITE("os")
