/* The CPU's ways to group points: each gives the reference's results on each kind of input, and the
 * one that is chosen fits the input. */
#include "kernels/voxels/voxel_ways.h"
#include "tests/kernels/voxels/made_sweep.h"
#include "tests/kernels/voxels/voxel_fixture.h"
#include "tests/suite.h"

enum { IGNORE = 255, SWEEP_KINDS = 3, KINDS = N(distributions) + SWEEP_KINDS };

/* Of the sweep at 5 and 20 cm, and twice in a batch; of each distribution. */
static int32_t (*draw_kind(int kind, size_t *n))[4]
{
    size_t n_sweeps = kind == 2 ? 2 : 1, n_refused;
    struct seep_stream *stream = streams[0];

    if (kind >= SWEEP_KINDS) {
        *n = distributions[kind - SWEEP_KINDS].n;
        return draw(&distributions[kind - SWEEP_KINDS]);
    }
    *n = n_sweeps * SWEEP_POINTS;
    float(*points)[3] = malloc(*n * sizeof *points);
    int32_t(*coords)[4] = malloc(*n * sizeof *coords), *batch = malloc(*n * sizeof *batch);
    for (size_t k = 0; k < n_sweeps; k++)
        make_sweep(points + k * SWEEP_POINTS);
    for (size_t i = 0; i < *n; i++)
        batch[i] = (int32_t)(i / SWEEP_POINTS);
    ck_assert_int_eq(seep_quantize((const float(*)[3])points, batch, *n, kind == 1 ? 0.2f : 0.05f,
                                   coords, &n_refused, stream),
                     0);
    free(points), free(batch);
    return coords;
}

static void check_maps(struct seep_stream *s, enum seep_voxel_way way, int32_t (*coords)[4],
                       size_t n, const struct seep_voxel_maps *wanted)
{
    struct seep_voxel_maps maps = maps_on_device(s, n);
    size_t bytes = 0;

    ck_assert_int_eq(seep_voxelize(NULL, n, NULL, NULL, &bytes, s), 0);
    void *scratch = on_device(s, NULL, bytes);
    ck_assert_int_eq(seep_voxelize_by(way, (const int32_t(*)[4])coords, n, &maps, scratch, s), 0);
    assert_same_maps(s, &maps, wanted, n);
    seep_stream_free(s, scratch);
    free_maps(s, &maps);
}

static void check_sparse(struct seep_stream *s, enum seep_voxel_way way, int32_t (*coords)[4],
                         const int32_t *labels, size_t n, const struct sparse_wanted *wanted)
{
    int32_t *first = malloc(n * 4), *voxel_labels = malloc(n * 4), *inverse = malloc(n * 4);
    size_t bytes = 0, n_voxels = 0;

    ck_assert_int_eq(
        seep_sparse_quantize(NULL, NULL, n, IGNORE, NULL, NULL, NULL, NULL, NULL, &bytes, s), 0);
    void *scratch = on_device(s, NULL, bytes);
    ck_assert_int_eq(seep_sparse_quantize_by(way, (const int32_t(*)[4])coords, labels, n, IGNORE,
                                             first, labels ? voxel_labels : NULL, inverse,
                                             &n_voxels, scratch, s),
                     0);
    ck_assert_uint_eq(n_voxels, wanted->n_voxels);
    ck_assert_int_eq(memcmp(first, wanted->first, n_voxels * 4), 0);
    ck_assert_int_eq(memcmp(inverse, wanted->inverse, n * 4), 0);
    if (labels)
        ck_assert_int_eq(memcmp(voxel_labels, wanted->labels, n_voxels * 4), 0);
    seep_stream_free(s, scratch);
    free(first), free(voxel_labels), free(inverse);
}

TEST(every_way_gives_the_reference_s_results_for_every_kind_of_points, .to = KINDS)
{
    size_t n;
    int32_t(*coords)[4] = draw_kind(_i, &n), *labels = malloc(n * 4);
    struct seep_voxel_maps wanted = {malloc(n * 4 + 4), malloc(n * 16), malloc(n * 4 + 4),
                                     malloc(n * 4 + 4), 0};

    for (size_t i = 0; i < n; i++)
        labels[i] = random_below(0, 1 + _i % 3);
    ck_assert_int_eq(voxelize_reference((const int32_t(*)[4])coords, n, &wanted), 0);
    struct sparse_wanted sparse = sparse_reference(&wanted, labels, n, IGNORE);
    for (unsigned i = 0; i < N_STREAMS - 1; i++) {
        for (unsigned way = SEEP_VOXEL_CHOSEN; way < SEEP_VOXEL_N_WAYS; way++) {
            check_maps(streams[i], way, coords, n, &wanted);
            check_sparse(streams[i], way, coords, way % 2 ? labels : NULL, n, &sparse);
            check_sparse(streams[i], way, coords, way % 2 ? NULL : labels, n, &sparse);
        }
    }
    free(sparse.first), free(sparse.labels), free(sparse.inverse);
    free(wanted.point_to_voxel), free(wanted.voxel_coords);
    free(wanted.voxel_start), free(wanted.voxel_points);
    free(coords), free(labels);
}

TEST(the_made_sweep_is_as_sparse_as_a_real_one)
{
    size_t n;
    int32_t(*coords)[4] = draw_kind(0, &n);
    struct seep_voxel_maps maps = maps_on_device(streams[0], n);

    ck_assert_int_eq(voxelize(streams[0], coords, n, &maps), 0);
    size_t n_points = (size_t)maps.voxel_start[maps.n_voxels];
    ck_assert_uint_gt(n_points, 25000);
    ck_assert_uint_gt(maps.n_voxels, n_points * 7 / 10);
    ck_assert_uint_lt(maps.n_voxels, n_points * 97 / 100);
    free_maps(streams[0], &maps);
    free(coords);
}

