/* COLMAP models: binary and text say the same, a real scene is read whole, damage is refused. */
#include "kernels/formats/colmap.h"
#include "kernels/formats/colmap_parts.h"
#include "tests/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/seep-colmap-XXXXXX";
static struct seep_error err;
static struct seep_colmap *model, *again;

static void set_up(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    memset(&err, 0, sizeof err);
    model = again = NULL;
}

static void tear_down(void)
{
    static const char *const files[] = {"cameras.bin", "images.bin", "points3D.bin",
                                        "cameras.txt", "images.txt", "points3D.txt"};
    char path[64];

    seep_colmap_free(model);
    seep_colmap_free(again);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    ck_assert_int_eq(rmdir(folder), 0); /* no temporary is left either */
}

static bool same(const void *a, const void *b, size_t n)
{
    return !n || !memcmp(a, b, n);
}

/* Bit for bit. */
static void assert_equal(const struct seep_colmap *a, const struct seep_colmap *b)
{
    ck_assert_uint_eq(a->n_cameras, b->n_cameras);
    ck_assert_uint_eq(a->n_images, b->n_images);
    ck_assert_uint_eq(a->n_points, b->n_points);
    for (size_t i = 0; i < a->n_cameras; i++) {
        const struct seep_colmap_camera *x = &a->cameras[i], *y = &b->cameras[i];
        ck_assert(x->id == y->id && x->model == y->model);
        ck_assert(x->width == y->width && x->height == y->height && x->n_params == y->n_params);
        ck_assert(same(x->params, y->params, x->n_params * sizeof *x->params));
    }
    for (size_t i = 0; i < a->n_images; i++) {
        const struct seep_colmap_image *x = &a->images[i], *y = &b->images[i];
        ck_assert(x->id == y->id && x->camera_id == y->camera_id);
        ck_assert(same(x->rotation, y->rotation, sizeof x->rotation));
        ck_assert(same(x->translation, y->translation, sizeof x->translation));
        ck_assert_str_eq(x->name, y->name);
        ck_assert_uint_eq(x->n_points2d, y->n_points2d);
        ck_assert(same(x->xy, y->xy, x->n_points2d * sizeof *x->xy));
        ck_assert(same(x->point3d_ids, y->point3d_ids, x->n_points2d * sizeof *x->point3d_ids));
    }
    for (size_t i = 0; i < a->n_points; i++) {
        const struct seep_colmap_point *x = &a->points[i], *y = &b->points[i];
        ck_assert(x->id == y->id && same(x->rgb, y->rgb, 3) && x->n_track == y->n_track);
        ck_assert(same(x->xyz, y->xyz, sizeof x->xyz));
        ck_assert(same(&x->error, &y->error, sizeof x->error));
        ck_assert(same(x->track, y->track, x->n_track * sizeof *x->track));
    }
}

/* A small model; the caller spoils what it likes. */
static struct seep_colmap_camera cameras[2];
static struct seep_colmap_image images[2];
static struct seep_colmap_point points[2];
static struct seep_colmap small = {cameras, images, points, 2, 2, 2};
static double xy[2][2];
static int64_t point3d_ids[2];
static uint32_t track[2][2];

static void make_small(void)
{
    memcpy(xy, (double[2][2]){{1.0 / 3, NAN}, {5e-324, 1e300}}, sizeof xy);
    memcpy(point3d_ids, (int64_t[2]){-1, INT64_C(1) << 60}, sizeof point3d_ids);
    memcpy(track, (uint32_t[2][2]){{7, 1}, {UINT32_MAX, 0}}, sizeof track);
    cameras[0] = (struct seep_colmap_camera){3, 1, 640, 480, 4, {500.1, 500.2, 320, 240}};
    cameras[1] = (struct seep_colmap_camera){UINT32_MAX, 10, 1, 1, 12, {0.1, 2, 3, 4, 5, [11] = 7}};
    images[0] = (struct seep_colmap_image){
        7, 3, {0.1, -0.2, 0.3, 0.9}, {1e-9, 2, -3}, (char *)"a b/c.jpg", 2, xy, point3d_ids};
    images[1] = (struct seep_colmap_image){8, UINT32_MAX, {1, 0, 0, 0}, {0, 0, 0}, (char *)"…d.png",
                                           0, NULL,       NULL};
    points[0] =
        (struct seep_colmap_point){UINT64_MAX, {0.1, INFINITY, -0.0}, {0, 128, 255}, -1, 2, track};
    points[1] = (struct seep_colmap_point){0, {1, 2, 3}, {1, 2, 3}, 0.25, 0, NULL};
}

TEST(a_model_written_comes_back_bit_for_bit, .to = 2)
{
    make_small();
    ck_assert_int_eq(seep_colmap_write(folder, _i, &small, &err), 0);
    ck_assert_int_eq(seep_colmap_read(folder, &model, &err), 0);
    assert_equal(&small, model);
}

