/* Expandable segments: one a pool, in a range of its own, with memory where blocks are. */
#include "kernels/lab/scenarios/caching_pools.h"
#include "preload/seep.h"

#include <stdlib.h>

#define MIB ((size_t)1 << 20)

static size_t page_bytes(unsigned which)
{
    return which == SEEP_POOL_SMALL ? 2 * MIB : 20 * MIB;
}

/* Reports one block that has grown or shrunk. */
static void announce(const struct seep_caching_allocator *a, const struct seep_segment *s)
{
    if (!a->device_space)
        return;
    if (s->mapped)
        seep_block_made(a->device_space, (void *)s->address, s->mapped);
    else
        seep_block_gone(a->device_space, (void *)s->address);
}

/* Adds a hole after the segment's last block; makes the segment if there is none. */
static struct seep_caching_block *add_hole(struct seep_caching_allocator *a, unsigned which,
                                           size_t bytes)
{
    struct seep_pool *pool = &a->pools[which];
    struct seep_segment *s = pool->expandable;
    struct seep_caching_block *hole = calloc(1, sizeof *hole);

    if (!s)
        s = calloc(1, sizeof *s);
    if (!hole || !s) {
        free(hole);
        if (!pool->expandable)
            free(s);
        return NULL;
    }
    if (!pool->expandable) {
        s->next = a->segments;
        a->segments = pool->expandable = s;
        a->counts.n_segments++;
    }
    *hole = (struct seep_caching_block){.address = s->address + s->bytes,
                                        .bytes = bytes,
                                        .segment = s,
                                        .before = pool->last,
                                        .pool = which,
                                        .state = SEEP_BLOCK_HOLE};
    *(pool->last ? &pool->last->after : &s->first) = hole;
    pool->last = hole;
    pool->n_blocks++;
    s->bytes += bytes;
    return hole;
}

/* A segment never ends with a hole. */
static void drop_last_hole(struct seep_caching_allocator *a, unsigned which)
{
    struct seep_pool *pool = &a->pools[which];
    struct seep_caching_block *hole = pool->last;

    if (!hole || hole->state != SEEP_BLOCK_HOLE)
        return;
    pool->last = hole->before;
    *(hole->before ? &hole->before->after : &hole->segment->first) = NULL;
    hole->segment->bytes -= hole->bytes;
    pool->n_blocks--;
    free(hole);
}

static size_t free_before(const struct seep_caching_block *block)
{
    return seep_block_is_free(block->before) ? block->before->bytes : 0;
}

/* The first hole that has room for the request, including free neighbours; else a new one at the
 * end. */
static struct seep_caching_block *find_hole(struct seep_caching_allocator *a, size_t bytes,
                                            unsigned which)
{
    struct seep_pool *pool = &a->pools[which];
    struct seep_caching_block *b = pool->expandable ? pool->expandable->first : NULL;

    for (; b; b = b->after) {
        size_t behind = seep_block_is_free(b->after) ? b->after->bytes : 0;
        if (b->state == SEEP_BLOCK_HOLE && free_before(b) + b->bytes + behind >= bytes)
            return b;
    }
    size_t at_end = seep_block_is_free(pool->last) ? pool->last->bytes : 0;
    return add_hole(a, which, seep_pool_round_up(bytes - at_end, page_bytes(which)));
}

/* The pool's one segment gains the pages that the request lacks. */
__attribute__((noinline)) int seep_expandable_grow(struct seep_caching_allocator *a, size_t bytes,
                                                   unsigned which, struct seep_caching_block **out)
{
    struct seep_caching_block *hole = find_hole(a, bytes, which);

    if (!hole)
        return -SEEP_ENOMEM;
    struct seep_segment *s = hole->segment;
    size_t more = seep_pool_round_up(bytes - free_before(hole), page_bytes(which));
    if (more < hole->bytes && !seep_block_cut(a, hole, more))
        return -SEEP_ENOMEM;
    int rc = a->driver.grow(a->driver.context, s->bytes, hole->bytes, &s->address);
    a->counts.driver_calls++;
    if (rc) {
        if (seep_block_is_hole(hole->after))
            seep_block_join(a, hole, hole->after);
        drop_last_hole(a, which);
        return rc;
    }
    if (!hole->before)
        hole->address = s->address;
    s->mapped += hole->bytes;
    a->counts.reserved_bytes += hole->bytes;
    hole->state = SEEP_BLOCK_OUT;
    *out = seep_block_join_free(a, hole);
    announce(a, s);
    return 0;
}

/* Whether whole pages of the block are free; *from and *to: where, in the segment. */
static bool has_pages(const struct seep_caching_block *block, size_t *from, size_t *to)
{
    size_t page = page_bytes(block->pool), at = block->address - block->segment->address;

    *from = seep_pool_round_up(at, page);
    *to = (at + block->bytes) / page * page;
    return *from < *to;
}

/* Whole pages of a free block become a hole; what is beside them stays free. False without memory:
 * nothing has changed then. */
static bool make_hole(struct seep_caching_allocator *a, struct seep_caching_block *block)
{
    struct seep_pool *pool = &a->pools[block->pool];
    struct seep_segment *s = block->segment;
    size_t from, to, at = block->address - s->address, end = at + block->bytes;

    if (!has_pages(block, &from, &to) || !seep_pool_make_room(pool))
        return false;
    seep_pool_take_out(pool, block);
    struct seep_caching_block *behind = NULL, *hole = block;
    if (to < end)
        behind = seep_block_cut(a, block, to - at);
    if (from > at && (behind || to == end))
        hole = seep_block_cut(a, block, from - at);
    if ((to < end && !behind) || !hole) {
        if (behind)
            seep_block_join(a, block, behind);
        seep_pool_put(pool, block);
        return false;
    }
    if (behind)
        seep_pool_put(pool, behind);
    if (hole != block)
        seep_pool_put(pool, block);
    hole->state = SEEP_BLOCK_HOLE;
    a->driver.give(a->driver.context, hole->address, hole->bytes);
    a->counts.driver_calls++;
    a->counts.reserved_bytes -= hole->bytes;
    s->mapped -= hole->bytes;
    if (seep_block_is_hole(hole->after))
        seep_block_join(a, hole, hole->after);
    if (seep_block_is_hole(hole->before))
        seep_block_join(a, hole->before, hole);
    drop_last_hole(a, (unsigned)(pool - a->pools));
    announce(a, s);
    return true;
}

/* Making a hole changes the list, so the loop restarts after each. */
void seep_expandable_empty(struct seep_caching_allocator *a, struct seep_pool *pool)
{
    size_t from, to, i = 0;

    while (i < pool->n) {
        if (!has_pages(pool->free[i], &from, &to))
            i++;
        else if (make_hole(a, pool->free[i]))
            i = 0;
        else
            return;
    }
}
