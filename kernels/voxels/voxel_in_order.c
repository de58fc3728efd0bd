/* A table is too large for the fast caches, so its slots are fetched a block of points ahead. */
#include "kernels/voxels/voxel_in_order.h"

#include "kernels/compute/cpu_levels.h"

#include <string.h>

enum { BLOCK = 32 };

/* Points whose slots are on their way. */
struct block {
    size_t begin, n;
    uint64_t keys[BLOCK];
    uint32_t slots[BLOCK];
};

/* What is the same for all points. */
struct lookup {
    struct seep_voxel_key key;
    uint64_t scatter, n_slots; /* scatter: odd, random: exact keys are no secret */
    unsigned number_bits;      /* the low bits of an entry: enough for n, which means empty */
};

enum kind { CELLS, NARROW, WIDE };

static const uint64_t empty = UINT64_MAX;
static const uint32_t empty_32 = UINT32_MAX;

static unsigned bits_for(size_t n)
{
    unsigned bits = 1;

    while (n >> bits)
        bits++;
    return bits;
}

/* Finds the slots of the points from `begin` on, and fetches them. */
SEEP_INLINE void begin_block(const struct seep_voxel_order *o, const struct seep_voxel_key *key_of,
                             const struct lookup *l, enum kind kind, size_t begin, struct block *b)
{
    b->begin = begin;
    b->n = o->n - begin < BLOCK ? o->n - begin : BLOCK;
    seep_voxel_keys(key_of, o->coords + begin, b->n, b->keys);
    for (size_t i = 0; i < b->n; i++) {
        uint64_t key = b->keys[i];
        if (kind == CELLS) {
            b->slots[i] = o->coords[begin + i][0] < 0 ? 0 : (uint32_t)key;
            __builtin_prefetch((uint32_t *)o->table + b->slots[i], 1);
            continue;
        }
        uint64_t hash = (kind == NARROW ? key : key * l->scatter) >> 32;
        b->slots[i] = (uint32_t)(hash * l->n_slots >> 32);
        if (kind == NARROW)
            __builtin_prefetch((uint32_t *)o->table + b->slots[i], 1);
        else
            __builtin_prefetch((uint64_t *)o->table + b->slots[i], 1);
    }
}

static inline bool same_voxel(const struct seep_voxel_order *o, size_t voxel, size_t point)
{
    return memcmp(o->voxel_coords[voxel], o->coords[point], sizeof o->coords[point]) == 0;
}

SEEP_INLINE void begin_voxel(const struct seep_voxel_order *o, bool counting, size_t voxel,
                             size_t point)
{
    memcpy(o->voxel_coords[voxel], o->coords[point], sizeof o->coords[point]);
    o->voxel_of[point] = (int32_t)voxel;
    if (counting)
        o->counts[voxel] = 1;
    else
        o->first[voxel] = (int32_t)point;
}

SEEP_INLINE void join_voxel(const struct seep_voxel_order *o, bool counting, size_t voxel,
                            size_t point)
{
    o->voxel_of[point] = (int32_t)voxel;
    if (counting)
        o->counts[voxel]++;
}

/* Whether a point of a small box is its voxel's first is unpredictable, so nothing branches on it:
 * what belongs to the next voxel is written for each point, and kept for its first. */
SEEP_INLINE size_t end_cells(const struct seep_voxel_order *o, bool counting, const struct block *b,
                             size_t n_voxels)
{
    uint32_t *table = o->table;

    for (size_t i = 0; i < b->n; i++) {
        size_t point = b->begin + i;
        if (o->coords[point][0] < 0) {
            o->voxel_of[point] = -1;
            continue;
        }
        uint32_t entry = table[b->slots[i]];
        bool is_first = entry == empty_32;
        uint32_t voxel = is_first ? (uint32_t)n_voxels : entry;
        table[b->slots[i]] = voxel;
        o->voxel_of[point] = (int32_t)voxel;
        if (counting) {
            memcpy(o->voxel_coords[n_voxels], o->coords[point], sizeof o->coords[point]);
            o->counts[voxel] = is_first ? 1 : o->counts[voxel] + 1;
        } else {
            o->first[n_voxels] = (int32_t)point;
        }
        n_voxels += is_first;
    }
    return n_voxels;
}

SEEP_INLINE size_t end_narrow(const struct seep_voxel_order *o, const struct lookup *l,
                              bool counting, const struct block *b, size_t n_voxels)
{
    const uint32_t numbers = (UINT32_C(1) << l->number_bits) - 1;
    uint32_t *table = o->table;

    for (size_t i = 0; i < b->n; i++) {
        size_t point = b->begin + i, slot = b->slots[i];
        if (o->coords[point][0] < 0) {
            o->voxel_of[point] = -1;
            continue;
        }
        /* Not the highest bits of the key: they are nearly the same in all points that meet. */
        uint32_t tag = (uint32_t)(b->keys[i] >> 20) << l->number_bits, entry = table[slot];
        while (entry != empty_32 &&
               ((entry & ~numbers) != tag || !same_voxel(o, entry & numbers, point))) {
            slot = slot + 1 == l->n_slots ? 0 : slot + 1;
            entry = table[slot];
        }
        if (entry == empty_32) {
            table[slot] = tag | (uint32_t)n_voxels;
            begin_voxel(o, counting, n_voxels++, point);
        } else {
            join_voxel(o, counting, entry & numbers, point);
        }
    }
    return n_voxels;
}

