/* COLMAP's camera models, and what makes a model of a scene usable. */
#include "kernels/formats/colmap.h"
#include "kernels/formats/colmap_parts.h"

#include <math.h>
#include <stdlib.h>

enum focal { NO_PINHOLE, ONE_FOCAL, TWO_FOCALS };

/* In the order of their numbers (https://colmap.github.io/cameras.html; from 11 on as
 * pycolmap 4.2.1 has them). */
static const struct {
    const char *name;
    unsigned n_params;
    enum focal focal;
} models[] = {
    {"SIMPLE_PINHOLE", 3, ONE_FOCAL},
    {"PINHOLE", 4, TWO_FOCALS},
    {"SIMPLE_RADIAL", 4, ONE_FOCAL},
    {"RADIAL", 5, ONE_FOCAL},
    {"OPENCV", 8, TWO_FOCALS},
    {"OPENCV_FISHEYE", 8, NO_PINHOLE},
    {"FULL_OPENCV", 12, TWO_FOCALS},
    {"FOV", 5, NO_PINHOLE},
    {"SIMPLE_RADIAL_FISHEYE", 4, NO_PINHOLE},
    {"RADIAL_FISHEYE", 5, NO_PINHOLE},
    {"THIN_PRISM_FISHEYE", 12, NO_PINHOLE},
    {"RAD_TAN_THIN_PRISM_FISHEYE", 16, NO_PINHOLE},
    {"SIMPLE_DIVISION", 4, ONE_FOCAL},
    {"DIVISION", 5, TWO_FOCALS},
    {"SIMPLE_FISHEYE", 3, NO_PINHOLE},
    {"FISHEYE", 4, NO_PINHOLE},
    {"EUCM", 6, NO_PINHOLE},
    {"EQUIRECTANGULAR", 2, NO_PINHOLE},
};

static bool is_known(int32_t model)
{
    return model >= 0 && (size_t)model < sizeof models / sizeof *models;
}

const char *seep_colmap_model_name(int32_t model)
{
    return is_known(model) ? models[model].name : NULL;
}

unsigned seep_colmap_model_params(int32_t model)
{
    return is_known(model) ? models[model].n_params : 0;
}

bool seep_colmap_pinhole(const struct seep_colmap_camera *camera, double k[4])
{
    enum focal focal = is_known(camera->model) ? models[camera->model].focal : NO_PINHOLE;

    if (focal == NO_PINHOLE)
        return false;
    const double *p = camera->params, *centre = focal == ONE_FOCAL ? p + 1 : p + 2;
    k[0] = p[0];
    k[1] = focal == ONE_FOCAL ? p[0] : p[1];
    k[2] = centre[0];
    k[3] = centre[1];
    return true;
}

static bool are_finite(const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(values[i]))
            return false;
    }
    return true;
}

static const char *camera_fault(const struct seep_colmap_camera *camera)
{
    if (!is_known(camera->model) || camera->n_params != models[camera->model].n_params)
        return "has an unknown model";
    if (!camera->width || !camera->height || camera->width > INT32_MAX ||
        camera->height > INT32_MAX)
        return "has a width or height outside 1 to 2147483647";
    if (!are_finite(camera->params, camera->n_params))
        return "has a parameter that is not finite";
    return NULL;
}

static const char *image_fault(const struct seep_colmap_image *image)
{
    const double *q = image->rotation;
    double norm2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];

    if (!are_finite(q, 4) || !are_finite(image->translation, 3))
        return "has a pose that is not finite";
    if (!(norm2 >= 1e-12 && norm2 <= 1e12))
        return "has a quaternion that is not a rotation";
    if (!image->name || !seep_name_is_safe(image->name))
        return "has a name that leads out of its folder or holds control characters";
    return NULL;
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Sorts ids[n]; false where two are alike. */
static bool sort_ids(uint64_t *ids, size_t n)
{
    if (n)
        qsort(ids, n, sizeof *ids, compare_ids);
    for (size_t i = 1; i < n; i++) {
        if (ids[i] == ids[i - 1])
            return false;
    }
    return true;
}

/* ids[n] holds the cameras' ids, sorted, when the images are looked at. */
static int check_images(const struct seep_colmap *model, const uint64_t *ids, const char *file,
                        int code, struct seep_error *err)
{
    for (size_t i = 0; i < model->n_images; i++) {
        const struct seep_colmap_image *image = &model->images[i];
        uint64_t camera = image->camera_id;
        const char *fault = image_fault(image);
        if (!fault && (!model->n_cameras ||
                       !bsearch(&camera, ids, model->n_cameras, sizeof *ids, compare_ids)))
            fault = "has a camera that does not exist";
        if (fault)
            return seep_error_set(err, code, file, 0, "image %u %s", image->id, fault);
    }
    return 0;
}

int seep_colmap_check(const struct seep_colmap *model, const char *const files[SEEP_COLMAP_PARTS],
                      int code, struct seep_error *err)
{
    size_t most = model->n_points > model->n_images ? model->n_points : model->n_images;
    int rc = 0;

    if (most < model->n_cameras)
        most = model->n_cameras;
    uint64_t *ids = malloc((most + 1) * sizeof *ids);
    if (!ids)
        return seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory");
    for (size_t i = 0; i < model->n_cameras && !rc; i++) {
        const char *fault = camera_fault(&model->cameras[i]);
        ids[i] = model->cameras[i].id;
        if (fault)
            rc = seep_error_set(err, code, files[SEEP_COLMAP_CAMERAS], 0, "camera %u %s",
                                model->cameras[i].id, fault);
    }
    if (!rc && !sort_ids(ids, model->n_cameras))
        rc = seep_error_set(err, code, files[SEEP_COLMAP_CAMERAS], 0,
                            "two cameras have the same id");
    if (!rc)
        rc = check_images(model, ids, files[SEEP_COLMAP_IMAGES], code, err);
    for (size_t i = 0; i < model->n_images; i++)
        ids[i] = model->images[i].id;
    if (!rc && !sort_ids(ids, model->n_images))
        rc = seep_error_set(err, code, files[SEEP_COLMAP_IMAGES], 0, "two images have the same id");
    for (size_t i = 0; i < model->n_points; i++)
        ids[i] = model->points[i].id;
    if (!rc && !sort_ids(ids, model->n_points))
        rc = seep_error_set(err, code, files[SEEP_COLMAP_POINTS], 0, "two points have the same id");
    free(ids);
    return rc;
}
