/* Pairs of Gaussian and tile, in order of (tile, depth, index). Gaussians are sorted by depth first
 * (three passes of 11 bits over n of them), then their pairs are distributed to the tiles in that
 * order: each pair is written once, where sorting 64-bit keys of pairs would move every pair six
 * times. Stable throughout, so that the result does not depend on the number of threads. */
#include "kernels/splat/splat_tiles_cpu.h"
#include "kernels/splat/splat_twins.h"

#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, PASSES = 3 };

struct item {
    uint32_t key, gaussian;
};

struct bin {
    size_t n; /* Gaussians */
    const struct seep_splat_camera *camera;
    const struct seep_splat_projected *projected;
    struct seep_splat_bins *bins;
    size_t n_tiles, tiles_x;
    struct item *from, *to; /* [n_seen] */
    size_t n_seen;
    uint32_t *digits; /* [n_threads][DIGITS] */
    uint32_t *tiles;  /* [n_threads][n_tiles] */
    size_t *seen;     /* [n_threads] */
    int shift;
};

static void count_seen(void *arg, unsigned thread, unsigned n_threads)
{
    struct bin *b = arg;
    size_t end = b->n * (thread + 1) / n_threads, seen = 0;

    for (size_t i = b->n * thread / n_threads; i < end; i++)
        seen += b->projected->prints[i].tiles[2] != 0;
    b->seen[thread] = seen;
}

static void gather_seen(void *arg, unsigned thread, unsigned n_threads)
{
    struct bin *b = arg;
    size_t end = b->n * (thread + 1) / n_threads, at = 0;

    for (unsigned t = 0; t < thread; t++)
        at += b->seen[t];
    for (size_t i = b->n * thread / n_threads; i < end; i++) {
        if (!b->projected->prints[i].tiles[2])
            continue;
        b->from[at].gaussian = (uint32_t)i;
        /* Depths are positive: their bits are in their order. */
        memcpy(&b->from[at++].key, &b->projected->prints[i].depth, sizeof(float));
    }
}

static void count_digits(void *arg, unsigned thread, unsigned n_threads)
{
    struct bin *b = arg;
    uint32_t *digits = b->digits + (size_t)thread * DIGITS;
    size_t end = b->n_seen * (thread + 1) / n_threads;

    memset(digits, 0, DIGITS * sizeof *digits);
    for (size_t i = b->n_seen * thread / n_threads; i < end; i++)
        digits[b->from[i].key >> b->shift & (DIGITS - 1)]++;
}

static void move_digits(void *arg, unsigned thread, unsigned n_threads)
{
    struct bin *b = arg;
    uint32_t *digits = b->digits + (size_t)thread * DIGITS;
    size_t end = b->n_seen * (thread + 1) / n_threads;

    for (size_t i = b->n_seen * thread / n_threads; i < end; i++)
        b->to[digits[b->from[i].key >> b->shift & (DIGITS - 1)]++] = b->from[i];
}

/* Counts [n_threads][n] become where each thread's first item of each kind goes; starts [n] (or
 * NULL) where each kind begins. */
static void counts_to_places(uint32_t *counts, unsigned n_threads, size_t n, uint32_t *starts)
{
    uint32_t at = 0;

    for (size_t k = 0; k < n; k++) {
        if (starts)
            starts[k] = at;
        for (unsigned t = 0; t < n_threads; t++) {
            uint32_t count = counts[t * n + k];
            counts[t * n + k] = at;
            at += count;
        }
    }
}

/* The tiles of the i-th Gaussian by depth; prefetches those of a later one. */
static inline const uint16_t *tiles_of(const struct bin *b, size_t i)
{
    enum { AHEAD = 16 };

    if (i + AHEAD < b->n_seen)
        __builtin_prefetch(b->projected->prints[b->from[i + AHEAD].gaussian].tiles);
    return b->projected->prints[b->from[i].gaussian].tiles;
}

/* The box of tiles, row by row, as much of it as is listed. */
struct rows {
    const uint16_t *box;
    bool whole;
    struct splat_ellipse ellipse;
};

static inline void rows_of(const struct bin *b, size_t i, struct rows *r)
{
    uint32_t gaussian = b->from[i].gaussian;

    r->box = tiles_of(b, i);
    r->whole = seep_splat_whole_box(b->projected, gaussian);
    if (!r->whole)
        seep_splat_ellipse(b->camera, &b->projected->prints[gaussian], &r->ellipse);
}

