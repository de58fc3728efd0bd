#include "kernels/lab/scenarios/pinned_pool.h"

#include "preload/seep.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { MIN_BYTES = 4096 };

struct block {
    void *address;
    size_t bytes;
    size_t asked; /* 0: it is free */
};

struct seep_pinned_pool {
    pthread_mutex_t lock;
    struct block *blocks; /* [n] */
    size_t n, capacity, asked, n_out;
    struct seep_pinned_counts counts;
};

int seep_pinned_pool_create(struct seep_pinned_pool **out)
{
    struct seep_pinned_pool *pool = calloc(1, sizeof *pool);

    *out = pool;
    if (!pool)
        return -SEEP_ENOMEM;
    pthread_mutex_init(&pool->lock, NULL);
    return 0;
}

/* CUDA's driver maps such memory by itself, in a call that a profiler does not look into. A call of
 * mmap() or syscall() here would be seen, and the memory counted twice. */
static long call_kernel(long number, unsigned long a, unsigned long b, unsigned long protection,
                        unsigned long flags)
{
    register unsigned long r10 __asm__("r10") = flags;
    register unsigned long r8 __asm__("r8") = (unsigned long)-1;
    register unsigned long r9 __asm__("r9") = 0;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(protection), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

/* cudaHostAlloc(): pages that are there from the start. */
static void *host_alloc(size_t bytes)
{
    long at = call_kernel(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE);

    return at < 0 ? NULL : (void *)at;
}

/* Not announced: PyTorch's cache ends with the process. */
void seep_pinned_pool_destroy(struct seep_pinned_pool *pool)
{
    for (size_t i = 0; pool && i < pool->n; i++)
        (void)call_kernel(SYS_munmap, (unsigned long)pool->blocks[i].address, pool->blocks[i].bytes,
                          0, 0);
    if (pool) {
        pthread_mutex_destroy(&pool->lock);
        free(pool->blocks);
    }
    free(pool);
}

static struct block *find_free(struct seep_pinned_pool *pool, size_t bytes)
{
    struct block *best = NULL;

    for (size_t i = 0; i < pool->n; i++) {
        struct block *b = &pool->blocks[i];
        if (!b->asked && b->bytes >= bytes && (!best || b->bytes < best->bytes))
            best = b;
    }
    return best;
}

static bool make_room(struct seep_pinned_pool *pool)
{
    size_t wanted = pool->capacity ? 2 * pool->capacity : 64;

    if (pool->n < pool->capacity)
        return true;
    struct block *blocks = realloc(pool->blocks, wanted * sizeof *blocks);
    if (!blocks)
        return false;
    pool->blocks = blocks;
    pool->capacity = wanted;
    return true;
}

static struct block *pin_block(struct seep_pinned_pool *pool, size_t bytes)
{
    void *address = make_room(pool) ? host_alloc(bytes) : NULL;

    if (!address)
        return NULL;
    seep_block_made("pinned", address, bytes);
    pool->counts.reserved_bytes += bytes;
    pool->blocks[pool->n] = (struct block){.address = address, .bytes = bytes};
    return &pool->blocks[pool->n++];
}

void *seep_pinned_take(struct seep_pinned_pool *pool, size_t n)
{
    size_t bytes = MIN_BYTES;

    if (n > SIZE_MAX / 2)
        return NULL;
    while (bytes < n)
        bytes *= 2;
    pthread_mutex_lock(&pool->lock);
    struct block *block = find_free(pool, bytes);
    if (!block)
        block = pin_block(pool, bytes);
    if (block) {
        block->asked = n ? n : 1;
        pool->asked += block->asked;
        pool->n_out++;
        if (pool->asked > pool->counts.peak_asked_bytes)
            pool->counts.peak_asked_bytes = pool->asked;
        if (pool->n_out > pool->counts.most_blocks_out)
            pool->counts.most_blocks_out = pool->n_out;
    }
    void *address = block ? block->address : NULL;
    pthread_mutex_unlock(&pool->lock);
    return address;
}

void seep_pinned_give(struct seep_pinned_pool *pool, void *address)
{
    pthread_mutex_lock(&pool->lock);
    for (size_t i = 0; i < pool->n && address; i++) {
        if (pool->blocks[i].address == address) {
            pool->asked -= pool->blocks[i].asked;
            pool->blocks[i].asked = 0;
            pool->n_out--;
            break;
        }
    }
    pthread_mutex_unlock(&pool->lock);
}

struct seep_pinned_counts seep_pinned_pool_counts(struct seep_pinned_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    struct seep_pinned_counts counts = pool->counts;
    pthread_mutex_unlock(&pool->lock);
    return counts;
}
