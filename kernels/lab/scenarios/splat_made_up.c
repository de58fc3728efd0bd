#include "kernels/lab/scenarios/splat_made_up.h"

#include "kernels/compute/chance.h"
#include "kernels/formats/colmap.h"
#include "kernels/formats/image.h"
#include "kernels/lab/lab.h"
#include "kernels/lab/scenarios/splat_pass.h"
#include "kernels/lab/scenarios/splat_things.h"
#include "kernels/lab/scenarios/splat_views.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The document's job: kernels/lab/README.md. */
enum { SEED_PHOTOS = 600, SEED_WIDTH = 1600, SEED_HEIGHT = 1066, SEED_POINTS = 1000000 };

/* Below the second, the scene's list would be too small for seep to report (256 KiB). */
static const double full_list_scale = 0.01, least_scale = 0.001;

struct seep_made_up seep_made_up_size(double scale)
{
    scale = fmax(scale, least_scale);
    double side = sqrt(scale), share = fmin(1, scale / full_list_scale);
    double photos = floor(SEED_PHOTOS * share + 0.5);
    double points = floor(SEED_POINTS * scale * photos / SEED_PHOTOS + 0.5);

    return (struct seep_made_up){
        .n_photos = (size_t)photos,
        .n_points = (size_t)points,
        .width = (uint32_t)floor(SEED_WIDTH * side + 0.5),
        .height = (uint32_t)floor(SEED_HEIGHT * side + 0.5),
    };
}

/* ---- the cameras ----------------------------------------------------------------------------- */

/* The quaternion of a rotation by rows (Shepperd, 1978; the trace's branch and the largest axis).
 */
static void quaternion_of(const double r[3][3], double q[4])
{
    double trace = r[0][0] + r[1][1] + r[2][2];
    int i = r[1][1] > r[0][0] ? 1 : 0;

    i = r[2][2] > r[i][i] ? 2 : i;
    int j = (i + 1) % 3, k = (i + 2) % 3;
    if (trace > 0) {
        double s = 2 * sqrt(trace + 1);
        q[0] = s / 4;
        q[1] = (r[2][1] - r[1][2]) / s;
        q[2] = (r[0][2] - r[2][0]) / s;
        q[3] = (r[1][0] - r[0][1]) / s;
        return;
    }
    double s = 2 * sqrt(1 + r[i][i] - r[j][j] - r[k][k]);
    q[0] = (r[k][j] - r[j][k]) / s;
    q[1 + i] = s / 4;
    q[1 + j] = (r[j][i] + r[i][j]) / s;
    q[1 + k] = (r[k][i] + r[i][k]) / s;
}

/* Three rounds at different heights, all looking at the middle. */
static void pose_of(size_t i, size_t n, struct seep_colmap_image *image)
{
    double angle = 6 * SEEP_PI * (double)i / (double)n, height = 0.8 + 0.6 * (double)(3 * i / n);
    double eye[3] = {2.6 * cos(angle), 2.6 * sin(angle), height}, r[3][3];
    double look[3] = {-eye[0], -eye[1], 0.15 - eye[2]};
    double length = sqrt(look[0] * look[0] + look[1] * look[1] + look[2] * look[2]);
    double level = hypot(look[0], look[1]);

    for (int k = 0; k < 3; k++)
        r[2][k] = look[k] / length;
    /* Right is level: forward × up; down is forward × right. */
    r[0][0] = look[1] / level;
    r[0][1] = -look[0] / level;
    r[0][2] = 0;
    for (int k = 0; k < 3; k++)
        r[1][k] = r[2][(k + 1) % 3] * r[0][(k + 2) % 3] - r[2][(k + 2) % 3] * r[0][(k + 1) % 3];
    quaternion_of(r, image->rotation);
    for (int row = 0; row < 3; row++)
        image->translation[row] = -(r[row][0] * eye[0] + r[row][1] * eye[1] + r[row][2] * eye[2]);
}

static int fill_model(const struct seep_made_up *size, const struct seep_things *t, uint64_t seed,
                      struct seep_colmap *model)
{
    struct seep_colmap_camera *camera = model->cameras;
    double spacing = seep_things_spacing(t);
    struct seep_chance chance = {~seed};

    *camera = (struct seep_colmap_camera){
        .id = 1,
        .model = 1,
        .width = size->width,
        .height = size->height,
        .n_params = 4,
        .params = {0.8 * size->width, 0.8 * size->width, 0.5 * size->width, 0.5 * size->height}};
    for (size_t i = 0; i < size->n_photos; i++) {
        struct seep_colmap_image *image = &model->images[i];
        image->id = (uint32_t)i + 1;
        image->camera_id = 1;
        pose_of(i, size->n_photos, image);
        if (asprintf(&image->name, "photo-%04zu.%s", i, i % 8 == 7 ? "png" : "jpg") < 0) {
            image->name = NULL;
            return -SEEP_ENOMEM;
        }
    }
    /* As structure from motion finds them: near the surfaces. */
    for (size_t i = 0; i < t->host.model.n; i++) {
        struct seep_colmap_point *point = &model->points[i];
        point->id = i + 1;
        for (int k = 0; k < 3; k++)
            point->xyz[k] =
                (double)t->host.means[i][k] + 0.2 * spacing * seep_chance_normal(&chance);
        memcpy(point->rgb, t->colors[i], 3);
    }
    return 0;
}

