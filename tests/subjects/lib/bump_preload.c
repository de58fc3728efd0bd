/* A malloc to be preloaded that nobody knows: it only ever takes more, from one map, and its blocks
 * have no heads that say how long they are. */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 16 };
#define HEAP (UINT64_C(2) << 30)

static _Atomic(char *) heap;
static _Atomic size_t used;

static char *heap_of_all(void)
{
    char *mine = heap, *none = NULL;

    if (mine)
        return mine;
    mine = mmap(NULL, HEAP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                0);
    if (!atomic_compare_exchange_strong(&heap, &none, mine)) {
        munmap(mine, HEAP);
        return none;
    }
    return mine;
}

static void *take(size_t alignment, size_t n)
{
    const size_t room = n + alignment, at = atomic_fetch_add(&used, room);

    if (n > HEAP || at > HEAP - room) {
        errno = ENOMEM;
        return NULL;
    }
    return (void *)(((uintptr_t)heap_of_all() + at + alignment - 1) & ~(uintptr_t)(alignment - 1));
}

void *malloc(size_t n)
{
    return take(ALIGNMENT, n);
}

void free(void *p)
{
    (void)p;
}

void *calloc(size_t n, size_t each)
{
    return take(ALIGNMENT, n * each); /* nothing is used twice */
}

/* How long the old one was is not known: what follows it may be copied, too. */
void *realloc(void *old, size_t n)
{
    char *p = take(ALIGNMENT, n);
    const size_t behind = old ? (size_t)(p - (char *)old) : 0;

    if (p && old)
        memcpy(p, old, n < behind ? n : behind);
    return p;
}

void *aligned_alloc(size_t alignment, size_t n)
{
    return take(alignment < ALIGNMENT ? ALIGNMENT : alignment, n);
}

void *memalign(size_t alignment, size_t n)
{
    return aligned_alloc(alignment, n);
}

int posix_memalign(void **to, size_t alignment, size_t n)
{
    *to = aligned_alloc(alignment, n);
    return *to ? 0 : ENOMEM;
}
