#include "kernels/voxels/voxel_bench.h"

#include "kernels/compute/stopwatch.h"
#include "kernels/voxels/voxel_baseline.h"
#include "kernels/voxels/voxel_inputs.h"
#include "kernels/voxels/voxelize.h"
#include "libprof/base/statistics.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_ROUNDS = 5, MAX_ROUNDS = 31, CHANNELS = 16 };

static const double enough_ms = 400; /* for all rounds of one kernel */

struct bench {
    json_t *results;
    struct seep_stream *stream;
    const char *input;
    float size;
    size_t n, n_voxels;
    /* On the stream's device. */
    float (*points)[3], *features, *means;
    int32_t *batch, (*coords)[4];
    struct seep_voxel_maps maps;
    int32_t *first;
    void *scratch, *copy;
    size_t scratch_bytes, copied_bytes; /* the copy reads that many bytes and writes as many */
    int32_t *table;                     /* of the baseline; on a CPU */
};

typedef int bench_call(struct bench *b);

/* The first call does not count, because it touches memory for the first time. */
static int measure(struct bench *b, bench_call *call, double *median_ms)
{
    double times[MAX_ROUNDS], begin = seep_clock_ms();
    int n = 0, err = call(b);

    if (!err)
        err = seep_stream_wait(b->stream);
    while (!err && n < MAX_ROUNDS && (n < MIN_ROUNDS || seep_clock_ms() - begin < enough_ms)) {
        double start = seep_clock_ms();
        err = call(b);
        if (!err)
            err = seep_stream_wait(b->stream);
        times[n++] = seep_clock_ms() - start;
    }
    if (err)
        return err;
    *median_ms = seep_median(times, (size_t)n);
    return 0;
}

static int call_quantize(struct bench *b)
{
    size_t n_refused;

    return seep_quantize((const float(*)[3])b->points, b->batch, b->n, b->size, b->coords,
                         &n_refused, b->stream);
}

static int call_voxelize(struct bench *b)
{
    return seep_voxelize((const int32_t(*)[4])b->coords, b->n, &b->maps, b->scratch,
                         &b->scratch_bytes, b->stream);
}

static int call_both(struct bench *b)
{
    int err = call_quantize(b);

    return err ? err : call_voxelize(b);
}

static int call_sparse(struct bench *b)
{
    size_t n_voxels;

    return seep_sparse_quantize((const int32_t(*)[4])b->coords, NULL, b->n, 0, b->first, NULL,
                                b->maps.point_to_voxel, &n_voxels, b->scratch, &b->scratch_bytes,
                                b->stream);
}

static int call_mean(struct bench *b)
{
    return seep_voxel_mean(&b->maps, b->features, CHANNELS, b->means, b->stream);
}

static int call_backward(struct bench *b)
{
    return seep_voxel_mean_backward(&b->maps, b->n, b->means, CHANNELS, b->features, b->stream);
}

static int call_baseline(struct bench *b)
{
    seep_voxel_baseline_maps((const int32_t(*)[4])b->coords, b->n, &b->maps, b->table);
    return 0;
}

static int call_copy(struct bench *b)
{
    return seep_stream_upload(b->stream, (char *)b->copy + b->copied_bytes, b->copy,
                              b->copied_bytes);
}

static int add(struct bench *b, const char *kernel, bench_call *call, size_t bytes,
               double *median_ms)
{
    double copy_ms;
    int err = measure(b, call, median_ms);

    b->copied_bytes = bytes / 2;
    if (!err)
        err = measure(b, call_copy, &copy_ms);
    if (err)
        return err;
    json_t *entry =
        json_pack("{ss ss sI sI sf sf sI sf}", "kernel", kernel, "input", b->input, "points",
                  (json_int_t)b->n, "voxels", (json_int_t)b->n_voxels, "median_ms", *median_ms,
                  "points_per_s", (double)b->n / *median_ms * 1e3, "bytes_moved", (json_int_t)bytes,
                  "copy_ms", copy_ms);
    return json_array_append_new(b->results, entry) ? -SEEP_ENOMEM : 0;
}

static int add_baseline(struct bench *b, double ours_ms)
{
    json_t *entry = json_array_get(b->results, json_array_size(b->results) - 1);
    double ms;
    int err = measure(b, call_baseline, &ms);

    if (err)
        return err;
    if (json_object_set_new(entry, "baseline_ms", json_real(ms)) ||
        json_object_set_new(entry, "speedup", json_real(ms / ours_ms)))
        return -SEEP_ENOMEM;
    return 0;
}

