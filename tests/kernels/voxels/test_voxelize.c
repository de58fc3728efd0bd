/* Points to voxels against the sorted reference: quantisation and maps. */
#include "kernels/voxels/voxel_baseline.h"
#include "kernels/voxels/voxel_keys.h"
#include "tests/kernels/voxels/voxel_fixture.h"
#include "tests/suite.h"

#include <time.h>

/* Host coords on every stream, against the reference. Returns the number of voxels. */
static size_t check_maps(int32_t (*coords)[4], size_t n)
{
    struct seep_voxel_maps wanted = {malloc(n * 4 + 4), malloc(n * 16 + 16), malloc(n * 4 + 4),
                                     malloc(n * 4 + 4), 0};

    ck_assert_int_eq(voxelize_reference((const int32_t(*)[4])coords, n, &wanted), 0);
    for (unsigned i = 0; i < n_streams; i++) {
        struct seep_stream *s = streams[i];
        struct seep_voxel_maps maps = maps_on_device(s, n);
        void *device_coords = on_device(s, coords, n * 16);
        ck_assert_int_eq(voxelize(s, device_coords, n, &maps), 0);
        assert_same_maps(s, &maps, &wanted, n);
        free_maps(s, &maps);
        seep_stream_free(s, device_coords);
    }
    free(wanted.point_to_voxel);
    free(wanted.voxel_coords);
    free(wanted.voxel_start);
    free(wanted.voxel_points);
    return wanted.n_voxels;
}

TEST(maps_are_the_reference_s_for_any_number_of_threads, .to = N(distributions))
{
    int32_t(*coords)[4] = draw(&distributions[_i]);

    check_maps(coords, distributions[_i].n);
    free(coords);
}

TEST(what_the_bench_measures_against_makes_the_same_voxels)
{
    struct distribution d = {MANY, -9, 9, 3, 7};
    int32_t(*coords)[4] = draw(&d), *table = malloc(seep_voxel_baseline_bytes(MANY));
    const int32_t(*from)[4] = (const int32_t(*)[4])coords;
    struct seep_voxel_maps wanted = maps_on_device(streams[0], MANY);
    struct seep_voxel_maps maps = maps_on_device(streams[0], MANY);
    int32_t *first = malloc(MANY * 4), *inverse = malloc(MANY * 4);

    ck_assert_int_eq(voxelize(streams[0], coords, MANY, &wanted), 0);
    seep_voxel_baseline_maps(from, MANY, &maps, table);
    assert_same_maps(streams[0], &maps, &wanted, MANY);
    ck_assert_uint_eq(
        seep_voxel_baseline_quantize(from, MANY, first, inverse, maps.voxel_coords, table),
        wanted.n_voxels);
    ck_assert_mem_eq(inverse, wanted.point_to_voxel, MANY * 4);
    for (size_t v = 0; v < wanted.n_voxels; v++)
        ck_assert_int_eq(first[v], wanted.voxel_points[wanted.voxel_start[v]]);
    free_maps(streams[0], &maps), free_maps(streams[0], &wanted);
    free(first), free(inverse), free(table), free(coords);
}

TEST(no_points_make_no_voxels)
{
    for (unsigned i = 0; i < n_streams; i++) {
        struct seep_voxel_maps maps = maps_on_device(streams[i], 0);
        size_t n_refused = 1, n_voxels = 1, bytes = 0;
        int32_t zero = 0;
        void *scratch = on_device(streams[i], NULL, 64);
        maps.n_voxels = 1;
        ck_assert_int_eq(voxelize(streams[i], NULL, 0, &maps), 0);
        ck_assert_uint_eq(maps.n_voxels, 0);
        assert_same(streams[i], maps.voxel_start, &zero, 4);
        ck_assert_int_eq(seep_voxel_mean(&maps, NULL, 3, NULL, streams[i]), 0);
        ck_assert_int_eq(seep_voxel_mean_backward(&maps, 0, NULL, 3, NULL, streams[i]), 0);
        ck_assert_int_eq(seep_quantize(NULL, NULL, 0, 1, NULL, &n_refused, streams[i]), 0);
        ck_assert_uint_eq(n_refused, 0);
        ck_assert_int_eq(seep_sparse_quantize(NULL, NULL, 0, 0, NULL, NULL, NULL, &n_voxels,
                                              scratch, &bytes, streams[i]),
                         0);
        ck_assert_uint_eq(n_voxels, 0);
        seep_stream_free(streams[i], scratch);
        free_maps(streams[i], &maps);
    }
}

