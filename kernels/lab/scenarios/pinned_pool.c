#include "kernels/lab/scenarios/pinned_pool.h"

#include "libprof/arch/arch.h"
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

/* cudaHostAlloc(): pages that are there from the start. CUDA's driver maps such memory by itself,
 * in a call that a profiler does not look into. A call of mmap() or syscall() here would be seen,
 * and the memory counted twice. */
static void *host_alloc(size_t bytes)
{
    const long at = seep_arch_call6(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    return at < 0 ? NULL : (void *)at;
}

/* Not announced: PyTorch's cache ends with the process. */
void seep_pinned_pool_destroy(struct seep_pinned_pool *pool)
{
    for (size_t i = 0; pool && i < pool->n; i++)
        (void)seep_arch_call6(SYS_munmap, (long)pool->blocks[i].address,
                              (long)pool->blocks[i].bytes, 0, 0, 0, 0);
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
