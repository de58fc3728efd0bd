#include "kernels/lab/scenarios/pointgroup_scenes.h"

#include "kernels/compute/chance.h"
#include "kernels/formats/ply.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MIN_SCENES = 80, /* 64 for training: 16 steps an epoch */
    MIN_POINTS = 64,
    /* In one scene of so many the scanner stood still, and one voxel holds that many vertices. */
    DENSE_EVERY = 100,
    DENSE_VERTICES = 120,
};

/* Spread of ln(points): ScanNet's scenes lie between some 10,000 and 500,000 vertices. */
static const double size_spread = 0.45;

struct seep_pointgroup_size seep_pointgroup_size(double scale)
{
    struct seep_pointgroup_size size = {fmin(fmax(scale, 0.01), 1), 1};

    if (scale < 0.01)
        size.scenes = fmax(scale / 0.01, (double)MIN_SCENES / SEEP_POINTGROUP_SCENES);
    return size;
}

/* ---- made-up scenes -------------------------------------------------------------------------- */

/* Points of each scene: lognormal, then scaled to the wanted mean. */
static size_t *draw_sizes(size_t n, double mean, uint64_t seed)
{
    struct seep_chance chance = {seed};
    double *drawn = malloc(n * sizeof *drawn), sum = 0;
    size_t *sizes = malloc(n * sizeof *sizes);

    for (size_t i = 0; i < n && drawn && sizes; i++) {
        drawn[i] = exp(size_spread * seep_chance_normal(&chance));
        sum += drawn[i];
    }
    for (size_t i = 0; i < n && drawn && sizes; i++)
        sizes[i] = (size_t)fmax(MIN_POINTS, mean * (double)n * drawn[i] / sum);
    free(drawn);
    if (!drawn) {
        free(sizes);
        return NULL;
    }
    return sizes;
}

/* Moves the first vertices of a file into one spot of a few millimetres. */
static int crowd_vertices(const char *path, struct seep_error *err)
{
    static const char *const names[] = {"x", "y", "z"};
    struct seep_ply *ply;
    int rc = seep_ply_read(path, &ply, err);

    if (rc)
        return rc;
    const struct seep_ply_element *vertices = seep_ply_element(ply, "vertex");
    for (size_t axis = 0; axis < 3 && vertices; axis++) {
        /* The values that were read may be changed by this function. */
        float *at = (float *)(uintptr_t)seep_ply_scalars(vertices, names[axis], SEEP_PLY_F32);
        for (size_t i = 1; at && i < vertices->n && i < DENSE_VERTICES; i++)
            at[i] = at[0] + 1e-6f * (float)(i % 7);
    }
    rc = seep_ply_write(path, ply, err);
    seep_ply_free(ply);
    return rc;
}

static int make_scene(const char *folder, size_t i, size_t n_points, double sides, uint64_t seed,
                      struct seep_error *err)
{
    static const char *const files[] = {"_vh_clean_2.ply", "_vh_clean_2.labels.ply"};
    char name[32], path[PATH_MAX];

    snprintf(name, sizeof name, "scene%04zu_00", i);
    int rc = seep_scannet_write_room_of(folder, name, n_points, sides,
                                        seep_chance_of(seed, i).state, err);
    for (size_t k = 0; k < 2 && !rc && i % DENSE_EVERY == DENSE_EVERY / 2; k++) {
        if ((size_t)snprintf(path, sizeof path, "%s/%s%s", folder, name, files[k]) >= sizeof path)
            return seep_error_set(err, SEEP_EIO, folder, 0, "the path is too long");
        rc = crowd_vertices(path, err);
    }
    return rc;
}

/* `alike`: as many points a square metre in all scenes, whatever the scale. */
static int make_scenes(const char *folder, double scale, uint64_t seed, bool alike,
                       struct seep_error *err)
{
    struct seep_pointgroup_size size = seep_pointgroup_size(scale);
    double mean = SEEP_POINTGROUP_MEAN_POINTS * size.points;
    size_t n = (size_t)lround(SEEP_POINTGROUP_SCENES * size.scenes);
    size_t *sizes = draw_sizes(n, mean, seed);
    int rc = sizes ? 0 : -SEEP_ENOMEM;

    for (size_t i = 0; i < n && !rc; i++) {
        double sides = alike ? sqrt((double)sizes[i] / SEEP_POINTGROUP_MEAN_POINTS) : 1;
        rc = make_scene(folder, i, sizes[i], sides, seed, err);
    }
    free(sizes);
    return rc;
}

int seep_pointgroup_make_data(const char *folder, double scale, uint64_t seed,
                              struct seep_error *err)
{
    return make_scenes(folder, scale, seed, false, err);
}

int seep_pointgroup_make_rooms(const char *folder, double scale, uint64_t seed,
                               struct seep_error *err)
{
    return make_scenes(folder, scale, seed, true, err);
}

/* ---- reading --------------------------------------------------------------------------------- */

int seep_pointgroup_scenes_open(const char *folder, struct seep_pointgroup_scenes *out,
                                struct seep_error *err)
{
    *out = (struct seep_pointgroup_scenes){.folder = folder};
    int rc = seep_scannet_list(folder, &out->names, &out->n, err);
    if (rc)
        return rc;
    out->n_train = (size_t)lround((double)out->n * SEEP_POINTGROUP_TRAIN / SEEP_POINTGROUP_SCENES);
    if (out->n_train < SEEP_POINTGROUP_BATCH) {
        size_t n = out->n;
        seep_pointgroup_scenes_close(out);
        return seep_error_set(err, SEEP_ENODATA, folder, 0, "%zu scenes are too few for a batch",
                              n);
    }
    return 0;
}

void seep_pointgroup_scenes_close(struct seep_pointgroup_scenes *scenes)
{
    for (size_t i = 0; i < scenes->n; i++) {
        free(scenes->names[i]);
        if (scenes->loaded)
            free(scenes->loaded[i].points);
    }
    free(scenes->names);
    free(scenes->loaded);
    *scenes = (struct seep_pointgroup_scenes){0};
}

/* The data set's own copy, as torch.load() makes tensors of what it parses: the memory that stays
 * live is attributed to this line. */
static __attribute__((noinline)) struct seep_scannet_point *
dataset_keep(const struct seep_scannet_scene *scene)
{
    struct seep_scannet_point *points = malloc(scene->n_points * sizeof *points + 1);

    if (points && scene->n_points)
        memcpy(points, scene->points, scene->n_points * sizeof *points);
    return points;
}

int seep_pointgroup_read_scene(const struct seep_pointgroup_scenes *scenes, size_t i,
                               struct seep_pointgroup_scene *out, struct seep_error *err)
{
    struct seep_scannet_scene *scene;
    int rc = seep_scannet_read(scenes->folder, scenes->names[i], &scene, err);

    *out = (struct seep_pointgroup_scene){0};
    if (rc)
        return rc;
    *out = (struct seep_pointgroup_scene){dataset_keep(scene), scene->n_points};
    seep_scannet_free(scene);
    return out->points ? 0 : -SEEP_ENOMEM;
}

int seep_pointgroup_scenes_load(struct seep_pointgroup_scenes *scenes, struct seep_error *err)
{
    int rc = 0;

    scenes->loaded = calloc(scenes->n, sizeof *scenes->loaded);
    if (!scenes->loaded)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < scenes->n && !rc; i++)
        rc = seep_pointgroup_read_scene(scenes, i, &scenes->loaded[i], err);
    return rc;
}
