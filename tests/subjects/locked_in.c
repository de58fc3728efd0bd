/* Programs under a seccomp filter that allows the calls that they use and kills for any other, such
 * as a call on seep's behalf. Prints what each did.
 *   usage: locked_in SECTION [threads]      threads: one filter for all threads */
#include "tally.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

enum { MAX_CALLS = 24, BLOCKS = 20000, MAP = 1 << 20, SMALL_STACK = 256 << 10 };

static volatile int ready, locked_in, finished, alarms;
static pid_t child;
static pthread_t thread;

static void say(const char *text)
{
    tally_write(text, strlen(text));
}

/* ---- what is done inside --------------------------------------------------------------------- */

static NOIPA void heap(size_t most)
{
    void *kept[512] = {0};
    for (int i = 0; i < BLOCKS; i++) {
        void **slot = &kept[i % 512];
        free(*slot);
        MUST((*slot = malloc((size_t)i * 37 % most + 1)) != NULL);
    }
    for (int i = 0; i < 512; i++)
        free(kept[i]), kept[i] = NULL;
}

static void small_blocks(void)
{
    heap(400);
}

static void all_blocks(void)
{
    heap(400);
    for (int i = 0; i < 50; i++) {
        char *p = malloc(MAP);
        MUST(p && (p = realloc(p, 3 * MAP)));
        free(p);
        p = calloc(100, 1000);
        MUST(p);
        free(p);
    }
}

static void maps(void)
{
    for (int i = 0; i < 100; i++) {
        char *p = mmap(NULL, MAP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        MUST(p != MAP_FAILED);
        MUST(madvise(p, MAP, MADV_DONTNEED) == 0 && mprotect(p, MAP, PROT_READ) == 0);
        p = mremap(p, MAP, 4 * MAP, MREMAP_MAYMOVE);
        MUST(p != MAP_FAILED && munmap(p, MAP) == 0 && munmap(p + MAP, 3 * MAP) == 0);
    }
}

static void wait_for_child(void)
{
    int status = 0;
    MUST(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
    errno = 0;
    MUST(wait(&status) == -1 && errno == ECHILD);
}

static void child_by_id(void)
{
    siginfo_t info = {0};
    MUST(waitid(P_PID, (id_t)child, &info, WEXITED) == 0 && info.si_status == 3);
}

static void fork_and_wait(void)
{
    for (int i = 0; i < 5; i++) {
        child = fork();
        if (child == 0) {
            small_blocks();
            _exit(3);
        }
        MUST(child > 0);
        wait_for_child();
    }
}

static void *work(void *unused)
{
    for (int i = 0; i < BLOCKS; i++) {
        void *volatile p = malloc((size_t)i % 300 + 1);
        MUST(p);
        free(p);
    }
    return unused;
}

static void new_threads(void)
{
    for (int i = 0; i < 5; i++) {
        pthread_t one;
        MUST(pthread_create(&one, NULL, work, NULL) == 0 && pthread_join(one, NULL) == 0);
    }
}

static void with_a_thread(void)
{
    small_blocks();
    while (!finished) { /* no sleep: that call is not on the list */
    }
}

static void leave_thread(void)
{
    finished = 2;
    MUST(pthread_join(thread, NULL) == 0);
}

static void on_alarm(int number)
{
    alarms += number == SIGALRM;
}

static void interrupted(void)
{
    while (alarms < 5)
        small_blocks();
}

static void new_handlers(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    for (int number = 1; number < 32; number++)
        if (number != SIGKILL && number != SIGSTOP)
            MUST(sigaction(number, &action, NULL) == 0);
}

static void by_abort(void)
{
    abort();
}

static void by_quick_exit(void)
{
    quick_exit(5);
}

static void by_return(void)
{
    exit(6);
}

static void ask_again(void)
{
    errno = 0;
    MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) == -1 && errno == EFAULT);
    MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) == -1 && errno == EFAULT);
    small_blocks();
}

