/* The views of a scene, and the lists of cameras that keep their pictures. */
#include "kernels/formats/colmap.h"
#include "kernels/formats/image.h"
#include "kernels/formats/nerf.h"
#include "kernels/lab/scenarios/splat_cameras.h"
#include "tests/kernels/lab/scenarios/splat_fixture.h"
#include "tests/suite.h"

#include <math.h>
#include <sys/stat.h>

static const double all_pixels = 1e9;

TEST(a_colmap_scene_gives_every_photo_and_every_point)
{
    struct seep_views views = read_scene(all_pixels);

    ck_assert_uint_eq(views.n, PHOTOS);
    ck_assert_uint_eq(views.n_points, POINTS);
    ck_assert_float_gt(views.extent, 0);
    for (size_t i = 0; i < views.n; i++) {
        const struct seep_splat_camera *c = &views.list[i].camera;
        ck_assert_int_eq(c->width, WIDTH);
        ck_assert_int_eq(c->height, HEIGHT);
        ck_assert_float_eq_tol(c->fx, 0.8f * WIDTH, 1e-3f);
        ck_assert_float_eq_tol(c->cx, 0.5f * WIDTH, 1e-3f);
        ck_assert_int_eq(access(views.list[i].photo, R_OK), 0);
        /* All look at the middle from some distance. */
        ck_assert_float_gt(c->translation[2], 2);
        ck_assert_float_eq_tol(c->translation[0], 0, 1e-5f);
    }
    seep_views_fini(&views);
}

TEST(large_photos_are_trained_on_smaller_and_their_cameras_with_them)
{
    struct seep_views views = read_scene(WIDTH * HEIGHT / 4.0);
    const struct seep_splat_camera *c = &views.list[0].camera;

    ck_assert_int_eq(c->width, WIDTH / 2);
    ck_assert_int_eq(c->height, HEIGHT / 2);
    ck_assert_float_eq_tol(c->fx, 0.4f * WIDTH, 1e-3f);
    ck_assert_float_eq_tol(c->cy, 0.25f * HEIGHT, 1e-3f);
    seep_views_fini(&views);
}

TEST(pictures_of_another_size_show_the_same)
{
    static const double divisors[] = {2, 0.25, 1000};
    const int widths[] = {WIDTH / 2, 4 * WIDTH, 1};

    for (int i = 0; i < 3; i++) {
        struct seep_views views = read_scene(all_pixels), before = read_scene(all_pixels);
        seep_views_resize(&views, divisors[i]);
        const struct seep_splat_camera *a = &before.list[3].camera, *b = &views.list[3].camera;
        ck_assert_int_eq(b->width, widths[i]);
        ck_assert_float_eq_tol(b->fx / (float)b->width, a->fx / (float)a->width, 1e-5f);
        ck_assert_float_eq_tol(b->cy / (float)b->height, a->cy / (float)a->height, 1e-5f);
        ck_assert_mem_eq(b->translation, a->translation, sizeof a->translation);
        seep_views_fini(&before);
        seep_views_fini(&views);
    }
}

TEST(points_that_lack_lie_around_those_there_are)
{
    struct seep_views views = read_scene(all_pixels), before = read_scene(all_pixels);

    ck_assert_int_eq(seep_views_thicken(&views, POINTS - 1, 1), 0);
    ck_assert_uint_eq(views.n_points, POINTS);
    ck_assert_int_eq(seep_views_thicken(&views, 5 * POINTS, 1), 0);
    ck_assert_uint_eq(views.n_points, 5 * POINTS);
    ck_assert_mem_eq(views.points, before.points, POINTS * sizeof *views.points);
    for (size_t i = POINTS; i < views.n_points; i++) {
        bool near = false;
        for (size_t k = 0; k < POINTS; k++)
            near |= fabsf(views.points[i][0] - before.points[k][0]) < views.extent / 5 &&
                    fabsf(views.points[i][2] - before.points[k][2]) < views.extent / 5 &&
                    memcmp(views.colors[i], before.colors[k], 3) == 0;
        ck_assert(near);
    }
    seep_views_fini(&before);
    seep_views_fini(&views);
}

/* ---- images_2, images_4, images_8 -------------------------------------------------------------
 */

/* Copies of the photos, of width/N × height/N as trainers' scripts make them (ImageMagick rounds),
 * in a folder of their own. */
