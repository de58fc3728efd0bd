/* Signals that arrive while the job allocates, and what their handlers do; prints "ok".
 *   usage: handlers SECTION */
#include "by_depth.h"
#include "sections.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>

static volatile sig_atomic_t hits;
static volatile long gap_us;

/* The next one this long after a handler's end: where handlers take longer than that, the job would
 * otherwise do nothing else. */
static void every(long us)
{
    struct itimerval timer = {{0, 0}, {0, us}};
    gap_us = us;
    MUST(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

static void end_of_handler(void)
{
    hits++;
    if (gap_us)
        every(gap_us);
}

static void on_signal(void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    MUST(sigaction(SIGALRM, &action, NULL) == 0);
}

static void count_only(int n)
{
    (void)n;
    end_of_handler();
}

/* mmap in a handler works without a profiler; it must not wait for what the interrupted call holds.
 */
static void maps(int n)
{
    (void)n;
    void *p = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p != MAP_FAILED)
        munmap(p, 8192);
    end_of_handler();
}

static void churn(double seconds)
{
    struct timeval a, b;
    gettimeofday(&a, NULL);
    static void *live[512];
    for (unsigned i = 0;; i++) {
        void **slot = &live[i * 7919 % 512];
        free(*slot);
        *slot = by_depth((int)(i % 24), 16 + i % 3000);
        if (i % 16 == 0) {
            void *p = mmap(NULL, 16384, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            MUST(p != MAP_FAILED && munmap(p, 16384) == 0);
        }
        if (i % 256 == 0) {
            gettimeofday(&b, NULL);
            if ((double)(b.tv_sec - a.tv_sec) + (double)(b.tv_usec - a.tv_usec) * 1e-6 > seconds)
                return;
        }
    }
}

static void section_alarms(void)
{
    on_signal(count_only, SA_RESTART);
    every(100);
    churn(1.0);
    every(0);
    MUST(hits > 100);
}

static void section_map_in_handler(void)
{
    on_signal(maps, SA_RESTART);
    every(150);
    churn(2.0);
    every(0);
    MUST(hits > 100);
}

static void leaves(int n)
{
    (void)n;
    _exit(7);
}

static void section_exit_in_handler(void)
{
    for (int i = 0; i < 60; i++) {
        pid_t child = fork();
        if (child == 0) {
            on_signal(leaves, 0);
            every(300 + i * 137);
            churn(5.0);
            _exit(1);
        }
        int status;
        MUST(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
}

static sigjmp_buf back;

static void jumps(int n)
{
    (void)n;
    siglongjmp(back, 1);
}

/* A jump out of a handler that interrupted a computation, right after allocating. */
static void section_jump(void)
{
    on_signal(jumps, 0);
    for (volatile int i = 0; i < 300; i++) {
        free(by_depth(10, 100));
        if (sigsetjmp(back, 1) == 0) {
            every(200);
            for (;;)
                hits++;
        }
        every(0);
        free(by_depth(3, 100));
    }
}

static char small_stack[16384];

static void allocates(int n)
{
    (void)n;
    free(by_depth(3, 100));
    end_of_handler();
}

/* malloc in a handler, where the program made that safe; on a small stack of its own. */
static void section_malloc_in_handler(void)
{
    stack_t alt = {.ss_sp = small_stack, .ss_size = sizeof small_stack};
    MUST(sigaltstack(&alt, NULL) == 0);
    on_signal(allocates, SA_RESTART | SA_ONSTACK);
    every(200);
    while (hits < 1000)
        usleep(50);
    every(0);
}

int main(int argc, char **argv)
{
    static const struct section sections[] = {
        {"alarms", section_alarms},
        {"map-in-handler", section_map_in_handler},
        {"exit-in-handler", section_exit_in_handler},
        {"jump", section_jump},
        {"malloc-in-handler", section_malloc_in_handler},
    };
    return run_section(argc, argv, sections, sizeof sections / sizeof sections[0]);
}
