/* The lab's readers and writers without memory: every allocation, theirs and their libraries',
 * fails in turn, once alone and once with all that follow. */
#include "kernels/formats/coco.h"
#include "kernels/formats/colmap.h"
#include "kernels/formats/gaussian_ply.h"
#include "kernels/formats/image.h"
#include "kernels/formats/nerf.h"
#include "kernels/formats/npz.h"
#include "kernels/formats/ply.h"
#include "kernels/formats/scannet.h"
#include "tests/kernels/formats/failing_malloc.h"
#include "tests/suite.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

/* ---- a scene of every format ---- */

/* More than a block of JSON values holds; writers ask for memory by the point. */
enum { MANY_POINTS = 6000, FEW_POINTS = 6 };

static char folder[] = "/tmp/seep-memory-XXXXXX";
static char long_name[200];

static const char *in_folder(const char *name)
{
    static char path[512];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int write_colmap(const char *where, bool text, struct seep_error *err)
{
    struct seep_colmap_camera camera = {1, 1, 640, 480, 4, {500, 500, 320, 240}};
    double xy[][2] = {{1, 2}, {3, 4}};
    int64_t ids[] = {1, -1};
    struct seep_colmap_image images[] = {
        {1, 1, {1}, {1, 2, 3}, (char *)"a.jpg", 2, xy, ids},
        {2, 1, {1}, {1, 2, 3}, long_name, 0, NULL, NULL},
    };
    uint32_t track[][2] = {{1, 0}, {2, 0}};
    struct seep_colmap_point points[] = {{1, {1, 2, 3}, {4, 5, 6}, 0.5, 2, track},
                                         {2, {1, 2, 3}, {4, 5, 6}, 0.5, 0, NULL}};
    const struct seep_colmap model = {&camera, images, points, 1, 2, 2};

    return seep_colmap_write(in_folder(where), text, &model, err);
}

static int write_coco(size_t n_points, bool compressed, struct seep_error *err)
{
    static double xy[MANY_POINTS][2];
    size_t starts[] = {0, 3, n_points};
    uint32_t runs[] = {5, 1, 4, 2};
    struct seep_coco_image image = {7, 3, 4, long_name};
    struct seep_coco_annotation annotations[] = {
        {1, 7, 2, false, 1.5, {0, 1, 2, 3}, 2, starts, xy, 0, NULL},
        {2, 7, 3, true, 1.5, {0, 1, 2, 3}, 0, NULL, NULL, 4, runs},
    };
    const struct seep_coco coco = {&image, annotations, 1, 2};

    for (size_t i = 0; i < n_points; i++)
        xy[i][0] = xy[i][1] = (double)i / 64;
    return seep_coco_write(in_folder("file"), &coco, compressed, err);
}

static int write_nerf(const char *name, struct seep_error *err)
{
    struct seep_nerf_frame frames[] = {
        {long_name, {{1}, {0, 1}, {0, 0, 1}, {0, 0, 0, 1}}, 1, 1, 0, 0, 5, 6},
        {(char *)"b", {{1}, {0, 1}, {0, 0, 1}, {0, 0, 0, 1}}, 0, 0, 0, 0, 0, 0},
    };
    const struct seep_nerf scene = {0.5, frames, 2};

    return seep_nerf_write(in_folder(name), &scene, err);
}

static int write_ply(const char *name, enum seep_ply_encoding encoding, struct seep_error *err)
{
    float x[] = {1, 2, 3};
    int32_t corners[] = {0, 1, 2, 2, 1, 0};
    size_t starts[] = {0, 3, 6};
    struct seep_ply_property vertex = {.name = "x", .type = SEEP_PLY_F32, .values = x};
    struct seep_ply_property face = {"corners", SEEP_PLY_I32, true, SEEP_PLY_U8, corners, starts};
    struct seep_ply_element elements[] = {{"vertex", 3, &vertex, 1}, {"face", 2, &face, 1}};
    const struct seep_ply ply = {encoding, elements, 2};

    return seep_ply_write(in_folder(name), &ply, err);
}

static int write_picture(const char *name, bool png, struct seep_error *err)
{
    uint8_t pixels[16 * 16 * 3];
    const struct seep_image image = {16, 16, 3, pixels};

    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * 7);
    return png ? seep_image_write_png(in_folder(name), &image, err)
               : seep_image_write_jpeg(in_folder(name), &image, 90, err);
}