static void make_smaller(const struct seep_views *views, const char *folder, uint32_t width,
                         uint32_t height)
{
    struct seep_error err = {0};
    char path[192];

    snprintf(path, sizeof path, "%s/%s", scene, folder);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    for (size_t i = 0; i < views->n; i++) {
        struct seep_image small = {width, height, 3, calloc(3, (size_t)width * height)};
        const char *name = strrchr(views->list[i].photo, '/');
        memset(small.pixels, 7, 3 * (size_t)width * height);
        snprintf(path, sizeof path, "%s/%s%s", scene, folder, name);
        ck_assert_int_eq(seep_image_write_png(path, &small, &err), 0);
        free(small.pixels);
    }
}

static const struct {
    const char *folder;
    int width, height; /* 36 / 8 is no whole number */
} smaller[] = {{"images_2", 24, 18}, {"images_4", 12, 9}, {"images_8", 6, 5}};

TEST(cameras_are_scaled_to_the_photos_of_another_folder, .to = N(smaller))
{
    struct seep_views views = read_scene(all_pixels), other;
    struct seep_error err = {0};
    const int w = smaller[_i].width, h = smaller[_i].height;

    make_smaller(&views, smaller[_i].folder, (uint32_t)w, (uint32_t)h);
    ck_assert_msg(seep_views_read(scene, smaller[_i].folder, all_pixels, 50, 1, &other, &err) == 0,
                  "%s %s", err.file, err.text);
    ck_assert_uint_eq(other.n, views.n);
    ck_assert_float_eq(other.extent, views.extent);
    for (size_t i = 0; i < views.n; i++) {
        const struct seep_splat_camera *a = &views.list[i].camera, *b = &other.list[i].camera;
        const double by_x = (double)w / WIDTH, by_y = (double)h / HEIGHT;
        uint8_t *bytes;
        ck_assert_int_eq(b->width, w);
        ck_assert_int_eq(b->height, h);
        ck_assert_double_eq_tol((double)b->fx, (double)a->fx * by_x, 1e-4);
        ck_assert_double_eq_tol((double)b->fy, (double)a->fy * by_y, 1e-4);
        ck_assert_double_eq_tol((double)b->cx, (double)a->cx * by_x, 1e-4);
        ck_assert_double_eq_tol((double)b->cy, (double)a->cy * by_y, 1e-4);
        ck_assert_mem_eq(b->rotation, a->rotation, sizeof a->rotation);
        ck_assert_mem_eq(b->translation, a->translation, sizeof a->translation);
        ck_assert_int_eq(seep_photo_read(&other.list[i], &bytes, &err), 0);
        ck_assert_uint_eq(bytes[0], 7); /* the smaller folder's picture */
        free(bytes);
    }
    seep_views_fini(&other);
    seep_views_fini(&views);
}

TEST(photos_are_sought_in_the_scene_only)
{
    static const struct {
        const char *folder;
        int rc;
        const char *says;
    } wrong[] = {{"images_3", -SEEP_EIO, NULL},
                 {"../images", -SEEP_EINVAL, "../images is no folder in it"},
                 {"/tmp", -SEEP_EINVAL, "/tmp is no folder in it"}};

    for (size_t i = 0; i < N(wrong); i++) {
        struct seep_error err = {0};
        struct seep_views views;
        ck_assert_int_eq(seep_views_read(scene, wrong[i].folder, all_pixels, 50, 1, &views, &err),
                         wrong[i].rc);
        if (wrong[i].says)
            ck_assert_str_eq(err.text, wrong[i].says);
        else
            ck_assert_ptr_nonnull(strstr(err.file, "/images_3/"));
        ck_assert_uint_eq(views.n, 0);
    }
}

/* ---- other scenes -----------------------------------------------------------------------------
 */

/* The inverse of a camera's pose, with OpenGL's axes. */
static void to_world(const struct seep_splat_camera *c, double m[4][4])
{
    memset(m, 0, 16 * sizeof(double));
    for (int i = 0; i < 3; i++) {
        for (int row = 0; row < 3; row++) {
            m[i][row] = (row ? -1.0 : 1.0) * (double)c->rotation[row][i];
            m[i][3] -= (double)c->rotation[row][i] * (double)c->translation[row];
        }
    }
    m[3][3] = 1;
}

