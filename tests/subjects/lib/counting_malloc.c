/* A malloc below the shim: counts, per thread, the calls that reach it. Built by the tests as a
 * shared object and preloaded after libseep.so. */
#include <errno.h>
#include <stddef.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

struct counting_calls {
    unsigned long allocations, frees;
};

static __thread struct counting_calls calls __attribute__((tls_model("initial-exec")));

/* The calling thread's counters. */
struct counting_calls *counting_calls(void)
{
    return &calls;
}

void *malloc(size_t n)
{
    calls.allocations++;
    return __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    calls.allocations++;
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    calls.allocations++;
    return __libc_realloc(p, n);
}

void *memalign(size_t alignment, size_t n)
{
    calls.allocations++;
    return __libc_memalign(alignment, n);
}

void *aligned_alloc(size_t alignment, size_t n)
{
    calls.allocations++;
    return __libc_memalign(alignment, n);
}

int posix_memalign(void **p, size_t alignment, size_t n)
{
    calls.allocations++;
    void *made = __libc_memalign(alignment, n);
    if (made == NULL)
        return ENOMEM;
    *p = made;
    return 0;
}

void free(void *p)
{
    calls.frees++;
    __libc_free(p);
}
