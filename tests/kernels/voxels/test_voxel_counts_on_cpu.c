/* How long a thread of the CUDA kernels is busy with one voxel, counted on the stand-in: times need
 * a GPU, counts do not. */
#include "kernels/voxels/voxelize.h"
#include "tests/cuda_device.h"
#include "tests/cuda_on_cpu/counts.h"
#include "tests/suite.h"

#include <stdlib.h>

static void *on_device(struct seep_stream *stream, const void *from, size_t bytes)
{
    void *block = NULL;

    ck_assert_int_eq(seep_stream_alloc(stream, bytes, &block), 0);
    if (from)
        ck_assert_int_eq(seep_stream_upload(stream, block, from, bytes), 0);
    return block;
}

/* A voxel of n points among small ones. A part of it is n / 256 points, and in a voxel of fewer
 * points than SEEP_VOXEL_LARGE a thread takes them all. */
TEST(no_thread_sums_a_full_voxel_alone, .to = 3)
{
    enum { SMALL = 100, POINTS = 150000, ALL = POINTS + 2 * SMALL, PARTS = 256 };
    const size_t n_channels = (size_t[]){1, 3, 20}[_i], n_voxels = 2 * SMALL + 1;
    struct seep_stream *stream = NULL;
    struct seep_error err = {0};
    int32_t *points = malloc(ALL * sizeof *points), start[2 * SMALL + 2];
    float *features = calloc(ALL * n_channels, sizeof *features);

    ck_assert(points && features);
    for (int32_t i = 0; i < ALL; i++)
        points[i] = i;
    for (int32_t v = 0; v <= 2 * SMALL + 1; v++)
        start[v] = v <= SMALL ? v : v - 1 + POINTS;
    ck_assert_msg(seep_stream_create_cuda(0, &stream, &err) == 0, "%s", err.text);
    struct seep_voxel_maps maps = {NULL, NULL, on_device(stream, start, sizeof start),
                                   on_device(stream, points, ALL * sizeof *points), n_voxels};
    float *from = on_device(stream, features, ALL * n_channels * sizeof *from);
    float *to = on_device(stream, NULL, n_voxels * n_channels * sizeof *to);
    ck_assert_uint_eq(cuda_on_cpu_counts().longest, 0);
    ck_assert_int_eq(seep_voxel_mean(&maps, from, n_channels, to, stream), 0);
    /* A thread may have a part of each channel. */
    size_t most = (POINTS / PARTS + 1) * n_channels + 1, longest = cuda_on_cpu_counts().longest;
    printf("%zu channels: %zu of %d gathers by one thread\n", n_channels, longest, POINTS);
    ck_assert_uint_ge(longest, POINTS / PARTS);
    ck_assert_uint_le(longest, most);
    ck_assert_uint_eq(cuda_on_cpu_counts().bytes, ALL * n_channels * sizeof(float));
    seep_stream_free(stream, maps.voxel_start), seep_stream_free(stream, maps.voxel_points);
    seep_stream_free(stream, from), seep_stream_free(stream, to);
    seep_stream_destroy(stream);
    free(points), free(features);
}

SUITE("voxel counts on cpu", .timeout_s = 120)
