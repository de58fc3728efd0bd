/* Mean features of voxels and their gradients. The CPU cannot predict the order in which rows are
 * gathered, so they are prefetched; sums are kept in registers, a few channels at a time. A voxel
 * with many points is summed in parts that do not depend on the number of threads, one with very
 * many by all threads. */
#include "kernels/compute/cpu_levels.h"
#include "kernels/voxels/voxelize_twins.h"

#include <stdatomic.h>
#include <string.h>

enum { AHEAD = 12, LANES = 16, PARTS = SEEP_VOXEL_PARTS };
enum { FOR_ALL_THREADS = 1 << 16 }; /* from so many points on their waiting is worth it */

struct mean_job {
    const struct seep_voxel_maps *maps;
    const float *from;
    float *to;
    size_t n_channels, n_points;
    enum seep_cpu_level level;
    atomic_bool *has_vast; /* set if a voxel was left out */
};

/* `width` channels of points, beginning with `channel`; `width` is a constant at most calls. */
SEEP_INLINE void sum_of(const struct mean_job *job, const int32_t *points, size_t n, size_t channel,
                        size_t width, double *sums)
{
    for (size_t i = 0; i < n; i++) {
        const float *row = job->from + (size_t)points[i] * job->n_channels + channel;
        for (size_t c = 0; c < width; c++)
            sums[c] += row[c];
    }
}

SEEP_INLINE void sum_in_parts(const struct mean_job *job, const int32_t *points, size_t n,
                              size_t channel, size_t width, double *sums)
{
    for (size_t part = 0; part < PARTS; part++) {
        size_t from = n * part / PARTS, to = n * (part + 1) / PARTS;
        double own[LANES] = {0};
        sum_of(job, points + from, to - from, channel, width, own);
        for (size_t c = 0; c < width; c++)
            sums[c] += own[c];
    }
}

SEEP_INLINE void mean_of(const struct mean_job *job, const int32_t *points, size_t n, size_t voxel,
                         size_t channel, size_t width)
{
    double sums[LANES] = {0};
    float *to = job->to + voxel * job->n_channels + channel;

    if (n > SEEP_VOXEL_LARGE)
        sum_in_parts(job, points, n, channel, width, sums);
    else
        sum_of(job, points, n, channel, width, sums);
    for (size_t c = 0; c < width; c++)
        to[c] = (float)(sums[c] / (double)n);
}

SEEP_INLINE void means(const struct mean_job *job, size_t begin, size_t end)
{
    const struct seep_voxel_maps *maps = job->maps;
    size_t n_members = (size_t)maps->voxel_start[maps->n_voxels], n_channels = job->n_channels;

    for (size_t v = begin; v < end; v++) {
        size_t at = (size_t)maps->voxel_start[v], n = (size_t)maps->voxel_start[v + 1] - at, c = 0;
        const int32_t *points = maps->voxel_points + at;
        if (at + n + AHEAD < n_members)
            __builtin_prefetch(job->from + (size_t)points[n + AHEAD - 1] * n_channels);
        if (n > FOR_ALL_THREADS) {
            atomic_store_explicit(job->has_vast, true, memory_order_relaxed);
            continue;
        }
        if (n_channels == 3) {
            mean_of(job, points, n, v, 0, 3);
            continue;
        }
        for (; c + LANES <= n_channels; c += LANES)
            mean_of(job, points, n, v, c, LANES);
        for (; c + 4 <= n_channels; c += 4)
            mean_of(job, points, n, v, c, 4);
        for (; c < n_channels; c++)
            mean_of(job, points, n, v, c, 1);
    }
}

SEEP_INLINE void spread(const struct mean_job *job, size_t begin, size_t end)
{
    const struct seep_voxel_maps *maps = job->maps;
    size_t n_channels = job->n_channels;

    for (size_t p = begin; p < end; p++) {
        int32_t voxel = maps->point_to_voxel[p];
        float *to = job->to + p * n_channels;
        if (p + AHEAD < end && maps->point_to_voxel[p + AHEAD] >= 0)
            __builtin_prefetch(job->from + (size_t)maps->point_to_voxel[p + AHEAD] * n_channels);
        if (voxel < 0) {
            memset(to, 0, n_channels * sizeof *to);
            continue;
        }
        const float *from = job->from + (size_t)voxel * n_channels;
        float share = 1 / (float)(maps->voxel_start[voxel + 1] - maps->voxel_start[voxel]);
        if (n_channels == 3) {
            for (size_t c = 0; c < 3; c++)
                to[c] = from[c] * share;
            continue;
        }
        for (size_t c = 0; c < n_channels; c++)
            to[c] = from[c] * share;
    }
}