TEST(all_distinct_points_are_a_voxel_each_in_their_order)
{
    int32_t(*coords)[4] = malloc(MANY * sizeof *coords);

    for (int32_t i = 0; i < MANY; i++)
        memcpy(coords[i], (int32_t[]){i % 3, i / 250, -(i % 250), i}, sizeof coords[i]);
    ck_assert_uint_eq(check_maps(coords, MANY), MANY);
    free(coords);
}

TEST(a_voxel_with_most_points_among_many_far_apart_is_whole)
{
    struct distribution d = {MANY, -(1 << 20), 1 << 20, 2, 50};
    int32_t(*coords)[4] = draw(&d);

    for (size_t i = 0; i < MANY; i++)
        if (i % 16 && coords[i][0] >= 0)
            memcpy(coords[i], (int32_t[]){0, 1, 2, 3}, sizeof coords[i]);
    ck_assert_uint_gt(check_maps(coords, MANY), 500);
    free(coords);
}

TEST(batches_are_kept_apart)
{
    int32_t coords[6][4] = {{0, 1, 2, 3}, {1, 1, 2, 3}, {0, 1, 2, 3},
                            {2, 1, 2, 3}, {1, 1, 2, 3}, {0, 3, 2, 1}};

    ck_assert_uint_eq(check_maps(coords, 6), 4);
}

/* Distinct voxels far apart of which the short keys are equal, with the corners that make the box.
 */
TEST(voxels_with_the_same_short_key_are_kept_apart)
{
    enum { DRAWN = 400000, SLOTS = 1 << 20 };
    struct seep_voxel_box box = {{0, INT32_MIN, INT32_MIN, INT32_MIN},
                                 {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX}};
    struct seep_voxel_key key = seep_voxel_key_for(&box, 0);
    int32_t(*drawn)[4] = malloc(DRAWN * sizeof *drawn), coords[64][4];
    uint64_t *keys = malloc(DRAWN * sizeof *keys);
    uint32_t *table = calloc(SLOTS, sizeof *table);
    size_t n = 2, n_voxels;

    ck_assert(!key.exact);
    memcpy(coords[0], box.lo, sizeof coords[0]);
    memcpy(coords[1], box.hi, sizeof coords[1]);
    for (size_t i = 0; i < DRAWN; i++)
        for (int d = 0; d < 4; d++)
            drawn[i][d] = random_below(d ? INT32_MIN : 0, INT32_MAX);
    seep_voxel_keys(&key, (const int32_t(*)[4])drawn, DRAWN, keys);
    for (uint32_t i = 0; i < DRAWN; i++) {
        uint32_t *seen = &table[keys[i] % SLOTS];
        if (*seen && keys[*seen - 1] == keys[i] && n + 2 < 60) {
            memcpy(coords[n++], drawn[*seen - 1], sizeof coords[0]);
            memcpy(coords[n++], drawn[i], sizeof coords[0]);
        }
        *seen = i + 1;
    }
    ck_assert_uint_gt(n, 2);
    n_voxels = n;
    memcpy(coords[n++], coords[3], sizeof coords[0]);
    memcpy(coords[n++], coords[2], sizeof coords[0]);
    ck_assert_uint_eq(check_maps(coords, n), n_voxels);
    free(table);
    free(keys);
    free(drawn);
}

/* The inverse of an odd number modulo 2^64 (Newton). */
static uint64_t inverse_of(uint64_t odd)
{
    uint64_t inverse = odd;

    for (int i = 0; i < 5; i++)
        inverse *= 2 - odd * inverse;
    return inverse;
}

enum { CRAFTED = 60000, CRAFTED_BITS = 4 };

/* In a box small enough for exact keys: those of the golden ratio are in one partition and, hashed
 * by it once more, in one slot. */
static void craft_exact(int32_t (*coords)[4])
{
    const uint64_t back = inverse_of(UINT64_C(0x9e3779b97f4a7c15));
    const uint32_t back_32 = (uint32_t)inverse_of(UINT32_C(0x9e3779b1));
    const uint64_t last = (UINT64_C(1) << (32 + CRAFTED_BITS)) - 1;

    for (uint32_t i = 0; i < CRAFTED; i++) {
        uint32_t t = i * back_32, low = t ^ t >> 15 ^ t >> 30;
        uint64_t key = (uint64_t)low << CRAFTED_BITS;
        uint64_t cell = (key ^ (key >> 32 & 15)) * back & last;
        if (i < 2) /* the corners of the box */
            cell = i ? last : 0;
        memcpy(coords[i],
               (int32_t[]){0, (int32_t)(cell >> 24), (int32_t)(cell >> 12 & 4095),
                           (int32_t)(cell & 4095)},
               sizeof coords[i]);
    }
}

/* In a larger box: sums of these vectors have all the same key where the factors are the golden
 * ratio's powers 2 to 5 (the vectors are short ones of the lattice that those span; LLL). */
