#include "kernels/compute/cpu_levels.h"
#include "kernels/voxels/voxelize_twins.h"

#include <math.h>
#include <stdatomic.h>

#if SEEP_ARCH_AVX
#include <immintrin.h>
#endif

struct quantize_job {
    const float (*points)[3];
    const int32_t *batch;
    size_t n;
    float size;
    int32_t (*coords)[4];
    atomic_size_t n_refused;
};

/* Points begin … end; returns how many are refused. NaN is out of range. */
static size_t quantize_plain(const struct quantize_job *job, size_t begin, size_t end)
{
    const float reach = SEEP_VOXEL_REACH;
    size_t n_refused = 0;

    for (size_t i = begin; i < end; i++) {
        int32_t voxel[4] = {job->batch ? job->batch[i] : 0, 0, 0, 0};
        bool good = voxel[0] >= 0;
        for (int d = 0; d < 3; d++) {
            float cell = floorf(job->points[i][d] / job->size);
            bool inside = cell >= -reach && cell < reach;
            voxel[d + 1] = inside ? (int32_t)cell : 0;
            good = good && inside;
        }
        for (int d = 0; d < 4; d++)
            job->coords[i][d] = good ? voxel[d] : -(d == 0);
        n_refused += !good;
    }
    return n_refused;
}

#if SEEP_ARCH_AVX

/* Two points per register, each in the three upper lanes of its half. */
__attribute__((target("avx2"))) static size_t quantize_avx2(const struct quantize_job *job,
                                                            size_t begin, size_t end)
{
    const __m256 size = _mm256_set1_ps(job->size);
    const __m256 lo = _mm256_set1_ps(-(float)SEEP_VOXEL_REACH);
    const __m256 hi = _mm256_set1_ps((float)SEEP_VOXEL_REACH);
    const __m256i spread = _mm256_setr_epi32(0, 0, 1, 2, 3, 3, 4, 5);
    const __m256i refused = _mm256_setr_epi32(-1, 0, 0, 0, -1, 0, 0, 0);
    size_t n_refused = 0, i = begin;

    /* Reads eight floats and uses six: must not read past the last point. */
    for (; i + 3 <= end; i += 2) {
        __m256 xyz = _mm256_permutevar8x32_ps(_mm256_loadu_ps(job->points[i]), spread);
        __m256 cell = _mm256_floor_ps(_mm256_div_ps(xyz, size));
        __m256i inside = _mm256_castps_si256(_mm256_and_ps(_mm256_cmp_ps(cell, lo, _CMP_GE_OQ),
                                                           _mm256_cmp_ps(cell, hi, _CMP_LT_OQ)));
        int32_t b0 = job->batch ? job->batch[i] : 0, b1 = job->batch ? job->batch[i + 1] : 0;
        __m256i batch = _mm256_setr_epi32(b0, 0, 0, 0, b1, 0, 0, 0);
        __m256i voxel = _mm256_blend_epi32(_mm256_cvtps_epi32(cell), batch, 0x11);
        /* Lane 0 holds x a second time; its sign bit is replaced by the batch's, so 15 means all is
         * well. */
        int good = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_andnot_si256(batch, inside)));
        if (good != 0xff) {
            __m256i keep = _mm256_setr_m128i(_mm_set1_epi32(-((good & 15) == 15)),
                                             _mm_set1_epi32(-((good >> 4) == 15)));
            voxel = _mm256_blendv_epi8(refused, voxel, keep);
            n_refused += (size_t)((good & 15) != 15) + (size_t)((good >> 4) != 15);
        }
        _mm256_storeu_si256((__m256i *)(void *)job->coords[i], voxel);
    }
    return n_refused + quantize_plain(job, i, end);
}

#endif

static void quantize(void *arg, unsigned thread, unsigned n_threads)
{
    struct quantize_job *job = arg;
    size_t share = job->n / n_threads;
    size_t begin = share * thread, end = thread + 1 == n_threads ? job->n : begin + share, n;

#if SEEP_ARCH_AVX
    if (seep_cpu_level() >= SEEP_CPU_AVX2)
        n = quantize_avx2(job, begin, end);
    else
#endif
        n = quantize_plain(job, begin, end);
    atomic_fetch_add(&job->n_refused, n);
}

int seep_quantize_cpu(const float (*points)[3], const int32_t *batch, size_t n_points, float size,
                      int32_t (*coords)[4], size_t *n_refused, struct seep_stream *stream)
{
    struct quantize_job job = {points, batch, n_points, size, coords, 0};

    seep_stream_run(stream, quantize, &job);
    *n_refused = job.n_refused;
    return 0;
}
