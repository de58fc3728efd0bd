/* Makes a known number of calls and asks the malloc below the shim how many reached it: any more
 * are the shim's own. Prints {"phase": [made, reached, freed, reached], …}.
 *   usage: LD_PRELOAD="libseep.so counting_malloc.so" noalloc */
#include "tally.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>

struct counting_calls {
    unsigned long allocations, frees;
};

static struct counting_calls *(*counting)(void);
static volatile unsigned sink;

/* Every value of `path` is a stack of its own. */
static NOIPA void *descend(unsigned path, int depth, size_t size)
{
    void *p;
    if (depth == 0) {
        p = malloc(size);
    } else if (path & 1) {
        p = descend(path >> 1, depth - 1, size);
        sink++;
    } else {
        p = descend(path >> 1, depth - 1, size);
        sink--;
    }
    return p;
}

struct phase {
    const char *name;
    unsigned long made, freed;
    struct counting_calls before, after;
};

static void begin(struct phase *f)
{
    f->before = *counting();
}

static void end(struct phase *f)
{
    f->after = *counting();
}

/* New stacks all the way: interning, new chunks, growth of every table. */
static void stacks(struct phase *f)
{
    enum { N = 30000, LIVE = 10000 };
    static void *live[LIVE];
    begin(f);
    for (unsigned i = 0; i < N; i++) {
        void **slot = &live[i % LIVE];
        if (*slot) {
            free(*slot);
            f->freed++;
        }
        *slot = descend(i, 15, 24 + i % 3000);
        f->made++;
    }
    end(f);
}

static void kinds(struct phase *f)
{
    begin(f);
    for (unsigned i = 0; i < 5000; i++) {
        void *a = calloc(i % 7 + 1, 16), *b = realloc(NULL, 100), *c = NULL,
             *d = aligned_alloc(64, 640);
        MUST(posix_memalign(&c, 64, 100) == 0);
        b = realloc(b, 3000);
        MUST(a && b && c && d);
        free(a);
        free(b);
        free(c);
        free(d);
        f->made += 5;
        f->freed += 4;
    }
    end(f);
}

static void maps(struct phase *f)
{
    begin(f);
    static void *p[3000];
    for (int i = 0; i < 3000; i++) {
        p[i] = mmap(NULL, 2 * PAGE, PROT_READ, (i % 2 ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS,
                    -1, 0);
        MUST(p[i] != MAP_FAILED);
    }
    for (int i = 0; i < 3000; i += 2)
        MUST(munmap(p[i], i % 4 ? PAGE : 2 * PAGE) == 0);
    end(f);
}

/* The first events of a thread, too. */
static void *thread(void *arg)
{
    struct phase *f = arg;
    begin(f);
    for (unsigned i = 0; i < 2000; i++) {
        void *p = descend(i, 11, 32);
        MUST(p);
        free(p);
        f->made++;
        f->freed++;
    }
    end(f);
    return NULL;
}

static void print(const struct phase *f, int first)
{
    char text[256];
    tally_write(text, (size_t)snprintf(text, sizeof text, "%s\"%s\": [%lu, %lu, %lu, %lu]",
                                       first ? "{" : ", ", f->name, f->made,
                                       f->after.allocations - f->before.allocations, f->freed,
                                       f->after.frees - f->before.frees));
}

int main(void)
{
    *(void **)&counting = dlsym(RTLD_DEFAULT, "counting_calls");
    MUST(counting != NULL);
    static struct phase all[] = {{.name = "new stacks"}, {.name = "kinds"},    {.name = "maps"},
                                 {.name = "thread 1"},   {.name = "thread 2"}, {.name = "slow"}};
    stacks(&all[0]);
    kinds(&all[1]);
    maps(&all[2]);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        MUST(pthread_create(&threads[i], NULL, thread, &all[3 + i]) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    /* Over several time slices: series, lifetimes, the timeline. */
    begin(&all[5]);
    for (unsigned i = 0; i < 700; i++) {
        void *p = descend(i % 8, 4, 64), *q = descend(i % 8, 5, 4096);
        MUST(p && q);
        free(p);
        all[5].made += 2;
        all[5].freed += 1;
        usleep(1000);
    }
    end(&all[5]);
    for (int i = 0; i < 6; i++)
        print(&all[i], i == 0);
    tally_write("}\n", 2);
    (void)tally_print, (void)tally_made, (void)tally_gone, (void)tally_shrunk;
    return 0;
}
