/* Makes resident memory of every kind, with known sizes, and keeps it to the end; prints the size
 * of each as JSON.
 *   usage: rss_kinds [KIND…]     all, or only those named */
#include "libprof/arch/arch.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

enum { RW = PROT_READ | PROT_WRITE, N_THREADS = 4, STACK_MIB = 3 };

static int n_kinds;
static char **kinds;

static int wanted(const char *kind)
{
    for (int i = 0; i < n_kinds; i++)
        if (strcmp(kinds[i], kind) == 0)
            return 1;
    return n_kinds == 0;
}

static void must(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s failed\n", what);
    exit(98);
}

static void *touched(void *p, size_t n)
{
    must(p != NULL && p != MAP_FAILED, "map");
    for (size_t i = 0; i < n; i += 4096)
        ((volatile char *)p)[i] = 1;
    return p;
}

/* Small and large blocks; of the latter one whose pages are never touched. */
static void heap_live(void)
{
    static void *kept[24 * 1024 + 2];
    for (int i = 0; i < 24 * 1024; i++)
        kept[i] = memset(malloc(1024), 1, 1024);
    kept[24 * 1024] = touched(malloc(40 * MIB), 40 * MIB);
    kept[24 * 1024 + 1] = calloc(64, MIB);
    must(kept[24 * 1024 + 1] != NULL, "calloc");
}

/* Freed all at once, but for the last: the heap cannot be trimmed. */
static void heap_free(void)
{
    enum { N = 32 * 1024 };
    static void *blocks[N];
    for (int i = 0; i < N; i++)
        blocks[i] = memset(malloc(1008), 1, 1008);
    for (int i = 0; i + 1 < N; i++)
        free(blocks[i]);
}

/* One touched whole, one in part, one never. */
static void maps(void)
{
    touched(mmap(NULL, 48 * MIB, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 48 * MIB);
    touched(mmap(NULL, 96 * MIB, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 16 * MIB);
    must(mmap(NULL, 128 * MIB, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED, "mmap");
}

static void shm(void)
{
    int fd = memfd_create("rss_kinds", 0);
    must(fd >= 0 && ftruncate(fd, 20 * MIB) == 0, "memfd_create");
    touched(mmap(NULL, 20 * MIB, RW, MAP_SHARED, fd, 0), 20 * MIB);
    touched(mmap(NULL, 12 * MIB, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0), 12 * MIB);
    int id = shmget(IPC_PRIVATE, 8 * MIB, IPC_CREAT | 0600);
    must(id >= 0, "shmget");
    void *at = shmat(id, NULL, 0);
    must(shmctl(id, IPC_RMID, NULL) == 0, "shmctl");
    touched(at, 8 * MIB);
}

static pthread_barrier_t deep;

static void *thread(void *unused)
{
    char room[STACK_MIB * MIB];
    (void)unused;
    touched(room, sizeof room);
    pthread_barrier_wait(&deep);
    pthread_barrier_wait(&deep); /* nobody comes */
    return NULL;
}

static void stacks(void)
{
    pthread_t id;
    pthread_barrier_init(&deep, NULL, N_THREADS + 1);
    for (int i = 0; i < N_THREADS; i++)
        must(pthread_create(&id, NULL, thread, NULL) == 0, "pthread_create");
    pthread_barrier_wait(&deep);
}

static void by_sbrk(void)
{
    touched(sbrk(18 * MIB), 18 * MIB);
}

/* As programs do that have a system call instruction of their own: no hook sees it. */
static void by_instruction(void)
{
    touched((void *)seep_arch_call6(SYS_mmap, 0, (long)(28 * MIB), RW, MAP_PRIVATE | MAP_ANONYMOUS,
                                    -1, 0),
            28 * MIB);
}

/* As ctypes.CDLL("libc.so.6").calloc does: no hook sees it, but the heap is the same. */
static void past_hooks(void)
{
    enum { N = 1024, BYTES = 20 * 1024 };
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    void *(*its_calloc)(size_t, size_t);
    must(libc != NULL, "dlopen");
    *(void **)&its_calloc = dlsym(libc, "calloc");
    must(its_calloc != NULL, "dlsym");
    for (int i = 0; i < N; i++)
        memset(its_calloc(BYTES, 1), 1, BYTES);
}

static void files(void)
{
    char name[] = "/tmp/rss-kinds-XXXXXX";
    int fd = mkstemp(name);
    must(fd >= 0 && unlink(name) == 0 && ftruncate(fd, 36 * MIB) == 0, "mkstemp");
    touched(mmap(NULL, 36 * MIB, RW, MAP_SHARED, fd, 0), 36 * MIB);
}

/* Read whole, written in part. */
static void copied(void)
{
    char name[] = "/tmp/rss-kinds-XXXXXX", *p;
    int fd = mkstemp(name);
    must(fd >= 0 && unlink(name) == 0 && ftruncate(fd, 30 * MIB) == 0, "mkstemp");
    p = mmap(NULL, 30 * MIB, RW, MAP_PRIVATE, fd, 0);
    must(p != MAP_FAILED, "mmap");
    touched(p + 10 * MIB, 14 * MIB);
}

static const struct {
    const char *name;
    void (*make)(void);
    size_t mib;
} all[] = {
    {"heap_live", heap_live, 24 + 40},
    {"past_hooks", past_hooks, 20}, /* before: it would take what is free */
    {"heap_free", heap_free, 32},
    {"maps", maps, 48 + 16},
    {"shm", shm, 20 + 12 + 8},
    {"stacks", stacks, N_THREADS *STACK_MIB},
    {"sbrk", by_sbrk, 18},
    {"instruction", by_instruction, 28},
    {"files", files, 36},
    {"copied", copied, 14},
};

int main(int argc, char **argv)
{
    const char *separator = "{";
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* where pages are of 16 KiB, huge ones are of 32 MiB */
    n_kinds = argc - 1;
    kinds = argv + 1;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!wanted(all[i].name))
            continue;
        all[i].make();
        printf("%s\"%s\": %zu", separator, all[i].name, all[i].mib * MIB);
        separator = ", ";
    }
    printf("}\n");
    for (int i = 0; i < 20; i++) { /* time passes, and seep's clock sees it */
        usleep(1000);
        for (int k = 0; k < 64; k++)
            free(malloc(100));
    }
    return 0;
}
