#include "kernels/formats/scannet.h"

#include "kernels/formats/byte_file.h"
#include "kernels/formats/ply.h"
#include "kernels/formats/scannet_parts.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_PATH = 4096 };

/* Metres from the origin; a vertex further out was never scanned. */
static const float max_distance = 1e6f;

/* PointGroup's "ignore". */
static const double none = -100;

static double class_of(unsigned nyu40)
{
    static const uint8_t benchmark[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                        11, 12, 14, 16, 24, 28, 33, 34, 36, 39};

    for (size_t i = 0; i < sizeof benchmark; i++) {
        if (benchmark[i] == nyu40)
            return (double)i;
    }
    return none;
}

static int fill_points(const struct seep_ply *mesh, struct seep_scannet_scene *scene,
                       struct seep_error *err)
{
    static const char *const axes[] = {"x", "y", "z"}, *const colours[] = {"red", "green", "blue"};
    const struct seep_ply_element *vertices = seep_ply_element(mesh, "vertex");
    const float *xyz[3] = {NULL};
    const uint8_t *rgb[3] = {NULL};
    double mean[3] = {0};

    for (int k = 0; k < 3 && vertices; k++) {
        xyz[k] = seep_ply_scalars(vertices, axes[k], SEEP_PLY_F32);
        rgb[k] = seep_ply_scalars(vertices, colours[k], SEEP_PLY_U8);
        if (!xyz[k] || !rgb[k])
            vertices = NULL;
    }
    if (!vertices || !vertices->n)
        return seep_error_set(err, SEEP_EFORMAT, "", 0,
                              "no vertices with x, y, z (float) and red, green, blue (uchar)");
    scene->points = calloc(vertices->n, sizeof *scene->points);
    if (!scene->points)
        return seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory for the points");
    scene->n_points = vertices->n;
    for (int k = 0; k < 3; k++) {
        for (size_t i = 0; i < vertices->n; i++) {
            if (!(fabsf(xyz[k][i]) <= max_distance))
                return seep_error_set(err, SEEP_EFORMAT, "", 0,
                                      "vertex %zu has an impossible position", i);
            mean[k] += (double)xyz[k][i];
        }
        mean[k] /= (double)vertices->n;
    }
    for (size_t i = 0; i < vertices->n; i++) {
        struct seep_scannet_point *point = &scene->points[i];
        for (int k = 0; k < 3; k++) {
            point->xyz[k] = (float)((double)xyz[k][i] - mean[k]);
            point->rgb[k] = (float)rgb[k][i] / 127.5f - 1;
        }
        point->label = point->instance = none;
    }
    return 0;
}

static int fill_labels(const struct seep_ply *ply, struct seep_scannet_scene *scene,
                       struct seep_error *err)
{
    const struct seep_ply_element *vertices = seep_ply_element(ply, "vertex");
    const uint16_t *labels = vertices ? seep_ply_scalars(vertices, "label", SEEP_PLY_U16) : NULL;

    if (!labels || vertices->n != scene->n_points)
        return seep_error_set(err, SEEP_EFORMAT, "", 0,
                              "no vertices with label (ushort), or not as many as points");
    for (size_t i = 0; i < scene->n_points; i++)
        scene->points[i].label = class_of(labels[i]);
    return 0;
}

static int fill_instances(const struct seep_scannet_bytes *segments,
                          const struct seep_scannet_bytes *objects,
                          struct seep_scannet_scene *scene, struct seep_error *err)
{
    int32_t *instances = malloc(scene->n_points * sizeof *instances);

    if (!instances)
        return seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory");
    int rc = seep_scannet_objects(segments, objects, scene->n_points, instances,
                                  &scene->n_instances, err);
    for (size_t i = 0; !rc && i < scene->n_points; i++)
        scene->points[i].instance = instances[i] < 0 ? none : instances[i];
    free(instances);
    return rc;
}

/* *which is the file that an error is about, SEEP_SCANNET_FILES where its text says so. */
static int assemble(const struct seep_scannet_bytes files[SEEP_SCANNET_FILES], int *which,
                    struct seep_scannet_scene **out, struct seep_error *err)
{
    const struct seep_scannet_bytes *mesh = &files[SEEP_SCANNET_FILE_MESH];
    const struct seep_scannet_bytes *labels = &files[SEEP_SCANNET_FILE_LABELS];
    struct seep_scannet_scene *scene = calloc(1, sizeof *scene);
    struct seep_ply *ply = NULL;
    int rc;

