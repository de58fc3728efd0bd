/* A program with a malloc of its own, like jemalloc and tcmalloc linked in statically; prints "ok".
 * If code allocates inside its mmap and so re-enters the malloc, it reports that and ends. */
#include "tally.h"

#include <pthread.h>
#include <sys/mman.h>

enum { PIECE = 1 << 20, ALIGNMENT = 16, BLOCKS = 20000, BLOCK = 1000 };

#ifdef OWN_MALLOC_LOCK /* one lock, which is held around mmap: see own_malloc_locked.c */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define LOCK()   pthread_mutex_lock(&lock)
#define UNLOCK() pthread_mutex_unlock(&lock)
#else
#define LOCK()   (void)0
#define UNLOCK() (void)0
#endif

static _Thread_local volatile int mapping; /* mmap is declared as one that calls nobody */
static char *at, *end;

static void come_back(void)
{
    static const char text[] = "malloc was called from within mmap\n";
    _exit(write(2, text, sizeof text - 1) > 0 ? 96 : 97);
}

static char *map_piece(size_t least)
{
    size_t bytes = least > PIECE ? least : PIECE;
    mapping = 1;
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mapping = 0;
    if (p == MAP_FAILED)
        return NULL;
    end = p + bytes;
    return p;
}

/* Its size stands before a block. */
void *malloc(size_t n)
{
    if (mapping)
        come_back();
    size_t bytes = (n + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    char *p = NULL;
    LOCK();
    if ((size_t)(end - at) < bytes)
        at = map_piece(bytes);
    if (at) {
        p = at + ALIGNMENT;
        ((size_t *)p)[-1] = n;
        at += bytes;
    }
    UNLOCK();
    return p;
}

void free(void *p)
{
    (void)p;
}

/* A volatile pointer: the compiler would make a call of calloc() of the two. */
void *calloc(size_t n, size_t size)
{
    void *volatile p = malloc(n * size);
    return p ? memset(p, 0, n * size) : NULL;
}

void *realloc(void *p, size_t n)
{
    size_t before = p ? ((size_t *)p)[-1] : 0;
    void *q = malloc(n);
    return p && q ? memcpy(q, p, before < n ? before : n) : q;
}

static void *work(void *unused)
{
    for (int i = 0; i < BLOCKS; i++) {
        char *p = malloc(BLOCK);
        MUST(p != NULL);
        memset(p, i, BLOCK);
    }
    return unused;
}

/* Before any library's constructor: what a constructor that allocates does to a library behind it.
 */
static void first_of_all(void)
{
    char *p = malloc(BLOCK);
    MUST(p != NULL);
    free(p);
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = first_of_all;

int main(void)
{
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, work, NULL) == 0);
    pthread_join(thread, NULL);
    work(NULL);
    char *text = strdup("ok\n"); /* libc's calls come here as well */
    tally_write(text, strlen(text));
    free(text);
    (void)tally_print, (void)tally_made, (void)tally_gone, (void)tally_shrunk, (void)tally_random;
    return 0;
}