TEST(a_nerf_scene_looks_where_its_colmap_twin_looks)
{
    struct seep_views views = read_scene(all_pixels), other;
    struct seep_nerf_frame frames[PHOTOS] = {{0}};
    /* As Blender's scenes say it: the angle only, and files without their extension. */
    struct seep_nerf nerf = {
        .camera_angle_x = 2 * atan(0.5 / 0.8), .frames = frames, .n_frames = 7};
    char path[128], file[PHOTOS][40];
    struct seep_error err = {0};

    for (size_t i = 0; i < nerf.n_frames; i++) {
        snprintf(file[i], sizeof file[i], "images/photo-%04zu", i);
        frames[i].file = file[i];
        to_world(&views.list[i].camera, frames[i].to_world);
    }
    snprintf(path, sizeof path, "%s/transforms_train.json", scene);
    ck_assert_int_eq(seep_nerf_write(path, &nerf, &err), 0);
    snprintf(path, sizeof path, "%s/sparse", scene);
    char away[128];
    snprintf(away, sizeof away, "%s/put-away", scene);
    ck_assert_int_eq(rename(path, away), 0);
    other = read_scene(all_pixels);
    ck_assert_uint_eq(other.n, 7);
    ck_assert_uint_eq(other.n_points, 50); /* drawn: such a scene has none */
    for (size_t i = 0; i < other.n; i++) {
        const struct seep_splat_camera *a = &views.list[i].camera, *b = &other.list[i].camera;
        ck_assert_float_eq_tol(a->fx, b->fx, 1e-3f);
        ck_assert_float_eq_tol(a->cy, b->cy, 1e-3f);
        for (int k = 0; k < 9; k++)
            ck_assert_float_eq_tol((&a->rotation[0][0])[k], (&b->rotation[0][0])[k], 1e-5f);
        for (int k = 0; k < 3; k++)
            ck_assert_float_eq_tol(a->translation[k], b->translation[k], 1e-5f);
    }
    seep_views_fini(&other);
    ck_assert_int_eq(seep_views_read(scene, "images", all_pixels, 50, 1, &other, &err),
                     -SEEP_EINVAL);
    ck_assert_str_eq(err.text, "it names the photos' folder itself");
    seep_views_fini(&views);
}

TEST(a_fisheye_scene_is_refused_in_words)
{
    struct seep_colmap *model;
    struct seep_error err = {0};
    struct seep_views views;
    char sparse[128];

    snprintf(sparse, sizeof sparse, "%s/sparse/0", scene);
    ck_assert_int_eq(seep_colmap_read(sparse, &model, &err), 0);
    model->cameras[0].model = 5; /* OPENCV_FISHEYE */
    model->cameras[0].n_params = 8;
    ck_assert_int_eq(seep_colmap_write(sparse, false, model, &err), 0);
    seep_colmap_free(model);
    ck_assert_int_eq(seep_views_read(scene, NULL, all_pixels, 50, 1, &views, &err), -SEEP_EFORMAT);
    ck_assert_ptr_nonnull(strstr(err.text, "pinhole"));
    ck_assert_uint_eq(views.n, 0);
}

TEST(a_folder_without_a_scene_says_what_was_looked_for)
{
    struct seep_error err = {0};
    struct seep_views views;

    ck_assert_int_eq(seep_views_read("/nowhere", NULL, all_pixels, 50, 1, &views, &err), -SEEP_EIO);
    ck_assert_ptr_nonnull(strstr(err.text, "transforms_train.json"));
}

/* ---- photos ---------------------------------------------------------------------------------- */

static void read_photo_of(const struct seep_image *image, int width, int height, uint8_t *bytes)
{
    char path[128];
    struct seep_error err = {0};
    uint8_t *read;

    snprintf(path, sizeof path, "%s/odd.png", scene);
    ck_assert_int_eq(seep_image_write_png(path, image, &err), 0);
    const struct seep_view view = {.camera = {.width = width, .height = height}, .photo = path};
    ck_assert_int_eq(seep_photo_read(&view, &read, &err), 0);
    memcpy(bytes, read, (size_t)(width * height) * 3);
    free(read);
}

TEST(a_smaller_pixel_is_the_mean_of_those_that_it_covers)
{
    uint8_t pixels[] = {10, 20, 30, 40, 0, 0, 200, 200}, bytes[6];
    const struct seep_image grey = {4, 2, 1, pixels};

    read_photo_of(&grey, 2, 1, bytes);
    const uint8_t want[] = {8, 8, 8, 118, 118, 118};
    ck_assert_mem_eq(bytes, want, 6);
}

