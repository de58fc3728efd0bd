#include "kernels/voxels/voxel_inputs.h"

#include "kernels/formats/npz.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANDOM_POINTS = 1000000 };

static const struct kind {
    const char *name;
    float size;
    unsigned n_sweeps, range; /* sweeps, or random cells 0 … range − 1 */
} kinds[SEEP_VOXEL_INPUTS] = {
    {"LiDAR 5 cm", 0.05f, 1, 0},     {"LiDAR 20 cm", 0.2f, 1, 0},
    {"four sweeps", 0.05f, 4, 0},    {"random 20^3", 0.05f, 0, 20},
    {"random 64^3", 0.05f, 0, 64},   {"random 100^3", 0.05f, 0, 100},
    {"random 200^3", 0.05f, 0, 200}, {"random 1000^3", 0.05f, 0, 1000},
};

static int allocate(struct seep_voxel_input *input, size_t n)
{
    input->n = n;
    input->points = malloc(n * sizeof *input->points);
    input->batch = calloc(n, sizeof *input->batch);
    return input->points && input->batch ? 0 : -SEEP_ENOMEM;
}

static void fill_random(struct seep_voxel_input *input, unsigned range)
{
    uint64_t state = 88172645463325252u;

    for (size_t i = 0; i < input->n; i++) {
        for (int d = 0; d < 3; d++) {
            state ^= state << 13; /* xorshift64: Marsaglia, 2003 */
            state ^= state >> 7;
            state ^= state << 17;
            input->points[i][d] = ((float)((state >> 20) % range) + 0.5f) * input->size;
        }
    }
}

/* Each sweep is turned about the vertical, so that they share no voxels but by chance. */
static void fill_sweeps(struct seep_voxel_input *input, const float (*sweep)[3], size_t n)
{
    for (size_t i = 0; i < input->n; i++) {
        size_t k = i / n;
        const float *from = sweep[i % n];
        float c = cosf(0.3f * (float)k), s = sinf(0.3f * (float)k);
        input->batch[i] = (int32_t)k;
        input->points[i][0] = k ? from[0] * c - from[1] * s : from[0];
        input->points[i][1] = k ? from[0] * s + from[1] * c : from[1];
        input->points[i][2] = from[2];
    }
}

static int open_sweeps(struct seep_voxel_input *input, const char *folder, unsigned n_sweeps,
                       struct seep_error *why)
{
    struct seep_npy cloud;
    char path[PATH_MAX];
    int err;

    if (snprintf(path, sizeof path, "%s/" SEEP_VOXEL_SWEEP_FILE, folder) >= (int)sizeof path)
        return seep_error_set(why, SEEP_EINVAL, folder, 0, "the path is too long");
    err = seep_npz_read(path, "pc", &cloud, why);
    if (err)
        return err;
    if (cloud.kind != 'f' || cloud.item_bytes != 4 || cloud.n_dims != 2 || cloud.shape[1] != 3 ||
        cloud.shape[0] == 0)
        err = seep_error_set(why, SEEP_EFORMAT, path, 0,
                             "\"pc\" is not an array of floats in rows of three");
    if (!err)
        err = allocate(input, cloud.shape[0] * n_sweeps);
    if (!err)
        fill_sweeps(input, cloud.values, cloud.shape[0]);
    free(cloud.values);
    return err;
}

int seep_voxel_input_open(unsigned index, const char *data_folder, struct seep_voxel_input *out,
                          struct seep_error *why)
{
    const struct kind *kind = &kinds[index];
    int err = 0;

    *out = (struct seep_voxel_input){.name = kind->name, .size = kind->size};
    if (kind->n_sweeps && data_folder)
        err = open_sweeps(out, data_folder, kind->n_sweeps, why);
    if (kind->range)
        err = allocate(out, RANDOM_POINTS);
    if (kind->range && !err)
        fill_random(out, kind->range);
    if (err)
        seep_voxel_input_close(out);
    return err;
}

void seep_voxel_input_close(struct seep_voxel_input *input)
{
    free(input->points);
    free(input->batch);
    input->points = NULL;
    input->batch = NULL;
    input->n = 0;
}
