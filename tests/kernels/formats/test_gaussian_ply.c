/* point_cloud.ply: the original's file byte by byte, what is read is written again, and what is
 * refused. */
#include "kernels/formats/byte_file.h"
#include "kernels/formats/gaussian_ply.h"
#include "kernels/formats/ply.h"
#include "tests/suite.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { GAUSSIANS = 3, MAX_BYTES = 1 << 16 };

static char folder[] = "/tmp/seep-gaussians-XXXXXX";
static char path[64];
static struct seep_error err;
static struct seep_gaussian_ply *g;

static void set_up(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/point_cloud.ply", folder);
    memset(&err, 0, sizeof err);
    g = NULL;
}

static void tear_down(void)
{
    seep_gaussian_ply_free(g);
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0); /* no temporary is left either */
}

/* ---- a file as the original's save_ply() writes it --------------------------------------------
 */

/* What stands in column `column` of Gaussian `i`: a number of its own, and no NaN. */
static float value(size_t i, int column)
{
    return (float)(1000 * (int)i + column) / 8 - 20;
}

static size_t add_names(char *text, size_t used, const char *name, int n)
{
    for (int i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, MAX_BYTES - used, "property float %s_%d\n", name, i);
    return used;
}

/* Columns: 0 … 2 means, 3 … 5 normals (0), then f_dc, f_rest, opacity, scale, rot. */
static size_t original(int n_rest, char *bytes)
{
    size_t used = (size_t)snprintf(bytes, MAX_BYTES,
                                   "ply\nformat binary_little_endian 1.0\nelement vertex %d\n"
                                   "property float x\nproperty float y\nproperty float z\n"
                                   "property float nx\nproperty float ny\nproperty float nz\n",
                                   GAUSSIANS);

    used = add_names(bytes, used, "f_dc", 3);
    used = add_names(bytes, used, "f_rest", n_rest);
    used += (size_t)snprintf(bytes + used, MAX_BYTES - used, "property float opacity\n");
    used = add_names(bytes, used, "scale", 3);
    used = add_names(bytes, used, "rot", 4);
    used += (size_t)snprintf(bytes + used, MAX_BYTES - used, "end_header\n");
    for (size_t i = 0; i < GAUSSIANS; i++) {
        for (int column = 0; column < 17 + n_rest; column++) {
            float f = column >= 3 && column < 6 ? 0 : value(i, column);
            memcpy(bytes + used, &f, 4);
            used += 4;
        }
    }
    return used;
}

static const int n_rests[] = {0, 9, 24, 45};

TEST(the_originals_columns_are_what_is_trained, .to = N(n_rests))
{
    static char bytes[MAX_BYTES];
    const int n_rest = n_rests[_i], after = 9 + n_rest, n_sh = 1 + n_rest / 3;
    size_t n = original(n_rest, bytes);

    ck_assert_int_eq(seep_gaussian_ply_from_bytes(bytes, n, &g, &err), 0);
    ck_assert_uint_eq(g->n, GAUSSIANS);
    ck_assert_int_eq(g->sh_degree, _i);
    for (size_t i = 0; i < GAUSSIANS; i++) {
        const struct seep_splat_parameters *p = &g->parameters;
        const float *sh = p->sh + i * 3 * (size_t)n_sh;
        ck_assert_float_eq(p->means[i][1], value(i, 1));
        ck_assert_float_eq(p->logits[i], value(i, after));
        ck_assert_float_eq(p->log_scales[i][2], value(i, after + 3));
        ck_assert_float_eq(p->rotations[i][0], value(i, after + 4));
        ck_assert_float_eq(p->rotations[i][3], value(i, after + 7));
        for (int c = 0; c < 3; c++) {
            ck_assert_float_eq(sh[c], value(i, 6 + c));
            /* transpose(1, 2).flatten(): all of red, all of green, all of blue. */
            for (int k = 1; k < n_sh; k++)
                ck_assert_float_eq(sh[3 * k + c], value(i, 9 + c * (n_sh - 1) + k - 1));
        }
    }
}

