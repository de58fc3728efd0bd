/* Threads for which libc allocates buffers, freed when the threads end. Prints resident bytes
 * before and after each of several rounds that follow a first one.
 *   usage: many_threads row|names|at-once THREADS
 * row: one after another. names: the same, and each looks up a host's address. at-once: THREADS in
 * parallel. */
#include "tally.h"

#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>

enum { STACK_BYTES = 64 * 1024, SOME = 100, ROUNDS = 3 };

static pthread_barrier_t barrier;
static int with_names;

static NOIPA void buffers_of_libc(void)
{
    void *volatile p = malloc(100);
    const char *volatile text = strerror(4321);
    struct addrinfo *found = NULL;
    MUST(p && text && !dlsym(RTLD_DEFAULT, "no_such_name_anywhere"));
    if (with_names && getaddrinfo("localhost", "80", NULL, &found) == 0)
        freeaddrinfo(found);
    free(p);
}

static void *alone(void *unused)
{
    buffers_of_libc();
    return unused;
}

static void *beside(void *unused)
{
    buffers_of_libc();
    pthread_barrier_wait(&barrier);
    return unused;
}

static long resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    MUST(file && fscanf(file, "%*s %ld", &pages) == 1);
    fclose(file);
    return pages * (long)PAGE;
}

static void row(int n)
{
    for (int i = 0; i < n; i++) {
        pthread_t thread;
        MUST(pthread_create(&thread, NULL, alone, NULL) == 0);
        pthread_join(thread, NULL);
    }
}

static void at_once(int n)
{
    pthread_t *threads = calloc((size_t)n, sizeof(*threads));
    pthread_attr_t attributes;
    pthread_barrier_init(&barrier, NULL, (unsigned)n);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    for (int i = 0; i < n; i++)
        MUST(pthread_create(&threads[i], &attributes, beside, NULL) == 0);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    free(threads);
}

int main(int argc, char **argv)
{
    MUST(argc == 3);
    int n = atoi(argv[2]);
    void (*work)(int) = strcmp(argv[1], "at-once") == 0 ? at_once : row;
    char text[128];
    with_names = strcmp(argv[1], "names") == 0;
    work(work == row ? SOME : n);
    size_t n_text = (size_t)snprintf(text, sizeof text, "[%ld", resident());
    for (int i = 0; i < ROUNDS; i++) {
        work(n);
        n_text += (size_t)snprintf(text + n_text, sizeof text - n_text, ", %ld", resident());
    }
    n_text += (size_t)snprintf(text + n_text, sizeof text - n_text, "]\n");
    tally_write(text, n_text);
    return 0;
}