static inline void row_of(const struct rows *r, unsigned row, unsigned *first, unsigned *end)
{
    if (r->whole) {
        *first = r->box[0];
        *end = r->box[2];
    } else {
        seep_splat_row_reached(&r->ellipse, r->box, row, first, end);
    }
}

static void count_tiles(void *arg, unsigned thread, unsigned n_threads)
{
    struct bin *b = arg;
    uint32_t *counts = b->tiles + thread * b->n_tiles;
    size_t end = b->n_seen * (thread + 1) / n_threads;

    memset(counts, 0, b->n_tiles * sizeof *counts);
    for (size_t i = b->n_seen * thread / n_threads; i < end; i++) {
        struct rows r;
        rows_of(b, i, &r);
        for (unsigned y = r.box[1], x, end_x; y < r.box[3]; y++)
            for (row_of(&r, y, &x, &end_x); x < end_x; x++)
                counts[y * b->tiles_x + x]++;
    }
}

static void deal_tiles(void *arg, unsigned thread, unsigned n_threads)
{
    struct bin *b = arg;
    uint32_t *places = b->tiles + thread * b->n_tiles;
    size_t end = b->n_seen * (thread + 1) / n_threads;

    for (size_t i = b->n_seen * thread / n_threads; i < end; i++) {
        uint32_t gaussian = b->from[i].gaussian;
        struct rows r;
        rows_of(b, i, &r);
        for (unsigned y = r.box[1], x, end_x; y < r.box[3]; y++)
            for (row_of(&r, y, &x, &end_x); x < end_x; x++)
                b->bins->gaussians[places[y * b->tiles_x + x]++] = gaussian;
    }
}

static void *part(char *scratch, size_t *at, size_t bytes)
{
    char *here = scratch ? scratch + *at : NULL;

    *at += (bytes + 63) / 64 * 64;
    return here;
}

/* Lays the scratch out; its size. */
static size_t lay_out(struct bin *b, char *scratch, unsigned n_threads)
{
    size_t at = 0;

    b->from = part(scratch, &at, b->n * sizeof *b->from);
    b->to = part(scratch, &at, b->n * sizeof *b->to);
    b->seen = part(scratch, &at, n_threads * sizeof *b->seen);
    b->digits = part(scratch, &at, n_threads * DIGITS * sizeof *b->digits);
    b->tiles = part(scratch, &at, n_threads * b->n_tiles * sizeof *b->tiles);
    return at;
}

int seep_splat_bin_cpu(const struct seep_splat_camera *camera, size_t n,
                       const struct seep_splat_projected *projected, struct seep_splat_bins *bins,
                       void *scratch, size_t *scratch_bytes, struct seep_stream *stream)
{
    unsigned n_threads = seep_stream_threads(stream);
    struct bin b = {.n = n, .camera = camera, .projected = projected, .bins = bins};

    b.tiles_x = ((size_t)camera->width + SEEP_SPLAT_TILE - 1) / SEEP_SPLAT_TILE;
    b.n_tiles = b.tiles_x * (((size_t)camera->height + SEEP_SPLAT_TILE - 1) / SEEP_SPLAT_TILE);
    size_t needed = lay_out(&b, scratch, n_threads);
    if (!scratch) {
        *scratch_bytes = needed;
        return 0;
    }
    if (*scratch_bytes < needed)
        return -SEEP_EINVAL;
    seep_stream_run(stream, count_seen, &b);
    seep_stream_run(stream, gather_seen, &b);
    for (unsigned t = 0; t < n_threads; t++)
        b.n_seen += b.seen[t];
    for (int pass = 0; pass < PASSES; pass++) {
        struct item *sorted = b.to;
        b.shift = pass * DIGIT_BITS;
        seep_stream_run(stream, count_digits, &b);
        counts_to_places(b.digits, n_threads, DIGITS, NULL);
        seep_stream_run(stream, move_digits, &b);
        b.to = b.from;
        b.from = sorted;
    }
    seep_stream_run(stream, count_tiles, &b);
    counts_to_places(b.tiles, n_threads, b.n_tiles, bins->tile_start);
    bins->tile_start[b.n_tiles] = (uint32_t)projected->n_pairs;
    seep_stream_run(stream, deal_tiles, &b);
    return 0;
}