static int run_kernels(struct bench *b)
{
    double ms;
    int err = call_both(b);

    if (err)
        return err;
    size_t n = b->n, n_voxels = b->maps.n_voxels, row = CHANNELS * sizeof(float);
    size_t maps_bytes = n * (16 + 4 + 4) + n_voxels * (16 + 4);
    b->n_voxels = n_voxels;
    err = add(b, "quantize", call_quantize, n * (12 + 4 + 16), &ms);
    if (!err)
        err = add(b, "voxelize", call_voxelize, maps_bytes, &ms);
    if (!err && seep_stream_device(b->stream) == SEEP_DEVICE_CPU)
        err = add_baseline(b, ms);
    if (!err)
        err = add(b, "quantize and voxelize", call_both, n * (12 + 4 + 16) + maps_bytes, &ms);
    if (!err)
        err = add(b, "sparse_quantize", call_sparse, n * (16 + 4) + n_voxels * 4, &ms);
    if (!err)
        err = add(b, "mean of 16 channels", call_mean, n * (row + 4) + n_voxels * (row + 4), &ms);
    if (!err)
        err = add(b, "mean of 16 channels, backward", call_backward,
                  n * (row + 4) + n_voxels * (row + 4), &ms);
    return err;
}

static int get(struct bench *b, size_t bytes, void *out)
{
    void *block;
    int err = seep_stream_alloc(b->stream, bytes, &block);

    if (!err)
        memcpy(out, &block, sizeof block);
    return err;
}

static int get_all(struct bench *b)
{
    size_t n = b->n, most_bytes = n * (CHANNELS * sizeof(float) + 4) * 2, sparse_bytes = 0;
    int err = seep_voxelize(NULL, n, NULL, NULL, &b->scratch_bytes, b->stream);

    if (!err)
        err = seep_sparse_quantize(NULL, NULL, n, 0, NULL, NULL, NULL, NULL, NULL, &sparse_bytes,
                                   b->stream);
    if (sparse_bytes > b->scratch_bytes)
        b->scratch_bytes = sparse_bytes;
    const struct {
        size_t bytes;
        void *out;
    } wanted[] = {
        {n * 12, &b->points},
        {n * 4, &b->batch},
        {n * CHANNELS * sizeof(float), &b->features},
        {n * CHANNELS * sizeof(float), &b->means},
        {n * 16, &b->coords},
        {n * 4, &b->maps.point_to_voxel},
        {n * 16, &b->maps.voxel_coords},
        {n * 4 + 4, &b->maps.voxel_start},
        {n * 4, &b->maps.voxel_points},
        {n * 4, &b->first},
        {seep_voxel_baseline_bytes(n), &b->table},
        {b->scratch_bytes, &b->scratch},
        {most_bytes, &b->copy},
    };
    for (size_t i = 0; !err && i < sizeof wanted / sizeof *wanted; i++)
        err = get(b, wanted[i].bytes, wanted[i].out);
    return err;
}

static void free_all(struct bench *b)
{
    void *const blocks[] = {b->points,
                            b->batch,
                            b->features,
                            b->means,
                            b->coords,
                            b->maps.point_to_voxel,
                            b->maps.voxel_coords,
                            b->maps.voxel_start,
                            b->maps.voxel_points,
                            b->first,
                            b->table,
                            b->scratch,
                            b->copy};

    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        seep_stream_free(b->stream, blocks[i]);
}

static int bench_input(json_t *results, struct seep_stream *stream,
                       const struct seep_voxel_input *input)
{
    struct bench b = {.results = results,
                      .stream = stream,
                      .input = input->name,
                      .size = input->size,
                      .n = input->n};
    float *features = calloc(b.n, CHANNELS * sizeof *features);
    int err = features ? get_all(&b) : -SEEP_ENOMEM;

    if (!err)
        err = seep_stream_upload(stream, b.points, input->points, b.n * 12);
    if (!err)
        err = seep_stream_upload(stream, b.batch, input->batch, b.n * 4);
    for (size_t i = 0; features && i < b.n * CHANNELS; i++)
        features[i] = (float)(i % 1009);
    if (!err)
        err = seep_stream_upload(stream, b.features, features, b.n * CHANNELS * sizeof *features);
    if (!err)
        err = run_kernels(&b);
    free_all(&b);
    free(features);
    return err;
}

int seep_voxel_bench(json_t *results, const char *data_folder, struct seep_stream *stream,
                     struct seep_error *why)
{
    int err = 0;

    for (unsigned i = 0; !err && i < SEEP_VOXEL_INPUTS; i++) {
        struct seep_voxel_input input;
        err = seep_voxel_input_open(i, data_folder, &input, why);
        if (!err && input.n)
            err = bench_input(results, stream, &input);
        if (!err)
            seep_voxel_input_close(&input);
    }
    return err;
}
