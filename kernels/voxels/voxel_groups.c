#include "kernels/voxels/voxel_groups.h"

#include "libprof/arch/arch.h"

#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    PARTITION_POINTS = 4096, /* on average: a table with four slots per point stays in L2 */
    MIN_CHUNK = 4096,        /* points that make it worth waking another thread */
    SPINS = 2000,
};

static const uint64_t empty = UINT64_MAX;

void *seep_voxel_take(void *base, size_t *at, size_t bytes)
{
    void *part = base ? (char *)base + *at : NULL;

    *at += (bytes + 63) / 64 * 64;
    return part;
}

static unsigned partition_bits_for(size_t n)
{
    unsigned bits = 0;

    while (bits < SEEP_VOXEL_MAX_PARTITION_BITS && n >> bits > PARTITION_POINTS)
        bits++;
    return bits;
}

void seep_voxel_groups_init(struct seep_voxel_groups *g, const int32_t (*coords)[4], size_t n,
                            unsigned n_threads, void *scratch, size_t *at)
{
    size_t n_chunks = n / MIN_CHUNK + 1, rows;
    struct seep_chance chance = seep_voxel_chance();

    if (n_chunks > n_threads)
        n_chunks = n_threads;
    if (n_chunks > SEEP_VOXEL_MAX_CHUNKS)
        n_chunks = SEEP_VOXEL_MAX_CHUNKS;
    memset(g, 0, sizeof *g);
    g->scatter = (uint32_t)(seep_chance_next(&chance) >> 32) | 1;
    g->coords = coords;
    g->n = n;
    g->chunk = ((n + n_chunks - 1) / n_chunks + 15) / 16 * 16; /* whole cache lines of indices */
    g->n_chunks = (unsigned)n_chunks;
    g->partition_bits = partition_bits_for(n);
    g->table_slots = 4;
    while (g->table_slots < (n >> g->partition_bits) * 5)
        g->table_slots *= 2;
    rows = n_chunks * ((size_t)1 << g->partition_bits) + n_chunks;
    g->tallies = seep_voxel_take(scratch, at, n_chunks * sizeof *g->tallies);
    g->starts = seep_voxel_take(scratch, at, rows * sizeof *g->starts);
    g->cursors = seep_voxel_take(scratch, at, rows * sizeof *g->cursors);
    g->tables = seep_voxel_take(scratch, at, n_chunks * g->table_slots * sizeof *g->tables);
    g->partitions = seep_voxel_take(scratch, at, n * sizeof *g->partitions);
    g->records = seep_voxel_take(scratch, at, n * sizeof *g->records);
}

size_t seep_voxel_chunk_begin(const struct seep_voxel_groups *g, unsigned chunk)
{
    size_t begin = chunk * g->chunk;

    return begin < g->n ? begin : g->n;
}

/* Spins for a short while, which is usually enough; then sleeps, because there may be fewer CPUs
 * than threads. */
