/* Checks once what all twins rely on. */
#include "kernels/voxels/voxelize.h"

#include "kernels/compute/scratch.h"
#include "kernels/voxels/voxelize_twins.h"

#include <math.h>
#include <string.h>

static const size_t most_points = INT32_MAX - 1;

/* A stream of a CUDA device exists only if its twin was built. */
#ifdef SEEP_WITH_CUDA
#define TWIN(stream, name, ...)                                                                    \
    (seep_stream_device(stream) == SEEP_DEVICE_CUDA ? seep_##name##_cuda(__VA_ARGS__)              \
                                                    : seep_##name##_cpu(__VA_ARGS__))
#else
#define TWIN(stream, name, ...) seep_##name##_cpu(__VA_ARGS__)
#endif

static bool good_rows(const void *rows)
{
    return rows && (uintptr_t)rows % 16 == 0;
}

int seep_quantize(const float (*points)[3], const int32_t *batch, size_t n_points, float size,
                  int32_t (*coords)[4], size_t *n_refused, struct seep_stream *stream)
{
    if (!n_refused || !stream || !isfinite(size) || size <= 0 || n_points > most_points)
        return -SEEP_EINVAL;
    *n_refused = 0;
    if (n_points == 0)
        return 0;
    if (!points || !good_rows(coords))
        return -SEEP_EINVAL;
    return TWIN(stream, quantize, points, batch, n_points, size, coords, n_refused, stream);
}

/* No points: no voxels, and one entry of voxel_start. */
static int empty_maps(struct seep_voxel_maps *maps, struct seep_stream *stream)
{
    static const int32_t zero;

    maps->n_voxels = 0;
    return maps->voxel_start ? seep_stream_upload(stream, maps->voxel_start, &zero, sizeof zero)
                             : 0;
}

int seep_voxelize(const int32_t (*coords)[4], size_t n_points, struct seep_voxel_maps *maps,
                  void *scratch, size_t *scratch_bytes, struct seep_stream *stream)
{
    size_t needed = 0;

    if (!scratch_bytes || !stream || n_points > most_points)
        return -SEEP_EINVAL;
    if (n_points) {
        int err = TWIN(stream, voxelize_scratch, n_points, &needed, stream);
        if (err)
            return err;
    }
    if (!scratch) {
        *scratch_bytes = needed ? needed : 64;
        return 0;
    }
    if (!maps || !seep_scratch_aligned(stream, scratch) || *scratch_bytes < needed)
        return -SEEP_EINVAL;
    if (n_points == 0)
        return empty_maps(maps, stream);
    if (!good_rows(coords) || !good_rows(maps->voxel_coords) || !maps->point_to_voxel ||
        !maps->voxel_start || !maps->voxel_points)
        return -SEEP_EINVAL;
    return TWIN(stream, voxelize, coords, n_points, maps, scratch, needed, stream);
}

int seep_voxel_mean(const struct seep_voxel_maps *maps, const float *features, size_t n_channels,
                    float *voxel_features, struct seep_stream *stream)
{
    if (!maps || !stream || maps->n_voxels > most_points)
        return -SEEP_EINVAL;
    if (maps->n_voxels == 0 || n_channels == 0)
        return 0;
    if (!features || !voxel_features || !maps->voxel_start || !maps->voxel_points ||
        n_channels > SIZE_MAX / sizeof(float) / most_points)
        return -SEEP_EINVAL;
    return TWIN(stream, voxel_mean, maps, features, n_channels, voxel_features, stream);
}

int seep_voxel_mean_backward(const struct seep_voxel_maps *maps, size_t n_points,
                             const float *voxel_grads, size_t n_channels, float *feature_grads,
                             struct seep_stream *stream)
{
    if (!maps || !stream || n_points > most_points)
        return -SEEP_EINVAL;
    if (n_points == 0 || n_channels == 0)
        return 0;
    if ((!voxel_grads && maps->n_voxels) || !feature_grads || !maps->point_to_voxel ||
        !maps->voxel_start || n_channels > SIZE_MAX / sizeof(float) / most_points)
        return -SEEP_EINVAL;
    return TWIN(stream, voxel_mean_backward, maps, n_points, voxel_grads, n_channels, feature_grads,
                stream);
}

int seep_sparse_quantize(const int32_t (*coords)[4], const int32_t *labels, size_t n_points,
                         int32_t ignore_label, int32_t *first, int32_t *voxel_labels,
                         int32_t *inverse, size_t *n_voxels, void *scratch, size_t *scratch_bytes,
                         struct seep_stream *stream)
{
    size_t needed = 0;

    if (!scratch_bytes || !stream || n_points > most_points)
        return -SEEP_EINVAL;
    if (n_points) {
        int err = TWIN(stream, sparse_quantize_scratch, n_points, &needed, stream);
        if (err)
            return err;
    }
    if (!scratch) {
        *scratch_bytes = needed ? needed : 64;
        return 0;
    }
    if (!n_voxels || !labels != !voxel_labels || !seep_scratch_aligned(stream, scratch) ||
        *scratch_bytes < needed)
        return -SEEP_EINVAL;
    *n_voxels = 0;
    if (n_points == 0)
        return 0;
    if (!good_rows(coords) || !first)
        return -SEEP_EINVAL;
    return TWIN(stream, sparse_quantize, coords, labels, n_points, ignore_label, first,
                voxel_labels, inverse, n_voxels, scratch, needed, stream);
}