/* Points of `n_voxels` voxels that are `apart` cells apart in all directions. */
static int32_t (*far_apart(size_t n, int64_t n_voxels, int32_t apart))[4]
{
    int32_t(*coords)[4] = malloc(n * sizeof *coords);

    for (size_t i = 0; i < n; i++) {
        int32_t voxel = random_below(0, n_voxels);
        memcpy(coords[i],
               (int32_t[]){0, voxel % 64 * apart, voxel / 64 % 64 * apart, voxel / 4096 * apart},
               sizeof coords[i]);
    }
    return coords;
}

/* Which way is taken for points of far_apart(). */
struct choice {
    size_t n;
    int64_t n_voxels;
    int32_t apart;
    enum seep_voxel_way maps, numbers;
};

static const struct choice choices[] = {
    {30000, 4096, 1, SEEP_VOXEL_COUNTED, SEEP_VOXEL_CELLS},
    {300000, 262144, 1, SEEP_VOXEL_CELLS, SEEP_VOXEL_CELLS},
    {300000, 262144000, 8, SEEP_VOXEL_NARROW, SEEP_VOXEL_NARROW},
    {300000, 30000, 99, SEEP_VOXEL_WIDE, SEEP_VOXEL_WIDE},
    {30000, 3000, 99, SEEP_VOXEL_NARROW, SEEP_VOXEL_NARROW},
};

TEST(the_way_is_chosen_by_the_size_of_the_box_and_by_how_many_points_share_a_voxel,
     .to = N(choices))
{
    int32_t(*coords)[4] = far_apart(choices[_i].n, choices[_i].n_voxels, choices[_i].apart);
    const int32_t(*from)[4] = (const int32_t(*)[4])coords;
    struct seep_voxel_box box;

    ck_assert_str_eq(seep_voxel_way_names[seep_voxel_choose(from, choices[_i].n, true, &box)],
                     seep_voxel_way_names[choices[_i].maps]);
    ck_assert_str_eq(seep_voxel_way_names[seep_voxel_choose(from, choices[_i].n, false, &box)],
                     seep_voxel_way_names[choices[_i].numbers]);
    free(coords);
}

/* What two threads do: both (counted, or in partitions if the box is large), or one alone. */
static const struct choice choices_of_two[] = {
    {30000, 4096, 1, SEEP_VOXEL_COUNTED, SEEP_VOXEL_COUNTED},
    {10000, 4096, 1, SEEP_VOXEL_CELLS, SEEP_VOXEL_CELLS}, /* no room for two tables */
    {300000, 262144, 1, SEEP_VOXEL_CELLS, SEEP_VOXEL_CELLS},
    {600000, 1000000, 1, SEEP_VOXEL_CELLS, SEEP_VOXEL_CELLS},
    {100000, 262144000, 8, SEEP_VOXEL_NARROW, SEEP_VOXEL_NARROW},
    {300000, 262144000, 8, SEEP_VOXEL_COUNTED, SEEP_VOXEL_COUNTED},
    {300000, 30000, 99, SEEP_VOXEL_COUNTED, SEEP_VOXEL_COUNTED},
};

TEST(two_threads_work_where_one_would_take_longer, .to = N(choices_of_two))
{
    const size_t n = choices_of_two[_i].n;
    int32_t(*coords)[4] = far_apart(n, choices_of_two[_i].n_voxels, choices_of_two[_i].apart);
    const int32_t(*from)[4] = (const int32_t(*)[4])coords;
    struct seep_voxel_box box;

    for (int lists = 0; lists < 2; lists++) {
        enum seep_voxel_way wanted = lists ? choices_of_two[_i].maps : choices_of_two[_i].numbers;
        ck_assert_str_eq(
            seep_voxel_way_names[seep_voxel_way_for(SEEP_VOXEL_CHOSEN, from, n, 2, lists, &box)],
            seep_voxel_way_names[wanted]);
        for (unsigned n_threads = 3; n_threads <= 4; n_threads++)
            ck_assert_int_eq(seep_voxel_way_for(SEEP_VOXEL_CHOSEN, from, n, n_threads, lists, &box),
                             SEEP_VOXEL_COUNTED);
    }
    free(coords);
}

/* Few cells for the sample, and one point far away that it may not have: the box of all decides. */
TEST(a_point_far_away_that_the_sample_misses_is_seen)
{
    int32_t(*coords)[4] = far_apart(MANY, 4096, 1);
    const int32_t(*from)[4] = (const int32_t(*)[4])coords;
    struct seep_voxel_box box;

    for (int32_t place = 0; place < 8; place++) {
        int32_t kept[4];
        memcpy(kept, coords[place * 3000], sizeof kept);
        coords[place * 3000][2] = INT32_MAX;
        ck_assert_str_eq(seep_voxel_way_names[seep_voxel_choose(from, MANY, true, &box)], "narrow");
        memcpy(coords[place * 3000], kept, sizeof kept);
    }
    free(coords);
}

int main(void)
{
    (void)has_cuda(); /* asked once, for all tests */
    return suite_run((struct suite){.name = "voxel ways",
                                    .setups = open_at + FIRST_LEVEL,
                                    .n_setups = SEEP_CPU_LEVELS - FIRST_LEVEL,
                                    .teardown = close_streams});
}
