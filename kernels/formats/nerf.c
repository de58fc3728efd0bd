#include "kernels/formats/nerf.h"
#include "kernels/formats/byte_file.h"
#include "kernels/formats/json_file.h"
#include "kernels/formats/nerf_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A frame takes some 500 bytes of text, and 3000 as values. */
enum { MAX_BYTES = 64 << 20, MAX_VALUE_BYTES = 512 << 20, MAX_SIDE = 65535 };

struct source {
    const char *file; /* for errors */
    struct seep_error *err;
};

static int refuse(const struct source *source, size_t frame, const char *text)
{
    return seep_error_set(source->err, SEEP_EFORMAT, source->file, 0, "frame %zu: %s", frame, text);
}

/* An intrinsic of the frame, else of the scene; false where it is not a number. */
static bool number(const json_t *frame, const json_t *scene, const char *key, double *value)
{
    const json_t *found = json_object_get(frame, key);

    if (!found)
        found = json_object_get(scene, key);
    *value = found ? json_number_value(found) : 0;
    return !found || json_is_number(found);
}

/* A whole number, though some tools write 1920.0. */
static bool side(const json_t *frame, const json_t *scene, const char *key, int *value)
{
    double real;

    *value = 0;
    if (!number(frame, scene, key, &real) || !(real >= 0 && real <= MAX_SIDE))
        return false;
    *value = (int)real;
    return *value == real;
}

static bool has(const json_t *frame, const json_t *scene, const char *key)
{
    return json_object_get(frame, key) || json_object_get(scene, key);
}

static int parse_intrinsics(const struct source *source, const json_t *json, const json_t *scene,
                            size_t i, struct seep_nerf_frame *frame)
{
    if (!side(json, scene, "w", &frame->width) || !side(json, scene, "h", &frame->height) ||
        !number(json, scene, "fl_x", &frame->fx) || !number(json, scene, "fl_y", &frame->fy) ||
        !number(json, scene, "cx", &frame->cx) || !number(json, scene, "cy", &frame->cy))
        return refuse(source, i, "an intrinsic is not a number, or a side is over 65535");
    if (!has(json, scene, "fl_y"))
        frame->fy = frame->fx;
    if (!has(json, scene, "fl_x") || (frame->fx == 0 && frame->fy == 0)) {
        frame->fx = frame->fy = frame->cx = frame->cy = 0;
        return 0;
    }
    if (!has(json, scene, "cx"))
        frame->cx = frame->width / 2.0;
    if (!has(json, scene, "cy"))
        frame->cy = frame->height / 2.0;
    return 0;
}

static int parse_matrix(const struct source *source, const json_t *rows, size_t i,
                        double matrix[4][4])
{
    size_t n = json_array_size(rows);

    if (n != 3 && n != 4)
        return refuse(source, i, "transform_matrix has neither 3 nor 4 rows");
    matrix[3][3] = 1;
    for (size_t r = 0; r < n; r++) {
        const json_t *row = json_array_get(rows, r);
        if (json_array_size(row) != 4)
            return refuse(source, i, "a row of transform_matrix does not have 4 numbers");
        for (size_t c = 0; c < 4; c++) {
            const json_t *value = json_array_get(row, c);
            if (!json_is_number(value))
                return refuse(source, i, "a row of transform_matrix does not have 4 numbers");
            matrix[r][c] = json_number_value(value);
        }
    }
    return 0;
}

static int parse_frame(const struct source *source, const json_t *json, const json_t *scene,
                       size_t i, struct seep_nerf_frame *frame)
{
    const char *name = json_string_value(json_object_get(json, "file_path"));

    if (!name)
        return refuse(source, i, "no file_path");
    frame->file = strdup(name);
    if (!frame->file)
        return seep_error_set(source->err, SEEP_ENOMEM, source->file, 0, "no memory");
    int rc = parse_matrix(source, json_object_get(json, "transform_matrix"), i, frame->to_world);
    return rc ? rc : parse_intrinsics(source, json, scene, i, frame);
}

/* The models that are a pinhole apart from distortion. */
static bool is_perspective(const json_t *json)
{
    static const char *const models[] = {"PINHOLE", "SIMPLE_PINHOLE", "SIMPLE_RADIAL",
                                         "RADIAL",  "OPENCV",         "FULL_OPENCV"};
    const json_t *model = json_object_get(json, "camera_model");

    for (size_t i = 0; json_is_string(model) && i < sizeof models / sizeof *models; i++) {
        if (!strcmp(json_string_value(model), models[i]))
            return true;
    }
    return !model;
}

static int parse_scene(const struct source *source, const json_t *json, struct seep_nerf *scene)
{
    const json_t *frames = json_object_get(json, "frames");
    size_t n = json_array_size(frames);

    if (!json_is_array(frames))
        return seep_error_set(source->err, SEEP_EFORMAT, source->file, 0, "no frames[]");
    if (!number(json, NULL, "camera_angle_x", &scene->camera_angle_x))
        return seep_error_set(source->err, SEEP_EFORMAT, source->file, 0,
                              "camera_angle_x is not a number");
    if (!is_perspective(json))
        return seep_error_set(source->err, SEEP_EFORMAT, source->file, 0,
                              "camera_model is not a perspective camera");
    scene->frames = calloc(n + 1, sizeof *scene->frames);
    if (!scene->frames)
        return seep_error_set(source->err, SEEP_ENOMEM, source->file, 0, "no memory");
    while (scene->n_frames < n) {
        size_t i = scene->n_frames++;
        const json_t *frame = json_array_get(frames, i);
        if (!is_perspective(frame))
            return refuse(source, i, "camera_model is not a perspective camera");
        int rc = parse_frame(source, frame, json, i, &scene->frames[i]);
        if (rc)
            return rc;
    }
    return seep_nerf_check(scene, source->file, SEEP_EFORMAT, source->err);
}

static int parse(const struct source *source, const void *bytes, size_t n, struct seep_nerf **out)
{
    struct seep_json json;
    struct seep_nerf *scene = NULL;

    if (n > MAX_BYTES)
        return seep_error_set(source->err, SEEP_EFORMAT, source->file, 0, "larger than 64 MiB");
    int rc = seep_json_load(source->file, bytes, n, MAX_VALUE_BYTES, &json, source->err);
    if (rc)
        return rc;
    scene = calloc(1, sizeof *scene);
    if (scene)
        rc = parse_scene(source, json.root, scene);
    else
        rc = seep_error_set(source->err, SEEP_ENOMEM, source->file, 0, "no memory");
    seep_json_free(&json);
    if (rc) {
        seep_nerf_free(scene);
        return rc;
    }
    *out = scene;
    return 0;
}

int seep_nerf_from_bytes(const void *bytes, size_t n, struct seep_nerf **out,
                         struct seep_error *err)
{
    struct source source = {"", err};

    return parse(&source, bytes, n, out);
}

int seep_nerf_read(const char *path, struct seep_nerf **out, struct seep_error *err)
{
    struct source source = {path, err};
    uint8_t *bytes = NULL;
    size_t n = 0;
    int rc = seep_file_read(path, MAX_BYTES, &bytes, &n, err);

    if (rc)
        return rc;
    rc = parse(&source, bytes, n, out);
    free(bytes);
    return rc;
}

void seep_nerf_free(struct seep_nerf *scene)
{
    if (!scene)
        return;
    for (size_t i = 0; i < scene->n_frames; i++)
        free(scene->frames[i].file);
    free(scene->frames);
    free(scene);
}