void seep_voxel_groups_wait(struct seep_voxel_groups *g)
{
    struct seep_voxel_barrier *b = &g->barrier;
    uint32_t turn = atomic_load(&b->turn);

    if (atomic_fetch_add(&b->arrived, 1) + 1 == g->n_chunks) {
        atomic_store(&b->arrived, 0);
        atomic_fetch_add(&b->turn, 1);
        if (atomic_load(&b->asleep))
            syscall(SYS_futex, &b->turn, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
        return;
    }
    for (unsigned spins = 0; spins < SPINS; spins++) {
        if (atomic_load_explicit(&b->turn, memory_order_acquire) != turn)
            return;
        seep_arch_pause();
    }
    atomic_fetch_add(&b->asleep, 1);
    while (atomic_load(&b->turn) == turn)
        syscall(SYS_futex, &b->turn, FUTEX_WAIT_PRIVATE, turn, NULL, NULL, 0);
    atomic_fetch_sub(&b->asleep, 1);
}

static uint32_t *row(const struct seep_voxel_groups *g, uint32_t *rows, unsigned chunk)
{
    return rows + chunk * (((size_t)1 << g->partition_bits) + 1);
}

/* Finds each point's partition in the chunk, and counts the points of each. */
static void count(struct seep_voxel_groups *g, const struct seep_voxel_key *key, unsigned chunk)
{
    size_t begin = seep_voxel_chunk_begin(g, chunk), end = seep_voxel_chunk_begin(g, chunk + 1);
    uint32_t *counts = row(g, g->starts, chunk);
    unsigned bits = g->partition_bits;
    uint64_t keys[SEEP_VOXEL_BLOCK];

    memset(counts, 0, (((size_t)1 << bits) + 1) * sizeof *counts);
    for (size_t i = begin; i < end; i += SEEP_VOXEL_BLOCK) {
        size_t n = end - i < SEEP_VOXEL_BLOCK ? end - i : SEEP_VOXEL_BLOCK;
        seep_voxel_keys(key, g->coords + i, n, keys);
        for (size_t j = 0; j < n; j++) {
            uint32_t p = seep_voxel_partition(keys[j], bits);
            g->partitions[i + j] = (uint16_t)p;
            counts[p]++;
        }
    }
}

/* Turns counts into start indices, by partition, then by chunk. */
static void lay_out(struct seep_voxel_groups *g)
{
    size_t n_rows = ((size_t)1 << g->partition_bits) + 1;
    uint32_t at = 0;

    for (size_t p = 0; p < n_rows; p++) {
        for (unsigned c = 0; c < g->n_chunks; c++) {
            uint32_t *start = row(g, g->starts, c) + p;
            uint32_t here = *start;
            *start = at;
            at += here;
        }
    }
}

void seep_voxel_groups_rewind(struct seep_voxel_groups *g, unsigned chunk)
{
    memcpy(row(g, g->cursors, chunk), row(g, g->starts, chunk),
           (((size_t)1 << g->partition_bits) + 1) * sizeof *g->cursors);
}

/* Copies the chunk's points to their partitions, as low key bits << 32 | point. */
static void deal(struct seep_voxel_groups *g, const struct seep_voxel_key *key, unsigned chunk)
{
    size_t begin = seep_voxel_chunk_begin(g, chunk), end = seep_voxel_chunk_begin(g, chunk + 1);
    uint32_t *cursors = row(g, g->cursors, chunk);
    unsigned bits = g->partition_bits;
    uint64_t keys[SEEP_VOXEL_BLOCK];

    seep_voxel_groups_rewind(g, chunk);
    for (size_t i = begin; i < end; i += SEEP_VOXEL_BLOCK) {
        size_t n = end - i < SEEP_VOXEL_BLOCK ? end - i : SEEP_VOXEL_BLOCK;
        seep_voxel_keys(key, g->coords + i, n, keys);
        for (size_t j = 0; j < n; j++) {
            uint32_t to = cursors[g->partitions[i + j]]++;
            g->records[to] = (uint64_t)seep_voxel_low(keys[j], bits) << 32 | (i + j);
        }
    }
}

static bool same_voxel(const struct seep_voxel_groups *g, size_t a, size_t b)
{
    return memcmp(g->coords[a], g->coords[b], sizeof g->coords[a]) == 0;
}

/* Turns records begin … end of one partition from (low key bits, point) into (first, number). The
 * table maps low key bits to the record of their voxel's first point. Returns how many points are
 * first. Whether a point is its voxel's first is unpredictable, so nothing branches on it. */
static inline __attribute__((always_inline)) uint32_t group(struct seep_voxel_groups *g,
                                                            uint64_t *table, uint32_t n_slots,
                                                            size_t begin, size_t end, bool exact)
{
    uint64_t *records = g->records;
    uint32_t firsts = 0;

    for (size_t r = begin; r < end; r++) {
        uint32_t low = (uint32_t)(records[r] >> 32), point = (uint32_t)records[r];
        uint32_t mixed = (low ^ low >> 15) * g->scatter;
        uint32_t slot = (uint32_t)((uint64_t)mixed * n_slots >> 32);
        uint64_t entry = table[slot];
        while ((entry != empty) & ((uint32_t)(entry >> 32) != low ||
                                   (!exact && entry != empty &&
                                    !same_voxel(g, point, records[(uint32_t)entry] >> 32)))) {
            slot = slot + 1 == n_slots ? 0 : slot + 1;
            entry = table[slot];
        }
        uint64_t is_first = entry == empty;
        entry = is_first ? (uint64_t)low << 32 | r : entry;
        table[slot] = entry;
        records[r] = (uint64_t)point << 32;
        uint64_t record = records[(uint32_t)entry];
        records[(uint32_t)entry] = record + 1;
        records[r] = record + is_first;
        firsts += (uint32_t)is_first;
    }
    return firsts;
}

/* How many points belong to voxels that begin among records begin … end of a partition. A record is
 * a first point's if it names a later point than all before it, also in other chunks: *latest. */
static uint32_t members_of(const uint64_t *records, size_t begin, size_t end, uint32_t *latest)
{
    uint32_t n = 0, seen = *latest;

    for (size_t r = begin; r < end; r++) {
        uint32_t first = (uint32_t)(records[r] >> 32) + 1;
        n += first > seen ? (uint32_t)records[r] : 0;
        seen = first > seen ? first : seen;
    }
    *latest = seen;
    return n;
}

static void group_partition(struct seep_voxel_groups *g, bool exact, size_t p,
                            struct seep_voxel_tally *tally, uint64_t *table)
{
    size_t begin = g->starts[p], end = g->starts[p + 1];
    size_t n_slots = 4 * (end - begin);
    uint32_t latest = 0, left = (uint32_t)(end - begin);

    if (n_slots > g->table_slots) {
        n_slots = 2 * (end - begin);
        table = g->large_tables + 2 * begin;
    }
    memset(table, 0xff, n_slots * sizeof *table);
    for (unsigned c = 0; c < g->n_chunks; c++) {
        size_t to = c + 1 < g->n_chunks ? row(g, g->starts, c + 1)[p] : end;
        size_t from = row(g, g->starts, c)[p];
        tally->firsts[c] += exact ? group(g, table, (uint32_t)n_slots, from, to, true)
                                  : group(g, table, (uint32_t)n_slots, from, to, false);
    }
    for (unsigned c = 0; c + 1 < g->n_chunks; c++) {
        size_t from = row(g, g->starts, c)[p], to = row(g, g->starts, c + 1)[p];
        uint32_t n = members_of(g->records, from, to, &latest);
        tally->members[c] += n;
        left -= n;
    }
    tally->members[g->n_chunks - 1] += left;
}

struct seep_voxel_box seep_voxel_groups_survey(struct seep_voxel_groups *g, unsigned thread)
{
    size_t begin = seep_voxel_chunk_begin(g, thread), end = seep_voxel_chunk_begin(g, thread + 1);
    struct seep_voxel_box box = seep_voxel_box_empty();

    memset(&g->tallies[thread], 0, sizeof *g->tallies);
    if (g->box)
        return *g->box;
    seep_voxel_box_of(g->coords + begin, end - begin, &g->tallies[thread].box);
    seep_voxel_groups_wait(g);
    for (unsigned c = 0; c < g->n_chunks; c++)
        seep_voxel_box_add(&box, &g->tallies[c].box);
    return box;
}

void seep_voxel_groups_find(struct seep_voxel_groups *g, unsigned thread,
                            const struct seep_voxel_box *box)
{
    struct seep_voxel_key key = seep_voxel_key_for(box, g->partition_bits);
    uint64_t *table = g->tables + thread * g->table_slots;
    unsigned p;

    count(g, &key, thread);
    seep_voxel_groups_wait(g);
    if (thread == 0)
        lay_out(g);
    seep_voxel_groups_wait(g);
    deal(g, &key, thread);
    seep_voxel_groups_wait(g);
    while ((p = atomic_fetch_add(&g->next_partition, 1)) >> g->partition_bits == 0)
        group_partition(g, key.exact, p, &g->tallies[thread], table);
    seep_voxel_groups_wait(g);
}

uint32_t seep_voxel_groups_firsts_before(const struct seep_voxel_groups *g, unsigned chunk)
{
    uint32_t sum = 0;

    for (unsigned t = 0; t < g->n_chunks; t++)
        for (unsigned c = 0; c < chunk; c++)
            sum += g->tallies[t].firsts[c];
    return sum;
}

uint32_t seep_voxel_groups_members_before(const struct seep_voxel_groups *g, unsigned chunk)
{
    uint32_t sum = 0;

    for (unsigned t = 0; t < g->n_chunks; t++)
        for (unsigned c = 0; c < chunk; c++)
            sum += g->tallies[t].members[c];
    return sum;
}

struct seep_voxel_member *seep_voxel_waiting_room(const struct seep_voxel_groups *g, void *room,
                                                  unsigned chunk)
{
    size_t n_voxels = seep_voxel_groups_firsts_before(g, g->n_chunks);
    size_t not_first = seep_voxel_chunk_begin(g, chunk) - seep_voxel_groups_firsts_before(g, chunk);

    return (struct seep_voxel_member *)room + n_voxels + not_first;
}

size_t seep_voxel_groups_block(struct seep_voxel_groups *g, unsigned chunk, size_t begin,
                               struct seep_voxel_block *block)
{
    size_t chunk_begin = seep_voxel_chunk_begin(g, chunk);
    size_t end = seep_voxel_chunk_begin(g, chunk + 1);
    uint32_t *cursors = row(g, g->cursors, chunk);
    uint32_t refused = UINT32_C(1) << g->partition_bits;
    unsigned n_firsts = 0, n_later = 0, n_early = 0, n_refused = 0;

    if (end - begin > SEEP_VOXEL_BLOCK)
        end = begin + SEEP_VOXEL_BLOCK;
    for (size_t i = begin; i < end; i++) {
        uint32_t p = g->partitions[i];
        if (p == refused) {
            block->refused[n_refused++] = (uint32_t)i;
            continue;
        }
        const uint64_t *at = &g->records[cursors[p]++];
        __builtin_prefetch(at + 8); /* too many streams for the CPU to predict */
        uint64_t record = *at;
        struct seep_voxel_member member = {(uint32_t)i, 0, record};
        size_t first = record >> 32;
        /* Written to all three, kept in one: it is unpredictable which, so there is no branch. */
        block->firsts[n_firsts] = member;
        block->later[n_later] = member;
        block->early[n_early] = member;
        n_firsts += first == i;
        n_later += (first >= chunk_begin) & (first != i);
        n_early += first < chunk_begin;
    }
    block->n_firsts = n_firsts;
    block->n_later = n_later;
    block->n_early = n_early;
    block->n_refused = n_refused;
    return end - begin;
}
