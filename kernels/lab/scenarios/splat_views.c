#include "kernels/lab/scenarios/splat_views.h"

#include "kernels/compute/chance.h"
#include "kernels/formats/byte_file.h"
#include "kernels/formats/colmap.h"
#include "kernels/formats/image.h"
#include "kernels/formats/nerf.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the user names. */
struct source {
    const char *folder, *images;
    double most_pixels;
};

void seep_view_rotation(const double q[4], float r[3][3])
{
    double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    double w = q[0] / n, x = q[1] / n, y = q[2] / n, z = q[3] / n;

    r[0][0] = (float)(1 - 2 * (y * y + z * z));
    r[0][1] = (float)(2 * (x * y - w * z));
    r[0][2] = (float)(2 * (x * z + w * y));
    r[1][0] = (float)(2 * (x * y + w * z));
    r[1][1] = (float)(1 - 2 * (x * x + z * z));
    r[1][2] = (float)(2 * (y * z - w * x));
    r[2][0] = (float)(2 * (x * z - w * y));
    r[2][1] = (float)(2 * (y * z + w * x));
    r[2][2] = (float)(1 - 2 * (x * x + y * y));
}

/* Intrinsics k (fx, fy, cx, cy) hold for pictures of width × height; the photo may be another size
 * (images_4/ and the like), and what is trained on again another. */
static int set_size(struct seep_view *view, const double k[4], double width, double height,
                    double most_pixels, struct seep_error *err)
{
    uint32_t w, h;
    int rc = seep_image_size(view->photo, &w, &h, err);

    if (rc)
        return rc;
    double pixels = (double)w * h, shrink = pixels > most_pixels ? sqrt(most_pixels / pixels) : 1;
    struct seep_splat_camera *c = &view->camera;
    c->width = (int)fmax(1, floor(w * shrink + 0.5));
    c->height = (int)fmax(1, floor(h * shrink + 0.5));
    /* transforms_train.json may leave the size to the photo. */
    double by_x = c->width / (width > 0 ? width : w), by_y = c->height / (height > 0 ? height : h);
    c->fx = (float)(k[0] * by_x);
    c->fy = (float)(k[1] * by_y);
    c->cx = (float)(k[2] * by_x);
    c->cy = (float)(k[3] * by_y);
    if (!(c->fx > 0 && c->fy > 0 && isfinite(c->fx) && isfinite(c->fy) && isfinite(c->cx) &&
          isfinite(c->cy)))
        return seep_error_set(err, SEEP_EFORMAT, view->photo, 0, "a camera has no focal length");
    return 0;
}

/* ---- COLMAP ---------------------------------------------------------------------------------- */

static const struct seep_colmap_camera *camera_of(const struct seep_colmap *model, uint32_t id)
{
    for (size_t i = 0; i < model->n_cameras; i++) {
        if (model->cameras[i].id == id)
            return &model->cameras[i];
    }
    return NULL;
}

static int take_colmap_image(const struct source *source, const struct seep_colmap *model,
                             const struct seep_colmap_image *image, struct seep_view *view,
                             struct seep_error *err)
{
    const struct seep_colmap_camera *camera = camera_of(model, image->camera_id);
    double k[4];

    if (!camera)
        return seep_error_set(err, SEEP_EFORMAT, source->folder, 0,
                              "image %u names camera %u, which does not exist", image->id,
                              image->camera_id);
    if (!seep_colmap_pinhole(camera, k))
        return seep_error_set(err, SEEP_EFORMAT, source->folder, 0,
                              "camera %u is not a pinhole camera: undistort the images first",
                              camera->id);
    if (asprintf(&view->photo, "%s/%s/%s", source->folder,
                 source->images ? source->images : "images", image->name) < 0) {
        view->photo = NULL;
        return -SEEP_ENOMEM;
    }
    seep_view_rotation(image->rotation, view->camera.rotation);
    for (int i = 0; i < 3; i++)
        view->camera.translation[i] = (float)image->translation[i];
    return set_size(view, k, (double)camera->width, (double)camera->height, source->most_pixels,
                    err);
}

static int take_points(struct seep_views *v, size_t n)
{
    v->points = calloc(n + 1, sizeof *v->points);
    v->colors = calloc(n + 1, sizeof *v->colors);
    v->n_points = n;
    return v->points && v->colors ? 0 : -SEEP_ENOMEM;
}

static int read_colmap_cameras(const struct source *source, const char *sparse,
                               struct seep_views *v, struct seep_error *err)
{
    struct seep_colmap *model = NULL;
    int rc = seep_colmap_read(sparse, &model, err);

