/* Stacks other than the threads' own, which come and go; prints "ok".
 *   usage: fibres SECTION */
#include "tally.h"

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { SMALL = 16 * 1024, LARGE = 64 * 1024, ROOM = 1 << 20 };

static ucontext_t back, fibre;
static int depth;
static char *frame_at[2];

static NOIPA void allocate(void)
{
    void *volatile p = malloc(48);
    free(p);
}

static NOIPA void descend(int n)
{
    volatile char frame[500];
    frame[0] = (char)n;
    if (n < 2)
        frame_at[n] = (char *)frame;
    if (n)
        descend(n - 1);
    else
        allocate();
    MUST(frame[0] == (char)n);
}

static void body(void)
{
    descend(depth);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

static void run(char *low, size_t bytes, int n)
{
    depth = n;
    MUST(getcontext(&fibre) == 0);
    fibre.uc_stack.ss_sp = low;
    fibre.uc_stack.ss_size = bytes;
    fibre.uc_link = &back;
    makecontext(&fibre, body, 0);
    MUST(swapcontext(&back, &fibre) == 0);
}

static char *map(size_t bytes)
{
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(p != MAP_FAILED);
    return p;
}

/* The allocations come from the same addresses twice: first with the rest of the stack above them,
 * then with nothing there. */
static void *shrink(void *unused)
{
    char *room = map(ROOM);
    run(room, LARGE, 3);
    size_t frame = (size_t)(frame_at[1] - frame_at[0]);
    for (int n = 20; n < 24; n++)
        run(room, SMALL + 20 * frame, n);
    MUST(munmap(room + SMALL, ROOM - SMALL) == 0);
    for (int n = 0; n < 4; n++)
        run(room, SMALL, n);
    return unused;
}

/* More stacks in turns than are remembered, some of them made anew in between. */
static void *alternate(void *unused)
{
    enum { STACKS = 12, ROUNDS = 4000 };
    char *stacks[STACKS] = {NULL};
    for (int i = 0; i < ROUNDS; i++) {
        char **stack = &stacks[i % (i < ROUNDS / 2 ? 3 : STACKS)];
        if (*stack && i % 97 == 0) {
            MUST(munmap(*stack, LARGE) == 0);
            *stack = NULL;
        }
        if (!*stack)
            *stack = map(LARGE);
        run(*stack, LARGE, i % 40);
    }
    return unused;
}

int main(int argc, char **argv)
{
    const char *section = argc > 1 ? argv[1] : "";
    void *(*work)(void *) = strcmp(section, "alternate") == 0 ? alternate : shrink;
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, work, NULL) == 0);
    pthread_join(thread, NULL);
    work(NULL);
    tally_write("ok\n", 3);
    return 0;
}