/* ---- what was there before ------------------------------------------------------------------- */

static void a_child(void)
{
    child = fork();
    if (child == 0) {
        while (getppid() != 1 && !locked_in && alarms++ < 100)
            usleep(1000);
        _exit(3);
    }
}

/* Maps and unmaps, where signals wait for seep, as the filter comes. */
static void *beside(void *unused)
{
    ready = 1;
    while (!locked_in)
        maps();
    small_blocks();
    finished = 1;
    while (finished < 2) {
    }
    return unused;
}

static void a_thread(void)
{
    MUST(pthread_create(&thread, NULL, beside, NULL) == 0);
    while (!ready)
        usleep(100);
}

static void a_timer(void)
{
    struct sigaction action = {.sa_handler = on_alarm};
    const struct itimerval often = {{0, 2000}, {0, 2000}};
    MUST(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
}

/* ---- sections -------------------------------------------------------------------------------- */

#define HEAP SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap

static const struct {
    const char *name;
    void (*before)(void), (*inside)(void), (*after)(void);
    short calls[MAX_CALLS]; /* beside write and exit_group */
} sections[] = {
    {"small-blocks", NULL, small_blocks, NULL, {SYS_brk}},
    {"all-blocks", NULL, all_blocks, NULL, {HEAP}},
    {"maps", NULL, maps, NULL, {SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise}},
    {"waitpid", a_child, wait_for_child, NULL, {SYS_wait4}},
    {"waitid", a_child, child_by_id, NULL, {SYS_waitid}},
    {"fork", NULL, fork_and_wait, NULL, {HEAP, SYS_clone, SYS_wait4, SYS_set_robust_list}},
    {"new-threads",
     new_threads, /* libc counts CPUs, once */
     new_threads,
     NULL,
     {HEAP, SYS_mprotect, SYS_madvise, SYS_clone, SYS_clone3, SYS_rseq, SYS_set_robust_list,
      SYS_rt_sigprocmask, SYS_futex, SYS_exit}},
    {"a-thread",
     a_thread,
     with_a_thread,
     leave_thread,
     {HEAP, SYS_mprotect, SYS_madvise, SYS_futex, SYS_rt_sigprocmask, SYS_exit}},
    {"alarms", a_timer, interrupted, NULL, {SYS_brk, SYS_rt_sigreturn}},
    {"handlers", NULL, new_handlers, NULL, {SYS_rt_sigaction}},
    {"quick-exit", NULL, by_quick_exit, NULL, {0}},
    {"return", NULL, by_return, NULL, {0}},
    {"abort",
     NULL,
     by_abort,
     NULL,
     {SYS_rt_sigprocmask, SYS_rt_sigaction, SYS_getpid, SYS_gettid, SYS_tgkill}},
    {"ask-again", NULL, ask_again, NULL, {SYS_brk, SYS_prctl, SYS_seccomp}},
};

static void lock_in(const short *calls, int threads)
{
    struct sock_filter filter[2 * MAX_CALLS + 8];
    unsigned short n = 0;
    const short always[] = {SYS_write, SYS_exit_group};
    filter[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < MAX_CALLS + 2; i++) {
        const short call = i < 2 ? always[i] : calls[i - 2];
        if (i >= 2 && !call)
            break; /* nobody reads */
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1);
        filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    struct sock_fprog program = {.len = n, .filter = filter};
    MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    if (threads)
        MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) ==
             0);
    else
        MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    locked_in = 1;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof sections / sizeof *sections; i++) {
        if (strcmp(argv[1], sections[i].name) != 0)
            continue;
        void *volatile first = malloc(100); /* libc asks for random numbers, once */
        free(first);
        if (sections[i].before)
            sections[i].before();
        lock_in(sections[i].calls, argc > 2);
        sections[i].inside();
        if (sections[i].after)
            sections[i].after();
        say("worked\n");
        syscall(SYS_exit_group, 4);
    }
    return 1;
}