    if (rc)
        return rc;
    v->list = calloc(model->n_images + 1, sizeof *v->list);
    rc = v->list ? take_points(v, model->n_points) : -SEEP_ENOMEM;
    for (size_t i = 0; i < model->n_images && !rc; i++) {
        v->n = i + 1;
        rc = take_colmap_image(source, model, &model->images[i], &v->list[i], err);
    }
    v->n_points = 0;
    for (size_t i = 0; i < model->n_points && !rc; i++) {
        const double *xyz = model->points[i].xyz;
        /* A point that no float can say begins no Gaussian. */
        if (!(fabs(xyz[0]) < FLT_MAX && fabs(xyz[1]) < FLT_MAX && fabs(xyz[2]) < FLT_MAX))
            continue;
        for (int k = 0; k < 3; k++)
            v->points[v->n_points][k] = (float)xyz[k];
        memcpy(v->colors[v->n_points++], model->points[i].rgb, 3);
    }
    seep_colmap_free(model);
    return rc;
}

/* ---- NeRF ------------------------------------------------------------------------------------ */

/* file_path has no extension in the synthetic scenes. */
static int find_photo(const char *folder, const char *file, char **photo, struct seep_error *err)
{
    static const char *const extensions[] = {"", ".png", ".jpg", ".jpeg"};

    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++) {
        if (asprintf(photo, "%s/%s%s", folder, file, extensions[i]) < 0) {
            *photo = NULL;
            return -SEEP_ENOMEM;
        }
        if (access(*photo, R_OK) == 0)
            return 0;
        free(*photo);
        *photo = NULL;
    }
    return seep_error_set(err, SEEP_EIO, folder, 0, "photo %s does not exist", file);
}

/* Camera to world with OpenGL's axes, to world to camera with OpenCV's. */
static void set_pose(const double to_world[4][4], struct seep_splat_camera *camera)
{
    for (int row = 0; row < 3; row++) {
        double sign = row == 0 ? 1 : -1, sum = 0;
        for (int i = 0; i < 3; i++) {
            camera->rotation[row][i] = (float)(sign * to_world[i][row]);
            sum -= sign * to_world[i][row] * to_world[i][3];
        }
        camera->translation[row] = (float)sum;
    }
}

static int take_nerf_frame(const struct source *source, const struct seep_nerf *scene,
                           const struct seep_nerf_frame *frame, struct seep_view *view,
                           struct seep_error *err)
{
    double k[4] = {frame->fx, frame->fy, frame->cx, frame->cy};
    double width = frame->width, height = frame->height;
    uint32_t w, h;
    int rc = find_photo(source->folder, frame->file, &view->photo, err);

    if (!rc)
        rc = seep_image_size(view->photo, &w, &h, err);
    if (rc)
        return rc;
    if (width <= 0 || height <= 0) {
        width = w;
        height = h;
    }
    if (k[0] <= 0)
        k[0] = 0.5 * width / tan(0.5 * scene->camera_angle_x);
    if (k[1] <= 0)
        k[1] = k[0];
    if (k[2] <= 0)
        k[2] = 0.5 * width;
    if (k[3] <= 0)
        k[3] = 0.5 * height;
    set_pose(frame->to_world, &view->camera);
    return set_size(view, k, width, height, source->most_pixels, err);
}

static void draw_points(struct seep_views *v, uint64_t seed)
{
    struct seep_chance chance = {seed};

    for (size_t i = 0; i < v->n_points; i++) {
        for (int k = 0; k < 3; k++) {
            v->points[i][k] = (float)seep_chance_between(&chance, -1.3, 1.3);
            v->colors[i][k] = (uint8_t)seep_chance_next(&chance);
        }
    }
}

static int read_nerf_cameras(const struct source *source, const char *json, struct seep_views *v,
                             struct seep_error *err)
{
    struct seep_nerf *scene = NULL;

    if (source->images)
        return seep_error_set(err, SEEP_EINVAL, json, 0, "it names the photos' folder itself");
    int rc = seep_nerf_read(json, &scene, err);
    if (rc)
        return rc;
    v->list = calloc(scene->n_frames + 1, sizeof *v->list);
    rc = v->list ? 0 : -SEEP_ENOMEM;
    for (size_t i = 0; i < scene->n_frames && !rc; i++) {
        v->n = i + 1;
        rc = take_nerf_frame(source, scene, &scene->frames[i], &v->list[i], err);
    }
    seep_nerf_free(scene);
    return rc;
}

/* ---- either ---------------------------------------------------------------------------------- */

static void camera_center(const struct seep_splat_camera *c, double center[3])
{
    for (int i = 0; i < 3; i++) {
        center[i] = 0;
        for (int row = 0; row < 3; row++)
            center[i] -= (double)c->rotation[row][i] * (double)c->translation[row];
    }
}

static void measure_extent(struct seep_views *v)
{
    double mean[3] = {0}, center[3], most = 0;

    for (size_t i = 0; i < v->n; i++) {
        camera_center(&v->list[i].camera, center);
        for (int k = 0; k < 3; k++)
            mean[k] += center[k] / (double)v->n;
    }
    for (size_t i = 0; i < v->n; i++) {
        camera_center(&v->list[i].camera, center);
        double d = hypot(hypot(center[0] - mean[0], center[1] - mean[1]), center[2] - mean[2]);
        most = fmax(most, d);
    }
    v->extent = most > 0 ? (float)(1.1 * most) : 1;
}

