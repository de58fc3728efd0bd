/* Fibres (ucontext), each on a map of its own with a guard page, that allocate in turns; prints how
 * many nanoseconds a turn takes.
 *   usage: fibre_pool FIBRES ROUNDS */
#include "tally.h"

#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

enum { STACK = 64 * 1024, SOME = 20000 };

static ucontext_t scheduler, *fibres;

static NOIPA void in_a_fibre(void)
{
    void *volatile p = malloc(100);
    MUST(p != NULL);
    free(p);
}

static NOIPA void fibre_main(int i)
{
    for (;;) {
        in_a_fibre();
        swapcontext(&fibres[i], &scheduler);
    }
}

static void make(int i)
{
    char *low = mmap(NULL, PAGE + STACK, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    MUST(low != MAP_FAILED && mprotect(low, PAGE, PROT_NONE) == 0);
    MUST(getcontext(&fibres[i]) == 0);
    fibres[i].uc_stack.ss_sp = low + PAGE;
    fibres[i].uc_stack.ss_size = STACK;
    fibres[i].uc_link = NULL;
    makecontext(&fibres[i], (void (*)(void))fibre_main, 1, i);
}

/* No longer a process that allocates next to nothing. */
static NOIPA void before(void)
{
    for (int i = 0; i < SOME; i++) {
        void *volatile p = malloc(2000);
        free(p);
    }
}

int main(int argc, char **argv)
{
    MUST(argc == 3);
    int n = atoi(argv[1]), rounds = atoi(argv[2]);
    struct timespec start, end;
    char text[64];
    before();
    MUST((fibres = calloc((size_t)n, sizeof(*fibres))) != NULL);
    for (int i = 0; i < n; i++)
        make(i);
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < n; i++)
            swapcontext(&scheduler, &fibres[i]);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double ns = (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
    tally_write(text, (size_t)snprintf(text, sizeof text, "%.1f\n", ns / rounds / n));
    return 0;
}
