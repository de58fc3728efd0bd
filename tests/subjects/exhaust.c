/* Allocations from very many stacks, more than a small profile has room for; prints "ok".
 *   usage: exhaust SECTION
 * threads: then 100,000 more in a new thread, in a child, and in a child of that child.
 * descriptors: 8,192 of them while no file can be opened, 20,000 afterwards. */
#include "tally.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { MORE = 100000 };

static void *volatile kept;

static NOIPA void left(unsigned path, int depth);
static NOIPA void right(unsigned path, int depth)
{
    if (depth == 0)
        kept = malloc(32);
    else if (path & 1)
        left(path >> 1, depth - 1);
    else
        right(path >> 1, depth - 1);
    __asm__ volatile("" ::: "memory");
}

static NOIPA void left(unsigned path, int depth)
{
    if (depth == 0)
        kept = malloc(32);
    else if (path & 1)
        left(path >> 1, depth - 1);
    else
        right(path >> 1, depth - 1);
    __asm__ volatile("" ::: "memory");
}

static void *more(void *unused)
{
    for (int i = 0; i < MORE; i++)
        kept = malloc(100);
    return unused;
}

static void threads(void)
{
    pthread_t thread;
    for (unsigned path = 0; path < 1 << 16; path++)
        left(path, 16);
    MUST(pthread_create(&thread, NULL, more, NULL) == 0);
    pthread_join(thread, NULL);
    for (int generation = 0; generation < 2; generation++) {
        int status = 0;
        if (fork() != 0) {
            wait(&status);
            MUST(status == 0);
            return;
        }
        more(NULL);
    }
    _exit(0);
}

static void descriptors(void)
{
    struct rlimit limit = {64, 64};
    int taken[64], n = 0;
    MUST(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    for (int fd; (fd = open("/dev/null", O_RDONLY)) >= 0;)
        taken[n++] = fd;
    for (unsigned path = 0; path < 1 << 13; path++)
        left(path, 13);
    while (n > 0)
        close(taken[--n]);
    usleep(200 * 1000);
    for (unsigned path = 0; path < 20000; path++)
        left(path, 15);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "threads") == 0)
        threads();
    else
        descriptors();
    tally_write("ok\n", 3);
    return 0;
}