/* As pycolmap 4.2.1 names them; k: whether they are a pinhole's but for the distortion. */
static const struct {
    const char *name;
    unsigned n_params;
    double k[4];
} newer[] = {{"RAD_TAN_THIN_PRISM_FISHEYE", 16, {0}},
             {"SIMPLE_DIVISION", 4, {1, 1, 2, 3}},
             {"DIVISION", 5, {1, 2, 3, 4}},
             {"SIMPLE_FISHEYE", 3, {0}},
             {"FISHEYE", 4, {0}},
             {"EUCM", 6, {0}},
             {"EQUIRECTANGULAR", 2, {0}}};

TEST(models_of_newer_colmaps_are_read_and_written, .to = 2 * N(newer))
{
    const int which = _i / 2;
    double k[4] = {0};

    make_small();
    cameras[1] = (struct seep_colmap_camera){9, 11 + which, 640, 480, newer[which].n_params, {0}};
    for (unsigned i = 0; i < newer[which].n_params; i++)
        cameras[1].params[i] = i + 1;
    images[1].camera_id = 9;
    ck_assert_int_eq(seep_colmap_write(folder, _i % 2, &small, &err), 0);
    ck_assert_int_eq(seep_colmap_read(folder, &model, &err), 0);
    assert_equal(&small, model);
    ck_assert_str_eq(seep_colmap_model_name(11 + which), newer[which].name);
    ck_assert_int_eq(seep_colmap_pinhole(&model->cameras[1], k), newer[which].k[0] != 0);
    ck_assert_mem_eq(k, newer[which].k, sizeof k);
}

