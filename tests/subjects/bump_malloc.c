/* A program with a malloc of its own that never frees: it takes more from maps of 4 MiB. It
 * contains texts of jemalloc's, so its file is recognised.
 *   usage: bump_malloc MIB */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { EXTENT = 4 << 20 };

const char *const own_version = "5.9.1-0-g0123456789abcdef0123456789abcdef01234567";
const char *const own_words = "<jemalloc>: these are only its words";

static char *next, *end;

void *malloc(size_t n)
{
    n = (n + 31) & ~(size_t)15;
    if ((size_t)(end - next) < n) {
        size_t bytes = n > EXTENT ? n : EXTENT;
        char *fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (fresh == MAP_FAILED) {
            errno = ENOMEM;
            return NULL;
        }
        next = fresh;
        end = fresh + bytes;
    }
    char *p = next;
    next += n;
    *(size_t *)(void *)p = n - 16;
    return p + 16;
}

void free(void *p)
{
    (void)p;
}

void *calloc(size_t n, size_t each)
{
    return malloc(n * each); /* nothing is used twice */
}

void *realloc(void *old, size_t n)
{
    void *p = malloc(n);
    size_t had = old ? ((size_t *)old)[-2] : 0;
    if (p && old)
        memcpy(p, old, had < n ? had : n);
    return p;
}

int main(int argc, char **argv)
{
    size_t bytes = (argc > 1 ? strtoul(argv[1], NULL, 10) : 1) << 20;
    static char *volatile kept[1 << 16];
    for (size_t i = 0; i < bytes / 4096; i++)
        kept[i] = memset(malloc(4096), 1, 4096);
    printf("%p %s %s\n", (void *)kept[0], own_version, own_words);
    return kept[0] == NULL;
}
