/* malloc() that fails, in the program that includes this: one of its allocations, or all from one
 * on. */
#ifndef SEEP_TESTS_KERNELS_FAILING_MALLOC_H
#define SEEP_TESTS_KERNELS_FAILING_MALLOC_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __SANITIZE_ADDRESS__
#define REAL(name) __interceptor_##name
#else
#define REAL(name) __libc_##name
#endif
#define PUBLIC __attribute__((visibility("default")))

extern void *REAL(malloc)(size_t n);
extern void *REAL(calloc)(size_t n, size_t size);
extern void *REAL(realloc)(void *p, size_t n);

static struct {
    bool on, sticky;
    long until; /* so many succeed first */
    long n_failed;
} fault;

static bool fails(void)
{
    if (!fault.on || fault.until-- > 0)
        return false;
    if (!fault.sticky && fault.n_failed)
        return false;
    fault.n_failed++;
    errno = ENOMEM;
    return true;
}

PUBLIC void *malloc(size_t n)
{
    return fails() ? NULL : REAL(malloc)(n);
}

PUBLIC void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : REAL(calloc)(n, size);
}

PUBLIC void *realloc(void *p, size_t n)
{
    return fails() ? NULL : REAL(realloc)(p, n);
}

#ifdef __SANITIZE_ADDRESS__
/* libzip 1.7 forgets a source's context where it cannot make the source. */
PUBLIC const char *__lsan_default_suppressions(void);
PUBLIC const char *__lsan_default_suppressions(void)
{
    return "leak:libzip.so";
}

PUBLIC const char *__lsan_default_options(void);
PUBLIC const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}
#endif

#endif
