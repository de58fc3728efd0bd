/* A program that locks itself in with a seccomp filter, as libseccomp and Chromium do, and then
 * allocates; prints what it does.
 *   usage: sandbox HOW ACTION
 * HOW: prctl, syscall, threads (syscall and SECCOMP_FILTER_FLAG_TSYNC), exec (and runs itself again
 * inside it). ACTION: kill or errno, for calls not on its list; strict: SECCOMP_MODE_STRICT. */
#include "tally.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { ROUNDS = 100000, SOME = 20000, KEPT = 64, MAP = 1 << 20 };

static volatile int ready, locked_in, finished;

/* What the program and libc need, and what the loader needs to start it again. */
static const unsigned allowed[] = {
    SYS_read,
    SYS_write,
    SYS_close,
    SYS_fstat,
    SYS_newfstatat,
    SYS_mmap,
    SYS_munmap,
    SYS_mremap,
    SYS_mprotect,
    SYS_brk,
    SYS_exit,
    SYS_exit_group,
    SYS_futex,
    SYS_madvise,
    SYS_rt_sigreturn,
    SYS_clock_gettime,
    /* the loader's */
    SYS_execve,
    SYS_openat,
    SYS_pread64,
    SYS_faccessat,
#ifdef SYS_access
    SYS_access,
    SYS_arch_prctl,
#endif
    SYS_rseq,
    SYS_getrandom,
    SYS_prlimit64,
    SYS_set_tid_address,
    SYS_set_robust_list,
};
enum { N_ALLOWED = sizeof(allowed) / sizeof(allowed[0]), N_BEFORE_EXEC = 16 };

static struct sock_filter filter[2 * N_ALLOWED + 2];

static struct sock_fprog make_filter(int with_exec, unsigned action)
{
    unsigned n = 0, calls = with_exec ? N_ALLOWED : N_BEFORE_EXEC;
    filter[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < calls; i++) {
        if (with_exec && allowed[i] == SYS_madvise)
            continue; /* no program's start needs it */
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], 0, 1);
        filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
    return (struct sock_fprog){.len = (unsigned short)n, .filter = filter};
}

static NOIPA void in_the_sandbox(void)
{
    static _Thread_local void *kept[KEPT];
    for (int i = 0; i < ROUNDS; i++) {
        void **slot = &kept[i % KEPT];
        free(*slot);
        MUST((*slot = malloc((size_t)(i % 3000 + 1))) != NULL);
    }
    void *p = mmap(NULL, MAP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(p != MAP_FAILED && munmap(p, MAP / 2) == 0);
}

/* Strict mode has no call to ask for memory by, and libc opens a file to shrink a thread's heap:
 * all comes from what the heap has. */
static NOIPA void out_of_the_heap(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        void *volatile p = malloc(100);
        MUST(p != NULL);
        free(p);
    }
}

static NOIPA void before(void)
{
    for (int i = 0; i < SOME; i++) {
        void *volatile p = malloc(2000);
        free(p);
    }
}

static void say(const char *text)
{
    tally_write(text, strlen(text));
}

static void *beside(void *unused)
{
    before();
    ready = 1;
    while (!locked_in) { /* no sleep: that call is not on the list */
    }
    out_of_the_heap();
    finished = 1;
    while (finished) { /* nor are those at a thread's end */
    }
    return unused;
}

static void lock_in(const char *how, const char *action)
{
    struct sock_fprog program =
        make_filter(strcmp(how, "exec") == 0,
                    strcmp(action, "kill") == 0 ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | 1);
    MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    if (strcmp(how, "syscall") == 0)
        MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0);
    else if (strcmp(how, "threads") == 0)
        MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) ==
             0);
    else
        MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    MUST(argc == 3);
    if (strcmp(argv[1], "inside") == 0) {
        before();
        in_the_sandbox();
        say("worked from the start\n");
        return 7;
    }
    int strict = strcmp(argv[2], "strict") == 0, threads = strcmp(argv[1], "threads") == 0;
    before();
    say("locked in\n");
    if (threads) {
        MUST(pthread_create(&thread, NULL, beside, NULL) == 0);
        while (!ready)
            usleep(100);
    }
    if (strict)
        MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
    else
        lock_in(argv[1], argv[2]);
    locked_in = 1;
    if (strcmp(argv[1], "exec") == 0) {
        execve(argv[0], (char *[]){argv[0], "inside", argv[2], NULL}, environ);
        MUST(!"exec");
    }
    if (strict)
        out_of_the_heap();
    else
        in_the_sandbox();
    while (threads && !finished) {
    }
    say("worked\n");
    syscall(strict ? SYS_exit : SYS_exit_group, 3);
}