static void write_file(const char *name, const char *text)
{
    char path[64];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static const char some_cameras[] = "# comment\n1 PINHOLE 640 480 500 501 320 240\n";

TEST(a_text_model_written_by_hand_is_read)
{
    write_file("cameras.txt", some_cameras);
    write_file("images.txt", "# comment\r\n\r\n 4 1 0 0 0 .5 -1e-3 2 1 my photo.jpg \r\n\r\n"
                             "5 0 1 0 0 0 0 0 1 b.jpg\r\n1 2 -1 3.5 4.5 17");
    write_file("points3D.txt", "17 1 2 3 9 8 7 0.5 5 1\n18 1 2 3 9 8 7 -1\n");
    ck_assert_int_eq(seep_colmap_read(folder, &model, &err), 0);
    ck_assert_uint_eq(model->n_cameras, 1);
    ck_assert_int_eq(model->cameras[0].model, 1);
    ck_assert_uint_eq(model->n_images, 2);
    ck_assert_str_eq(model->images[0].name, "my photo.jpg");
    ck_assert(model->images[0].translation[1] == -1e-3);
    ck_assert_uint_eq(model->images[0].n_points2d, 0);
    ck_assert_uint_eq(model->images[1].n_points2d, 2);
    ck_assert(model->images[1].xy[1][1] == 4.5 && model->images[1].point3d_ids[1] == 17);
    ck_assert_uint_eq(model->n_points, 2);
    ck_assert_uint_eq(model->points[0].n_track, 1);
    ck_assert_uint_eq(model->points[0].track[0][0], 5);
    ck_assert_uint_eq(model->points[0].rgb[2], 7);
}

TEST(binary_files_go_before_text)
{
    make_small();
    ck_assert_int_eq(seep_colmap_write(folder, false, &small, &err), 0);
    write_file("cameras.txt", "nonsense\n");
    ck_assert_int_eq(seep_colmap_read(folder, &model, &err), 0);
    ck_assert_uint_eq(model->n_cameras, 2);
}

static const struct {
    int model;
    bool pinhole;
    double k[4];
} models[] = {
    {0, true, {1, 1, 2, 3}}, {1, true, {1, 2, 3, 4}}, {2, true, {1, 1, 2, 3}},
    {3, true, {1, 1, 2, 3}}, {4, true, {1, 2, 3, 4}}, {5, false, {0}},
    {6, true, {1, 2, 3, 4}}, {7, false, {0}},         {8, false, {0}},
    {9, false, {0}},         {10, false, {0}},        {11, false, {0}},
    {-1, false, {0}},
};

TEST(a_camera_model_has_its_intrinsics_where_COLMAP_puts_them, .to = N(models))
{
    struct seep_colmap_camera camera = {.model = models[_i].model, .params = {1, 2, 3, 4, 5}};
    double k[4] = {0};

    ck_assert_int_eq(seep_colmap_pinhole(&camera, k), models[_i].pinhole);
    ck_assert_mem_eq(k, models[_i].k, sizeof k);
}

static const struct {
    const char *cameras, *images, *points, *reason;
} bad[] = {
    {"1 PINHOLE 640 480 500 501 320\n", "", "", "ID MODEL"},
    {"1 PINHOLE 640 480 500 501 320 240 0\n", "", "", "ID MODEL"},
    {"1 PINHOLES 640 480 500 501 320 240\n", "", "", "unknown model"},
    {"1 PINHOLE 640 0 500 501 320 240\n", "", "", "side"},
    {"1 PINHOLE 4294967296 480 500 501 320 240\n", "", "", "side"},
    {"1 PINHOLE 640 480 nan 501 320 240\n", "", "", "not finite"},
    {"4294967296 PINHOLE 640 480 1 501 320 240\n", "", "", "unknown model"},
    {"1 SIMPLE_PINHOLE 1 1 1 1 1\n1 SIMPLE_PINHOLE 1 1 1 1 1\n", "", "", "the same id"},
    {some_cameras, "4 1 0 0 0 0 0 0 1\n\n", "", "has no name"},
    {some_cameras, "4 1 0 0 0 0 0 x 1 a.jpg\n\n", "", "ID QW"},
    {some_cameras, "4 nan 0 0 0 0 0 0 1 a.jpg\n\n", "", "not finite"},
    {some_cameras, "4 1 0 0 0 inf 0 0 1 a.jpg\n\n", "", "not finite"},
    {some_cameras, "4 0 0 0 0 0 0 0 1 a.jpg\n\n", "", "not a rotation"},
    {some_cameras, "4 1e200 0 0 0 0 0 0 1 a.jpg\n\n", "", "not a rotation"},
    {some_cameras, "4 1 0 0 0 0 0 0 2 a.jpg\n\n", "", "does not exist"},
    {some_cameras, "4 1 0 0 0 0 0 0 1 /etc/passwd\n\n", "", "name"},
    {some_cameras, "4 1 0 0 0 0 0 0 1 a/../../b\n\n", "", "name"},
    {some_cameras, "4 1 0 0 0 0 0 0 1 ..\n\n", "", "name"},
    {some_cameras, "4 1 0 0 0 0 0 0 1 a\033[2J\n\n", "", "name"},
    {some_cameras, "4 1 0 0 0 0 0 0 1 a\n1 2\n", "", "2D points"},
    {some_cameras, "4 1 0 0 0 0 0 0 1 a\n1 2 0.5\n", "", "2D points"},
    {some_cameras, "4 1 0 0 0 0 0 0 1 a\n\n4 1 0 0 0 0 0 0 1 b\n", "", "the same id"},
    {some_cameras, "", "1 0 0 0 1 2 256 0\n", "ID X Y Z"},
    {some_cameras, "", "1 0 0 0 1 2 3\n", "ID X Y Z"},
    {some_cameras, "", "1 0 0 0 1 2 3 0 1\n", "ID X Y Z"},
    {some_cameras, "", "1 0 0 0 1 2 3 0 1 -1\n", "track"},
    {some_cameras, "", "-1 0 0 0 1 2 3 0\n", "ID X Y Z"},
    {some_cameras, "", "1 0 0 0 1 2 3 0\n1 0 0 0 1 2 3 0\n", "the same id"},
};

TEST(a_damaged_text_model_is_refused_with_its_reason, .to = N(bad))
{
    ck_assert_int_eq(seep_colmap_from_bytes(true, bad[_i].cameras, strlen(bad[_i].cameras),
                                            bad[_i].images, strlen(bad[_i].images), bad[_i].points,
                                            strlen(bad[_i].points), &model, &err),
                     -SEEP_EFORMAT);
    ck_assert_msg(strstr(err.text, bad[_i].reason), "\"%s\" for case %d", err.text, _i);
    ck_assert_str_eq(err.file, *bad[_i].points   ? "points3D.txt"
                               : *bad[_i].images ? "images.txt"
                                                 : "cameras.txt");
    ck_assert_ptr_null(model);
}

/* The three files of a model as bytes. */
struct file {
    uint8_t bytes[1024];
    size_t n;
};

static void load(struct file files[3])
{
    static const char *const names[] = {"cameras", "images", "points3D"};
    char path[64];

    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s.bin", folder, names[i]);
        FILE *f = fopen(path, "rb");
        ck_assert_ptr_nonnull(f);
        files[i].n = fread(files[i].bytes, 1, sizeof files[i].bytes, f);
        fclose(f);
    }
}

static int parse(struct file files[3])
{
    uint8_t *exact[3];

    for (size_t i = 0; i < 3; i++) {
        exact[i] = malloc(files[i].n + !files[i].n);
        ck_assert_ptr_nonnull(exact[i]);
        memcpy(exact[i], files[i].bytes, files[i].n);
    }
    err.text[0] = 0;
    int rc = seep_colmap_from_bytes(false, exact[0], files[0].n, exact[1], files[1].n, exact[2],
                                    files[2].n, &model, &err);
    for (size_t i = 0; i < 3; i++)
        free(exact[i]);
    return rc;
}