static void craft_inexact(int32_t (*coords)[4])
{
    static const int32_t vectors[4][4] = {{169, 110, 709, 391},
                                          {-1194, -807, -128, -341},
                                          {-609, -1523, 675, 971},
                                          {2165, -643, -191, -162}};

    for (int i = 0; i < CRAFTED; i++)
        for (int d = 0; d < 4; d++) {
            coords[i][d] = 30000;
            for (int v = 0; v < 4; v++)
                coords[i][d] += (i >> 4 * v & 15) * vectors[v][d];
        }
    for (int d = 0; d < 4; d++) {
        coords[0][d] = 0;
        coords[1][d] = INT32_MAX;
    }
}

static void (*const crafts[])(int32_t (*coords)[4]) = {craft_exact, craft_inexact};

static double voxelize_ms(int32_t (*coords)[4], size_t n, size_t n_voxels)
{
    struct seep_voxel_maps maps = maps_on_device(streams[0], n);
    struct timespec from, to;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    ck_assert_int_eq(voxelize(streams[0], coords, n, &maps), 0);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    ck_assert_uint_ge(maps.n_voxels, n_voxels);
    free_maps(streams[0], &maps);
    return (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) * 1e-6;
}

/* The multipliers are numbers that everybody may read. */
TEST(points_made_up_to_share_a_slot_take_no_longer_than_others, .to = N(crafts))
{
    struct distribution d = {CRAFTED, 0, 4096, 1, 0};
    int32_t(*crafted)[4] = malloc(CRAFTED * sizeof *crafted), (*drawn)[4] = draw(&d);

    crafts[_i](crafted);
    double others = voxelize_ms(drawn, CRAFTED, 1) + voxelize_ms(drawn, CRAFTED, 1);
    double ms = voxelize_ms(crafted, CRAFTED, CRAFTED - 2);
    ck_assert_msg(ms < 10 * others, "%g ms, others %g", ms, others);
    free(crafted);
    free(drawn);
}

TEST(cells_are_floors_also_below_zero_and_bad_points_are_refused)
{
    static const float points[][3] = {
        {0, 0, 0},
        {-0.01f, 0.99f, 1},
        {-0.5f, -1, -1.01f},
        {NAN, 0, 0},
        {0, INFINITY, 0},
        {0, 0, -INFINITY},
        {1048576.f / 2, 0, 0},
        {-1048576.f / 2, 0, 0},
        {1048575.f / 2, 0, 0},
        {0, -1048577.f / 2, 0},
        {3e38f, -3e38f, 0},
        {1, 2, 3},
        {4, 5, 6},
    };
    enum { N = sizeof points / sizeof *points };
    static const int32_t batch[N] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, -1, INT32_MAX};
    static const int32_t wanted[N][4] = {
        {0, 0, 0, 0},  {1, -1, 1, 2}, {2, -1, -2, -3},        {-1, 0, 0, 0},      {-1, 0, 0, 0},
        {-1, 0, 0, 0}, {-1, 0, 0, 0}, {7, -1048576, 0, 0},    {8, 1048575, 0, 0}, {-1, 0, 0, 0},
        {-1, 0, 0, 0}, {-1, 0, 0, 0}, {INT32_MAX, 8, 10, 12},
    };

    for (unsigned i = 0; i < n_streams; i++) {
        struct seep_stream *s = streams[i];
        void *p = on_device(s, points, sizeof points), *b = on_device(s, batch, sizeof batch);
        void *coords = on_device(s, NULL, sizeof wanted);
        size_t n_refused = 0;
        ck_assert_int_eq(seep_quantize(p, b, N, 0.5f, coords, &n_refused, s), 0);
        ck_assert_uint_eq(n_refused, 7);
        assert_same(s, coords, wanted, sizeof wanted);
        seep_stream_free(s, p);
        seep_stream_free(s, b);
        seep_stream_free(s, coords);
    }
}

TEST(quantised_points_are_the_reference_s)
{
    float(*points)[3] = malloc(MANY * sizeof *points);
    int32_t(*wanted)[4] = malloc(MANY * sizeof *wanted);
    size_t n_wanted, n_refused;

    for (size_t i = 0; i < MANY; i++)
        for (int d = 0; d < 3; d++)
            points[i][d] = random_bits() % 50 ? (float)random_below(-900000, 900000) / 9999.f : NAN;
    quantize_reference((const float(*)[3])points, NULL, MANY, 0.05f, wanted, &n_wanted);
    for (unsigned i = 0; i < n_streams; i++) {
        struct seep_stream *s = streams[i];
        void *p = on_device(s, points, MANY * sizeof *points);
        void *coords = on_device(s, NULL, MANY * sizeof *wanted);
        ck_assert_int_eq(seep_quantize(p, NULL, MANY, 0.05f, coords, &n_refused, s), 0);
        ck_assert_uint_eq(n_refused, n_wanted);
        assert_same(s, coords, wanted, MANY * sizeof *wanted);
        seep_stream_free(s, p);
        seep_stream_free(s, coords);
    }
    free(wanted);
    free(points);
}

