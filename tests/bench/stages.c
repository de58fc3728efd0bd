/* What each stage of an event costs alone, in ns: the median of several rounds of many calls.
 * tests/pyframe/run.sh --bench prints the Python stage, which needs an interpreter. */
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libprof/runtime/store/intern.h"
#include "libprof/runtime/store/site_table.h"
#include "preload/stack/walk.h"

#define NOIPA __attribute__((noipa))

enum { ROUNDS = 9, CALLS = 100000, DEPTH = 24, DEEP = 250, CAPACITY = 704 };

static double samples[ROUNDS];
static struct seep_walk walk;
static uintptr_t addresses[CAPACITY];
static unsigned n_frames;
static volatile uint64_t sink;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const char *stage, double calls)
{
    qsort(samples, ROUNDS, sizeof(samples[0]), by_value);
    printf("%-44s %9.1f\n", stage, samples[ROUNDS / 2] / calls);
}

/* Runs `body` CALLS times a round. */
#define MEASURE(stage, calls, body)                                                                \
    do {                                                                                           \
        for (int round_ = 0; round_ < ROUNDS; round_++) {                                          \
            uint64_t start_ = seep_os_clock_ns(CLOCK_MONOTONIC);                                   \
            for (uint32_t i = 0; i < (calls); i++) {                                               \
                body;                                                                              \
            }                                                                                      \
            samples[round_] = (double)(seep_os_clock_ns(CLOCK_MONOTONIC) - start_);                \
        }                                                                                          \
        print(stage, (double)(calls));                                                             \
    } while (0)

static NOIPA void measure_stacks(void)
{
    struct seep_regs regs = SEEP_REGS();
    uint64_t hash = 0;
    void *theirs[CAPACITY];
    n_frames = seep_walk_native(&walk, &regs, false, addresses, CAPACITY, &hash);
    printf("native stack of %u frames:\n", n_frames);
    MEASURE("  known again", CALLS, seep_walk_guess(&walk, &regs, false, 0, &hash); sink += hash);
    MEASURE("  walked by cached rules", CALLS,
            sink += seep_walk_native(&walk, &regs, false, addresses, CAPACITY, &hash));
    MEASURE("  libunwind, unw_backtrace", CALLS, sink += (uint64_t)unw_backtrace(theirs, CAPACITY));
    MEASURE("  walked with no rule cached", 200, {
        seep_walk_forget();
        sink += seep_walk_native(&walk, &regs, false, addresses, CAPACITY, &hash);
    });
}

static NOIPA void descend(int depth)
{
    if (depth)
        descend(depth - 1);
    else
        measure_stacks();
    sink++;
}

static uint32_t intern_stack(uint32_t number)
{
    uint32_t stack = 0;
    for (unsigned i = n_frames; i-- > 0;)
        stack = seep_intern_stack(stack,
                                  seep_intern_frame(SEEP_FRAME_NATIVE, 0, addresses[i] + number));
    return stack;
}

static void measure_tables(void)
{
    static struct seep_sites sites;
    static struct seep_sites other = {.slot = 1};
    uint32_t index = seep_site_find(&sites, intern_stack(0), 0);
    struct seep_site *site = seep_site_at(index);
    struct seep_block block = {.site = index, .birth = 1, .bytes = 100}, taken;
    printf("tables:\n");
    MEASURE("  intern a stack that is there", CALLS / 10, sink += intern_stack(0));
    MEASURE("  intern a new stack", CALLS / 100, sink += intern_stack(1 + i));
    MEASURE("  find a site", CALLS, sink += seep_site_find(&sites, site->stack, 0));
    MEASURE("  count an allocation and its free", CALLS, {
        seep_site_allocated(&sites, site, 1, 100, 100, 1);
        seep_site_freed(&sites, &block, 1, 100, 1);
    });
    MEASURE("  count a free by another thread", CALLS, seep_site_freed(&other, &block, 1, 100, 1));
    MEASURE("  live set: put and take", CALLS, {
        uintptr_t at = 0x7f0000000000u + (uintptr_t)(i % 4096) * 528 / 16 * 16;
        seep_live_put(at, &block);
        sink += seep_live_take(at, &taken);
    });
}

int main(void)
{
    char path[] = "/tmp/seep-bench-XXXXXX";
    static struct seep_header constants = {
        .max_bytes = 64 << 20, .inherited_end = SEEP_HEADER_BYTES, .pid = 1};
    if (!mkdtemp(path)) {
        perror("seep-bench: /tmp");
        return 1;
    }
    char file[64];
    snprintf(file, sizeof(file), "%s/bench.seep", path);
    if (seep_arena_create(file, &constants) != 0) {
        fprintf(stderr, "seep-bench: cannot make %s\n", file);
        return 1;
    }
    seep_sites_first_own = SEEP_HEADER_BYTES / 64;
    seep_walk_start();
    if (!seep_walk_init(&walk)) {
        fprintf(stderr, "seep-bench: no memory\n");
        return 1;
    }
    printf("%-44s %9s\n", "stage", "ns");
    descend(DEEP);
    descend(DEPTH);
    measure_tables();
    unlink(file);
    rmdir(path);
    return 0;
}
