/* Memory that a package takes through its own CUDA runtime; prints what it did (tally.h).
 *   usage: cupti SECTION PACKAGE */
#include "run_threads.h"
#include "tally.h"

#include <dlfcn.h>

enum { STATIC, DRIVERS, ASYNC, ROWS, MANAGED, DYNAMIC, PINNED };
enum { ROUNDS = 3000, KEPT = 16, ROW_BYTES = 512 };

static void *(*made)(int, int, size_t, int);
static void (*freed)(int, void *);

TALLY(subject_first, "device:0");
static NOIPA void *subject_first(int how, size_t bytes)
{
    const int line = __LINE__ + 1;
    void *block = made(how, 0, bytes, 0);
    MUST(block);
    tally_made(&tally_subject_first, how == ROWS ? bytes * ROW_BYTES : bytes, line);
    return block;
}

TALLY(subject_second, "device:1");
static NOIPA void *subject_second(int how, size_t bytes)
{
    const int line = __LINE__ + 1;
    void *block = made(how, 1, bytes, 0);
    MUST(block);
    tally_made(&tally_subject_second, bytes, line);
    return block;
}

TALLY(subject_pinned, "pinned");
static NOIPA void *subject_pinned(size_t bytes)
{
    const int line = __LINE__ + 1;
    void *block = made(PINNED, 0, bytes, 0);
    MUST(block);
    tally_made(&tally_subject_pinned, bytes, line);
    return block;
}

static void drop(int how, void *block, size_t bytes)
{
    tally_gone(&tally_subject_first, how == ROWS ? bytes * ROW_BYTES : bytes);
    freed(how, block);
}

static void section_every(void)
{
    for (int how = STATIC; how <= DYNAMIC; how++) {
        void *block = subject_first(how, 1000);
        (void)subject_first(how, 3000);
        drop(how, block, 1000);
    }
    for (int i = 0; i < 5; i++) {
        (void)subject_second(STATIC, 4096);
        void *block = subject_pinned(8192);
        tally_gone(&tally_subject_pinned, 8192);
        freed(PINNED, block);
    }
    (void)subject_pinned(100);
}

/* What one runtime made, another one frees. */
static void section_mixed(void)
{
    for (int i = 0; i < 10; i++) {
        void *first = subject_first(STATIC, 2000), *second = subject_first(DYNAMIC, 500);
        drop(DYNAMIC, first, 2000);
        drop(STATIC, second, 500);
    }
}

static void section_failed(void)
{
    (void)subject_first(STATIC, 1 << 20);
    MUST(!made(STATIC, 1, (size_t)1 << 40, 1));
}

static void *thread(void *arg)
{
    void *kept[KEPT] = {0};
    for (unsigned round = 0; round < ROUNDS; round++) {
        const unsigned i = round % KEPT;
        const int how = (int)(i % 6);
        if (kept[i])
            drop(how, kept[i], 64 + i);
        kept[i] = subject_first(how, 64 + i);
    }
    return arg;
}

static void section_threads(void)
{
    run_threads(thread);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } sections[] = {{"every", section_every},
                    {"mixed", section_mixed},
                    {"failed", section_failed},
                    {"threads", section_threads}};
    MUST(argc == 3);
    void *package = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    MUST(package);
    *(void **)&made = dlsym(package, "package_made");
    *(void **)&freed = dlsym(package, "package_freed");
    MUST(made && freed);
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        if (strcmp(argv[1], sections[i].name) == 0)
            sections[i].run();
    tally_print();
    (void)tally_shrunk, (void)tally_random;
    return 0;
}