TEST(what_cannot_be_is_refused, .to = N(pool))
{
    struct seep_stream *s = streams[_i];
    float points[1][3] = {{0}};
    _Alignas(16) int32_t coords[1][4] = {{0}}, odd[8];
    int32_t *one = odd + 1;
    struct seep_voxel_maps maps = {one, coords, one, one, 0}, holed = maps;
    char *scratch = aligned_alloc(64, 1 << 20);
    size_t n, bytes = 0, beyond = (size_t)INT32_MAX;

    ck_assert_int_eq(seep_quantize(points, NULL, 1, 0, coords, &n, s), -SEEP_EINVAL);
    ck_assert_int_eq(seep_quantize(points, NULL, 1, -1, coords, &n, s), -SEEP_EINVAL);
    ck_assert_int_eq(seep_quantize(points, NULL, 1, NAN, coords, &n, s), -SEEP_EINVAL);
    ck_assert_int_eq(seep_quantize(points, NULL, 1, INFINITY, coords, &n, s), -SEEP_EINVAL);
    ck_assert_int_eq(seep_quantize(NULL, NULL, 1, 1, coords, &n, s), -SEEP_EINVAL);
    ck_assert_int_eq(seep_quantize(points, NULL, 1, 1, NULL, &n, s), -SEEP_EINVAL);
    ck_assert_int_eq(seep_quantize(points, NULL, 1, 1, (void *)one, &n, s), -SEEP_EINVAL);
    ck_assert_int_eq(seep_quantize(points, NULL, beyond, 1, coords, &n, s), -SEEP_EINVAL);
    ck_assert_int_eq(seep_voxelize(coords, beyond, &maps, NULL, &bytes, s), -SEEP_EINVAL);
    ck_assert_int_eq(seep_voxelize(coords, SIZE_MAX / 4, &maps, NULL, &bytes, s), -SEEP_EINVAL);
    ck_assert_int_eq(
        seep_sparse_quantize(coords, NULL, beyond, 0, one, NULL, NULL, &n, NULL, &bytes, s),
        -SEEP_EINVAL);
    ck_assert_int_eq(seep_voxel_mean_backward(&maps, beyond, points[0], 1, points[0], s),
                     -SEEP_EINVAL);
    ck_assert_int_eq(seep_voxelize(NULL, 1, NULL, NULL, NULL, s), -SEEP_EINVAL);
    ck_assert_int_eq(seep_voxelize(NULL, 1, NULL, NULL, &bytes, s), 0);
    ck_assert_uint_le(bytes, (1 << 20) - 64);
    bytes--;
    ck_assert_int_eq(seep_voxelize(coords, 1, &maps, scratch, &bytes, s), -SEEP_EINVAL);
    bytes++;
    ck_assert_int_eq(seep_voxelize(coords, 1, &maps, scratch + 4, &bytes, s), -SEEP_EINVAL);
    ck_assert_int_eq(seep_voxelize(NULL, 1, &maps, scratch, &bytes, s), -SEEP_EINVAL);
    ck_assert_int_eq(seep_voxelize(coords, 1, NULL, scratch, &bytes, s), -SEEP_EINVAL);
    holed.voxel_points = NULL;
    ck_assert_int_eq(seep_voxelize(coords, 1, &holed, scratch, &bytes, s), -SEEP_EINVAL);
    ck_assert_int_eq(
        seep_sparse_quantize(NULL, NULL, 1, 0, NULL, NULL, NULL, NULL, NULL, &bytes, s), 0);
    ck_assert_int_eq(
        seep_sparse_quantize(coords, one, 1, 0, one, NULL, NULL, &n, scratch, &bytes, s),
        -SEEP_EINVAL);
    bytes = 1;
    ck_assert_int_eq(
        seep_sparse_quantize(coords, NULL, 1, 0, one, NULL, NULL, &n, scratch, &bytes, s),
        -SEEP_EINVAL);
    maps.n_voxels = 1;
    ck_assert_int_eq(seep_voxel_mean(&maps, NULL, 1, points[0], s), -SEEP_EINVAL);
    free(scratch);
}

int main(void)
{
    (void)has_cuda(); /* asked once, for all tests */
    return suite_run((struct suite){.name = "voxelize",
                                    .setups = open_at + FIRST_LEVEL,
                                    .n_setups = SEEP_CPU_LEVELS - FIRST_LEVEL,
                                    .teardown = close_streams});
}
