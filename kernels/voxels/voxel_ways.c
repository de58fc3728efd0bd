/* The choice looks at few points, drawn evenly. The box of 64 rules out a table of cells
 * for most inputs, without a look at the others. How many of some thousand share a voxel says how
 * often a table of voxels would be asked for one that it has: of n points with p pairs in one
 * voxel, a sample of m has p · (m / n)² pairs. */
#include "kernels/voxels/voxel_ways.h"

#include "kernels/voxels/voxel_dense.h"

#include <string.h>

enum { BOX_SAMPLE = 64, PAIRS_SAMPLE = 2048, SLOTS = 2 * PAIRS_SAMPLE };

/* With so many pairs a point, comparing coordinates costs more than slots of twice the size.
 * Measured with 10^6 points between 200^3 (0.06: narrow) and 64^3 (1.9: wide). */
static const double most_pairs = 0.5;

/* Rows of fewer points stay in cache, where comparing costs little. */
static const size_t most_cached = (size_t)1 << 18;

/* Counting asks a table of 8 bytes a cell twice for each point, which is faster than asking one of
 * 4 bytes and the voxels' counts while both stay in cache. */
static const uint64_t most_counted = UINT64_C(1) << 16;

const char *const seep_voxel_way_names[SEEP_VOXEL_N_WAYS] = {"chosen", "cells",   "narrow",
                                                             "wide",   "counted", "partitions"};

/* Draws points and fetches them. */
static void draw(const int32_t (*coords)[4], size_t n, size_t n_drawn, uint32_t *points)
{
    struct seep_chance chance = {0};

    for (size_t i = 0; i < n_drawn; i++) {
        points[i] = (uint32_t)seep_chance_below(&chance, n);
        __builtin_prefetch(coords + points[i]);
    }
}

static struct seep_voxel_box box_of_sample(const int32_t (*coords)[4], size_t n)
{
    struct seep_voxel_box box = seep_voxel_box_empty();
    uint32_t points[BOX_SAMPLE];

    draw(coords, n, BOX_SAMPLE, points);
    for (size_t i = 0; i < BOX_SAMPLE; i++) {
        struct seep_voxel_box one;
        seep_voxel_box_of(coords + points[i], 1, &one);
        seep_voxel_box_add(&box, &one);
    }
    return box;
}

/* Pairs of points in one voxel, for each point that is not refused. */
static double pairs_of_sample(const int32_t (*coords)[4], size_t n)
{
    struct seep_voxel_key key_of = seep_voxel_key_drawn();
    uint32_t table[SLOTS], points[PAIRS_SAMPLE];
    size_t n_good = 0, n_pairs = 0;

    memset(table, 0xff, sizeof table);
    draw(coords, n, PAIRS_SAMPLE, points);
    for (size_t i = 0; i < PAIRS_SAMPLE; i++) {
        uint32_t point = points[i];
        uint64_t key;
        if (coords[point][0] < 0)
            continue;
        seep_voxel_keys(&key_of, coords + point, 1, &key);
        size_t slot = (key >> 32) * SLOTS >> 32;
        while (table[slot] != UINT32_MAX &&
               memcmp(coords[table[slot]], coords[point], sizeof coords[point]) != 0)
            slot = (slot + 1) % SLOTS;
        n_pairs += table[slot] != UINT32_MAX && table[slot] != point;
        n_good++;
        table[slot] = point;
    }
    return (double)n_pairs * (double)n / ((double)n_good * PAIRS_SAMPLE + 1);
}

bool seep_voxel_cells_fit(const struct seep_voxel_box *box, size_t n)
{
    return seep_voxel_box_cells(box) <= 2 * n; /* half of what a wide table has */
}

bool seep_voxel_is_counted(const struct seep_voxel_box *box, size_t n)
{
    return seep_voxel_box_cells(box) <= most_counted && seep_voxel_is_dense(1, n, box);
}

enum seep_voxel_way seep_voxel_choose(const int32_t (*coords)[4], size_t n, bool with_lists,
                                      struct seep_voxel_box *box)
{
    struct seep_voxel_box sampled = box_of_sample(coords, n);

    *box = seep_voxel_box_empty();
    if (seep_voxel_cells_fit(&sampled, n)) {
        seep_voxel_box_of(coords, n, box);
        if (with_lists && seep_voxel_is_counted(box, n))
            return SEEP_VOXEL_COUNTED;
        if (seep_voxel_cells_fit(box, n))
            return SEEP_VOXEL_CELLS;
    }
    if (n <= most_cached || pairs_of_sample(coords, n) < most_pairs)
        return SEEP_VOXEL_NARROW;
    seep_voxel_box_of(coords, n, box);
    return SEEP_VOXEL_WIDE;
}

/* Two threads gain where both count in tables that stay in their caches, and where one's table of
 * hashes would not stay in its own. A larger table of cells is asked in one place for each point,
 * which is less than half the work of parting the points or of counting them in two tables. */
static enum seep_voxel_way way_for_two(const int32_t (*coords)[4], size_t n, bool with_lists,
                                       struct seep_voxel_box *box)
{
    enum seep_voxel_way way = seep_voxel_choose(coords, n, with_lists, box);
    bool hashes = way == SEEP_VOXEL_NARROW || way == SEEP_VOXEL_WIDE;
    bool two_gain =
        hashes ? n > most_cached : seep_voxel_is_counted(box, n) && seep_voxel_is_dense(2, n, box);

    return two_gain ? SEEP_VOXEL_COUNTED : hashes ? way : SEEP_VOXEL_CELLS;
}

enum seep_voxel_way seep_voxel_way_for(enum seep_voxel_way wanted, const int32_t (*coords)[4],
                                       size_t n, unsigned n_threads, bool with_lists,
                                       struct seep_voxel_box *box)
{
    if (wanted == SEEP_VOXEL_CHOSEN)
        return n_threads == 1   ? seep_voxel_choose(coords, n, with_lists, box)
               : n_threads == 2 ? way_for_two(coords, n, with_lists, box)
                                : SEEP_VOXEL_COUNTED;
    if (wanted == SEEP_VOXEL_CELLS || wanted == SEEP_VOXEL_WIDE)
        seep_voxel_box_of(coords, n, box);
    return wanted == SEEP_VOXEL_CELLS && !seep_voxel_cells_fit(box, n) ? SEEP_VOXEL_PARTITIONS
                                                                       : wanted;
}

size_t seep_voxel_order_run(enum seep_voxel_way way, const struct seep_voxel_order *order,
                            const struct seep_voxel_box *box)
{
    return way == SEEP_VOXEL_CELLS  ? seep_voxel_order_by_cells(order, box)
           : way == SEEP_VOXEL_WIDE ? seep_voxel_order_wide(order, box)
                                    : seep_voxel_order_narrow(order);
}
