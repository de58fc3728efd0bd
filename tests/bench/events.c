/* What an event costs a program, including the shim, and what a live block costs in memory: this
 * program runs itself with and without the shim, alternately, and compares medians.
 *   events                 the tables
 * Times are printed as wall and CPU:
 *   events pairs THREADS [PAIRS]   free+malloc pairs; prints ns per pair and thread
 *   events deep FRAMES     pairs below that many frames, which stay; prints ns per pair
 *   events stacks BITS     2^BITS stacks in turn, a pair each; prints ns per pair once warm
 *   events first BITS      the same, the first time
 *   events crowd small     pairs of 16 stacks and 4096 live blocks, at random; prints ns per pair
 *   events crowd large     the same of 100,000 stacks and a million live blocks
 *   events live BYTES      keeps a million blocks of BYTES; prints its RSS in bytes, and 0 */
#include "tests/bench/side_by_side.h"
#include "tests/subjects/many_stacks.h"

#include <pthread.h>
#include <stdint.h>

#define NOIPA __attribute__((noipa))

enum {
    PAIRS = 300000,
    DEPTH = 20,
    KEPT = 2048,
    LIVE = 1000000,
    CROWD_PAIRS = 2000000,
    MAX_THREADS = 8
};

static _Thread_local void *kept[KEPT];
static long n_pairs = PAIRS;

static uint32_t next_random(uint32_t x)
{
    x ^= x << 13;
    x ^= x >> 17;
    return x ^ x << 5;
}

/* Two call sites a level on the three innermost levels: eight stacks. */
static NOIPA void descend(int depth, uint32_t random)
{
    if (depth == 0) {
        uint32_t k = (random >> 8) % KEPT;
        free(kept[k]);
        kept[k] = malloc(16 + (random >> 20) % 500);
    } else if (depth <= 3 && (random >> depth & 1)) {
        descend(depth - 1, random);
        __asm__ volatile("# one" ::: "memory"); /* or they become one call */
    } else {
        descend(depth - 1, random);
        __asm__ volatile("# other" ::: "memory");
    }
}

static void *work(void *seed)
{
    uint32_t x = (uint32_t)(uintptr_t)seed * 2654435761u + 1;
    for (long i = 0; i < n_pairs; i++)
        descend(DEPTH, x = next_random(x));
    return NULL;
}

static int run_pairs(int n_threads)
{
    pthread_t threads[MAX_THREADS];
    struct times start = now_ns();
    for (int i = 0; i < n_threads; i++)
        pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)(i + 1));
    for (int i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    print_since(start, (double)n_pairs, n_threads);
    return 0;
}

/* Below many frames that stay: the eight stacks of descend(). */
static NOIPA void below(int depth)
{
    if (depth > 0) {
        below(depth - 1);
    } else {
        struct times start = now_ns();
        for (uint32_t i = 0; i < PAIRS; i++)
            descend(3, i * 2654435761u);
        print_since(start, PAIRS, 1);
    }
    __asm__ volatile("" ::: "memory");
}

static void free_and_malloc(void)
{
    free(kept[0]);
    kept[0] = malloc(100);
}

static int run_stacks(int bits, bool first)
{
    enum { AGAIN = 8 };
    uint32_t n = (uint32_t)1 << bits;
    for (int again = 0; again < 2; again++) {
        struct times start = now_ns();
        uint32_t n_paths = again ? AGAIN * n : n;
        for (uint32_t path = 0; path < n_paths; path++)
            from_stack(bits, path % n * 40503u, free_and_malloc);
        if (first != again)
            print_since(start, n_paths, 1);
    }
    return 0;
}

static void **crowd;
static uint32_t crowd_at;

static void free_and_malloc_one(void)
{
    free(crowd[crowd_at]);
    crowd[crowd_at] = malloc(16 + crowd_at % 500);
}

