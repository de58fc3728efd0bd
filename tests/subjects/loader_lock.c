/* Threads that contend for the loader's lock.
 *   usage: loader_lock order | stall SECONDS
 * order: a callback of dl_iterate_phdr waits for a lock whose holder allocates from new places;
 * prints "ok". stall: a callback of dl_iterate_phdr allocates, like Rust's backtraces, beside
 * threads that allocate, always from new places; prints the longest times in seconds. */
#include "tally.h"

#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

enum { AREA = 1 << 16, STRIDE = 32, DEPTH = 40 };

typedef void site(void *(*)(size_t), void (*)(void *));

static pthread_mutex_t job = PTHREAD_MUTEX_INITIALIZER;
static volatile int inside, go_on = 1;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void nap(void)
{
    nanosleep(&(struct timespec){0, 1000000}, NULL);
}

/* ---- order ---- */

static int wait_for_job(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)info, (void)size, (void)data;
    inside = 1;
    pthread_mutex_lock(&job);
    pthread_mutex_unlock(&job);
    return 1;
}

static void *iterate(void *unused)
{
    dl_iterate_phdr(wait_for_job, NULL);
    return unused;
}

static NOIPA void everything(void)
{
    void *volatile p = malloc(77), *volatile q = calloc(3, 5), *volatile r = NULL;
    p = realloc(p, 5000);
    MUST(p && q && posix_memalign((void **)&r, 64, 640) == 0);
    void *map = mmap(NULL, AREA, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(map != MAP_FAILED && mprotect(map, AREA / 2, PROT_NONE) == 0);
    MUST(madvise(map, AREA, MADV_DONTNEED) == 0 && munmap(map, AREA) == 0);
    free(p);
    free(q);
    free(r);
}

static NOIPA void deeper(int n)
{
    if (n)
        deeper(n - 1);
    else
        everything();
    __asm__ volatile("" ::: "memory");
}

/* Its first allocations come while the loader's lock is held. */
static void *late(void *unused)
{
    while (!inside)
        nap();
    everything();
    deeper(DEPTH);
    return unused;
}

static void order(void)
{
    pthread_t iterating, allocating;
    pthread_mutex_lock(&job);
    MUST(pthread_create(&allocating, NULL, late, NULL) == 0);
    MUST(pthread_create(&iterating, NULL, iterate, NULL) == 0);
    while (!inside)
        nap();
    everything();
    deeper(DEPTH);
    pthread_join(allocating, NULL);
    pthread_mutex_unlock(&job);
    pthread_join(iterating, NULL);
    tally_write("ok\n", 3);
}

/* ---- stall ---- */

/* void site(allocate, release) { release(allocate(100)); } */
static const unsigned char code[] = {
    0x53,                   /* push rbx */
    0x48, 0x89, 0xf3,       /* mov rbx, rsi */
    0x48, 0x89, 0xf8,       /* mov rax, rdi */
    0xbf, 0x64, 0,    0, 0, /* mov edi, 100 */
    0xff, 0xd0,             /* call rax */
    0x48, 0x89, 0xc7,       /* mov rdi, rax */
    0xff, 0xd3,             /* call rbx */
    0x5b, 0xc3,             /* pop rbx; ret */
};

/* New code at each call: a return address that nobody has met. */
static site *new_site(void)
{
    static _Thread_local char *next, *end;
    if (next == end) {
        next = mmap(NULL, AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        MUST(next != MAP_FAILED);
        end = next + AREA;
        for (char *p = next; p < end; p += STRIDE)
            memcpy(p, code, sizeof code);
        MUST(mprotect(next, AREA, PROT_READ | PROT_EXEC) == 0);
    }
    next += STRIDE;
    return (site *)(void *)(next - STRIDE);
}

static int allocate_inside(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)info, (void)size;
    (*(site **)data)(malloc, free);
    return 0;
}

static void *in_callbacks(void *worst)
{
    while (go_on) {
        site *f = new_site();
        double start = now_s();
        dl_iterate_phdr(allocate_inside, &f);
        double took = now_s() - start;
        if (took > *(double *)worst)
            *(double *)worst = took;
    }
    return NULL;
}

static void *in_the_open(void *worst)
{
    while (go_on) {
        site *f = new_site();
        double start = now_s();
        f(malloc, free);
        double took = now_s() - start;
        if (took > *(double *)worst)
            *(double *)worst = took;
    }
    return NULL;
}

/* How long this machine leaves a thread alone that wants to run. */
static void *doing_nothing(void *worst)
{
    for (double last = now_s(); go_on;) {
        double now = now_s();
        if (now - last > *(double *)worst)
            *(double *)worst = now - last;
        last = now;
    }
    return NULL;
}

static void stall(double seconds)
{
    void *(*const works[])(void *) = {in_callbacks, in_the_open, doing_nothing};
    pthread_t threads[3];
    double worst[3] = {0};
    char text[128];
    for (int i = 0; i < 3; i++)
        MUST(pthread_create(&threads[i], NULL, works[i], &worst[i]) == 0);
    for (double end = now_s() + seconds; now_s() < end;)
        nap();
    go_on = 0;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    tally_write(text, (size_t)snprintf(text, sizeof text,
                                       "{\"callback\": %.4f, \"open\": %.4f, \"idle\": %.4f}\n",
                                       worst[0], worst[1], worst[2]));
}

int main(int argc, char **argv)
{
    MUST(argc > 1);
    if (strcmp(argv[1], "stall") == 0)
        stall(argc > 2 ? atof(argv[2]) : 2);
    else
        order();
    return 0;
}
