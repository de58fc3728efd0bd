/* Tensors of a made-up PyTorch, whose library is loaded while the program runs, as by an import;
 * prints what it did (tally.h).
 *   usage: tensors SECTION LIBRARY [ANOTHER] */
#include "run_threads.h"
#include "tally.h"

#include <dlfcn.h>
#include <sys/wait.h>

enum { ROUNDS = 5000, PLACES = 64, CPU = 0, CUDA = 1 };

static void (*made)(int, int, void *, int64_t), (*gone)(int, int, void *, int64_t);
static void (*failed)(int, int64_t), (*unseen)(int, int64_t);
static uint64_t *told, *told_failed;
static uint64_t n_reports;

static char *place(unsigned i)
{
    return (char *)((uintptr_t)0x7000000000 + i * 4096u);
}

TALLY(subject_tensor, "tensor:0");
static NOIPA void subject_tensor(unsigned i, int64_t bytes)
{
    const int line = __LINE__ + 1;
    made(CUDA, 0, place(i), bytes);
    tally_made(&tally_subject_tensor, (uint64_t)bytes, line);
    __atomic_fetch_add(&n_reports, 1, __ATOMIC_RELAXED);
}

TALLY(subject_other, "tensor:1");
static NOIPA void subject_other(unsigned i, int64_t bytes)
{
    const int line = __LINE__ + 1;
    made(CUDA, 1, place(i), bytes); /* at the same address, on another device */
    tally_made(&tally_subject_other, (uint64_t)bytes, line);
    n_reports++;
}

static void drop(unsigned i, int64_t bytes)
{
    tally_gone(&tally_subject_tensor, (uint64_t)bytes);
    gone(CUDA, 0, place(i), bytes);
    __atomic_fetch_add(&n_reports, 1, __ATOMIC_RELAXED);
}

static void section_plain(void)
{
    for (unsigned i = 0; i < 100; i++)
        subject_tensor(i, 512 * (i + 1));
    for (unsigned i = 0; i < 100; i += 2)
        drop(i, 512 * (i + 1));
    for (unsigned i = 0; i < 10; i++)
        subject_other(i, 2048);
    made(CPU, 0, place(500), 1 << 20); /* is seen as what malloc gives */
    n_reports++;
}

/* Each thread has addresses of its own, and has them again and again. */
static void *thread(void *arg)
{
    const unsigned first = *(unsigned *)arg * PLACES;
    for (unsigned round = 0; round < ROUNDS; round++) {
        const unsigned i = first + round % PLACES;
        subject_tensor(i, 512 * (1 + round % 7));
        if (round + PLACES < ROUNDS || round % 3)
            drop(i, 512 * (1 + round % 7));
    }
    return NULL;
}

static void section_threads(void)
{
    run_threads(thread);
}

static void section_failed(void)
{
    subject_tensor(0, 1 << 20);
    failed(0, INT64_C(1) << 33);
    failed(1, 4096);
    MUST(*told_failed == 2);
}

static void section_unseen(void)
{
    unseen(0, 8192);
    subject_tensor(0, 4096);
}

/* A child lets go of what its parent has. */
static void section_forked(void)
{
    subject_tensor(0, 1 << 20);
    subject_tensor(1, 1 << 20);
    pid_t child = fork();
    MUST(child >= 0);
    if (!child) {
        gone(CUDA, 0, place(0), 1 << 20);
        made(CUDA, 0, place(7), 4096);
        _exit(*told == n_reports + 2 ? 0 : 97);
    }
    int status = -1;
    MUST(waitpid(child, &status, 0) == child && status == 0);
    drop(1, 1 << 20);
}

static const char *another_library;

/* A second package brings its own, and each is to be told of its own blocks. */
static void section_two(void)
{
    void *library = dlopen(another_library, RTLD_NOW | RTLD_LOCAL);
    MUST(library);
    void (*first)(int, int, void *, int64_t) = made, (*second)(int, int, void *, int64_t);
    *(void **)&second = dlsym(library, "c10_made");
    uint64_t *told_second = dlsym(library, "c10_told");
    MUST(second && told_second && second != first);
    for (unsigned i = 0; i < 30; i++) {
        made = i % 3 ? first : second;
        subject_tensor(i, 512);
    }
    MUST(*told == 20 && *told_second == 10);
    n_reports -= *told_second;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } sections[] = {{"plain", section_plain},   {"threads", section_threads},
                    {"failed", section_failed}, {"unseen", section_unseen},
                    {"two", section_two},       {"forked", section_forked}};
    MUST(argc >= 3);
    another_library = argv[argc - 1];
    void *library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    MUST(library);
    *(void **)&made = dlsym(library, "c10_made");
    *(void **)&gone = dlsym(library, "c10_gone");
    *(void **)&failed = dlsym(library, "c10_failed");
    *(void **)&unseen = dlsym(library, "c10_unseen");
    told = dlsym(library, "c10_told");
    told_failed = dlsym(library, "c10_told_failed");
    MUST(made && gone && failed && unseen && told && told_failed);
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        if (strcmp(argv[1], sections[i].name) == 0)
            sections[i].run();
    MUST(*told == n_reports);
    tally_print();
    return 0;
}
