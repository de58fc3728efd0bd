/* Asks in each way for more address space than its limit allows, and prints the results. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

static volatile size_t large = (size_t)64 << 30;

static int is_refused(const void *block)
{
    const int error = errno;
    return (!block || block == MAP_FAILED) && error == ENOMEM;
}

static int map(int protection, int flags)
{
    return is_refused(mmap(NULL, large, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0));
}

static int ask(const char *how)
{
    void *block = NULL;
    if (strcmp(how, "malloc") == 0)
        return is_refused(malloc(large));
    if (strcmp(how, "calloc") == 0)
        return is_refused(calloc(large / 8, 8));
    if (strcmp(how, "calloc-overflow") == 0)
        return is_refused(calloc(large, large));
    if (strcmp(how, "realloc") == 0)
        return is_refused(realloc(malloc(100), large));
    if (strcmp(how, "reallocarray") == 0)
        return is_refused(reallocarray(NULL, large, large));
    if (strcmp(how, "aligned_alloc") == 0)
        return is_refused(aligned_alloc(64, large));
    if (strcmp(how, "posix_memalign") == 0)
        return posix_memalign(&block, 64, large) == ENOMEM;
    if (strcmp(how, "mmap") == 0)
        return map(PROT_READ | PROT_WRITE, 0);
    if (strcmp(how, "reserve") == 0)
        return map(PROT_NONE, 0);
    if (strcmp(how, "by-touch") == 0)
        return map(PROT_READ | PROT_WRITE, MAP_NORESERVE);
    if (strcmp(how, "posix_memalign-invalid") == 0)
        return posix_memalign(&block, 3, large) == EINVAL;
    return 0;
}

int main(int argc, char **argv)
{
    const struct rlimit limit = {(rlim_t)32 << 30, (rlim_t)32 << 30};
    if (argc != 2 || setrlimit(RLIMIT_AS, &limit))
        return 2;
    return ask(argv[1]) ? 0 : 1;
}
