/* transforms.json of NeRF's synthetic scenes and of nerfstudio. */
#include "kernels/formats/nerf.h"
#include "tests/suite.h"

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MATRIX "\"transform_matrix\":[[1,0,0,0.5],[0,1,0,-2e-3],[0,0,1,4],[0,0,0,1]]"
#define NAME   "\"file_path\":\"./train/r_0\""
#define FRAME  "{" NAME "," MATRIX "}"

static char folder[] = "/tmp/seep-nerf-XXXXXX";
static char path[64];
static struct seep_error err;
static struct seep_nerf *scene;

static void set_up(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/transforms.json", folder);
    memset(&err, 0, sizeof err);
    scene = NULL;
}

static void tear_down(void)
{
    seep_nerf_free(scene);
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0); /* no temporary is left either */
}

static int read_text(const char *text)
{
    return seep_nerf_from_bytes(text, strlen(text), &scene, &err);
}

TEST(a_blender_scene_has_an_angle_and_no_pixels)
{
    ck_assert_int_eq(read_text("{\"camera_angle_x\":0.6911112070083618,\"frames\":[{" NAME
                               ",\"rotation\":0.0125," MATRIX "}]}"),
                     0);
    ck_assert(scene->camera_angle_x == 0.6911112070083618);
    ck_assert_uint_eq(scene->n_frames, 1);
    const struct seep_nerf_frame *frame = &scene->frames[0];
    ck_assert_str_eq(frame->file, "./train/r_0");
    ck_assert(frame->to_world[0][3] == 0.5 && frame->to_world[1][3] == -2e-3);
    ck_assert(frame->to_world[2][3] == 4 && frame->to_world[3][3] == 1);
    ck_assert(frame->fx == 0 && frame->fy == 0 && frame->cx == 0 && frame->cy == 0);
    ck_assert(frame->width == 0 && frame->height == 0);
}

TEST(a_frames_own_intrinsics_go_before_the_scenes)
{
    ck_assert_int_eq(
        read_text("{\"camera_model\":\"OPENCV\",\"fl_x\":500.5,\"fl_y\":501,\"cx\":320,\"cy\":241,"
                  "\"w\":640.0,\"h\":480,\"k1\":0.1,\"frames\":[" FRAME ",{" NAME
                  ",\"w\":320,\"h\":240,\"fl_x\":250,\"fl_y\":260,\"cx\":1,\"cy\":2," MATRIX "}]}"),
        0);
    const struct seep_nerf_frame *f = scene->frames;
    ck_assert(f[0].fx == 500.5 && f[0].fy == 501 && f[0].cx == 320 && f[0].cy == 241);
    ck_assert(f[0].width == 640 && f[0].height == 480);
    ck_assert(f[1].fx == 250 && f[1].fy == 260 && f[1].cx == 1 && f[1].cy == 2);
    ck_assert(f[1].width == 320 && f[1].height == 240);
}

TEST(what_is_left_out_of_the_intrinsics_follows_from_the_rest)
{
    ck_assert_int_eq(read_text("{\"fl_x\":500,\"w\":641,\"h\":480,\"frames\":[" FRAME "]}"), 0);
    const struct seep_nerf_frame *f = scene->frames;
    ck_assert(f->fy == 500 && f->cx == 320.5 && f->cy == 240);
}

TEST(a_matrix_of_three_rows_has_the_fourth_of_every_pose)
{
    static const double last[4] = {0, 0, 0, 1};

    ck_assert_int_eq(read_text("{\"fl_x\":5,\"frames\":[{" NAME ",\"transform_matrix\":"
                               "[[0,-1,0,4],[0,0,-1,8],[1,0,0,12]]}]}"),
                     0);
    ck_assert(scene->frames->to_world[2][3] == 12);
    ck_assert_mem_eq(scene->frames->to_world[3], last, sizeof last);
}