TEST(what_is_transparent_is_black)
{
    uint8_t pixels[] = {255, 100, 50, 255, 255, 100, 50, 0, 200, 100, 50, 128}, bytes[9];
    const struct seep_image image = {3, 1, 4, pixels};

    read_photo_of(&image, 3, 1, bytes);
    const uint8_t want[] = {255, 100, 50, 0, 0, 0, 100, 50, 25};
    ck_assert_mem_eq(bytes, want, 9);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static size_t index_of(const struct seep_views *views, const struct seep_camera *camera)
{
    return (size_t)(camera->view - views->list);
}

static const enum seep_camera_policy policies[] = {
    SEEP_CAMERAS_EAGER,   SEEP_CAMERAS_CACHED,  SEEP_CAMERAS_EVICTING,
    SEEP_CAMERAS_ON_HOST, SEEP_CAMERAS_DECODED, SEEP_CAMERAS_FLOATS_ON_HOST};

TEST(an_epoch_shows_each_photo_once_and_its_own_picture, .to = N(policies))
{
    struct seep_views views = read_scene(all_pixels);
    struct seep_cameras *cameras;
    struct seep_error err = {0};
    size_t order[2][PHOTOS];

    ck_assert_int_eq(seep_cameras_create(policies[_i], &views, 3, stream, &cameras, &err), 0);
    for (int epoch = 0; epoch < 2; epoch++) {
        unsigned seen[PHOTOS] = {0};
        for (size_t i = 0; i < PHOTOS; i++) {
            struct seep_camera *camera;
            uint8_t *bytes;
            ck_assert_int_eq(seep_cameras_pop(cameras, &camera, &err), 0);
            order[epoch][i] = index_of(&views, camera);
            ck_assert_uint_eq(seen[order[epoch][i]]++, 0);
            ck_assert_int_eq(seep_photo_read(camera->view, &bytes, &err), 0);
            for (size_t k = 0; k < WIDTH * HEIGHT * 3; k++)
                ck_assert_float_eq_tol(camera->original[k] * 255, bytes[k], 0.01f);
            free(bytes);
            ck_assert_int_eq(seep_cameras_begin_epoch(cameras), i == PHOTOS - 1);
            seep_cameras_give_back(cameras, camera);
        }
    }
    ck_assert_mem_ne(order[0], order[1], sizeof order[0]);
    seep_cameras_destroy(cameras);
    seep_views_fini(&views);
}

TEST(all_ways_of_keeping_pictures_show_them_in_the_same_order, .from = 1, .to = N(policies))
{
    struct seep_views views = read_scene(all_pixels);
    struct seep_cameras *one, *other;
    struct seep_error err = {0};

    ck_assert_int_eq(seep_cameras_create(SEEP_CAMERAS_EAGER, &views, 3, stream, &one, &err), 0);
    ck_assert_int_eq(seep_cameras_create(policies[_i], &views, 3, stream, &other, &err), 0);
    for (size_t i = 0; i < 2 * PHOTOS; i++) {
        struct seep_camera *a, *b;
        ck_assert_int_eq(seep_cameras_pop(one, &a, &err), 0);
        ck_assert_int_eq(seep_cameras_pop(other, &b, &err), 0);
        ck_assert_ptr_eq(a->view, b->view);
        seep_cameras_give_back(one, a);
        seep_cameras_give_back(other, b);
    }
    seep_cameras_destroy(one);
    seep_cameras_destroy(other);
    seep_views_fini(&views);
}

/* In the second epoch a list that owns its cameras hands out the pictures of the first. */
TEST(a_list_that_owns_its_cameras_keeps_their_pictures, .to = 2)
{
    struct seep_views views = read_scene(all_pixels);
    const float *pictures[PHOTOS] = {0};
    struct seep_cameras *cameras;
    struct seep_error err = {0};

    ck_assert_int_eq(seep_cameras_create(policies[_i], &views, 3, stream, &cameras, &err), 0);
    for (size_t i = 0; i < 2 * PHOTOS; i++) {
        struct seep_camera *camera;
        ck_assert_int_eq(seep_cameras_pop(cameras, &camera, &err), 0);
        const float **picture = &pictures[index_of(&views, camera)];
        if (i < PHOTOS)
            *picture = camera->original;
        ck_assert_ptr_eq(*picture, camera->original);
        seep_cameras_give_back(cameras, camera);
        ck_assert_ptr_eq(*picture, camera->original); /* it is ours to look at: the list has it */
    }
    seep_cameras_destroy(cameras);
    seep_views_fini(&views);
}

TEST(pictures_on_the_host_leave_none_on_the_device)
{
    struct seep_views views = read_scene(all_pixels);
    struct seep_cameras *cameras;
    struct seep_camera *camera;
    struct seep_error err = {0};

    ck_assert_int_eq(seep_cameras_create(SEEP_CAMERAS_ON_HOST, &views, 3, stream, &cameras, &err),
                     0);
    ck_assert_int_eq(seep_cameras_pop(cameras, &camera, &err), 0);
    ck_assert_ptr_nonnull(camera->original);
    seep_cameras_give_back(cameras, camera);
    ck_assert_ptr_null(camera->original);
    ck_assert_ptr_nonnull(camera->bytes);
    seep_cameras_destroy(cameras);
    seep_views_fini(&views);
}

/* It is gone from the disk, and its camera from the list. */
TEST(a_photo_that_was_decoded_once_is_read_no_more)
{
    struct seep_views views = read_scene(all_pixels);
    struct seep_cameras *cameras;
    struct seep_camera *camera;
    struct seep_error err = {0};

    ck_assert_int_eq(seep_cameras_create(SEEP_CAMERAS_DECODED, &views, 3, stream, &cameras, &err),
                     0);
    for (size_t i = 0; i < 2 * PHOTOS; i++) {
        ck_assert_int_eq(seep_cameras_pop(cameras, &camera, &err), 0);
        if (i < PHOTOS)
            ck_assert_int_eq(unlink(camera->view->photo), 0);
        seep_cameras_give_back(cameras, camera);
    }
    seep_cameras_destroy(cameras);
    seep_views_fini(&views);
}

TEST(each_fourth_view_is_held_out_and_a_copy_is_of_its_own)
{
    struct seep_views views = read_scene(all_pixels), before = read_scene(all_pixels), test, copy;

    ck_assert_int_eq(seep_views_hold_out(&views, 4, &test), 0);
    ck_assert_uint_eq(test.n, PHOTOS / 4);
    ck_assert_uint_eq(views.n, PHOTOS - PHOTOS / 4);
    for (size_t i = 0; i < test.n; i++)
        ck_assert_str_eq(test.list[i].photo, before.list[4 * i].photo);
    ck_assert_str_eq(views.list[0].photo, before.list[1].photo);
    ck_assert_str_eq(views.list[3].photo, before.list[5].photo);
    ck_assert_int_eq(seep_views_copy(&views, &copy), 0);
    seep_views_fini(&views);
    ck_assert_str_eq(copy.list[3].photo, before.list[5].photo);
    seep_views_fini(&copy);
    seep_views_fini(&test);
    seep_views_fini(&before);
}

/* Loaded up front the job does not start, loaded when used it ends there; both say which photo. */
TEST(a_photo_that_is_gone_is_an_error_that_names_it, .to = N(policies))
{
    struct seep_views views = read_scene(all_pixels);
    struct seep_cameras *cameras = NULL;
    struct seep_error err = {0};
    struct seep_camera *camera;

    ck_assert_int_eq(unlink(views.list[4].photo), 0);
    int rc = seep_cameras_create(policies[_i], &views, 3, stream, &cameras, &err);
    bool up_front = policies[_i] == SEEP_CAMERAS_EAGER || policies[_i] == SEEP_CAMERAS_ON_HOST ||
                    policies[_i] == SEEP_CAMERAS_FLOATS_ON_HOST;
    ck_assert_int_eq(rc, up_front ? -SEEP_EIO : 0);
    for (size_t i = 0; i < PHOTOS && !rc; i++) {
        rc = seep_cameras_pop(cameras, &camera, &err);
        if (!rc)
            seep_cameras_give_back(cameras, camera);
    }
    ck_assert_int_eq(rc, -SEEP_EIO);
    ck_assert_str_eq(err.file, views.list[4].photo);
    seep_cameras_destroy(cameras);
    seep_views_fini(&views);
}

SUITE("splat cameras", .setup = make_scene, .teardown = remove_scene)
