/* What an event costs a program, shim and all, and what a live block costs in memory: this program
 * runs itself with and without the shim, in turns, and compares medians. events the table events
 * pairs THREADS      free+malloc pairs; prints ns a pair and thread events live BYTES         keeps
 * a million blocks of BYTES; prints its RSS in bytes */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/side_by_side.h"

#define NOIPA __attribute__((noipa))

enum { PAIRS = 300000, DEPTH = 20, KEPT = 2048, LIVE = 1000000, MAX_THREADS = 8 };

static _Thread_local void *kept[KEPT];

/* Two call sites a level on the three innermost levels: eight stacks. */
static NOIPA void descend(int depth, uint32_t random)
{
    if (depth == 0) {
        uint32_t k = (random >> 8) % KEPT;
        free(kept[k]);
        kept[k] = malloc(16 + (random >> 20) % 500);
    } else if (depth <= 3 && (random >> depth & 1)) {
        descend(depth - 1, random);
    } else {
        descend(depth - 1, random);
    }
    __asm__ volatile("" ::: "memory");
}

static void *work(void *seed)
{
    uint32_t x = (uint32_t)(uintptr_t)seed * 2654435761u + 1;
    for (int i = 0; i < PAIRS; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        descend(DEPTH, x);
    }
    return NULL;
}

static int run_pairs(int n_threads)
{
    pthread_t threads[MAX_THREADS];
    double start = now_ns();
    for (int i = 0; i < n_threads; i++)
        pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)(i + 1));
    for (int i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    printf("%.1f\n", (now_ns() - start) / PAIRS);
    return 0;
}

static int run_live(size_t bytes)
{
    long pages = 0;
    void **blocks = calloc(LIVE, sizeof(*blocks));
    for (int i = 0; i < LIVE && blocks; i++)
        if ((blocks[i] = malloc(bytes)))
            memset(blocks[i], 1, bytes);
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*s %ld", &pages) != 1)
        return 1;
    fclose(file);
    printf("%ld\n", pages * 4096);
    return 0;
}

static int print_table(const char *self, const char *shim)
{
    double plain, profiled;
    printf("free+malloc below %d frames, ns a pair and thread\n%8s %10s %10s %10s\n", DEPTH + 4,
           "threads", "plain", "seep", "added");
    for (int n = 1; n <= MAX_THREADS; n *= 2) {
        char argument[16];
        snprintf(argument, sizeof(argument), "%d", n);
        compare(self, shim, "pairs", argument, &plain, &profiled);
        printf("%8d %10.1f %10.1f %10.1f\n", n, plain, profiled, profiled - plain);
    }
    printf("memory for each of %d live blocks, bytes\n%8s %10s %10s %10s\n", LIVE, "block", "plain",
           "seep", "added");
    static const char *const sizes[] = {"24", "120", "1000"};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        compare(self, shim, "live", sizes[i], &plain, &profiled);
        printf("%8s %10.1f %10.1f %10.1f\n", sizes[i], plain / LIVE, profiled / LIVE,
               (profiled - plain) / LIVE);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "pairs") == 0 && atoi(argv[2]) > 0 &&
        atoi(argv[2]) <= MAX_THREADS)
        return run_pairs(atoi(argv[2]));
    if (argc == 3 && strcmp(argv[1], "live") == 0)
        return run_live((size_t)atol(argv[2]));
    char self[1024], shim[1100];
    return find_shim(self, shim) ? print_table(self, shim) : 1;
}
