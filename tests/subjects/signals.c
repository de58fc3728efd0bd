/* Signal handlers as in other people's programs.
 *   usage: signals stack BYTES | jump CALL
 * stack: a handler that allocates on an alternate stack of BYTES with a guard page. jump: a handler
 * that jumps out of CALL many times, as timeouts do; then some blocks are made. Prints "ok". */
#include "tally.h"

#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

enum { SOME = 20000, JUMPS = 200, PERIOD_US = 300, AFTER = 1000 };

static sigjmp_buf away;
static volatile int jumping;
static char *page;
static sem_t taken;
static pid_t sleeper;

/* ---- stack ---- */

static NOIPA void in_a_handler(void)
{
    void *volatile p = malloc(100);
    MUST(p != NULL);
    free(p);
}

static void on_small_stack(int number)
{
    (void)number;
    in_a_handler();
    void *p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(p != MAP_FAILED && munmap(p, PAGE) == 0);
}

static void *on_a_stack_of(size_t bytes)
{
    size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
    char *low =
        mmap(NULL, PAGE + whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(low != MAP_FAILED && mprotect(low, PAGE, PROT_NONE) == 0);
    stack_t stack = {.ss_sp = low + PAGE, .ss_size = bytes};
    struct sigaction action = {.sa_handler = on_small_stack, .sa_flags = SA_ONSTACK};
    on_small_stack(0); /* the loader binds its calls, which takes more than they do */
    MUST(sigaltstack(&stack, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    for (int i = 0; i < 3; i++)
        raise(SIGUSR1);
    return NULL;
}

/* ---- jump ---- */

static void jump(int number)
{
    (void)number;
    if (jumping)
        siglongjmp(away, 1);
}

static void call_waitpid(void)
{
    waitpid(sleeper, NULL, 0);
}

static void call_waitid(void)
{
    siginfo_t info;
    waitid(P_PID, (id_t)sleeper, &info, WEXITED);
}

static void call_syscall(void)
{
    syscall(SYS_getppid);
}

static void call_prctl(void)
{
    prctl(PR_GET_DUMPABLE);
}

static void call_sem_trywait(void)
{
    sem_trywait(&taken);
}

static void call_mprotect(void)
{
    mprotect(page, PAGE, PROT_READ);
}

static void call_madvise(void)
{
    madvise(page, PAGE, MADV_DONTNEED);
}

static const struct {
    const char *name;
    void (*call)(void);
} calls[] = {{"waitpid", call_waitpid},         {"waitid", call_waitid},
             {"syscall", call_syscall},         {"prctl", call_prctl},
             {"sem_trywait", call_sem_trywait}, {"mprotect", call_mprotect},
             {"madvise", call_madvise}};

static void jump_out_of(void (*call)(void))
{
    struct sigaction action = {.sa_handler = jump};
    struct itimerval period = {{0, PERIOD_US}, {0, PERIOD_US}}, never = {{0, 0}, {0, 0}};
    MUST(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &period, NULL) == 0);
    for (volatile int n = 0; n < JUMPS; n++) {
        if (!sigsetjmp(away, 1)) {
            jumping = 1;
            for (;;)
                call();
        }
        jumping = 0;
    }
    setitimer(ITIMER_REAL, &never, NULL);
}

/* ---- both ---- */

static NOIPA void before(void)
{
    for (int i = 0; i < SOME; i++) {
        void *volatile p = malloc(2000);
        free(p);
    }
}

static NOIPA void afterwards(void)
{
    for (int i = 0; i < AFTER; i++) {
        void *volatile p = malloc(1000);
        MUST(p != NULL);
    }
}

static void jumps(const char *name)
{
    page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(page != MAP_FAILED && sem_init(&taken, 0, 0) == 0);
    if (strncmp(name, "wait", 4) == 0 && (sleeper = fork()) == 0)
        for (;;)
            pause();
    for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (strcmp(calls[i].name, name) == 0)
            jump_out_of(calls[i].call);
    if (sleeper) {
        kill(sleeper, SIGKILL);
        waitpid(sleeper, NULL, 0);
    }
}

int main(int argc, char **argv)
{
    MUST(argc == 3);
    before();
    if (strcmp(argv[1], "stack") == 0)
        on_a_stack_of(strtoul(argv[2], NULL, 0));
    else
        jumps(argv[2]);
    afterwards();
    tally_write("ok\n", 3);
    return 0;
}
