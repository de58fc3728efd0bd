/* What is computed from voxels: mean features, and one labelled point of each. */
#include "tests/kernels/voxels/voxel_fixture.h"
#include "tests/suite.h"

static float *random_floats(size_t n)
{
    float *values = malloc((n + 1) * sizeof *values);

    for (size_t i = 0; i < n; i++)
        values[i] = (float)random_below(-1000000, 1000001) * 1e-4f;
    return values;
}

static const struct {
    size_t n;
    int64_t range;
    size_t n_channels;
} mean_cases[] = {
    {1, 1, 1},    {50, 2, 3},    {3000, 5, 1},  {3000, 5, 3},  {3000, 5, 4},
    {3000, 5, 7}, {3000, 5, 16}, {3000, 9, 35}, {20000, 1, 6}, {20000, 40, 32},
};

/* Means against double precision; and <mean(f), g> = <f, backward(g)>, which only the mean's own
 * gradient fulfils for random f and g. */
static void check_means(struct seep_stream *s, const struct distribution *d, size_t n_channels)
{
    int32_t(*coords)[4] = draw(d);
    struct seep_voxel_maps maps = maps_on_device(s, d->n), host;
    size_t floats = d->n * n_channels;
    void *device_coords = on_device(s, coords, d->n * 16);
    float *f = random_floats(floats), *g = random_floats(floats), *mean, *back;
    void *device_f = on_device(s, f, floats * 4), *device_g = on_device(s, g, floats * 4);
    void *device_mean = on_device(s, NULL, floats * 4),
         *device_back = on_device(s, NULL, floats * 4);
    double *wanted = malloc(floats * sizeof *wanted), left = 0, right = 0, size = 0;
    size_t n_wrong = 0;

    ck_assert_int_eq(voxelize(s, device_coords, d->n, &maps), 0);
    host = maps;
    host.point_to_voxel = to_host(s, maps.point_to_voxel, d->n * 4);
    host.voxel_start = to_host(s, maps.voxel_start, maps.n_voxels * 4 + 4);
    host.voxel_points = to_host(s, maps.voxel_points, d->n * 4);
    ck_assert_int_eq(seep_voxel_mean(&maps, device_f, n_channels, device_mean, s), 0);
    ck_assert_int_eq(seep_voxel_mean_backward(&maps, d->n, device_g, n_channels, device_back, s),
                     0);
    mean = to_host(s, device_mean, maps.n_voxels * n_channels * 4);
    back = to_host(s, device_back, floats * 4);
    voxel_mean_reference(&host, f, n_channels, wanted);
    for (size_t i = 0; i < maps.n_voxels * n_channels; i++) {
        bool close = fabs((double)mean[i] - wanted[i]) <= 1e-6 * fabs(wanted[i]) + 1e-30;
        n_wrong += !close;
        left += (double)mean[i] * (double)g[i];
    }
    for (size_t i = 0; i < floats; i++) {
        right += (double)back[i] * (double)f[i];
        size += fabs((double)back[i] * (double)f[i]);
        n_wrong += host.point_to_voxel[i / n_channels] < 0 && back[i] != 0;
    }
    ck_assert_uint_eq(n_wrong, 0);
    ck_assert_double_le(fabs(left - right), 1e-6 * size);
    free(host.point_to_voxel), free(host.voxel_start), free(host.voxel_points);
    free(coords), free(f), free(g), free(mean), free(back), free(wanted);
    free_maps(s, &maps);
    seep_stream_free(s, device_coords), seep_stream_free(s, device_f);
    seep_stream_free(s, device_g), seep_stream_free(s, device_mean);
    seep_stream_free(s, device_back);
}

TEST(means_and_their_gradients_are_right, .to = N(mean_cases))
{
    struct distribution d = {mean_cases[_i].n, 0, mean_cases[_i].range, 2, 9};

    d.refuse_each = mean_cases[_i].n > 1 ? 9 : 0;
    for (unsigned i = 0; i < n_streams; i++)
        check_means(streams[i], &d, mean_cases[_i].n_channels);
}

/* One voxel has more points than one thread should add up, by little or so many that the CPU shares
 * them out, its neighbours just not, and few. On CUDA, too, it is the same to the bit. */
