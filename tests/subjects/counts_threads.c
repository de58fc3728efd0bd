/* Threads that allocate and free, their own blocks and each other's; prints what it did (tally.h).
 *   usage: counts_threads SECTION */
#include "tally.h"

#include <pthread.h>

TALLY(thread_malloc, "host");
static NOIPA void *thread_malloc(size_t size)
{
    const int line = __LINE__ + 1;
    void *p = malloc(size);
    MUST(p != NULL);
    *(volatile size_t *)p = size;
    tally_made(&tally_thread_malloc, size, line);
    return p;
}

static NOIPA void thread_free(void *p)
{
    tally_gone(&tally_thread_malloc, *(size_t *)p);
    free(p);
}

enum { THREADS = 8, BOXES = 512, ROUNDS = 40000 };
static void *boxes[BOXES];

/* Blocks go through shared boxes: who takes one out frees it, whoever made it. */
static void *cross(void *seed)
{
    uint64_t state = 88172645463325252ull ^ (uint64_t)(uintptr_t)seed * 7919;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t r = tally_random(&state);
        void *old = __atomic_exchange_n(&boxes[r % BOXES], thread_malloc(8 + (r >> 20) % 1000),
                                        __ATOMIC_ACQ_REL);
        if (old)
            thread_free(old);
    }
    return NULL;
}

/* A short life: what a thread leaves behind stays counted after its counters went to another one.
 */
static void *short_life(void *arg)
{
    void *a = thread_malloc(100), *b = thread_malloc(200), *c = thread_malloc(300);
    thread_free(b);
    thread_free(c);
    return (uintptr_t)arg % 2 ? NULL : a;
}

static NOIPA void run(int n, int at_once, void *(*work)(void *))
{
    static pthread_t threads[2048];
    MUST(at_once <= 2048);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 128 * 1024);
    for (int done = 0; done < n; done += at_once) {
        for (int i = 0; i < at_once; i++)
            MUST(pthread_create(&threads[i], &attributes, work,
                                (void *)(uintptr_t)(done + i + 1)) == 0);
        for (int i = 0; i < at_once; i++) {
            void *left = NULL;
            pthread_join(threads[i], &left);
            if (left)
                thread_free(left);
        }
    }
}

static pthread_barrier_t all_here;

static void *crowd(void *arg)
{
    void *p[10];
    for (int i = 0; i < 10; i++)
        p[i] = thread_malloc(64);
    pthread_barrier_wait(&all_here);
    for (int i = 0; i < 5; i++)
        thread_free(p[i]);
    pthread_barrier_wait(&all_here);
    (void)arg;
    return NULL;
}

static void *storm(void *seed)
{
    uint64_t state = 1234567 + (uint64_t)(uintptr_t)seed * 104729;
    void *own[64] = {NULL};
    for (int i = 0; i < 125000; i++) {
        uint64_t r = tally_random(&state);
        if (own[r % 64])
            thread_free(own[r % 64]);
        own[r % 64] = thread_malloc(8 + (r >> 20) % 500);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const char *section = argc > 1 ? argv[1] : "";
    if (strcmp(section, "cross") == 0)
        run(THREADS, THREADS, cross);
    if (strcmp(section, "churn") == 0)
        run(2000, 8, short_life);
    if (strcmp(section, "storm") == 0)
        run(8, 8, storm);
    if (strcmp(section, "crowd") == 0) { /* more threads at once than a profile has counters for */
        pthread_barrier_init(&all_here, NULL, 1200);
        run(1200, 1200, crowd);
    }
    tally_print();
    return 0;
}
