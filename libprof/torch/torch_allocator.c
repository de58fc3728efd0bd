#include "libprof/torch/torch_allocator.h"

#include "libprof/base/hash_index.h"

#include <stdlib.h>
#include <string.h>

/* PyTorch's own constants. */
static const uint64_t UNIT = 512, SMALL_SIZE = 1 << 20, SMALL_SEGMENT = 2 << 20,
                      LARGE_SEGMENT = 20 << 20, LARGE_SIZE = 10 << 20, LARGE_UNIT = 2 << 20;

/* Addresses of segments that the driver was not seen to give: above all that it has. */
static const uint64_t OWN_ADDRESSES = UINT64_C(1) << 60, SPAN = UINT64_C(10) << 41;

enum state { SPARE, TAKEN, FREE, UNMAPPED };

/* Of a segment, in the order of their addresses; what is free or unmapped is also in a tree of its
 * pool. */
struct block {
    uint64_t address, bytes;
    uint64_t base; /* of the segment, from where its pages are counted */
    uint32_t before, next;
    uint32_t left, right;
    uint32_t pool;    /* 2 × the caller's + is small */
    uint32_t born;    /* when it became free, in searches */
    uint32_t segment; /* the how many-th of those that the driver gave; 0: that can grow */
    uint8_t state;
    bool is_expandable;
};

struct pool {
    uint32_t free, unmapped; /* trees */
    bool is_private;
};

struct seep_torch_allocator {
    struct seep_allocator_rules rules;
    uint64_t max_split_bytes;
    struct block *blocks; /* [0]: none */
    size_t n_blocks, blocks_capacity;
    uint32_t spare; /* a list */
    struct pool *pools;
    size_t n_pools, pools_capacity;
    uint64_t reserved, peak, next_address, work;
    uint64_t private_reserved, private_at_peak; /* of these, in private pools */
    uint32_t searches, segments;
    uint32_t last; /* put at first */
};

static struct block *at(const struct seep_torch_allocator *a, uint32_t block)
{
    return &a->blocks[block];
}

static bool is_small(const struct block *b)
{
    return b->pool & 1;
}