/* Deflated, as numpy.savez_compressed() does. */
static void write_npz(const char *name)
{
    /* The dictionary fills the first 128 bytes; the values are zeros. */
    static uint8_t bytes[128 + 4096] =
        "\x93NUMPY\1\0v\0{'descr': '|u1', 'fortran_order': False, 'shape': (4096,), }";
    zip_t *archive = zip_open(in_folder(name), ZIP_CREATE | ZIP_TRUNCATE, NULL);

    ck_assert_ptr_nonnull(archive);
    for (size_t i = 10; i < 128; i++)
        bytes[i] = bytes[i] ? bytes[i] : i == 127 ? '\n' : ' ';
    zip_int64_t at =
        zip_file_add(archive, "a.npy", zip_source_buffer(archive, bytes, sizeof bytes, 0), 0);
    ck_assert(at >= 0);
    ck_assert_int_eq(zip_set_file_compression(archive, (zip_uint64_t)at, ZIP_CM_DEFLATE, 9), 0);
    ck_assert_int_eq(zip_close(archive), 0);
}

static void set_up(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    memset(long_name, 'n', sizeof long_name - 1);
}

static void tear_down(void)
{
    char command[64];

    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* ---- what is done where memory ends ---- */

static void make_colmap(bool text)
{
    ck_assert_int_eq(write_colmap("", text, NULL), 0);
}

static int read_colmap(struct seep_error *err)
{
    struct seep_colmap *model = NULL;
    int rc = seep_colmap_read(folder, &model, err);

    seep_colmap_free(model);
    return rc;
}

static void make_colmap_text(void)
{
    make_colmap(true);
}

static void make_colmap_binary(void)
{
    make_colmap(false);
}

static int write_colmap_text(struct seep_error *err)
{
    return write_colmap("", true, err);
}

static int write_colmap_binary(struct seep_error *err)
{
    return write_colmap("", false, err);
}

static void make_coco(void)
{
    ck_assert_int_eq(write_coco(MANY_POINTS, true, NULL), 0);
}

static int read_coco(struct seep_error *err)
{
    struct seep_coco *coco = NULL;
    int rc = seep_coco_read(in_folder("file"), &coco, err);

    seep_coco_free(coco);
    return rc;
}

static int write_coco_compressed(struct seep_error *err)
{
    return write_coco(FEW_POINTS, true, err);
}

static int write_coco_plain(struct seep_error *err)
{
    return write_coco(FEW_POINTS, false, err);
}

static void make_nerf(void)
{
    ck_assert_int_eq(write_nerf("file", NULL), 0);
}

static int read_nerf(struct seep_error *err)
{
    struct seep_nerf *scene = NULL;
    int rc = seep_nerf_read(in_folder("file"), &scene, err);

    seep_nerf_free(scene);
    return rc;
}

static int write_nerf_file(struct seep_error *err)
{
    return write_nerf("file", err);
}

static void make_ply_ascii(void)
{
    ck_assert_int_eq(write_ply("file", SEEP_PLY_ASCII, NULL), 0);
}

static void make_ply_binary(void)
{
    ck_assert_int_eq(write_ply("file", SEEP_PLY_BIG, NULL), 0);
}

static int read_ply(struct seep_error *err)
{
    struct seep_ply *ply = NULL;
    int rc = seep_ply_read(in_folder("file"), &ply, err);

    seep_ply_free(ply);
    return rc;
}

static int write_ply_file(struct seep_error *err)
{
    return write_ply("file", SEEP_PLY_LITTLE, err);
}

static int write_gaussians(struct seep_error *err)
{
    static float values[2 * 16 * 3];
    const struct seep_splat_parameters p = {(float(*)[3])values, (float(*)[3])values,
                                            (float(*)[4])values, values, values};

    return seep_gaussian_ply_write(in_folder("file"), 2, 3, 16, &p, err);
}

static void make_gaussians(void)
{
    ck_assert_int_eq(write_gaussians(NULL), 0);
}

static int read_gaussians(struct seep_error *err)
{
    struct seep_gaussian_ply *gaussians = NULL;
    int rc = seep_gaussian_ply_read(in_folder("file"), &gaussians, err);

    seep_gaussian_ply_free(gaussians);
    return rc;
}

static void make_room(void)
{
    ck_assert_int_eq(seep_scannet_write_room(folder, "room", 200, 1, NULL), 0);
}

static int read_room(struct seep_error *err)
{
    struct seep_scannet_scene *scene = NULL;
    int rc = seep_scannet_read(folder, "room", &scene, err);

    seep_scannet_free(scene);
    return rc;
}

static int write_room(struct seep_error *err)
{
    return seep_scannet_write_room(folder, "room", 200, 2, err);
}

static int list_rooms(struct seep_error *err)
{
    char **names = NULL;
    size_t n = 0;
    int rc = seep_scannet_list(folder, &names, &n, err);

    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
    return rc;
}

static void make_npz(void)
{
    write_npz("file");
}

static int read_npz(struct seep_error *err)
{
    struct seep_npy array = {.values = NULL};
    int rc = seep_npz_read(in_folder("file"), "a", &array, err);

    free(array.values);
    return rc;
}

static void make_png(void)
{
    ck_assert_int_eq(write_picture("file", true, NULL), 0);
}

static void make_jpeg(void)
{
    ck_assert_int_eq(write_picture("file", false, NULL), 0);
}

static int read_picture(struct seep_error *err)
{
    struct seep_image *image = NULL;
    int rc = seep_image_read(in_folder("file"), &image, err);

    seep_image_free(image);
    return rc;
}

static int measure_picture(struct seep_error *err)
{
    uint32_t width, height;

    return seep_image_size(in_folder("file"), &width, &height, err);
}

static int write_png(struct seep_error *err)
{
    return write_picture("file", true, err);
}

static int write_jpeg(struct seep_error *err)
{
    return write_picture("file", false, err);
}

static const struct {
    const char *name;
    void (*make)(void); /* NULL: it writes "file" */
    int (*run)(struct seep_error *err);
} jobs[] = {
    {"read COLMAP's text", make_colmap_text, read_colmap},
    {"read COLMAP's binary", make_colmap_binary, read_colmap},
    {"write COLMAP's text", make_colmap_text, write_colmap_text},
    {"write COLMAP's binary", make_colmap_binary, write_colmap_binary},
    {"read COCO", make_coco, read_coco},
    {"write COCO, compressed", NULL, write_coco_compressed},
    {"write COCO, plain", NULL, write_coco_plain},
    {"read NeRF", make_nerf, read_nerf},
    {"write NeRF", NULL, write_nerf_file},
    {"read PLY's ascii", make_ply_ascii, read_ply},
    {"read PLY's binary", make_ply_binary, read_ply},
    {"write PLY", NULL, write_ply_file},
    {"read Gaussians", make_gaussians, read_gaussians},
    {"write Gaussians", NULL, write_gaussians},
    {"read ScanNet", make_room, read_room},
    {"write ScanNet", make_room, write_room},
    {"list ScanNet", make_room, list_rooms},
    {"read npz", make_npz, read_npz},
    {"read PNG", make_png, read_picture},
    {"size of PNG", make_png, measure_picture},
    {"write PNG", NULL, write_png},
    {"read JPEG", make_jpeg, read_picture},
    {"size of JPEG", make_jpeg, measure_picture},
    {"write JPEG", NULL, write_jpeg},
};

static void put_old(void)
{
    FILE *f = fopen(in_folder("file"), "w");

    ck_assert(f && fputs("old", f) >= 0 && !fclose(f));
}

static bool is_old(void)
{
    char text[8] = "";
    FILE *f = fopen(in_folder("file"), "r");

    ck_assert_ptr_nonnull(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    return n == 3 && !strcmp(text, "old");
}

static size_t count_files(void)
{
    DIR *d = opendir(folder);
    size_t n = 0;

    ck_assert_ptr_nonnull(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* The job with allocation `k` failing; false where it asks for fewer. */
static bool run_with_fault(size_t job, long k, bool sticky, size_t *n_refused)
{
    struct seep_error err = {.text = ""};

    if (!jobs[job].make)
        put_old();
    size_t n_files = count_files();
    fault.until = k;
    fault.sticky = sticky;
    fault.n_failed = 0;
    fault.on = true;
    int rc = jobs[job].run(&err);
    fault.on = false;
    ck_assert_msg(rc == 0 || (rc == -SEEP_ENOMEM && fault.n_failed), "%s, allocation %ld%s: %d, %s",
                  jobs[job].name, k, sticky ? " and later" : "", rc, err.text);
    ck_assert_msg(!rc == !err.text[0], "%s, allocation %ld: a code without a text or the reverse",
                  jobs[job].name, k);
    ck_assert_msg(count_files() == n_files, "%s, allocation %ld: files are left or gone",
                  jobs[job].name, k);
    ck_assert_msg(!rc || jobs[job].make || is_old(), "%s, allocation %ld: the old file is gone",
                  jobs[job].name, k);
    *n_refused += rc != 0;
    return fault.n_failed > 0;
}

TEST(want_of_memory_is_called_so_and_leaves_files_whole, .to = N(jobs))
{
    size_t n_refused = 0;

    if (jobs[_i].make)
        jobs[_i].make();
    for (int sticky = 0; sticky < 2; sticky++) {
        for (long k = 0; run_with_fault((size_t)_i, k, sticky, &n_refused); k++) {
            /* Nothing of it stays behind in the libraries. */
            struct seep_error err = {.text = ""};
            ck_assert_msg(jobs[_i].run(&err) == 0, "%s, allocation %ld: afterwards %s",
                          jobs[_i].name, k, err.text);
        }
    }
    ck_assert_uint_gt(n_refused, 0);
}

SUITE("no_memory", .setup = set_up, .teardown = tear_down)