/* ---- the photos ------------------------------------------------------------------------------ */

static struct seep_splat_camera camera_of(const struct seep_colmap_camera *c,
                                          const struct seep_colmap_image *image)
{
    struct seep_splat_camera camera = {.width = (int)c->width,
                                       .height = (int)c->height,
                                       .fx = (float)c->params[0],
                                       .fy = (float)c->params[1],
                                       .cx = (float)c->params[2],
                                       .cy = (float)c->params[3]};

    seep_view_rotation(image->rotation, camera.rotation);
    for (int k = 0; k < 3; k++)
        camera.translation[k] = (float)image->translation[k];
    return camera;
}

static int take_photo(const char *folder, const struct seep_colmap *model, size_t i,
                      const struct seep_splat_model *things, struct seep_stream *stream,
                      uint8_t *bytes, struct seep_error *err)
{
    const struct seep_splat_camera camera = camera_of(&model->cameras[0], &model->images[i]);
    size_t n = (size_t)camera.width * (size_t)camera.height * 3;
    const char *name = model->images[i].name;
    struct seep_splat_pass pass = {0};
    char path[PATH_MAX];
    int rc = seep_splat_pass_forward(&camera, things, stream, &pass);

    for (size_t k = 0; k < n && !rc; k++)
        bytes[k] = (uint8_t)(fminf(fmaxf(pass.picture.image[k], 0), 1) * 255 + 0.5f);
    seep_splat_pass_fini(&pass);
    const struct seep_image image = {(uint32_t)camera.width, (uint32_t)camera.height, 3, bytes};
    if (!rc && snprintf(path, sizeof path, "%s/images/%s", folder, name) >= (int)sizeof path)
        rc = seep_error_set(err, SEEP_EIO, folder, 0, "the folder's name is too long");
    if (rc)
        return rc;
    return strstr(name, ".png") ? seep_image_write_png(path, &image, err)
                                : seep_image_write_jpeg(path, &image, 95, err);
}

static int take_photos(const char *folder, const struct seep_colmap *model,
                       const struct seep_things *t, struct seep_error *err)
{
    const struct seep_colmap_camera *c = &model->cameras[0];
    uint8_t *bytes = malloc((size_t)(c->width * c->height) * 3);
    struct seep_stream *stream = NULL;
    int rc = bytes ? seep_stream_create_cpu(0, &stream) : -SEEP_ENOMEM;

    for (size_t i = 0; i < model->n_images && !rc; i++)
        rc = take_photo(folder, model, i, &t->host.model, stream, bytes, err);
    seep_stream_destroy(stream);
    free(bytes);
    return rc;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int make_folders(const char *folder, char sparse[PATH_MAX], struct seep_error *err)
{
    static const char *const names[] = {"images", "sparse/0"};
    int rc = 0;

    for (size_t i = 0; i < sizeof names / sizeof *names && !rc; i++) {
        if (snprintf(sparse, PATH_MAX, "%s/%s", folder, names[i]) >= PATH_MAX)
            return seep_error_set(err, SEEP_EIO, folder, 0, "the folder's name is too long");
        rc = seep_lab_make_folder(sparse, err);
    }
    return rc;
}

int seep_made_up_write(const char *folder, const struct seep_made_up *size, uint64_t seed,
                       struct seep_error *err)
{
    struct seep_colmap model = {
        .n_cameras = 1, .n_images = size->n_photos, .n_points = size->n_points};
    struct seep_things things = {0};
    char sparse[PATH_MAX];
    int rc = make_folders(folder, sparse, err);

    model.cameras = calloc(1, sizeof *model.cameras);
    model.images = calloc(size->n_photos, sizeof *model.images);
    model.points = calloc(size->n_points, sizeof *model.points);
    if (!rc && (!model.cameras || !model.images || !model.points))
        rc = -SEEP_ENOMEM;
    if (!rc)
        rc = seep_things_init(&things, size->n_points, seed);
    if (!rc)
        rc = fill_model(size, &things, seed, &model);
    if (!rc)
        rc = seep_colmap_write(sparse, false, &model, err);
    if (!rc)
        rc = take_photos(folder, &model, &things, err);
    for (size_t i = 0; model.images && i < model.n_images; i++)
        free(model.images[i].name);
    free(model.cameras);
    free(model.images);
    free(model.points);
    seep_things_fini(&things);
    return rc ? seep_error_set(err, -rc, folder, 0, "%s", seep_error_name(rc)) : 0;
}
