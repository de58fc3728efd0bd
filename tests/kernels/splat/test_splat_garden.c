/* From a file of points to Gaussians: arrays that are not what they should be, and the scales that
 * training starts from. */
#include "kernels/splat/splat_garden.h"
#include "kernels/splat/splat_scales.h"
#include "tests/kernels/splat/raster_fixture.h"
#include "tests/suite.h"

#include <time.h>
#include <unistd.h>
#include <zip.h>

struct array {
    const char *name, *type, *shape;
    size_t bytes;
};

/* Two points and one camera, as the reader wants them. */
static const struct array good[] = {
    {"means3d", "<f4", "(2, 3)", 24},
    {"colors", "|u1", "(2, 3)", 6},
    {"viewmats", "<f4", "(1, 4, 4)", 64},
    {"Ks", "<f4", "(1, 3, 3)", 36},
    {"width", "<i8", "()", 8},
    {"height", "<i8", "()", 8},
};

/* Each in place of the good one of its name. */
static const struct array mistyped[] = {
    {"means3d", "<f8", "(2, 3)", 48},
    {"means3d", "<f4", "(2, 4)", 32},
    {"means3d", "<f4", "(3, 3)", 36},
    {"colors", "<f4", "(2, 3)", 24},
    {"colors", "|u1", "(6,)", 6},
    {"viewmats", "<f8", "(1, 4, 4)", 128},
    {"viewmats", "<f4", "(2, 4, 4)", 128},
    {"Ks", "<f8", "(1, 3, 3)", 72},
    {"Ks", "<f4", "(1, 9)", 36},
    {"width", "<i4", "()", 4},
    {"height", "<f8", "()", 8},
    {"height", "<i8", "(1,)", 8},
};

enum { N_GOOD = sizeof good / sizeof *good, N_MISTYPED = sizeof mistyped / sizeof *mistyped };

/* Its first number's first byte is 1, all others 0: sides of 1, and means that are numbers. */
static void add_array(zip_t *zip, const struct array *a)
{
    char *npy = calloc(1, 256), name[32];
    int n = snprintf(npy + 10, 128, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                     a->type, a->shape);

    memcpy(npy, "\x93NUMPY\x01\x00", 8);
    npy[8] = (char)n;
    npy[10 + n] = 1;
    snprintf(name, sizeof name, "%s.npy", a->name);
    zip_source_t *from = zip_source_buffer(zip, npy, 10 + (size_t)n + a->bytes, 1);
    ck_assert_ptr_nonnull(from);
    ck_assert_int_ge(zip_file_add(zip, name, from, 0), 0);
}

/* The good arrays, `instead` in place of one. Returns what the reader says. */
static int read_file_with(const struct array *instead, struct seep_garden *g)
{
    char path[] = "/tmp/seep-garden-XXXXXX";
    struct seep_error err = {0};
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    close(fd);
    zip_t *zip = zip_open(path, ZIP_TRUNCATE, NULL);
    ck_assert_ptr_nonnull(zip);
    for (size_t i = 0; i < N_GOOD; i++)
        add_array(zip, instead && !strcmp(instead->name, good[i].name) ? instead : &good[i]);
    ck_assert_int_eq(zip_close(zip), 0);
    int status = seep_garden_read(path, 1, 1, g, &err);
    unlink(path);
    ck_assert_msg(status == 0 || err.text[0], "refused without a word");
    return status;
}

TEST(a_file_with_an_array_of_another_type_or_shape_is_refused, .to = N_MISTYPED)
{
    struct seep_garden g;

    ck_assert_int_eq(read_file_with(&mistyped[_i], &g), -SEEP_EFORMAT);
}

TEST(a_file_with_arrays_as_they_should_be_is_read)
{
    struct seep_garden g;

    ck_assert_int_eq(read_file_with(NULL, &g), 0);
    ck_assert_uint_eq(g.host.model.n, 2);
    ck_assert_uint_eq(g.n_cameras, 1);
    ck_assert_int_eq(g.cameras[0].width, 1);
    seep_garden_free(&g);
}

TEST(scales_are_the_mean_distance_to_the_three_nearest)
{
    enum { N = 400 };
    static float means[N][3], scales[N][3];
    uint64_t seed = 4;

    for (int i = 0; i < N; i++)
        for (int k = 0; k < 3; k++) /* some alike, some far out */
            means[i][k] = (float)(floor(9 * next_number(&seed)) * (i % 50 ? 1 : 1000));
    ck_assert_int_eq(seep_splat_scales((const float(*)[3])means, N, scales), 0);
    for (int i = 0; i < N; i++) {
        double best[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
        for (int j = 0; j < N; j++) {
            double d = 0;
            for (int k = 0; k < 3; k++)
                d += pow((double)means[i][k] - (double)means[j][k], 2);
            best[3] = j == i ? INFINITY : sqrt(d);
            for (int b = 3; b > 0 && best[b] < best[b - 1]; b--) {
                double swapped = best[b];
                best[b] = best[b - 1];
                best[b - 1] = swapped;
            }
        }
        double mean = fmax((best[0] + best[1] + best[2]) / 3, 1e-7);
        ck_assert_double_eq_tol((double)scales[i][0], mean, 1e-6 * mean);
        ck_assert_float_eq(scales[i][2], scales[i][0]);
    }
    for (size_t n = 0; n < 3; n++)
        ck_assert_int_eq(seep_splat_scales((const float(*)[3])means, n, scales), 0);
}

/* Processor time of seep_splat_scales(). */
static double scales_ms(const float (*means)[3], size_t n, float (*scales)[3])
{
    struct timespec from, to;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    ck_assert_int_eq(seep_splat_scales(means, n, scales), 0);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    return (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) * 1e-6;
}

TEST(points_that_rise_and_then_fall_take_no_longer_than_in_any_other_order)
{
    enum { N = 100000 };
    static float means[N][3], scales[N][3];
    uint64_t seed = 6;

    for (int i = 0; i < N; i++)
        for (int k = 0; k < 3; k++)
            means[i][k] = (float)(i < N / 2 ? i : N - i);
    double rising = scales_ms((const float(*)[3])means, N, scales);
    for (int i = N - 1; i > 0; i--) {
        int j = (int)((next_number(&seed) + 1) / 2 * i);
        float swapped[3];
        memcpy(swapped, means[i], sizeof swapped);
        memcpy(means[i], means[j], sizeof swapped);
        memcpy(means[j], swapped, sizeof swapped);
    }
    double mixed = scales_ms((const float(*)[3])means, N, scales);
    ck_assert_msg(rising < 5 * mixed, "%g ms, and %g ms mixed", rising, mixed);
}

SUITE("splat garden")