static int run_crowd(uint32_t n_stacks, uint32_t n_blocks)
{
    const int bits = 17;
    uint32_t x = 1;
    crowd = calloc(n_blocks, sizeof(*crowd));
    if (!crowd)
        return 1;
    for (uint32_t i = 0; i < n_blocks || i < n_stacks; i++) {
        crowd_at = i % n_blocks;
        from_stack(bits, i % n_stacks, free_and_malloc_one);
    }
    struct times start = now_ns();
    for (int i = 0; i < CROWD_PAIRS; i++) {
        x = next_random(x);
        crowd_at = x % n_blocks;
        from_stack(bits, (x >> 7) % n_stacks, free_and_malloc_one);
    }
    print_since(start, CROWD_PAIRS, 1);
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
    printf("%ld 0\n", pages * 4096);
    return 0;
}

static void print_numbers(double plain, double profiled, double per)
{
    printf(" %10.1f %10.1f %10.1f %7.2f", plain / per, profiled / per, (profiled - plain) / per,
           profiled / plain);
}

static void print_row(const char *self, const char *shim, const char *mode, const char *argument,
                      double per)
{
    struct times plain, profiled;
    compare(self, shim, mode, argument, &plain, &profiled);
    printf("%8s", argument);
    print_numbers(plain.wall, profiled.wall, per);
    if (plain.cpu > 0)
        print_numbers(plain.cpu, profiled.cpu, per);
    printf("\n");
}

static const struct table {
    const char *title, *unit, *mode, *arguments[5];
    double per;
} tables[] = {
    {"free+malloc below 24 frames, ns a pair and thread",
     "threads",
     "pairs",
     {"1", "2", "4", "8"},
     1},
    {"free+malloc below many frames, ns a pair", "frames", "deep", {"100", "250", "600"}, 1},
    {"2^bits stacks in turn, ns a free+malloc", "bits", "stacks", {"12", "15", "18", "20"}, 1},
    {"2^bits stacks for the first time, ns a free+malloc", "bits", "first", {"18"}, 1},
    {"free+malloc in random order, of few and of many stacks and live blocks, ns a pair",
     "crowd",
     "crowd",
     {"small", "large"},
     1},
    {"memory for each of a million live blocks, bytes",
     "block",
     "live",
     {"24", "120", "1000"},
     LIVE},
};

static void print_tables(const char *self, const char *shim)
{
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        const struct table *table = &tables[i];
        printf("%s\n%8s %10s %10s %10s %7s", table->title, table->unit, "plain", "seep", "added",
               "ratio");
        printf(table->per == 1 ? " %10s %10s %10s %7s\n" : "\n", "plain CPU", "seep CPU", "added",
               "ratio");
        for (size_t k = 0; k < 5 && table->arguments[k]; k++)
            print_row(self, shim, table->mode, table->arguments[k], table->per);
    }
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "pairs") == 0)
        n_pairs = atol(argv[3]);
    if ((argc == 3 || argc == 4) && strcmp(argv[1], "pairs") == 0 && atoi(argv[2]) > 0 &&
        atoi(argv[2]) <= MAX_THREADS && n_pairs > 0)
        return run_pairs(atoi(argv[2]));
    if (argc == 3 && strcmp(argv[1], "deep") == 0) {
        below(atoi(argv[2]));
        return 0;
    }
    if (argc == 3 && (strcmp(argv[1], "stacks") == 0 || strcmp(argv[1], "first") == 0))
        return run_stacks(atoi(argv[2]), argv[1][0] == 'f');
    if (argc == 3 && strcmp(argv[1], "crowd") == 0)
        return strcmp(argv[2], "large") == 0 ? run_crowd(100000, LIVE) : run_crowd(16, 4096);
    if (argc == 3 && strcmp(argv[1], "live") == 0)
        return run_live((size_t)atol(argv[2]));
    char self[1024], shim[1100];
    if (!find_shim(self, shim))
        return 1;
    print_tables(self, shim);
    return 0;
}