TEST(the_originals_file_is_written_again_byte_by_byte, .to = N(n_rests))
{
    static char bytes[MAX_BYTES];
    size_t n = original(n_rests[_i], bytes), n_written = 0;
    uint8_t *written = NULL;

    ck_assert_int_eq(seep_gaussian_ply_from_bytes(bytes, n, &g, &err), 0);
    ck_assert_int_eq(seep_gaussian_ply_write(path, g->n, g->sh_degree, 1 + n_rests[_i] / 3,
                                             &g->parameters, &err),
                     0);
    ck_assert_int_eq(seep_file_read(path, MAX_BYTES, &written, &n_written, &err), 0);
    ck_assert_uint_eq(n_written, n);
    ck_assert_mem_eq(written, bytes, n);
    free(written);
}

/* ---- what was trained, and back ---------------------------------------------------------------
 */

static float means[GAUSSIANS][3], log_scales[GAUSSIANS][3], rotations[GAUSSIANS][4];
static float logits[GAUSSIANS], sh[GAUSSIANS][16][3];
static const struct seep_splat_parameters trained = {means, log_scales, rotations, logits,
                                                     &sh[0][0][0]};

/* Any bits: signalling NaN, denormal numbers and −0 among them. */
static void fill(void *values, size_t n_floats)
{
    static const uint32_t odd[] = {0x7fa00001, 0xffc12345, 1, 0x80000000, 0x7f800000, 0xff800000};
    static uint32_t bits = 12345;

    for (size_t i = 0; i < n_floats; i++) {
        bits = bits * 1664525 + 1013904223;
        memcpy((char *)values + 4 * i, bits % 4 ? &bits : &odd[bits / 4 % N(odd)], 4);
    }
}

static void fill_all(void)
{
    fill(means, 3 * GAUSSIANS);
    fill(log_scales, 3 * GAUSSIANS);
    fill(rotations, 4 * GAUSSIANS);
    fill(logits, GAUSSIANS);
    fill(sh, 48 * GAUSSIANS);
}

TEST(what_was_trained_comes_back_to_the_bit, .to = 4)
{
    const size_t n_sh = (size_t)((_i + 1) * (_i + 1));

    fill_all();
    ck_assert_int_eq(seep_gaussian_ply_write(path, GAUSSIANS, _i, 16, &trained, &err), 0);
    ck_assert_int_eq(seep_gaussian_ply_read(path, &g, &err), 0);
    ck_assert_uint_eq(g->n, GAUSSIANS);
    ck_assert_int_eq(g->sh_degree, _i);
    ck_assert_mem_eq(g->parameters.means, means, sizeof means);
    ck_assert_mem_eq(g->parameters.log_scales, log_scales, sizeof log_scales);
    ck_assert_mem_eq(g->parameters.rotations, rotations, sizeof rotations);
    ck_assert_mem_eq(g->parameters.logits, logits, sizeof logits);
    for (size_t i = 0; i < GAUSSIANS; i++)
        ck_assert_mem_eq(g->parameters.sh + i * 3 * n_sh, sh[i], 12 * n_sh);
}

TEST(no_gaussians_are_a_file, .to = 4)
{
    ck_assert_int_eq(seep_gaussian_ply_write(path, 0, _i, 16, &trained, &err), 0);
    ck_assert_int_eq(seep_gaussian_ply_read(path, &g, &err), 0);
    ck_assert_uint_eq(g->n, 0);
    ck_assert_int_eq(g->sh_degree, _i);
}

TEST(other_encodings_orders_and_properties_are_read)
{
    static char bytes[MAX_BYTES];
    struct seep_ply *ply = NULL;

    ck_assert_int_eq(seep_ply_from_bytes(bytes, original(9, bytes), &ply, &err), 0);
    /* Without normals, the last property first, and one that nobody asked for. */
    struct seep_ply_element *e = &ply->elements[0];
    struct seep_ply_property x = e->properties[0];
    e->properties[0] = e->properties[e->n_properties - 1];
    e->properties[e->n_properties - 1] = x;
    strcpy(e->properties[3].name, "filter_3D");
    for (int encoding = SEEP_PLY_ASCII; encoding <= SEEP_PLY_BIG; encoding++) {
        ply->encoding = (enum seep_ply_encoding)encoding;
        ck_assert_int_eq(seep_ply_write(path, ply, &err), 0);
        ck_assert_int_eq(seep_gaussian_ply_read(path, &g, &err), 0);
        ck_assert_float_eq(g->parameters.means[2][0], value(2, 0));
        ck_assert_float_eq(g->parameters.rotations[2][3], value(2, 25));
        seep_gaussian_ply_free(g);
        g = NULL;
    }
    seep_ply_free(ply);
}

