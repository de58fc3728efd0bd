/* Many threads at once, each with a block of its own; prints one number.
 *   usage: crowd SECTION THREADS
 * rss: resident bytes. pairs: microseconds for 20 malloc+free pairs in each thread. fork: private
 * bytes of a forked child. */
#include "tally.h"

#include <pthread.h>
#include <sys/wait.h>
#include <time.h>

enum { PAIRS = 20, STACK_BYTES = 64 * 1024 };

static pthread_barrier_t barrier;

static NOIPA void *allocate(size_t n)
{
    void *p = malloc(n);
    MUST(p != NULL);
    return p;
}

static void *work(void *unused)
{
    void *kept = allocate(8);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < PAIRS; i++)
        free(allocate(100));
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier); /* all stay alive until main exits */
    free(kept);
    return unused;
}

static long now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000L + t.tv_nsec / 1000;
}

static long kib_of(const char *path, const char *key)
{
    char line[256];
    long kib = -1;
    FILE *file = fopen(path, "r");
    MUST(file != NULL);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            kib = atol(line + strlen(key));
    fclose(file);
    return kib;
}

static void print(long n)
{
    char text[32];
    tally_write(text, (size_t)snprintf(text, sizeof text, "%ld\n", n));
}

int main(int argc, char **argv)
{
    MUST(argc == 3);
    unsigned n = (unsigned)atoi(argv[2]);
    pthread_attr_t attributes;
    pthread_barrier_init(&barrier, NULL, n + 1);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    for (unsigned i = 0; i < n; i++) {
        pthread_t thread;
        MUST(pthread_create(&thread, &attributes, work, NULL) == 0);
    }
    pthread_barrier_wait(&barrier);
    long start = now_us();
    pthread_barrier_wait(&barrier);
    if (strcmp(argv[1], "pairs") == 0)
        print(now_us() - start);
    else if (strcmp(argv[1], "rss") == 0)
        print(kib_of("/proc/self/status", "VmRSS:") * 1024);
    else if (fork() == 0)
        print((free(allocate(8)), kib_of("/proc/self/smaps_rollup", "Private_Dirty:") * 1024));
    else
        wait(NULL);
    _exit(0);
}
