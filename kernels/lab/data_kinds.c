#include "kernels/lab/data_kinds.h"

#include "kernels/formats/colmap.h"
#include "kernels/formats/nerf.h"
#include "kernels/formats/ply.h"
#include "kernels/formats/scannet.h"
#include "kernels/lab/lab.h"
#include "kernels/lab/scenarios/maskrcnn_dataset.h"
#include "kernels/lab/scenarios/splat_made_up.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Vertices of a ScanNet scene, about. */
static const double full_scene_points = 150000;

static int make_colmap(const char *folder, double scale, uint64_t seed, struct seep_error *err)
{
    const struct seep_made_up size = seep_made_up_size(scale);

    return seep_made_up_write(folder, &size, seed, err);
}

/* The model from which the other forms of the scene are made, and its path. */
static int make_model(const char *folder, double scale, uint64_t seed, char model[PATH_MAX],
                      struct seep_colmap **out, struct seep_error *err)
{
    if ((size_t)snprintf(model, PATH_MAX, "%s/sparse/0", folder) >= PATH_MAX)
        return seep_error_set(err, SEEP_EIO, folder, 0, "the path is too long");
    int rc = make_colmap(folder, scale, seed, err);
    return rc ? rc : seep_colmap_read(model, out, err);
}

static int make_colmap_text(const char *folder, double scale, uint64_t seed, struct seep_error *err)
{
    char path[PATH_MAX];
    struct seep_colmap *model = NULL;
    int rc = make_model(folder, scale, seed, path, &model, err);

    if (!rc) {
        seep_lab_remove(path); /* else the binary twin would be read first */
        rc = seep_lab_make_folder(path, err);
    }
    if (!rc)
        rc = seep_colmap_write(path, true, model, err);
    seep_colmap_free(model);
    return rc;
}

/* ---- NeRF ------------------------------------------------------------------------------------ */

/* World to camera with OpenCV's axes becomes camera to world with OpenGL's: y and z turn round. */
static void turn(const struct seep_colmap_image *image, double to_world[4][4])
{
    const double *q = image->rotation, w = q[0], x = q[1], y = q[2], z = q[3];
    double norm = w * w + x * x + y * y + z * z, s = 2 / norm;
    const double r[3][3] = {
        {1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)},
        {s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)},
        {s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)},
    };

    memset(to_world, 0, 16 * sizeof(double));
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            to_world[i][k] = k == 0 ? r[k][i] : -r[k][i];
            to_world[i][3] -= r[k][i] * image->translation[k];
        }
    }
    to_world[3][3] = 1;
}

static int frame_of(const struct seep_colmap *model, const struct seep_colmap_image *image,
                    struct seep_nerf_frame *frame)
{
    double k[4];

    for (size_t i = 0; i < model->n_cameras; i++) {
        const struct seep_colmap_camera *c = &model->cameras[i];
        if (c->id != image->camera_id || !seep_colmap_pinhole(c, k))
            continue;
        *frame = (struct seep_nerf_frame){.fx = k[0],
                                          .fy = k[1],
                                          .cx = k[2],
                                          .cy = k[3],
                                          .width = (int)c->width,
                                          .height = (int)c->height};
        turn(image, frame->to_world);
        return asprintf(&frame->file, "images/%s", image->name) < 0 ? -SEEP_ENOMEM : 0;
    }
    return -SEEP_EFORMAT;
}

static int make_nerf(const char *folder, double scale, uint64_t seed, struct seep_error *err)
{
    char path[PATH_MAX];
    struct seep_colmap *model = NULL;
    struct seep_nerf scene = {0};
    int rc = make_model(folder, scale, seed, path, &model, err);

    if (rc)
        return rc;
    scene.frames = calloc(model->n_images + 1, sizeof *scene.frames);
    rc = scene.frames ? 0 : -SEEP_ENOMEM;
    for (size_t i = 0; i < model->n_images && !rc; i++) {
        rc = frame_of(model, &model->images[i], &scene.frames[i]);
        scene.n_frames += rc == 0;
    }
    snprintf(path, sizeof path, "%.*s/transforms_train.json", PATH_MAX - 32, folder);
    if (!rc)
        rc = seep_nerf_write(path, &scene, err);
    snprintf(path, sizeof path, "%.*s/sparse", PATH_MAX - 32, folder);
    seep_lab_remove(path);
    for (size_t i = 0; i < scene.n_frames; i++)
        free(scene.frames[i].file);
    free(scene.frames);
    seep_colmap_free(model);
    return rc;
}

/* ---- PLY ------------------------------------------------------------------------------------- */

static int write_points(const char *path, const struct seep_colmap *model, struct seep_error *err)
{
    static const char *const names[] = {"x", "y", "z", "red", "green", "blue"};
    struct seep_ply_property properties[6] = {0};
    struct seep_ply_element vertex = {
        .name = "vertex", .n = model->n_points, .properties = properties, .n_properties = 6};
    struct seep_ply ply = {.encoding = SEEP_PLY_LITTLE, .elements = &vertex, .n_elements = 1};
    float *xyz = malloc((3 * model->n_points + 1) * sizeof *xyz);
    uint8_t *rgb = malloc(3 * model->n_points + 1);
    int rc = xyz && rgb ? 0 : -SEEP_ENOMEM;

    for (int k = 0; k < 6; k++) {
        snprintf(properties[k].name, sizeof properties[k].name, "%s", names[k]);
        properties[k].type = k < 3 ? SEEP_PLY_F32 : SEEP_PLY_U8;
        properties[k].values = k < 3 ? (void *)(xyz + (size_t)k * model->n_points)
                                     : (void *)(rgb + (size_t)(k - 3) * model->n_points);
    }
    for (size_t i = 0; i < model->n_points && !rc; i++) {
        for (size_t k = 0; k < 3; k++) {
            xyz[k * model->n_points + i] = (float)model->points[i].xyz[k];
            rgb[k * model->n_points + i] = model->points[i].rgb[k];
        }
    }
    if (!rc)
        rc = seep_ply_write(path, &ply, err);
    free(xyz);
    free(rgb);
    return rc;
}

/* The sparse points of the scene, as a point cloud. */
static int make_ply(const char *folder, double scale, uint64_t seed, struct seep_error *err)
{
    char path[PATH_MAX];
    struct seep_colmap *model = NULL;
    int rc = make_model(folder, scale, seed, path, &model, err);

    snprintf(path, sizeof path, "%.*s/points.ply", PATH_MAX - 32, folder);
    if (!rc)
        rc = write_points(path, model, err);
    seep_colmap_free(model);
    snprintf(path, sizeof path, "%.*s/sparse", PATH_MAX - 32, folder);
    seep_lab_remove(path);
    snprintf(path, sizeof path, "%.*s/images", PATH_MAX - 32, folder);
    seep_lab_remove(path);
    return rc;
}

/* ---- rooms ----------------------------------------------------------------------------------- */

static int make_scannet(const char *folder, double scale, uint64_t seed, struct seep_error *err)
{
    size_t points = (size_t)(full_scene_points * scale);

    return seep_scannet_write_room(folder, "scene0000_00", points ? points : 1, seed, err);
}

const struct seep_data_kind seep_data_kinds[] = {
    {"colmap", make_colmap},
    {"colmap-text", make_colmap_text},
    {"nerf", make_nerf},
    {"ply", make_ply},
    {"scannet", make_scannet},
    {"coco", seep_maskrcnn_make_data},
    {NULL, NULL},
};