/* ---- what is refused --------------------------------------------------------------------------
 */

/* Each changes one property of a file of degree 1 (its place, and the name or type it gets). */
static const struct {
    int property;
    const char *name;
    enum seep_ply_type type;
    const char *text;
} damages[] = {
    {0, "X", SEEP_PLY_F32, "a Gaussian has no float x"},
    {0, "x", SEEP_PLY_I32, "a Gaussian has no float x"},
    {6, "f_dc", SEEP_PLY_F32, "a Gaussian has no float f_dc_0"},
    {17, "f_rest_9", SEEP_PLY_F32, "the number of f_rest is not 0, 9, 24 or 45"},
    {18, "opacities", SEEP_PLY_F32, "a Gaussian has no float opacity"},
    {21, "scale_3", SEEP_PLY_F32, "a Gaussian has no float scale_2"},
    {25, "rot_2", SEEP_PLY_F32, "a Gaussian has no float rot_3"},
};

TEST(what_lacks_a_property_is_refused_and_says_which, .to = N(damages))
{
    static char bytes[MAX_BYTES];
    struct seep_ply *ply = NULL;

    ck_assert_int_eq(seep_ply_from_bytes(bytes, original(9, bytes), &ply, &err), 0);
    struct seep_ply_property *p = &ply->elements[0].properties[damages[_i].property];
    strcpy(p->name, damages[_i].name);
    p->type = damages[_i].type;
    ck_assert_int_eq(seep_ply_write(path, ply, &err), 0);
    seep_ply_free(ply);
    ck_assert_int_eq(seep_gaussian_ply_read(path, &g, &err), -SEEP_EFORMAT);
    ck_assert_ptr_null(g);
    ck_assert_str_eq(err.text, damages[_i].text);
    ck_assert_str_eq(err.file, path);
}

TEST(a_file_cut_anywhere_is_refused)
{
    static char bytes[MAX_BYTES];
    size_t n = original(0, bytes);

    for (size_t cut = 0; cut < n; cut++) {
        err.text[0] = 0;
        ck_assert_int_eq(seep_gaussian_ply_from_bytes(bytes, cut, &g, &err), -SEEP_EFORMAT);
        ck_assert_ptr_null(g);
    }
}

TEST(a_ply_without_vertices_is_refused)
{
    static const char text[] = "ply\nformat ascii 1.0\nelement face 0\nend_header\n";

    ck_assert_int_eq(seep_gaussian_ply_from_bytes(text, sizeof text - 1, &g, &err), -SEEP_EFORMAT);
    ck_assert_str_eq(err.text, "the PLY has no element vertex");
}

TEST(arguments_that_are_no_gaussians_are_refused)
{
    struct seep_splat_parameters none = trained;

    none.sh = NULL;
    ck_assert_int_eq(seep_gaussian_ply_write(path, 1, 4, 25, &trained, &err), -SEEP_EINVAL);
    ck_assert_int_eq(seep_gaussian_ply_write(path, 1, -1, 16, &trained, &err), -SEEP_EINVAL);
    ck_assert_int_eq(seep_gaussian_ply_write(path, 1, 3, 15, &trained, &err), -SEEP_EINVAL);
    ck_assert_int_eq(seep_gaussian_ply_write(path, INT32_MAX, 3, 16, &trained, &err), -SEEP_EINVAL);
    ck_assert_int_eq(seep_gaussian_ply_write(path, 1, 3, 16, &none, &err), -SEEP_EINVAL);
    ck_assert_int_eq(access(path, F_OK), -1);
}

TEST(a_folder_that_is_not_there_is_an_error)
{
    ck_assert_int_eq(seep_gaussian_ply_write("/nowhere/x.ply", 1, 0, 1, &trained, &err), -SEEP_EIO);
    ck_assert_int_eq(seep_gaussian_ply_read("/nowhere/x.ply", &g, &err), -SEEP_EIO);
}

SUITE("gaussian_ply", .setup = set_up, .teardown = tear_down)
