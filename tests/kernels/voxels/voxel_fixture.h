/* Streams of several pools, and of a GPU where there is one; points; ways to a device's memory. */
#ifndef SEEP_TESTS_KERNELS_VOXELS_VOXEL_FIXTURE_H
#define SEEP_TESTS_KERNELS_VOXELS_VOXEL_FIXTURE_H

#include "kernels/compute/cpu_levels.h"
#include "kernels/voxels/voxelize.h"
#include "tests/cuda_device.h"
#include "tests/kernels/voxels/voxel_reference.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* For the thread sanitizer, what can race: several threads, which do the same at each level. */
#ifdef __SANITIZE_THREAD__
#define THREADS_OF_STREAMS 3, 7
enum { FIRST_LEVEL = SEEP_CPU_LEVELS - 1 };
#else
#define THREADS_OF_STREAMS 1, 2, 3, 7
enum { FIRST_LEVEL = SEEP_CPU_BASE };
#endif

static const unsigned pool[] = {THREADS_OF_STREAMS};
enum { N_STREAMS = sizeof pool / sizeof *pool + 1, MANY = 30123 };
static struct seep_stream *streams[N_STREAMS];
static unsigned n_streams;

static inline void open_pools(enum seep_cpu_level most)
{
    seep_cpu_level_allow(most);
    for (n_streams = 0; n_streams < N_STREAMS - 1; n_streams++)
        ck_assert_int_eq(seep_stream_create_cpu(pool[n_streams], &streams[n_streams]), 0);
}

/* As on a processor with nothing better than the plain instructions, and with AVX2. */
static inline void open_streams_plain(void)
{
    open_pools(SEEP_CPU_BASE);
}

static inline void open_streams_avx2(void)
{
    open_pools(SEEP_CPU_AVX2);
}

static inline void open_streams(void)
{
    open_pools(SEEP_CPU_LEVELS - 1);
    if (has_cuda()) {
        struct seep_error err = {0};
        ck_assert_msg(seep_stream_create_cuda(0, &streams[n_streams], &err) == 0, "%s", err.text);
        n_streams++;
    }
}

/* Each level's way to open the streams; suites begin with FIRST_LEVEL. */
static void (*const open_at[SEEP_CPU_LEVELS])(void) = {open_streams_plain, open_streams_avx2,
                                                       open_streams};
static const char *const level_names[SEEP_CPU_LEVELS] = {"plain", "AVX2", "best"};

static inline void close_streams(void)
{
    while (n_streams)
        seep_stream_destroy(streams[--n_streams]);
}

static uint64_t random_state = 42;

static inline uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state >> 11;
}

static inline int32_t random_below(int64_t lo, int64_t end)
{
    return (int32_t)(lo + (int64_t)(random_bits() % (uint64_t)(end - lo)));
}

/* Memory of the stream's device, filled from the host if `from` is given. */
static inline void *on_device(struct seep_stream *s, const void *from, size_t bytes)
{
    void *block;

    ck_assert_int_eq(seep_stream_alloc(s, bytes, &block), 0);
    if (from && bytes)
        ck_assert_int_eq(seep_stream_upload(s, block, from, bytes), 0);
    return block;
}

static inline void *to_host(struct seep_stream *s, void *block, size_t bytes)
{
    void *copy = malloc(bytes + 1);

    ck_assert_ptr_nonnull(copy);
    if (bytes)
        ck_assert_int_eq(seep_stream_download(s, copy, block, bytes), 0);
    return copy;
}

static inline struct seep_voxel_maps maps_on_device(struct seep_stream *s, size_t n)
{
    return (struct seep_voxel_maps){on_device(s, NULL, n * 4), on_device(s, NULL, n * 16),
                                    on_device(s, NULL, n * 4 + 4), on_device(s, NULL, n * 4), 0};
}

static inline void free_maps(struct seep_stream *s, struct seep_voxel_maps *maps)
{
    seep_stream_free(s, maps->point_to_voxel);
    seep_stream_free(s, maps->voxel_coords);
    seep_stream_free(s, maps->voxel_start);
    seep_stream_free(s, maps->voxel_points);
}

static inline int voxelize(struct seep_stream *s, int32_t (*coords)[4], size_t n,
                           struct seep_voxel_maps *maps)
{
    size_t bytes = 0;
    void *scratch;

    ck_assert_int_eq(seep_voxelize(NULL, n, NULL, NULL, &bytes, s), 0);
    scratch = on_device(s, NULL, bytes);
    int err = seep_voxelize((const int32_t(*)[4])coords, n, maps, scratch, &bytes, s);
    seep_stream_free(s, scratch);
    return err;
}

static inline void assert_same(struct seep_stream *s, void *block, const void *wanted, size_t bytes)
{
    void *got = to_host(s, block, bytes);

    ck_assert_int_eq(memcmp(got, wanted, bytes), 0);
    free(got);
}

/* Maps on the stream's device, of n points; `wanted` is on the host. */
static inline void assert_same_maps(struct seep_stream *s, const struct seep_voxel_maps *maps,
                                    const struct seep_voxel_maps *wanted, size_t n)
{
    ck_assert_uint_eq(maps->n_voxels, wanted->n_voxels);
    assert_same(s, maps->point_to_voxel, wanted->point_to_voxel, n * 4);
    assert_same(s, maps->voxel_coords, wanted->voxel_coords, wanted->n_voxels * 16);
    assert_same(s, maps->voxel_start, wanted->voxel_start, wanted->n_voxels * 4 + 4);
    assert_same(s, maps->voxel_points, wanted->voxel_points,
                (size_t)wanted->voxel_start[wanted->n_voxels] * 4);
}

/* Coordinates of `n_batches` samples in lo … end − 1; every refuse_each-th point is refused. */
static const struct distribution {
    size_t n;
    int64_t lo, end;
    int32_t n_batches;
    unsigned refuse_each;
} distributions[] = {
    {1, -5, -4, 1, 0},         {2, 0, 1, 1, 0},           {37, -2, 2, 2, 5},
    {4097, -8, 8, 3, 0},       {20000, -9, 9, 4, 7},      {MANY, -3, 3, 2, 3},
    {MANY, -30, 30, 5, 0},     {MANY, -400, 400, 1, 100}, {MANY, -(1 << 20), 1 << 20, 1 << 20, 11},
    {MANY, 7, 8, 1, 0},        {MANY, -1, 1, 1, 2},       {MANY, INT32_MIN, INT32_MAX, 2, 0},
    {MANY, -30, 30, 20000, 0}, {MANY, 0, 5, 1, 1},
};

static inline int32_t (*draw(const struct distribution *d))[4]
{
    int32_t(*coords)[4] = malloc(d->n * sizeof *coords);

    ck_assert_ptr_nonnull(coords);
    for (size_t i = 0; i < d->n; i++) {
        coords[i][0] = random_below(0, d->n_batches);
        for (int c = 1; c < 4; c++)
            coords[i][c] = random_below(d->lo, d->end);
        /* Some points come again, wherever coordinates are drawn from. */
        if (i && random_bits() % 4 == 0)
            memcpy(coords[i], coords[random_bits() % i], sizeof coords[i]);
        if (d->refuse_each && i % d->refuse_each == 0)
            coords[i][0] = -1 - random_below(0, 3);
    }
    return coords;
}

#endif