SEEP_INLINE size_t end_wide(const struct seep_voxel_order *o, const struct lookup *l, bool exact,
                            bool counting, const struct block *b, size_t n_voxels)
{
    const uint64_t numbers = (UINT64_C(1) << l->number_bits) - 1;
    uint64_t *table = o->table;

    for (size_t i = 0; i < b->n; i++) {
        size_t point = b->begin + i, slot = b->slots[i];
        if (o->coords[point][0] < 0) {
            o->voxel_of[point] = -1;
            continue;
        }
        uint64_t key = b->keys[i], entry = table[slot];
        while (entry != empty && (entry >> l->number_bits != key ||
                                  (!exact && !same_voxel(o, entry & numbers, point)))) {
            slot = slot + 1 == l->n_slots ? 0 : slot + 1;
            entry = table[slot];
        }
        if (entry == empty) {
            table[slot] = key << l->number_bits | n_voxels;
            begin_voxel(o, counting, n_voxels++, point);
        } else {
            join_voxel(o, counting, entry & numbers, point);
        }
    }
    return n_voxels;
}

/* `kind`, `exact` and `counting` are constants at every call. The copies are the compiler's alone:
 * it keeps in registers what rows that are written could otherwise change. */
SEEP_INLINE size_t number(const struct seep_voxel_order *o, const struct lookup *l, enum kind kind,
                          bool exact, bool counting)
{
    const struct seep_voxel_order order = *o;
    const struct lookup lookup = *l;
    struct block blocks[2];
    size_t n_voxels = 0;

    if (order.n)
        begin_block(&order, &l->key, &lookup, kind, 0, &blocks[0]);
    for (size_t at = 0, turn = 0; at < order.n; at += BLOCK, turn ^= 1) {
        const struct block *b = &blocks[turn];
        if (at + BLOCK < order.n)
            begin_block(&order, &l->key, &lookup, kind, at + BLOCK, &blocks[turn ^ 1]);
        n_voxels = kind == CELLS    ? end_cells(&order, counting, b, n_voxels)
                   : kind == NARROW ? end_narrow(&order, &lookup, counting, b, n_voxels)
                                    : end_wide(&order, &lookup, exact, counting, b, n_voxels);
    }
    return n_voxels;
}

size_t seep_voxel_order_by_cells(const struct seep_voxel_order *o, const struct seep_voxel_box *box)
{
    struct lookup l = {.key = seep_voxel_key_of_cells(box)};

    memset(o->table, 0xff, seep_voxel_box_cells(box) * sizeof(uint32_t));
    return o->counts ? number(o, &l, CELLS, true, true) : number(o, &l, CELLS, true, false);
}

static struct lookup lookup_of(struct seep_voxel_key key, size_t bytes, size_t slot_bytes, size_t n)
{
    struct seep_chance chance = seep_voxel_chance();

    for (int d = 0; d < 4; d++) /* these are the factors of seep_voxel_key_drawn() */
        (void)seep_chance_next(&chance);
    return (struct lookup){key, seep_chance_next(&chance) | 1, bytes / slot_bytes, bits_for(n)};
}

size_t seep_voxel_order_narrow(const struct seep_voxel_order *o)
{
    size_t bytes = seep_voxel_narrow_bytes(o->n);
    struct lookup l = lookup_of(seep_voxel_key_drawn(), bytes, sizeof(uint32_t), o->n);

    memset(o->table, 0xff, bytes);
    return o->counts ? number(o, &l, NARROW, false, true) : number(o, &l, NARROW, false, false);
}

size_t seep_voxel_order_wide(const struct seep_voxel_order *o, const struct seep_voxel_box *box)
{
    size_t bytes = seep_voxel_wide_bytes(o->n);
    unsigned spare = 32 - bits_for(o->n); /* bits of an entry beyond a number and 32 of the key */
    struct seep_voxel_key key = seep_voxel_key_for(
        box, spare < SEEP_VOXEL_MAX_PARTITION_BITS ? spare : SEEP_VOXEL_MAX_PARTITION_BITS);
    struct lookup l = lookup_of(key, bytes, sizeof(uint64_t), o->n);

    memset(o->table, 0xff, bytes);
    if (!key.exact)
        return o->counts ? number(o, &l, WIDE, false, true) : number(o, &l, WIDE, false, false);
    return o->counts ? number(o, &l, WIDE, true, true) : number(o, &l, WIDE, true, false);
}

void seep_voxel_order_list(const struct seep_voxel_order *o, size_t n_voxels, int32_t *voxel_points)
{
    int32_t *ends = o->counts, sum = 0;

    for (size_t v = 0; v < n_voxels; v++)
        ends[v] = sum += ends[v];
    ends[n_voxels] = sum;
    for (size_t i = o->n; i-- > 0;) { /* backwards, which turns ends into starts */
        int32_t voxel = o->voxel_of[i];
        if (voxel >= 0)
            voxel_points[--ends[voxel]] = (int32_t)i;
    }
}