TEST(a_binary_file_cut_anywhere_is_refused, .to = 3)
{
    struct file files[3];

    make_small();
    ck_assert_int_eq(seep_colmap_write(folder, false, &small, &err), 0);
    load(files);
    size_t whole = files[_i].n;
    for (files[_i].n = 0; files[_i].n < whole; files[_i].n++)
        ck_assert_msg(parse(files) == -SEEP_EFORMAT, "%zu of %zu bytes", files[_i].n, whole);
    ck_assert_ptr_null(model);
    ck_assert_int_eq(parse(files), 0);
}

/* Where the counts lie in the small model: records; 2D points of image 7; track of the first point.
 */
static const struct {
    size_t file, offset;
} counts[] = {{0, 0}, {1, 0}, {2, 0}, {1, 8 + 64 + 10}, {2, 8 + 43}};

TEST(a_count_of_more_than_the_file_holds_is_refused_before_it_is_believed, .to = N(counts))
{
    static const uint64_t claims[] = {3, 1000, UINT64_C(1) << 32, UINT64_C(1) << 61, UINT64_MAX};
    struct file files[3];

    make_small();
    ck_assert_int_eq(seep_colmap_write(folder, false, &small, &err), 0);
    load(files);
    uint8_t *count = files[counts[_i].file].bytes + counts[_i].offset;
    ck_assert_uint_eq(*count, 2);
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        for (size_t k = 0; k < 8; k++)
            count[k] = (uint8_t)(claims[i] >> 8 * k);
        ck_assert_int_eq(parse(files), -SEEP_EFORMAT);
        if (claims[i] >= 1000)
            ck_assert_ptr_nonnull(strstr(err.text, "a count is larger"));
    }
}

TEST(a_model_that_could_not_be_read_is_not_written, .to = 2)
{
    make_small();
    images[0].name = (char *)"../a.jpg";
    ck_assert_int_eq(seep_colmap_write(folder, _i, &small, &err), -SEEP_EINVAL);
    make_small();
    images[1].rotation[2] = NAN;
    ck_assert_int_eq(seep_colmap_write(folder, _i, &small, &err), -SEEP_EINVAL);
    make_small();
    cameras[1].n_params = 3;
    ck_assert_int_eq(seep_colmap_write(folder, _i, &small, &err), -SEEP_EINVAL);
    ck_assert_int_eq(seep_colmap_read(folder, &model, &err), -SEEP_EIO);
}

TEST(a_folder_without_a_model_is_named)
{
    ck_assert_int_eq(seep_colmap_read(folder, &model, &err), -SEEP_EIO);
    ck_assert_ptr_nonnull(strstr(err.file, folder));
    ck_assert_int_eq(seep_colmap_read("/nowhere", &model, NULL), -SEEP_EIO);
}

TEST(a_real_scene_is_read_whole_and_survives_text_and_binary, .left_out = !getenv("SEEP_DATA"))
{
    char path[1024];
    size_t n_points2d = 0, n_track = 0;
    double k[4];

    snprintf(path, sizeof path, "%s/colmap-scene/sparse/0", getenv("SEEP_DATA"));
    ck_assert_int_eq(seep_colmap_read(path, &model, &err), 0);
    ck_assert_uint_eq(model->n_cameras, 23);
    ck_assert_uint_eq(model->n_images, 23);
    ck_assert_uint_eq(model->n_points, 1443);
    for (size_t i = 0; i < model->n_images; i++)
        n_points2d += model->images[i].n_points2d;
    for (size_t i = 0; i < model->n_points; i++)
        n_track += model->points[i].n_track;
    ck_assert_uint_eq(n_points2d, 16646);
    ck_assert_uint_eq(n_track, 5931);
    ck_assert_str_eq(model->images[0].name, "DSC_5283.jpg");
    ck_assert(seep_colmap_pinhole(&model->cameras[0], k));
    ck_assert(k[0] == 2048.0526947241324 && k[2] == 500 && k[3] == 329);
    for (int text = 0; text < 2; text++) {
        char line[128];
        ck_assert_int_eq(seep_colmap_write(folder, text, model, &err), 0);
        ck_assert_int_eq(seep_colmap_read(folder, &again, &err), 0);
        assert_equal(model, again);
        seep_colmap_free(again);
        again = NULL;
        snprintf(line, sizeof line, "%s/cameras.bin", folder);
        ck_assert_int_eq(unlink(line), text ? -1 : 0); /* the next round reads text */
    }
}

SUITE("colmap", .setup = set_up, .teardown = tear_down)