SEEP_LEVELS(means, means, (const struct mean_job *job, size_t begin, size_t end),
            (job, begin, end));
SEEP_LEVELS(spread, spread, (const struct mean_job *job, size_t begin, size_t end),
            (job, begin, end));

/* The voxel that contains point number `at` of voxel_points: threads get equal shares of points. */
static size_t voxel_at(const struct seep_voxel_maps *maps, size_t at)
{
    size_t lo = 0, hi = maps->n_voxels;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if ((size_t)maps->voxel_start[mid] < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void run_means(void *arg, unsigned thread, unsigned n_threads)
{
    const struct mean_job *job = arg;
    size_t n = (size_t)job->maps->voxel_start[job->maps->n_voxels];
    size_t begin = voxel_at(job->maps, n * thread / n_threads);
    size_t end = voxel_at(job->maps, n * (thread + 1) / n_threads);

    means_levels[job->level](job, begin, end);
}

static void run_spread(void *arg, unsigned thread, unsigned n_threads)
{
    const struct mean_job *job = arg;
    size_t begin = job->n_points * thread / n_threads;
    size_t end = job->n_points * (thread + 1) / n_threads;

    spread_levels[job->level](job, begin, end);
}

/* `width` channels of a voxel for all threads. */
struct vast_job {
    const struct mean_job *mean;
    const int32_t *points;
    size_t n, channel, width;
    double sums[PARTS][LANES];
};

SEEP_INLINE void sum_parts(struct vast_job *job, size_t begin, size_t end)
{
    for (size_t part = begin; part < end; part++) {
        size_t from = job->n * part / PARTS, to = job->n * (part + 1) / PARTS;
        double sums[LANES] = {0};
        if (job->width == LANES)
            sum_of(job->mean, job->points + from, to - from, job->channel, LANES, sums);
        else
            sum_of(job->mean, job->points + from, to - from, job->channel, job->width, sums);
        memcpy(job->sums[part], sums, sizeof sums);
    }
}

SEEP_LEVELS(sum_parts, sum_parts, (struct vast_job * job, size_t begin, size_t end),
            (job, begin, end));

static void run_parts(void *arg, unsigned thread, unsigned n_threads)
{
    struct vast_job *job = arg;

    sum_parts_levels[job->mean->level](job, PARTS * thread / n_threads,
                                       PARTS * (thread + 1) / n_threads);
}

static void mean_of_vast(const struct mean_job *mean, size_t voxel, struct seep_stream *stream)
{
    size_t at = (size_t)mean->maps->voxel_start[voxel];
    struct vast_job job = {.mean = mean,
                           .points = mean->maps->voxel_points + at,
                           .n = (size_t)mean->maps->voxel_start[voxel + 1] - at};

    for (; job.channel < mean->n_channels; job.channel += LANES) {
        size_t left = mean->n_channels - job.channel;
        job.width = left < LANES ? left : LANES;
        seep_stream_run(stream, run_parts, &job);
        for (size_t c = 0; c < job.width; c++) {
            double sum = 0;
            for (size_t part = 0; part < PARTS; part++)
                sum += job.sums[part][c];
            mean->to[voxel * mean->n_channels + job.channel + c] = (float)(sum / (double)job.n);
        }
    }
}

int seep_voxel_mean_cpu(const struct seep_voxel_maps *maps, const float *features,
                        size_t n_channels, float *voxel_features, struct seep_stream *stream)
{
    atomic_bool has_vast = false;
    struct mean_job job = {maps, features,         voxel_features, n_channels,
                           0,    seep_cpu_level(), &has_vast};

    seep_stream_run(stream, run_means, &job);
    for (size_t v = 0; has_vast && v < maps->n_voxels; v++)
        if (maps->voxel_start[v + 1] - maps->voxel_start[v] > FOR_ALL_THREADS)
            mean_of_vast(&job, v, stream);
    return 0;
}

int seep_voxel_mean_backward_cpu(const struct seep_voxel_maps *maps, size_t n_points,
                                 const float *voxel_grads, size_t n_channels, float *feature_grads,
                                 struct seep_stream *stream)
{
    struct mean_job job = {maps,     voxel_grads,      feature_grads, n_channels,
                           n_points, seep_cpu_level(), NULL};

    seep_stream_run(stream, run_spread, &job);
    return 0;
}