int seep_views_read(const char *folder, const char *images, double most_pixels, size_t n_random,
                    uint64_t seed, struct seep_views *out, struct seep_error *err)
{
    const struct source source = {folder, images, most_pixels};
    static const char *const sparse[] = {"sparse/0", "sparse"};
    static const char *const first[] = {"cameras.bin", "cameras.txt"};
    char path[PATH_MAX], file[PATH_MAX];
    int rc = 1;

    *out = (struct seep_views){0};
    if (images && !seep_name_is_safe(images))
        return seep_error_set(err, SEEP_EINVAL, folder, 0, "%s is no folder in it", images);
    for (int i = 0; i < 4 && rc > 0; i++) {
        if (snprintf(path, sizeof path, "%s/%s", folder, sparse[i / 2]) >= (int)sizeof path ||
            snprintf(file, sizeof file, "%.*s/%s", PATH_MAX - 32, path, first[i % 2]) >=
                (int)sizeof file)
            return seep_error_set(err, SEEP_EINVAL, "", 0, "the folder's name is too long");
        if (access(file, F_OK) == 0)
            rc = read_colmap_cameras(&source, path, out, err);
    }
    if (rc > 0) {
        (void)snprintf(file, sizeof file, "%.*s/transforms_train.json", PATH_MAX - 32, folder);
        rc = access(file, F_OK)
                 ? seep_error_set(
                       err, SEEP_EIO, folder, 0,
                       "it contains neither sparse/0/cameras.bin nor transforms_train.json")
                 : read_nerf_cameras(&source, file, out, err);
        if (!rc)
            rc = take_points(out, n_random);
        if (!rc)
            draw_points(out, seed);
    }
    if (!rc && (!out->n || !out->n_points))
        rc = seep_error_set(err, SEEP_EFORMAT, folder, 0, "it contains no %s",
                            out->n ? "points" : "photos");
    if (rc == -SEEP_ENOMEM)
        rc = seep_error_set(err, SEEP_ENOMEM, folder, 0, "no memory");
    if (rc)
        seep_views_fini(out);
    else
        measure_extent(out);
    return rc;
}

static void resize_camera(struct seep_splat_camera *c, double divisor)
{
    double width = fmax(1, floor(c->width / divisor + 0.5));
    double height = fmax(1, floor(c->height / divisor + 0.5));
    float by_x = (float)(width / c->width), by_y = (float)(height / c->height);

    c->width = (int)width;
    c->height = (int)height;
    c->fx *= by_x;
    c->cx *= by_x;
    c->fy *= by_y;
    c->cy *= by_y;
}

void seep_views_resize(struct seep_views *v, double divisor)
{
    for (size_t i = 0; i < v->n; i++)
        resize_camera(&v->list[i].camera, divisor);
}

int seep_views_hold_out(struct seep_views *v, size_t every, struct seep_views *test)
{
    size_t left = 0;

    *test = (struct seep_views){.extent = v->extent};
    test->list = calloc(v->n / every + 2, sizeof *test->list);
    if (!test->list)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < v->n; i++) {
        struct seep_view *to = i % every ? &v->list[left++] : &test->list[test->n++];
        *to = v->list[i];
    }
    v->n = left;
    return 0;
}

int seep_views_copy(const struct seep_views *v, struct seep_views *out)
{
    *out = (struct seep_views){.extent = v->extent};
    out->list = calloc(v->n + 1, sizeof *out->list);
    if (!out->list)
        return -SEEP_ENOMEM;
    for (; out->n < v->n; out->n++) {
        struct seep_view *view = &out->list[out->n];
        *view = (struct seep_view){v->list[out->n].camera, strdup(v->list[out->n].photo)};
        if (!view->photo)
            return -SEEP_ENOMEM;
    }
    return 0;
}

int seep_views_thicken(struct seep_views *v, size_t n, uint64_t seed)
{
    struct seep_chance chance = {seed};
    const size_t from = v->n_points;

    if (n <= from || !from)
        return 0;
    float(*points)[3] = realloc(v->points, n * sizeof *points);
    v->points = points ? points : v->points;
    uint8_t(*colors)[3] = realloc(v->colors, n * sizeof *colors);
    v->colors = colors ? colors : v->colors;
    if (!points || !colors)
        return -SEEP_ENOMEM;
    for (; v->n_points < n; v->n_points++) {
        size_t parent = seep_chance_below(&chance, from);
        memcpy(colors[v->n_points], colors[parent], sizeof *colors);
        for (int k = 0; k < 3; k++)
            points[v->n_points][k] =
                points[parent][k] + v->extent / 50 * (float)seep_chance_normal(&chance);
    }
    return 0;
}

void seep_views_fini(struct seep_views *v)
{
    for (size_t i = 0; i < v->n; i++)
        free(v->list[i].photo);
    free(v->list);
    free(v->points);
    free(v->colors);
    *v = (struct seep_views){0};
}
