/* Many maps that stay separate, because neighbours have different protections; unmaps and remaps
 * one after another. Prints how many nanoseconds a pair of calls takes.
 *   usage: many_maps MAPS PAIRS */
#include "tally.h"

#include <sys/mman.h>
#include <time.h>

enum { BYTES = 8192 };

static char *low;

static NOIPA void map(size_t i)
{
    int protection = i % 2 ? PROT_READ : PROT_READ | PROT_WRITE;
    void *p =
        mmap(low + i * BYTES, BYTES, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    MUST(p == low + i * BYTES);
}

int main(int argc, char **argv)
{
    MUST(argc == 3);
    size_t n = strtoul(argv[1], NULL, 0), pairs = strtoul(argv[2], NULL, 0);
    uint64_t random = 1;
    struct timespec start, end;
    char text[64];
    low = mmap(NULL, n * BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(low != MAP_FAILED);
    for (size_t i = 0; i < n; i++)
        map(i);
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (size_t k = 0; k < pairs; k++) {
        size_t i = tally_random(&random) % n;
        MUST(munmap(low + i * BYTES, BYTES) == 0);
        map(i);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double ns = (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
    tally_write(text, (size_t)snprintf(text, sizeof text, "%.1f\n", ns / (double)pairs));
    return 0;
}
