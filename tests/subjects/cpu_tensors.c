/* Tensors in host memory of a made-up PyTorch; prints what it did (tally.h).
 *   usage: cpu_tensors SECTION WHERE_FROM LIBRARY */
#include "run_threads.h"
#include "tally.h"

#include <dlfcn.h>
#include <sys/wait.h>

enum { ROUNDS = 3000, KEPT = 40, MANY = 200000, SMALL = 256 };

static void *(*allocate)(int, size_t);
static void (*release)(int, void *);
static uint64_t *told;
static int from;
static uint64_t n_made, n_gone;

TALLY(subject_cpu, "host");
static NOIPA void *subject_cpu(size_t bytes)
{
    const int line = __LINE__ + 1;
    void *block = allocate(from, bytes);
    MUST(block);
    memset(block, 1, bytes);
    tally_made(&tally_subject_cpu, bytes, line);
    __atomic_fetch_add(&n_made, 1, __ATOMIC_RELAXED);
    return block;
}

static void drop(void *block, size_t bytes)
{
    tally_gone(&tally_subject_cpu, bytes);
    release(from, block);
    __atomic_fetch_add(&n_gone, 1, __ATOMIC_RELAXED);
}

static void section_plain(void)
{
    void *blocks[100];
    for (unsigned i = 0; i < 100; i++)
        blocks[i] = subject_cpu(40 * (i + 1));
    for (unsigned i = 0; i < 100; i += 2)
        drop(blocks[i], 40 * (i + 1));
    for (unsigned i = 0; i < 100; i += 2)
        blocks[i] = subject_cpu(4096);
}

static void *thread(void *arg)
{
    void *kept[KEPT] = {0};
    for (unsigned round = 0; round < ROUNDS; round++) {
        const unsigned i = round % KEPT;
        if (kept[i])
            drop(kept[i], 64 * (i + 1));
        kept[i] = subject_cpu(64 * (i + 1));
    }
    return arg;
}

static void section_threads(void)
{
    run_threads(thread);
}

/* A child lets go of what its parent has, and makes blocks of its own. */
static void section_forked(void)
{
    void *first = subject_cpu(1024), *second = subject_cpu(2048);
    pid_t child = fork();
    MUST(child >= 0);
    if (!child) {
        release(from, first);
        _exit(allocate(from, 512) ? 0 : 97);
    }
    int status = -1;
    MUST(waitpid(child, &status, 0) == child && status == 0);
    drop(second, 2048);
}

static void section_many(void)
{
    for (unsigned i = 0; i < MANY; i++)
        drop(subject_cpu(SMALL), SMALL);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } sections[] = {{"plain", section_plain},
                    {"threads", section_threads},
                    {"forked", section_forked},
                    {"many", section_many}};
    MUST(argc == 4);
    from = atoi(argv[2]);
    void *library = dlopen(argv[3], RTLD_NOW | RTLD_LOCAL);
    MUST(library);
    *(void **)&allocate = dlsym(library, "c10_allocate");
    *(void **)&release = dlsym(library, "c10_free");
    told = dlsym(library, "c10_reporter");
    MUST(allocate && release && told);
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        if (strcmp(argv[1], sections[i].name) == 0)
            sections[i].run();
    MUST(told[0] == n_made && told[1] == n_gone);
    tally_print();
    (void)tally_shrunk, (void)tally_random;
    return 0;
}
