/* Allocates and frees as a recorded step of a training did (training_step.def), while the job's own
 * code and data pass through the caches (working_set.h) after each event.
 *   training_step MB THREADS STEPS   MB of working set a thread; prints ns an event: CPU and wall
 */
#include "preload/seep.h"
#include "tests/subjects/working_set.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOIPA __attribute__((noipa))

enum {
    STACK_BITS = 11, /* 1,193 stacks */
    DEPTH = 20,      /* as the training's native frames */
    WARM_STEPS = 2,
    MAX_THREADS = 8,
};

static const struct event {
    uint32_t stack; /* 0: a free */
    uint32_t value;
} events[] = {
#include "tests/subjects/training_step.def"
};

enum { N_EVENTS = sizeof(events) / sizeof(events[0]) };

struct worker {
    pthread_t thread;
    void *blocks[N_EVENTS];
    struct working_set set;
    int steps; /* the first thread's are the job's */
    long events;
    double cpu_ns, wall_ns;
};

static struct worker workers[MAX_THREADS];
static pthread_barrier_t begin;

static double clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Allocates below DEPTH frames; the outer ones are those that few stacks share. */
static NOIPA void *from_stack(int depth, uint32_t stack, size_t bytes)
{
    void *block;
    if (depth == 0) {
        block = malloc(bytes);
        __asm__ volatile("# here" ::: "memory"); /* or it becomes a jump */
    } else if (depth <= STACK_BITS && stack >> (depth - 1) & 1) {
        block = from_stack(depth - 1, stack, bytes);
        __asm__ volatile("# one" ::: "memory"); /* or they become one call */
    } else {
        block = from_stack(depth - 1, stack, bytes);
        __asm__ volatile("# other" ::: "memory");
    }
    return block;
}

static NOIPA void release(void **block)
{
    free(*block);
    *block = NULL;
}

static void step(struct worker *worker)
{
    size_t n = 0;
    for (int i = 0; i < N_EVENTS; i++) {
        if (!events[i].stack) {
            release(&worker->blocks[events[i].value]);
        } else {
            void **block = &worker->blocks[n++];
            if (*block) {
                release(block);
                worker->events++;
                use_working_set(&worker->set);
            }
            *block = from_stack(DEPTH, events[i].stack, events[i].value);
        }
        worker->events++;
        use_working_set(&worker->set);
    }
    if (worker == workers)
        seep_step();
}

static void start(struct worker *worker)
{
    worker->events = 0;
    pthread_barrier_wait(&begin);
    worker->wall_ns = -clock_ns(CLOCK_MONOTONIC);
    worker->cpu_ns = -clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void *work(void *arg)
{
    struct worker *worker = arg;
    for (int i = 0; i < WARM_STEPS + worker->steps; i++) {
        if (i == WARM_STEPS)
            start(worker);
        step(worker); /* always called from here: its stacks are known */
    }
    worker->cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID);
    worker->wall_ns += clock_ns(CLOCK_MONOTONIC);
    return NULL;
}

int main(int argc, char **argv)
{
    size_t bytes = argc == 4 ? (size_t)atol(argv[1]) << 20 : 0;
    int n_threads = argc == 4 ? atoi(argv[2]) : 0, steps = argc == 4 ? atoi(argv[3]) : 0;
    if (n_threads < 1 || n_threads > MAX_THREADS || steps < 1) {
        fprintf(stderr, "usage: training_step MB THREADS STEPS\n");
        return 2;
    }
    pthread_barrier_init(&begin, NULL, (unsigned)n_threads);
    for (int i = 0; i < n_threads; i++) {
        char *data = bytes ? aligned_alloc(WORKING_SET_LINE, bytes) : NULL;
        workers[i].set = (struct working_set){.data = data, .bytes = data ? bytes : 0};
        workers[i].steps = steps;
        for (size_t k = 0; k < workers[i].set.bytes; k += WORKING_SET_LINE)
            data[k] = 1;
    }
    for (int i = 1; i < n_threads; i++)
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    seep_step(); /* before it, time is counted in slices by the clock */
    work(&workers[0]);
    double cpu = workers[0].cpu_ns, wall = workers[0].wall_ns;
    for (int i = 1; i < n_threads; i++) {
        pthread_join(workers[i].thread, NULL);
        cpu += workers[i].cpu_ns;
        wall += workers[i].wall_ns;
    }
    double n = (double)workers[0].events * n_threads;
    printf("%.1f %.1f\n", cpu / n, wall / n);
    return 0;
}
