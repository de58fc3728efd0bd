/* What happens around the dynamic loader: libraries that come and go, and forks in between.
 *   usage: loader SECTION [LIBRARY…] */
#include "tally.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

static volatile int stop;

static void *allocate(void *arg)
{
    while (!stop)
        free(malloc(30));
    return arg;
}

static void use(const char *library)
{
    void *handle = dlopen(library, RTLD_NOW);
    if (!handle)
        puts(dlerror());
    MUST(handle != NULL);
    ((void (*)(void))(size_t)dlsym(handle, "go"))();
    dlclose(handle);
}

/* Two libraries by turns, each where the other was. */
static void section_swap(char **libraries)
{
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, allocate, NULL) == 0);
    for (int i = 0; i < 1000; i++)
        use(libraries[i & 1]);
    stop = 1;
    pthread_join(thread, NULL);
}

static int ends(pid_t child)
{
    int status = 0;
    for (int i = 0; i < 3000; i++) { /* a disk that is written to may hold a child up for seconds */
        if (waitpid(child, &status, WNOHANG) == child)
            return status == 0;
        usleep(10000);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return 0;
}

static void fork_often(int n)
{
    int ended = 0;
    usleep(20000);
    for (int i = 0; i < n && ended == i; i++) {
        pid_t child = fork();
        if (child == 0) {
            free(malloc(10));
            _exit(0);
        }
        ended += ends(child);
    }
    printf("children that ended: %d of %d\n", ended, n);
    fflush(stdout);
    _exit(0);
}

static void *load(void *library)
{
    for (;;)
        use(library);
    return NULL;
}

static void section_fork_while_loading(char **libraries)
{
    pthread_t threads[2];
    MUST(pthread_create(&threads[0], NULL, allocate, NULL) == 0);
    MUST(pthread_create(&threads[1], NULL, load, libraries[0]) == 0);
    fork_often(300);
}

static int linger(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)info, (void)size, (void)data;
    usleep(1000);
    return 0;
}

static void *list(void *arg)
{
    for (;;)
        dl_iterate_phdr(linger, NULL);
    return arg;
}

/* Nearly always another thread has the loader's lock, and never gives it back in the child. */
static void section_fork_while_listing(char **libraries)
{
    (void)libraries;
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, list, NULL) == 0);
    fork_often(10);
}

static void section_load_in_child(char **libraries)
{
    use(libraries[0]);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 20; i++)
            use(libraries[i & 1]);
        _exit(0);
    }
    MUST(ends(child));
}

/* A library whose constructor waits for a thread of its own. */
static void section_construct(char **libraries)
{
    void *handle = dlopen(libraries[0], RTLD_NOW);
    if (!handle)
        puts(dlerror());
    puts(handle ? "loaded" : "not loaded");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(char **libraries);
    } sections[] = {
        {"swap", section_swap},
        {"fork-while-loading", section_fork_while_loading},
        {"fork-while-listing", section_fork_while_listing},
        {"load-in-child", section_load_in_child},
        {"construct", section_construct},
    };
    for (size_t i = 0; argc > 1 && i < sizeof sections / sizeof sections[0]; i++)
        if (strcmp(argv[1], sections[i].name) == 0)
            sections[i].run(argv + 2);
    (void)tally_made, (void)tally_gone, (void)tally_print;
    return 0;
}
