/* The least that a hook of malloc() and free() can do: it counts, by thread, and passes on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

static void *(*real_malloc)(size_t bytes);
static void (*real_free)(void *block);
static __thread struct {
    unsigned long made, freed;
} counted __attribute__((tls_model("initial-exec")));

static __attribute__((constructor)) void find_real(void)
{
    *(void **)&real_free = dlsym(RTLD_NEXT, "free");
    *(void **)&real_malloc = dlsym(RTLD_NEXT, "malloc");
}

void *malloc(size_t bytes)
{
    if (__builtin_expect(!real_malloc, 0))
        find_real();
    counted.made++;
    return real_malloc(bytes);
}

void free(void *block)
{
    if (__builtin_expect(!real_free, 0))
        find_real();
    counted.freed++;
    real_free(block);
}