    *which = SEEP_SCANNET_FILE_MESH;
    rc = scene ? seep_ply_from_bytes(mesh->bytes, mesh->n, &ply, err)
               : seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory");
    if (!rc)
        rc = fill_points(ply, scene, err);
    if (rc)
        goto fail;
    if (labels->bytes) {
        seep_ply_free(ply);
        ply = NULL;
        *which = SEEP_SCANNET_FILE_LABELS;
        rc = seep_ply_from_bytes(labels->bytes, labels->n, &ply, err);
        if (!rc)
            rc = fill_labels(ply, scene, err);
        if (rc)
            goto fail;
        *which = SEEP_SCANNET_FILES;
        rc = fill_instances(&files[SEEP_SCANNET_FILE_SEGMENTS], &files[SEEP_SCANNET_FILE_OBJECTS],
                            scene, err);
        if (rc)
            goto fail;
    }
    *out = scene;
    scene = NULL;
fail:
    seep_ply_free(ply);
    seep_scannet_free(scene);
    return rc;
}

int seep_scannet_from_bytes(const struct seep_scannet_bytes files[SEEP_SCANNET_FILES],
                            struct seep_scannet_scene **out, struct seep_error *err)
{
    int which;

    return assemble(files, &which, out, err);
}

static int path_of(char path[MAX_PATH], const char *folder, const char *name, const char *suffix,
                   struct seep_error *err)
{
    if (snprintf(path, MAX_PATH, "%s/%s%s", folder, name, suffix) < MAX_PATH)
        return 0;
    return seep_error_set(err, SEEP_EINVAL, folder, 0, "the path is too long");
}

static int read_file(const char *folder, const char *name, const char *suffix, size_t most,
                     struct seep_scannet_bytes *file, struct seep_error *err)
{
    char path[MAX_PATH];
    uint8_t *bytes;
    int rc = path_of(path, folder, name, suffix, err);

    if (!rc)
        rc = seep_file_read(path, most, &bytes, &file->n, err);
    if (!rc)
        file->bytes = bytes;
    return rc;
}

static bool is_there(const char *folder, const char *name, const char *suffix)
{
    char path[MAX_PATH];

    return !path_of(path, folder, name, suffix, NULL) && !access(path, F_OK);
}

/* The first n_files of them. */
static int read_files(const char *folder, const char *name, int n_files,
                      struct seep_scannet_scene **out, struct seep_error *err)
{
    struct seep_scannet_bytes files[SEEP_SCANNET_FILES] = {{NULL, 0}};
    const char *suffixes[SEEP_SCANNET_FILES + 1] = {
        SEEP_SCANNET_MESH, SEEP_SCANNET_LABELS, SEEP_SCANNET_SEGMENTS, SEEP_SCANNET_OBJECTS, ""};
    struct seep_error first = {.text = ""};
    int rc = 0, which;

    if (!is_there(folder, name, SEEP_SCANNET_OBJECTS) &&
        is_there(folder, name, SEEP_SCANNET_OTHER_OBJECTS))
        suffixes[SEEP_SCANNET_FILE_OBJECTS] = SEEP_SCANNET_OTHER_OBJECTS;
    for (int i = 0; i < n_files && !rc; i++)
        rc = read_file(folder, name, suffixes[i],
                       i < SEEP_SCANNET_FILE_SEGMENTS ? SEEP_SCANNET_MAX_MESH_BYTES
                                                      : SEEP_SCANNET_MAX_JSON_BYTES,
                       &files[i], err);
    if (rc)
        goto fail;
    rc = assemble(files, &which, out, &first);
    if (rc) {
        char path[MAX_PATH];
        if (path_of(path, folder, name, suffixes[which], NULL))
            *path = 0;
        rc = seep_error_set(err, -rc, path, first.offset, "%s", first.text);
    }
fail:
    for (int i = 0; i < n_files; i++)
        free((void *)files[i].bytes);
    return rc;
}

int seep_scannet_read(const char *folder, const char *name, struct seep_scannet_scene **out,
                      struct seep_error *err)
{
    int n_files = is_there(folder, name, SEEP_SCANNET_LABELS) ? SEEP_SCANNET_FILES : 1;

    return read_files(folder, name, n_files, out, err);
}

int seep_scannet_read_mesh(const char *folder, const char *name, struct seep_scannet_scene **out,
                           struct seep_error *err)
{
    return read_files(folder, name, 1, out, err);
}

void seep_scannet_free(struct seep_scannet_scene *scene)
{
    if (!scene)
        return;
    free(scene->points);
    free(scene);
}