TEST(the_mean_of_a_very_full_voxel_is_right_and_the_same_for_any_number_of_threads, .to = 8)
{
    enum { OTHER = SEEP_VOXEL_LARGE };
    const int32_t full = _i < 4 ? OTHER * 3 + 7 : (1 << 16) + 1 + OTHER, all = full + OTHER + 5;
    size_t n_channels = (size_t[]){1, 3, 16, 19}[_i % 4], floats = (size_t)all * n_channels;
    struct seep_voxel_maps maps = {NULL, NULL, malloc(4 * 4), malloc((size_t)all * 4), 3};
    float *f = random_floats(floats), means[N_STREAMS][3 * 19] = {{0}};
    double wanted[3 * 19];

    memcpy(maps.voxel_start, (int32_t[]){0, OTHER, OTHER + full, all}, 4 * 4);
    for (int32_t i = 0; i < all; i++)
        maps.voxel_points[i] = all - 1 - i;
    voxel_mean_reference(&maps, f, n_channels, wanted);
    for (unsigned i = 0; i < n_streams; i++) {
        struct seep_stream *s = streams[i];
        struct seep_voxel_maps on = {NULL, NULL, on_device(s, maps.voxel_start, 4 * 4),
                                     on_device(s, maps.voxel_points, (size_t)all * 4), 3};
        float *from = on_device(s, f, floats * 4), *to = on_device(s, NULL, 3 * n_channels * 4);
        ck_assert_int_eq(seep_voxel_mean(&on, from, n_channels, to, s), 0);
        ck_assert_int_eq(seep_stream_download(s, means[i], to, 3 * n_channels * 4), 0);
        for (size_t c = 0; c < 3 * n_channels; c++)
            ck_assert_double_le(fabs((double)means[i][c] - wanted[c]),
                                1e-6 * fabs(wanted[c]) + 1e-30);
        ck_assert_int_eq(memcmp(means[i], means[0], sizeof means[i]), 0);
        seep_stream_free(s, on.voxel_start), seep_stream_free(s, on.voxel_points);
        seep_stream_free(s, from), seep_stream_free(s, to);
    }
    free(maps.voxel_start), free(maps.voxel_points), free(f);
}

enum { IGNORE = 255 };

static void check_sparse(struct seep_stream *s, int32_t (*coords)[4], const int32_t *labels,
                         size_t n, const struct sparse_wanted *wanted, bool with_labels,
                         bool with_inverse)
{
    size_t bytes = 0, n_voxels = 0;
    void *device_coords = on_device(s, coords, n * 16),
         *device_labels = on_device(s, labels, n * 4);
    void *first = on_device(s, NULL, n * 4), *voxel_labels = on_device(s, NULL, n * 4);
    void *inverse = on_device(s, NULL, n * 4);

    ck_assert_int_eq(
        seep_sparse_quantize(NULL, NULL, n, IGNORE, NULL, NULL, NULL, NULL, NULL, &bytes, s), 0);
    void *scratch = on_device(s, NULL, bytes);
    ck_assert_int_eq(seep_sparse_quantize(device_coords, with_labels ? device_labels : NULL, n,
                                          IGNORE, first, with_labels ? voxel_labels : NULL,
                                          with_inverse ? inverse : NULL, &n_voxels, scratch, &bytes,
                                          s),
                     0);
    ck_assert_uint_eq(n_voxels, wanted->n_voxels);
    assert_same(s, first, wanted->first, n_voxels * 4);
    if (with_labels)
        assert_same(s, voxel_labels, wanted->labels, n_voxels * 4);
    if (with_inverse)
        assert_same(s, inverse, wanted->inverse, n * 4);
    seep_stream_free(s, device_coords), seep_stream_free(s, device_labels);
    seep_stream_free(s, first), seep_stream_free(s, voxel_labels);
    seep_stream_free(s, inverse), seep_stream_free(s, scratch);
}

TEST(one_point_a_voxel_and_labels_that_disagree_are_ignored, .to = N(distributions))
{
    const struct distribution *d = &distributions[_i];
    int32_t(*coords)[4] = draw(d), *labels = malloc(d->n * 4);

    for (size_t i = 0; i < d->n; i++)
        labels[i] = random_below(0, 1 + _i % 3);
    struct seep_voxel_maps maps = {malloc(d->n * 4), malloc(d->n * 16), malloc(d->n * 4 + 4),
                                   malloc(d->n * 4), 0};
    ck_assert_int_eq(voxelize_reference((const int32_t(*)[4])coords, d->n, &maps), 0);
    struct sparse_wanted wanted = sparse_reference(&maps, labels, d->n, IGNORE);
    for (unsigned i = 0; i < n_streams; i++) {
        check_sparse(streams[i], coords, labels, d->n, &wanted, true, _i % 2);
        check_sparse(streams[i], coords, labels, d->n, &wanted, false, !(_i % 2));
    }
    free(coords), free(labels);
    free(maps.point_to_voxel), free(maps.voxel_coords);
    free(maps.voxel_start), free(maps.voxel_points);
    free(wanted.first), free(wanted.labels), free(wanted.inverse);
}

int main(void)
{
    (void)has_cuda(); /* asked once, for all tests */
    return suite_run((struct suite){.name = "voxel features",
                                    .setups = open_at + FIRST_LEVEL,
                                    .n_setups = SEEP_CPU_LEVELS - FIRST_LEVEL,
                                    .teardown = close_streams});
}