static uint64_t rounded_up(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* ---- trees: by size, then place; those of what is unmapped by address alone ---------------- */

/* With the block's number, so that no two are alike whatever a trace says of addresses. */
struct key {
    uint64_t bytes, address;
    uint32_t segment, block;
};

static struct key key_of(const struct seep_torch_allocator *a, uint32_t block)
{
    const struct block *b = at(a, block);

    return (struct key){
        .bytes = b->state == UNMAPPED ? 0 : b->bytes,
        .address = b->address,
        .segment = a->rules.oldest_first ? b->segment : 0,
        .block = block,
    };
}

static bool is_below(struct key a, struct key b)
{
    return a.bytes != b.bytes       ? a.bytes < b.bytes
           : a.segment != b.segment ? a.segment < b.segment
           : a.address != b.address ? a.address < b.address
                                    : a.block < b.block;
}

/* Brings the place of a key to the top, so that however the keys come, a search takes O(log n) on
 * the average: they are a stranger's. */
static uint32_t splay(struct seep_torch_allocator *a, uint32_t top, struct key key)
{
    struct block ends = {0}, *left_end = &ends, *right_end = &ends;

    while (top) {
        const bool goes_left = is_below(key, key_of(a, top));
        uint32_t below = goes_left ? at(a, top)->left : at(a, top)->right;
        a->work -= a->work > 0;
        if (!below || (!goes_left && !is_below(key_of(a, top), key)))
            break;
        if (goes_left && is_below(key, key_of(a, below))) {
            at(a, top)->left = at(a, below)->right;
            at(a, below)->right = top;
            top = below;
            below = at(a, top)->left;
        } else if (!goes_left && is_below(key_of(a, below), key)) {
            at(a, top)->right = at(a, below)->left;
            at(a, below)->left = top;
            top = below;
            below = at(a, top)->right;
        }
        if (!below)
            break;
        if (goes_left) {
            right_end->left = top;
            right_end = at(a, top);
        } else {
            left_end->right = top;
            left_end = at(a, top);
        }
        top = below;
    }
    if (!top)
        return 0;
    left_end->right = at(a, top)->left;
    right_end->left = at(a, top)->right;
    at(a, top)->left = ends.right;
    at(a, top)->right = ends.left;
    return top;
}

static uint32_t *tree_of(struct seep_torch_allocator *a, uint32_t block)
{
    struct pool *pool = &a->pools[at(a, block)->pool];

    return at(a, block)->state == UNMAPPED ? &pool->unmapped : &pool->free;
}

static void insert(struct seep_torch_allocator *a, uint32_t block)
{
    struct block *b = at(a, block);
    uint32_t *tree = tree_of(a, block);
    const uint32_t top = splay(a, *tree, key_of(a, block));

    b->left = b->right = 0;
    b->born = a->searches;
    if (top && is_below(key_of(a, block), key_of(a, top))) {
        b->left = at(a, top)->left;
        b->right = top;
        at(a, top)->left = 0;
    } else if (top) {
        b->right = at(a, top)->right;
        b->left = top;
        at(a, top)->right = 0;
    }
    *tree = block;
}

static void erase(struct seep_torch_allocator *a, uint32_t block)
{
    uint32_t *tree = tree_of(a, block);
    const struct key key = key_of(a, block);

    *tree = splay(a, *tree, key);
    const uint32_t left = splay(a, at(a, block)->left, key), right = at(a, block)->right;
    if (left)
        at(a, left)->right = right;
    *tree = left ? left : right;
}

/* The first that is not below the key; 0: none. */
static uint32_t first_from(struct seep_torch_allocator *a, uint32_t *tree, struct key key)
{
    *tree = splay(a, *tree, key);
    if (!*tree || !is_below(key_of(a, *tree), key))
        return *tree;
    const uint32_t right = splay(a, at(a, *tree)->right, key);
    at(a, *tree)->right = right;
    return right;
}

static uint32_t following(struct seep_torch_allocator *a, uint32_t *tree, uint32_t block)
{
    struct key key = key_of(a, block);

    key.block++;
    return first_from(a, tree, key);
}

/* ---- blocks ------------------------------------------------------------------------------- */

static int new_block(struct seep_torch_allocator *a, const struct block *like, uint32_t *block)
{
    if (a->spare) {
        *block = a->spare;
        a->spare = at(a, *block)->next;
    } else {
        if (a->n_blocks >= UINT32_MAX ||
            seep_grow(&a->blocks, &a->blocks_capacity, a->n_blocks + 1, sizeof *a->blocks))
            return -SEEP_ENOMEM;
        *block = (uint32_t)a->n_blocks++;
    }
    *at(a, *block) = *like;
    return 0;
}

static void drop_block(struct seep_torch_allocator *a, uint32_t block)
{
    *at(a, block) = (struct block){.next = a->spare, .state = SPARE};
    a->spare = block;
}

static void link_behind(struct seep_torch_allocator *a, uint32_t block, uint32_t before)
{
    const uint32_t next = at(a, before)->next;

    at(a, block)->before = before;
    at(a, block)->next = next;
    at(a, before)->next = block;
    if (next)
        at(a, next)->before = block;
}

/* Cuts a block that is in no tree; what is behind becomes *rest, in no tree either. */
static int cut(struct seep_torch_allocator *a, uint32_t block, uint64_t bytes, uint32_t *rest)
{
    struct block behind = *at(a, block);

    behind.address += bytes;
    behind.bytes -= bytes;
    const int rc = new_block(a, &behind, rest);
    if (rc)
        return rc;
    at(a, block)->bytes = bytes;
    link_behind(a, *rest, block);
    return 0;
}

/* Takes a neighbour that is as the block is into it; neither may be taken. The block is in no
 * tree. */
static void join(struct seep_torch_allocator *a, uint32_t block, uint32_t neighbour)
{
    if (!neighbour || at(a, neighbour)->state != at(a, block)->state)
        return;
    erase(a, neighbour);
    struct block *b = at(a, block), *gone = at(a, neighbour);
    if (b->before == neighbour) {
        b->address = gone->address;
        b->before = gone->before;
        if (b->before)
            at(a, b->before)->next = block;
    } else {
        b->next = gone->next;
        if (b->next)
            at(a, b->next)->before = block;
    }
    b->bytes += gone->bytes;
    drop_block(a, neighbour);
}

static void become(struct seep_torch_allocator *a, uint32_t block, enum state state)
{
    at(a, block)->state = (uint8_t)state;
    join(a, block, at(a, block)->before);
    join(a, block, at(a, block)->next);
    insert(a, block);
}

/* ---- the driver --------------------------------------------------------------------------- */

static bool has_room(const struct seep_torch_allocator *a, uint64_t bytes)
{
    return !a->rules.capacity_bytes || a->reserved + bytes <= a->rules.capacity_bytes;
}

static void reserve(struct seep_torch_allocator *a, uint32_t pool, uint64_t bytes)
{
    a->reserved += bytes;
    a->private_reserved += a->pools[pool].is_private ? bytes : 0;
    if (a->reserved > a->peak) {
        a->peak = a->reserved;
        a->private_at_peak = a->private_reserved;
    }
}

static void unreserve(struct seep_torch_allocator *a, uint32_t pool, uint64_t bytes)
{
    a->reserved -= bytes;
    a->private_reserved -= a->pools[pool].is_private ? bytes : 0;
}

static uint64_t new_addresses(struct seep_torch_allocator *a, uint64_t bytes)
{
    const uint64_t address = a->next_address;

    a->next_address += rounded_up(bytes, LARGE_SEGMENT);
    return address;
}

static int new_segment(struct seep_torch_allocator *a, uint32_t pool, uint64_t bytes, uint64_t hint,
                       uint32_t *block)
{
    if (!has_room(a, bytes))
        return -SEEP_ENODATA;
    const uint64_t address = hint ? hint : new_addresses(a, bytes);
    const int rc = new_block(a,
                             &(struct block){.address = address,
                                             .bytes = bytes,
                                             .base = address,
                                             .pool = pool,
                                             .segment = ++a->segments,
                                             .state = FREE},
                             block);
    if (!rc)
        reserve(a, pool, bytes);
    return rc;
}

static uint64_t page_of(const struct block *b)
{
    return is_small(b) ? SMALL_SEGMENT : LARGE_SEGMENT;
}

/* Maps the beginning of what is unmapped, in whole pages, and joins it to what is free beside it.
 */
static int map(struct seep_torch_allocator *a, uint32_t block, uint64_t bytes)
{
    const uint64_t whole = at(a, block)->bytes, pages = rounded_up(bytes, page_of(at(a, block))),
                   mapped = pages < whole ? pages : whole;
    uint32_t rest = 0;

    if (!has_room(a, mapped))
        return -SEEP_ENODATA;
    erase(a, block);
    if (mapped < whole) {
        const int rc = cut(a, block, mapped, &rest);
        if (rc)
            return rc;
        insert(a, rest);
    }
    const uint32_t pool = at(a, block)->pool;
    become(a, block, FREE);
    reserve(a, pool, mapped);
    return 0;
}

/* Gives whole pages of a free block back. */
static int unmap(struct seep_torch_allocator *a, uint32_t block)
{
    const struct block b = *at(a, block);
    const uint64_t page = page_of(&b), from = b.base + rounded_up(b.address - b.base, page),
                   to = b.base + (b.address + b.bytes - b.base) / page * page;
    uint32_t rest;
    int rc = 0;

    if (from >= to)
        return 0;
    erase(a, block);
    if (to < b.address + b.bytes) {
        rc = cut(a, block, to - b.address, &rest);
        if (!rc)
            insert(a, rest);
    }
    if (!rc && from > b.address) {
        rc = cut(a, block, from - b.address, &rest);
        if (!rc) {
            insert(a, block);
            block = rest;
        }
    }
    if (rc)
        return rc;
    become(a, block, UNMAPPED);
    unreserve(a, b.pool, to - from);
    return 0;
}

/* Whether what is not taken, from a block on, has room. */
static bool has_addresses(struct seep_torch_allocator *a, uint32_t block, uint64_t bytes)
{
    uint64_t sum = 0;

    for (; sum < bytes && block && at(a, block)->state != TAKEN; block = at(a, block)->next) {
        sum += at(a, block)->bytes;
        a->work -= a->work > 0;
    }
    return sum >= bytes;
}

/* The lowest place in segments that can grow where such a block would fit. */
static int find_place(struct seep_torch_allocator *a, uint32_t pool, uint64_t bytes,
                      uint32_t *block)
{
    uint32_t *tree = &a->pools[pool].unmapped;

    for (uint32_t gap = first_from(a, tree, (struct key){0}); gap && a->work;
         gap = following(a, tree, gap)) {
        const uint32_t before = at(a, gap)->before;
        *block = before && at(a, before)->state == FREE ? before : gap;
        if (has_addresses(a, *block, bytes))
            return 0;
    }
    const uint64_t address = new_addresses(a, SPAN);
    const int rc = new_block(a,
                             &(struct block){.address = address,
                                             .bytes = SPAN,
                                             .base = address,
                                             .pool = pool,
                                             .state = UNMAPPED,
                                             .is_expandable = true},
                             block);
    if (!rc)
        insert(a, *block);
    return rc;
}

static int grow_segment(struct seep_torch_allocator *a, uint32_t pool, uint64_t bytes,
                        uint32_t *block)
{
    uint32_t place;
    int rc = find_place(a, pool, bytes, &place);

    if (!rc && at(a, place)->state == UNMAPPED)
        rc = map(a, place, at(a, place)->bytes < bytes ? at(a, place)->bytes : bytes);
    while (!rc && at(a, place)->bytes < bytes) {
        const uint32_t next = at(a, place)->next;
        const uint64_t lacks = bytes - at(a, place)->bytes, has = next ? at(a, next)->bytes : 0;
        if (!next || at(a, next)->state != UNMAPPED)
            return -SEEP_ENODATA;
        rc = map(a, next, has < lacks ? has : lacks);
        place = next;
    }
    if (rc)
        return rc;
    erase(a, place);
    *block = place;
    return 0;
}

/* ---- giving back -------------------------------------------------------------------------- */

static void release(struct seep_torch_allocator *a, uint32_t block)
{
    erase(a, block);
    unreserve(a, at(a, block)->pool, at(a, block)->bytes);
    drop_block(a, block);
}

static bool is_whole(const struct block *b)
{
    return !b->is_expandable && !b->before && !b->next;
}

static void release_of(struct seep_torch_allocator *a, uint32_t pool)
{
    uint32_t *tree = &a->pools[pool].free, next;

    for (uint32_t b = first_from(a, tree, (struct key){0}); b && a->work; b = next) {
        next = following(a, tree, b);
        if (is_whole(at(a, b)))
            release(a, b);
        else if (at(a, b)->is_expandable && unmap(a, b))
            a->work = 0;
    }
}

void seep_torch_allocator_empty(struct seep_torch_allocator *a, bool private_pools)
{
    for (size_t i = a->n_pools; i-- > 0 && a->work;) {
        a->work--;
        if (a->pools[i].is_private == private_pools)
            release_of(a, (uint32_t)i);
    }
}

/* With max_split_size_mb: as much of what is larger as the request needs. False: that is not
 * enough. */
static bool release_large(struct seep_torch_allocator *a, uint32_t pool, uint64_t bytes)
{
    uint32_t *tree = &a->pools[pool].free;
    const uint64_t wanted = bytes < a->max_split_bytes ? a->max_split_bytes : bytes;
    uint64_t released = 0;

    if (a->max_split_bytes == UINT64_MAX)
        return false;
    const uint32_t one = first_from(a, tree, (struct key){.bytes = wanted});
    if (one) {
        if (!is_whole(at(a, one)))
            return false;
        release(a, one);
        return true;
    }
    while (*tree && released < wanted && a->work) {
        *tree = splay(a, *tree, (struct key){.bytes = UINT64_MAX});
        if (at(a, *tree)->bytes < a->max_split_bytes || !is_whole(at(a, *tree)))
            break;
        released += at(a, *tree)->bytes;
        release(a, *tree);
    }
    return released >= wanted;
}

/* What garbage_collection_threshold looks at: whole large segments, and how long each was not
 * used. */
struct ages {
    double sum;
    size_t n;
};

static struct ages ages_of(struct seep_torch_allocator *a)
{
    struct ages ages = {0, 0};

    for (size_t i = 0; i < a->n_blocks; i++) {
        const struct block *b = &a->blocks[i];
        a->work -= a->work > 0;
        if (b->state == FREE && !is_small(b) && is_whole(b) && !a->pools[b->pool].is_private) {
            ages.sum += a->searches - b->born;
            ages.n++;
        }
    }
    return ages;
}

static void collect(struct seep_torch_allocator *a)
{
    const uint64_t allowed = (uint64_t)(a->rules.collect_above * (double)a->rules.capacity_bytes);
    bool has_freed = true;

    while (a->reserved > allowed && has_freed && a->work) {
        const struct ages ages = ages_of(a);
        has_freed = false;
        for (uint32_t i = 1; ages.n && i < a->n_blocks; i++) {
            const struct block *b = &a->blocks[i];
            if (b->state != FREE || is_small(b) || !is_whole(b) || a->pools[b->pool].is_private ||
                a->searches - b->born < ages.sum / (double)ages.n)
                continue;
            release(a, i);
            has_freed = true;
        }
    }
}

/* ---- taking ------------------------------------------------------------------------------- */

static unsigned size_class(uint64_t bytes)
{
    const unsigned power = 63u - (unsigned)__builtin_clzll(bytes | 1);

    return power < 20                          ? 0
           : power - 20 < SEEP_ALLOCATOR_SIZES ? power - 20
                                               : SEEP_ALLOCATOR_SIZES - 1;
}

static uint64_t size_of(const struct seep_torch_allocator *a, uint64_t bytes)
{
    const uint64_t divisions = a->rules.divisions[size_class(bytes)];

    if (bytes < UNIT)
        return UNIT;
    if (divisions <= 1 || bytes <= UNIT * divisions)
        return rounded_up(bytes, UNIT);
    const unsigned power = 63u - (unsigned)__builtin_clzll(bytes);
    const uint64_t step = (UINT64_C(1) << power) >> (63u - (unsigned)__builtin_clzll(divisions));
    return step ? rounded_up(bytes, step) : UINT64_C(2) << power;
}

static uint64_t segment_of(uint64_t bytes)
{
    return bytes <= SMALL_SIZE  ? SMALL_SEGMENT
           : bytes < LARGE_SIZE ? LARGE_SEGMENT
                                : rounded_up(bytes, LARGE_UNIT);
}

static uint64_t can_become(const struct seep_torch_allocator *a, uint32_t block)
{
    const struct block *b = at(a, block), *next = at(a, b->next);

    return b->bytes + (b->next && next->state == UNMAPPED ? next->bytes : 0);
}

/* A block that fits, out of its tree; 0: none. */
static uint32_t find_free(struct seep_torch_allocator *a, uint32_t pool, uint64_t bytes)
{
    uint32_t *tree = &a->pools[pool].free, next;
    uint32_t found = first_from(a, tree, (struct key){.bytes = bytes});

    a->searches++;
    if (found && at(a, found)->is_expandable && a->rules.expandable) {
        while (at(a, found)->is_expandable && (next = following(a, tree, found)) && a->work &&
               can_become(a, next) < can_become(a, found))
            found = next;
    } else {
        while (found && at(a, found)->is_expandable && a->work)
            found = following(a, tree, found);
    }
    if (!found || (bytes < a->max_split_bytes && at(a, found)->bytes >= a->max_split_bytes) ||
        (bytes >= a->max_split_bytes && at(a, found)->bytes >= bytes + LARGE_SEGMENT))
        return 0;
    erase(a, found);
    return found;
}

static int ask_driver(struct seep_torch_allocator *a, uint32_t pool, uint64_t bytes, uint64_t hint,
                      uint32_t *block)
{
    return a->rules.expandable ? grow_segment(a, pool, bytes, block)
                               : new_segment(a, pool, segment_of(bytes), hint, block);
}

static int find_block(struct seep_torch_allocator *a, uint32_t pool, uint64_t bytes, uint64_t hint,
                      uint32_t *block)
{
    int rc;

    *block = find_free(a, pool, bytes);
    if (*block)
        return 0;
    if (a->rules.collect_above > 0 && a->rules.capacity_bytes)
        collect(a);
    rc = ask_driver(a, pool, bytes, hint, block);
    if (rc == -SEEP_ENODATA && release_large(a, pool, bytes))
        rc = ask_driver(a, pool, bytes, hint, block);
    if (rc == -SEEP_ENODATA) {
        seep_torch_allocator_empty(a, false);
        rc = ask_driver(a, pool, bytes, hint, block);
    }
    return rc;
}

static bool is_cut(const struct seep_torch_allocator *a, const struct block *b, uint64_t bytes)
{
    const uint64_t rest = b->bytes - bytes;

    return is_small(b) || a->rules.expandable ? rest >= UNIT
                                              : bytes < a->max_split_bytes && rest > SMALL_SIZE;
}

static int ensure_pool(struct seep_torch_allocator *a, unsigned pool)
{
    const size_t n = 2 * ((size_t)pool + 1), had = a->n_pools;

    if (n <= had)
        return 0;
    if (seep_grow(&a->pools, &a->pools_capacity, n, sizeof *a->pools))
        return -SEEP_ENOMEM;
    memset(&a->pools[had], 0, (n - had) * sizeof *a->pools);
    a->n_pools = n;
    return 0;
}

int seep_torch_allocator_take(struct seep_torch_allocator *a, unsigned pool, uint64_t asked,
                              uint64_t hint, uint32_t *block)
{
    const uint64_t bytes = size_of(a, asked);
    uint32_t rest;
    int rc = ensure_pool(a, pool);

    if (!rc)
        rc = find_block(a, 2 * pool + (bytes <= SMALL_SIZE), bytes, hint, block);
    if (!rc && is_cut(a, at(a, *block), bytes)) {
        rc = cut(a, *block, bytes, &rest);
        if (!rc)
            insert(a, rest);
    }
    if (!rc)
        at(a, *block)->state = TAKEN;
    return a->work || rc == -SEEP_ENOMEM ? rc : -SEEP_ELIMIT;
}

void seep_torch_allocator_give(struct seep_torch_allocator *a, uint32_t block)
{
    become(a, block, FREE);
}

/* ---- what is there at first --------------------------------------------------------------- */

int seep_torch_allocator_put_segment(struct seep_torch_allocator *a, unsigned pool,
                                     uint64_t address, uint64_t bytes, bool small,
                                     bool is_expandable)
{
    const struct block segment = {.address = address,
                                  .bytes = bytes,
                                  .base = address,
                                  .pool = 2 * pool + small,
                                  .state = FREE,
                                  .is_expandable = is_expandable};
    struct block gap = segment;
    uint32_t block, behind;
    int rc = ensure_pool(a, pool);

    if (!rc)
        rc = new_block(a, &segment, &block);
    if (rc)
        return rc;
    reserve(a, segment.pool, bytes);
    a->last = block;
    insert(a, block);
    if (!is_expandable)
        return 0;
    gap.address += bytes;
    gap.bytes = bytes < SPAN ? rounded_up(SPAN - bytes, page_of(&segment)) : 0;
    gap.state = UNMAPPED;
    rc = new_block(a, &gap, &behind);
    if (rc)
        return rc;
    link_behind(a, behind, block);
    insert(a, behind);
    return 0;
}

int seep_torch_allocator_put_block(struct seep_torch_allocator *a, uint64_t address, uint64_t bytes,
                                   uint32_t *block)
{
    struct block *last = at(a, a->last);
    uint32_t rest = 0;
    int rc = 0;

    if (!a->last || last->state != FREE || address < last->address ||
        address - last->address >= last->bytes)
        return -SEEP_ENODATA;
    bytes = size_of(a, bytes);
    erase(a, a->last);
    if (address > last->address) {
        rc = cut(a, a->last, address - last->address, &rest);
        insert(a, a->last);
        a->last = rc ? 0 : rest;
    }
    *block = a->last;
    if (!rc && is_cut(a, at(a, *block), bytes) && at(a, *block)->bytes > bytes) {
        rc = cut(a, *block, bytes, &rest);
        if (!rc)
            insert(a, rest);
        a->last = rest;
    } else {
        a->last = 0;
    }
    if (!rc)
        at(a, *block)->state = TAKEN;
    return rc;
}

/* ---- the whole ---------------------------------------------------------------------------- */

struct seep_torch_allocator *seep_torch_allocator_new(const struct seep_allocator_rules *rules,
                                                      uint64_t work)
{
    struct seep_torch_allocator *a = calloc(1, sizeof *a);
    uint32_t none;

    if (!a)
        return NULL;
    a->rules = *rules;
    a->max_split_bytes = rules->max_split_bytes ? rules->max_split_bytes : UINT64_MAX;
    a->next_address = OWN_ADDRESSES;
    a->work = work;
    if (!new_block(a, &(struct block){.state = SPARE}, &none))
        return a;
    free(a);
    return NULL;
}

void seep_torch_allocator_free(struct seep_torch_allocator *a)
{
    if (!a)
        return;
    free(a->blocks);
    free(a->pools);
    free(a);
}

void seep_torch_allocator_set_private(struct seep_torch_allocator *a, unsigned pool)
{
    if (!ensure_pool(a, pool))
        a->pools[2 * pool].is_private = a->pools[2 * pool + 1].is_private = true;
}

uint64_t seep_torch_allocator_reserved(const struct seep_torch_allocator *a)
{
    return a->reserved;
}

uint64_t seep_torch_allocator_peak(const struct seep_torch_allocator *a)
{
    return a->peak;
}

uint64_t seep_torch_allocator_private_at_peak(const struct seep_torch_allocator *a)
{
    return a->private_at_peak;
}

uint64_t seep_torch_allocator_work(const struct seep_torch_allocator *a)
{
    return a->work;
}
