/* What mapping costs a program that has many maps: a page is unmapped and mapped again, with and
 * without the shim, alternately.
 *   maps              the table
 *   maps live LIVE    beside that many maps; prints ns per pair: wall, CPU */
#include <sys/mman.h>

#include "tests/bench/side_by_side.h"

enum { PAGE = 4096, PAIRS = 100000, MANY = 60000 };

/* The kernel joins neighbours of the same kind, and allows 65,530 in all: every second page has
 * another protection. */
static bool map_many(int n, char **pages)
{
    char *at = mmap(NULL, (size_t)(n + 1) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool ok = at != MAP_FAILED;
    for (int i = 0; i < n && ok; i++) {
        int protection = i % 2 ? PROT_READ : PROT_READ | PROT_WRITE;
        pages[i] = mmap(at + (size_t)i * PAGE, PAGE, protection,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        ok = pages[i] != MAP_FAILED;
    }
    return ok;
}

static int run_live(int n)
{
    static char *pages[MANY];
    if (!map_many(n, pages)) {
        perror("maps");
        return 1;
    }
    struct times start = now_ns();
    for (int i = 0; i < PAIRS; i++) {
        int k = n ? (int)((unsigned)i * 7919u % (unsigned)n) : 0;
        int protection = k % 2 ? PROT_READ : PROT_READ | PROT_WRITE;
        if (pages[k])
            munmap(pages[k], PAGE);
        pages[k] = mmap(pages[k], PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    print_since(start, PAIRS, 1);
    return 0;
}

static int print_table(const char *self, const char *shim)
{
    static const char *const counts[] = {"1", "1000", "60000"};
    printf("munmap+mmap of a page, ns a pair\n%8s %10s %10s %7s %10s %10s %7s\n", "maps", "plain",
           "seep", "ratio", "plain CPU", "seep CPU", "ratio");
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct times plain, profiled;
        compare(self, shim, "live", counts[i], &plain, &profiled);
        printf("%8s %10.1f %10.1f %7.2f %10.1f %10.1f %7.2f\n", counts[i], plain.wall,
               profiled.wall, profiled.wall / plain.wall, plain.cpu, profiled.cpu,
               profiled.cpu / plain.cpu);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "live") == 0 && atoi(argv[2]) >= 0 && atoi(argv[2]) <= MANY)
        return run_live(atoi(argv[2]));
    char self[1024], shim[1100];
    return find_shim(self, shim) ? print_table(self, shim) : 1;
}