TEST(a_scene_written_comes_back_bit_for_bit)
{
    struct seep_nerf_frame frames[] = {
        {(char *)"a/ä b.png",
         {{1, 5e-324, -1.0 / 3e300, -1e300}, {0, 0.6, -0.8, 0.1}, {0, 0.8, 0.6}, {[3] = 1}},
         1e3 / 7,
         2,
         0,
         -1.5,
         7,
         9},
        {(char *)"c.jpg", {{1}, {0, 1}, {0, 0, 1}, {0, 0, 0, 1}}, 0, 0, 0, 0, 0, 65535},
    };
    struct seep_nerf wanted = {2.0 / 3, frames, 2};

    ck_assert_int_eq(seep_nerf_write(path, &wanted, &err), 0);
    ck_assert_int_eq(seep_nerf_read(path, &scene, &err), 0);
    ck_assert(scene->camera_angle_x == wanted.camera_angle_x);
    ck_assert_uint_eq(scene->n_frames, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct seep_nerf_frame *a = &frames[i], *b = &scene->frames[i];
        ck_assert_str_eq(a->file, b->file);
        ck_assert_mem_eq(a->to_world, b->to_world, sizeof a->to_world);
        ck_assert(a->fx == b->fx && a->fy == b->fy && a->cx == b->cx && a->cy == b->cy);
        ck_assert(a->width == b->width && a->height == b->height);
    }
}

static const struct {
    const char *text, *reason;
} bad[] = {
    {"", "expected"},
    {"{\"frames\":[", "expected"},
    {"[]", "frames[]"},
    {"{\"frames\":{}}", "frames[]"},
    {"{\"camera_angle_x\":\"0.5\",\"frames\":[]}", "camera_angle_x"},
    {"{\"camera_angle_x\":-1,\"frames\":[]}", "camera_angle_x"},
    {"{\"camera_angle_x\":3.2,\"frames\":[]}", "camera_angle_x"},
    {"{\"camera_angle_x\":NaN,\"frames\":[]}", "invalid token"},
    {"{\"frames\":[" FRAME "]}", "no focal length"},
    {"{\"fl_x\":0,\"frames\":[" FRAME "]}", "no focal length"},
    {"{\"fl_x\":-5,\"frames\":[" FRAME "]}", "no focal length"},
    {"{\"fl_x\":5,\"frames\":[7]}", "no file_path"},
    {"{\"fl_x\":5,\"frames\":[{\"file_path\":7," MATRIX "}]}", "no file_path"},
    {"{\"fl_x\":5,\"frames\":[{\"file_path\":\"\"," MATRIX "}]}", "leads out"},
    {"{\"fl_x\":5,\"frames\":[{\"file_path\":\"/a\"," MATRIX "}]}", "leads out"},
    {"{\"fl_x\":5,\"frames\":[{\"file_path\":\"a/../../b\"," MATRIX "}]}", "leads out"},
    {"{\"fl_x\":5,\"frames\":[{\"file_path\":\"a\\u001bb\"," MATRIX "}]}", "leads out"},
    {"{\"fl_x\":5,\"frames\":[{\"file_path\":\"a\\u0000b\"," MATRIX "}]}", "\\u0000"},
    {"{\"fl_x\":5,\"frames\":[{" NAME "}]}", "3 nor 4 rows"},
    {"{\"fl_x\":5,\"frames\":[{" NAME ",\"transform_matrix\":[[1,2,3,4],[1,2,3],[1,2,3,4]]}]}",
     "does not have 4"},
    {"{\"fl_x\":5,\"frames\":[{" NAME ",\"transform_matrix\":[[1,2,3,4],[1,2,3,null],[1,2,3,4]]}]}",
     "does not have 4"},
    {"{\"fl_x\":5,\"frames\":[{" NAME ",\"transform_matrix\":[1,2,3,4]}]}", "does not have 4"},
    {"{\"fl_x\":1e999,\"frames\":[" FRAME "]}", "overflow"},
    {"{\"fl_x\":5,\"cy\":true,\"frames\":[" FRAME "]}", "intrinsic"},
    {"{\"fl_x\":5,\"w\":65536,\"frames\":[" FRAME "]}", "intrinsic"},
    {"{\"fl_x\":5,\"w\":1.5,\"frames\":[" FRAME "]}", "intrinsic"},
    {"{\"fl_x\":5,\"w\":-1,\"frames\":[" FRAME "]}", "intrinsic"},
    {"{\"fl_x\":5,\"camera_model\":\"OPENCV_FISHEYE\",\"frames\":[" FRAME "]}", "perspective"},
    {"{\"fl_x\":5,\"frames\":[{\"camera_model\":\"EQUIRECTANGULAR\"," NAME "," MATRIX "}]}",
     "perspective"},
};

