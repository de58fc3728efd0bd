#include "kernels/formats/byte_file.h"
#include "kernels/formats/json_file.h"
#include "kernels/formats/nerf.h"
#include "kernels/formats/nerf_parts.h"
#include "libprof/base/text.h"

#include <math.h>

/* Files are rounded; three decimals are still accepted. */
static const double tolerance = 5e-3;

static bool is_near(double a, double b)
{
    return fabs(a - b) <= tolerance;
}

/* A rotation and a translation, as a camera's pose is: no scaling, shear or mirroring. */
static bool is_pose(const double m[4][4])
{
    double det = 0;

    for (unsigned i = 0; i < 3; i++) {
        unsigned next = (i + 1) % 3, last = (i + 2) % 3;
        for (unsigned k = 0; k < 3; k++) {
            double dot = m[i][0] * m[k][0] + m[i][1] * m[k][1] + m[i][2] * m[k][2];
            if (!is_near(dot, i == k))
                return false;
        }
        det += m[0][i] * (m[1][next] * m[2][last] - m[1][last] * m[2][next]);
    }
    return det > 0 && is_near(m[3][0], 0) && is_near(m[3][1], 0) && is_near(m[3][2], 0) &&
           is_near(m[3][3], 1);
}

static const char *frame_fault(const struct seep_nerf_frame *frame, bool has_angle)
{
    const double intrinsics[] = {frame->fx, frame->fy, frame->cx, frame->cy};

    if (!frame->file || !seep_name_is_safe(frame->file))
        return "a file_path leads out of its folder or holds control characters";
    for (unsigned i = 0; i < 16; i++) {
        if (!isfinite(frame->to_world[i / 4][i % 4]))
            return "a transform_matrix is not finite";
    }
    if (!is_pose(frame->to_world))
        return "a transform_matrix is not a camera's rotation and translation";
    for (unsigned i = 0; i < 4; i++) {
        if (!isfinite(intrinsics[i]))
            return "an intrinsic is not finite";
    }
    if (frame->fx != 0 || frame->fy != 0 || !has_angle) {
        if (!(frame->fx > 0 && frame->fy > 0))
            return "no focal length";
    }
    if (frame->width < 0 || frame->width > 65535 || frame->height < 0 || frame->height > 65535)
        return "a width or height is not 0 to 65535";
    return NULL;
}

int seep_nerf_check(const struct seep_nerf *scene, const char *file, int code,
                    struct seep_error *err)
{
    double angle = scene->camera_angle_x;

    if (!(angle >= 0 && angle < 3.141592653589793))
        return seep_error_set(err, code, file, 0, "camera_angle_x is not a camera's angle");
    for (size_t i = 0; i < scene->n_frames; i++) {
        const char *fault = frame_fault(&scene->frames[i], angle > 0);
        if (fault)
            return seep_error_set(err, code, file, 0, "frame %zu: %s", i, fault);
    }
    return 0;
}

static int put_intrinsics(json_t *json, const struct seep_nerf_frame *frame)
{
    int bad = 0;

    if (frame->fx != 0) {
        bad |= json_object_set_new(json, "fl_x", json_real(frame->fx));
        bad |= json_object_set_new(json, "fl_y", json_real(frame->fy));
        bad |= json_object_set_new(json, "cx", json_real(frame->cx));
        bad |= json_object_set_new(json, "cy", json_real(frame->cy));
    }
    if (frame->width)
        bad |= json_object_set_new(json, "w", json_integer(frame->width));
    if (frame->height)
        bad |= json_object_set_new(json, "h", json_integer(frame->height));
    return bad;
}

static json_t *frame_json(const struct seep_nerf_frame *frame)
{
    json_t *json = json_object(), *rows = json_array();
    int bad = json_object_set_new(json, "file_path", json_string(frame->file));

    bad |= put_intrinsics(json, frame);
    for (unsigned i = 0; i < 4; i++) {
        json_t *row = json_array();
        for (unsigned k = 0; k < 4; k++)
            bad |= json_array_append_new(row, json_real(frame->to_world[i][k]));
        bad |= json_array_append_new(rows, row);
    }
    bad |= json_object_set_new(json, "transform_matrix", rows);
    if (!bad)
        return json;
    json_decref(json);
    return NULL;
}

int seep_nerf_print(FILE *out, const struct seep_nerf *scene)
{
    json_t *json, *frames;
    int bad = 0, rc;

    rc = seep_nerf_check(scene, "", SEEP_EINVAL, NULL);
    if (rc)
        return rc;
    for (size_t i = 0; i < scene->n_frames; i++) {
        if (!seep_text_is_utf8(scene->frames[i].file))
            return -SEEP_EINVAL;
    }
    json = json_object();
    frames = json_array();
    if (scene->camera_angle_x != 0)
        bad |= json_object_set_new(json, "camera_angle_x", json_real(scene->camera_angle_x));
    for (size_t i = 0; i < scene->n_frames && !bad; i++)
        bad |= json_array_append_new(frames, frame_json(&scene->frames[i]));
    bad |= json_object_set_new(json, "frames", frames);
    /* 17 digits restore every double. */
    rc = bad ? -SEEP_ENOMEM : seep_json_print(out, json, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    putc('\n', out);
    json_decref(json);
    /* A stream's own failure stays in its error flag. */
    return rc == -SEEP_EIO ? 0 : rc;
}

int seep_nerf_write(const char *path, const struct seep_nerf *scene, struct seep_error *err)
{
    struct seep_file_writer writer;
    int rc = seep_file_writer_open(&writer, path, err);

    if (rc)
        return rc;
    rc = seep_nerf_print(writer.stream, scene);
    if (!rc)
        return seep_file_writer_commit(&writer, err);
    seep_file_writer_cancel(&writer);
    if (rc == -SEEP_ENOMEM)
        return seep_error_set(err, SEEP_ENOMEM, path, 0, "no memory");
    rc = seep_nerf_check(scene, path, SEEP_EINVAL, err);
    return rc ? rc : seep_error_set(err, SEEP_EINVAL, path, 0, "a file_path is not UTF-8");
}
