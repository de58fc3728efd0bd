/* Allocates until it is killed, and records in a shared file how far each thread got.
 *   usage: kill_target FILE single|threads|fork
 * FILE: 64 bytes per thread: {uint64 pid, started, completed, frees started, frees completed}. */
#include "tally.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

struct line {
    volatile uint64_t pid, started, completed, frees_started, frees_completed, reserved[3];
};

enum { LINES = 64, LIVE = 1024, THREADS = 4, CHILDREN = 3 };
static struct line *lines;

/* Orders the counters around the call: the compiler must not move them, the machine does not. */
#define BARRIER() __asm__ volatile("" ::: "memory")

static NOIPA void *kill_malloc(struct line *line, size_t size)
{
    line->started++;
    BARRIER();
    void *p = malloc(size);
    BARRIER();
    line->completed++;
    return p;
}

static NOIPA void kill_free(struct line *line, void *p)
{
    line->frees_started++;
    BARRIER();
    free(p);
    BARRIER();
    line->frees_completed++;
}

/* Several depths, so that new stacks keep coming while old ones repeat. */
static NOIPA void *descend(struct line *line, uint64_t r, int depth)
{
    void *p;
    if (depth == 0)
        return kill_malloc(line, 16 + (r >> 20) % 1000);
    if (r >> (10 + depth) & 1)
        p = descend(line, r, depth - 1);
    else
        p = descend(line, r, depth > 1 ? depth - 2 : 0);
    BARRIER();
    return p;
}

static __attribute__((noreturn)) void *work(void *arg)
{
    struct line *line = arg;
    line->pid = (uint64_t)getpid();
    static __thread void *live[LIVE];
    memset(live, 0, sizeof live);
    uint64_t state = 88172645463325252ull ^ (uint64_t)(line - lines) * 7919;
    for (;;) {
        uint64_t r = tally_random(&state);
        void **slot = &live[r % LIVE];
        if (*slot)
            kill_free(line, *slot);
        *slot = descend(line, r, (int)(r >> 40) % 12);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
    MUST(fd >= 0 && ftruncate(fd, LINES * sizeof *lines) == 0);
    lines = mmap(NULL, LINES * sizeof *lines, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    MUST(lines != MAP_FAILED);
    int threads = strcmp(argv[2], "threads") == 0 ? THREADS : 0;
    int children = strcmp(argv[2], "fork") == 0 ? CHILDREN : 0;
    for (int i = 1; i < threads; i++) {
        pthread_t t;
        MUST(pthread_create(&t, NULL, work, &lines[i]) == 0);
    }
    for (int i = 1; i <= children; i++) {
        pid_t child = fork();
        if (child == 0)
            work(&lines[i]);
    }
    if (argc > 3 && strcmp(argv[3], "wait") == 0) { /* for a test that kills the children alone */
        lines[0].pid = (uint64_t)getpid();
        while (wait(NULL) > 0)
            ;
        return 0;
    }
    work(&lines[0]);
    (void)tally_print, (void)tally_made, (void)tally_gone;
    return 0;
}