TEST(a_damaged_file_is_refused_with_its_reason, .to = N(bad))
{
    ck_assert_int_eq(read_text(bad[_i].text), -SEEP_EFORMAT);
    ck_assert_msg(strstr(err.text, bad[_i].reason), "\"%s\" for %s", err.text, bad[_i].text);
    ck_assert_ptr_null(scene);
}

/* The rows of a second frame's matrix. */
static const struct {
    const char *rows;
    bool good;
} matrices[] = {
    /* A turn of 30 degrees as tools round it. */
    {"[0.866,-0.5,0,1],[0.5,0.866,0,2],[0,0,1,3],[0,0,0,1]", true},
    {"[0.8660254,-0.5,0,1],[0.5,0.8660254,0,2],[0,0,1,3],[0,0,0,1.0]", true},
    {"[0,0,0,0],[0,0,0,0],[0,0,0,0],[0,0,0,1]", false},
    {"[2,0,0,1],[0,2,0,2],[0,0,2,3],[0,0,0,1]", false},
    {"[1,0,0,1],[0,1,0,2],[0,0,0.99,3],[0,0,0,1]", false},
    {"[1,0.1,0,1],[0,1,0,2],[0,0,1,3],[0,0,0,1]", false},
    {"[1,0,0,1],[0,1,0,2],[0,0,-1,3],[0,0,0,1]", false},
    {"[1,0,0,1],[0,1,0,2],[0,0,1,3],[0,0,0,0]", false},
    {"[1,0,0,0],[0,1,0,0],[0,0,1,0],[1,2,3,1]", false},
    {"[1,0,0,1],[0,1,0,2],[0,0,1,3],[0,0,0,2]", false},
};

TEST(a_matrix_that_is_no_cameras_pose_is_refused_and_its_frame_named, .to = N(matrices))
{
    char text[512];

    snprintf(text, sizeof text,
             "{\"fl_x\":5,\"frames\":[" FRAME ",{" NAME ",\"transform_matrix\":[%s]}]}",
             matrices[_i].rows);
    ck_assert_int_eq(read_text(text), matrices[_i].good ? 0 : -SEEP_EFORMAT);
    if (!matrices[_i].good)
        ck_assert_msg(strstr(err.text, "frame 1: a transform_matrix"), "\"%s\"", err.text);
}

TEST(deep_nesting_is_refused)
{
    enum { N = 1 << 20 };
    char *text = malloc(N);

    ck_assert_ptr_nonnull(text);
    memset(text, '[', N);
    ck_assert_int_eq(seep_nerf_from_bytes(text, N, &scene, &err), -SEEP_EFORMAT);
    free(text);
}

TEST(a_scene_that_could_not_be_read_is_not_written)
{
    struct seep_nerf_frame frame = {
        (char *)"a", {{1}, {0, 1}, {0, 0, 1}, {0, 0, 0, 1}}, 1, 1, 0, 0, 0, 0};
    struct seep_nerf wanted = {0, &frame, 1};

    frame.file = (char *)"\xff.png";
    ck_assert_int_eq(seep_nerf_write(path, &wanted, &err), -SEEP_EINVAL);
    frame.file = (char *)"../a";
    ck_assert_int_eq(seep_nerf_write(path, &wanted, &err), -SEEP_EINVAL);
    frame.file = (char *)"a";
    frame.to_world[0][3] = NAN;
    ck_assert_int_eq(seep_nerf_write(path, &wanted, &err), -SEEP_EINVAL);
    frame.to_world[0][3] = 0;
    frame.to_world[0][0] = 2;
    ck_assert_int_eq(seep_nerf_write(path, &wanted, &err), -SEEP_EINVAL);
    frame.to_world[0][0] = 1;
    frame.fx = 0;
    ck_assert_int_eq(seep_nerf_write(path, &wanted, &err), -SEEP_EINVAL);
    ck_assert_int_eq(seep_nerf_read(path, &scene, &err), -SEEP_EIO);
}

SUITE("nerf", .setup = set_up, .teardown = tear_down)
