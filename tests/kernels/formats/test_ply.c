/* PLY files: the three encodings, every type, and what is refused. */
#include "kernels/formats/ply.h"
#include "tests/suite.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/seep-ply-XXXXXX";
static char path[64];
static struct seep_error err;
static struct seep_ply *ply;

static void set_up(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x.ply", folder);
    memset(&err, 0, sizeof err);
    ply = NULL;
}

static void tear_down(void)
{
    seep_ply_free(ply);
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0); /* no temporary is left either */
}

static int read_bytes(const void *bytes, size_t n)
{
    /* An exact block: the sanitizer sees one byte too many. */
    uint8_t *exact = malloc(n ? n : 1);
    ck_assert_ptr_nonnull(exact);
    memcpy(exact, bytes, n);
    int rc = seep_ply_from_bytes(exact, n, &ply, &err);
    free(exact);
    return rc;
}

static int read_text(const char *text)
{
    return read_bytes(text, strlen(text));
}

#define HEADER(encoding) "ply\nformat " encoding " 1.0\n"

/* One vertex of each type, in the words of 1994 and in those with widths. */
static const char *const spellings[] = {
    "property char a\nproperty uchar b\nproperty short c\nproperty ushort d\n"
    "property int e\nproperty uint f\nproperty float g\nproperty double h\n",
    "property int8 a\nproperty uint8 b\nproperty int16 c\nproperty uint16 d\n"
    "property int32 e\nproperty uint32 f\nproperty float32 g\nproperty float64 h\n",
};

static const uint8_t little[] = {
    0x80, 0xff, 0x01, 0x80, 0xfe, 0xff, 0x02, 0x00, 0x00, 0x80, 0xfd, 0xff, 0xff,
    0xff, 0x00, 0x00, 0xc0, 0x3f, 0,    0,    0,    0,    0,    0,    0x04, 0xc0,
};
static const uint8_t big[] = {
    0x80, 0xff, 0x80, 0x01, 0xff, 0xfe, 0x80, 0x00, 0x00, 0x02, 0xff, 0xff, 0xff,
    0xfd, 0x3f, 0xc0, 0x00, 0x00, 0xc0, 0x04, 0,    0,    0,    0,    0,    0,
};
static const struct {
    const char *encoding;
    const void *body;
    size_t n;
} bodies[] = {
    {"ascii", "-128 255 -32767 65534 -2147483646 4294967293 1.5 -2.5\n", 54},
    {"binary_little_endian", little, sizeof little},
    {"binary_big_endian", big, sizeof big},
};

static const void *value(const char *element, const char *name, enum seep_ply_type type)
{
    const struct seep_ply_element *e = seep_ply_element(ply, element);

    ck_assert_ptr_nonnull(e);
    const void *values = seep_ply_scalars(e, name, type);
    ck_assert_msg(values, "no scalar %s of type %d", name, (int)type);
    return values;
}

TEST(a_value_of_any_type_is_what_the_file_says, .to = 6)
{
    size_t which = (size_t)_i % 3;
    uint8_t file[1024];
    int n = snprintf((char *)file, sizeof file, "ply\nformat %s 1.0\nelement v 1\n%send_header\n",
                     bodies[which].encoding, spellings[_i / 3]);

    memcpy(file + n, bodies[which].body, bodies[which].n);
    ck_assert_int_eq(read_bytes(file, (size_t)n + bodies[which].n), 0);
    ck_assert_int_eq(ply->encoding, (int)which);
    ck_assert_int_eq(*(const int8_t *)value("v", "a", SEEP_PLY_I8), -128);
    ck_assert_int_eq(*(const uint8_t *)value("v", "b", SEEP_PLY_U8), 255);
    ck_assert_int_eq(*(const int16_t *)value("v", "c", SEEP_PLY_I16), -32767);
    ck_assert_int_eq(*(const uint16_t *)value("v", "d", SEEP_PLY_U16), 65534);
    ck_assert_int_eq(*(const int32_t *)value("v", "e", SEEP_PLY_I32), -2147483646);
    ck_assert_uint_eq(*(const uint32_t *)value("v", "f", SEEP_PLY_U32), 4294967293U);
    ck_assert(*(const float *)value("v", "g", SEEP_PLY_F32) == 1.5F);
    ck_assert(*(const double *)value("v", "h", SEEP_PLY_F64) == -2.5);
    const struct seep_ply_element *v = seep_ply_element(ply, "v");
    ck_assert_ptr_null(seep_ply_scalars(v, "g", SEEP_PLY_F64));
    ck_assert_ptr_null(seep_ply_scalars(v, "i", SEEP_PLY_F32));
    ck_assert_ptr_null(seep_ply_element(ply, "w"));
}

TEST(a_mesh_of_a_windows_tool_is_read)
{
    ck_assert_int_eq(read_text("ply\r\nformat ascii 1.0\r\ncomment by hand\r\nobj_info 7\r\n"
                               "element vertex 4\r\nproperty float x\r\n\r\nelement face 2\r\n"
                               "property list uchar int vertex_indices\r\nproperty uchar red\r\n"
                               "end_header\r\n0\r\n1\r\n2\r\n3\r\n3 0 1 2 9\r\n4 3 2 1 0 8\r\n"),
                     0);
    const float *x = value("vertex", "x", SEEP_PLY_F32);
    ck_assert(x[0] == 0 && x[3] == 3);
    const struct seep_ply_property *list = seep_ply_element(ply, "face")->properties;
    ck_assert(list->is_list);
    ck_assert_uint_eq(list->starts[0], 0);
    ck_assert_uint_eq(list->starts[1], 3);
    ck_assert_uint_eq(list->starts[2], 7);
    const int32_t wanted[] = {0, 1, 2, 3, 2, 1, 0};
    ck_assert_mem_eq(list->values, wanted, sizeof wanted);
    ck_assert_int_eq(((const uint8_t *)value("face", "red", SEEP_PLY_U8))[1], 8);
    ck_assert_ptr_null(
        seep_ply_scalars(seep_ply_element(ply, "face"), "vertex_indices", SEEP_PLY_I32));
}

enum { N = 300 };

/* A cloud with scalars and lists, whose values need all their digits. */
static void write_cloud(enum seep_ply_encoding encoding)
{
    static float x[N];
    static double t[N];
    static size_t starts[N + 1];
    static uint16_t items[N * N];
    struct seep_ply_property scalars[] = {
        {.name = "x", .type = SEEP_PLY_F32, .values = x},
        {.name = "t", .type = SEEP_PLY_F64, .values = t},
    };
    struct seep_ply_property lists[] = {
        {.name = "near",
         .type = SEEP_PLY_U16,
         .is_list = true,
         .count_type = SEEP_PLY_U16,
         .values = items,
         .starts = starts},
        {.name = "x", .type = SEEP_PLY_F32, .values = x},
    };
    struct seep_ply_element elements[] = {
        {.name = "vertex", .n = N, .properties = scalars, .n_properties = 2},
        {.name = "nothing", .n = 0},
        {.name = "cell", .n = N, .properties = lists, .n_properties = 2},
    };
    struct seep_ply cloud = {encoding, elements, 3};

    for (size_t i = 0; i < N; i++) {
        x[i] = i == 0 ? FLT_MAX : i == 1 ? -FLT_TRUE_MIN : i == 2 ? INFINITY : 1.0F / (float)i;
        t[i] = i == 0 ? DBL_MAX : i == 1 ? -DBL_TRUE_MIN : i == 2 ? -INFINITY : 1e-3 / (double)i;
        starts[i + 1] = starts[i] + i;
        for (size_t k = 0; k < i; k++)
            items[starts[i] + k] = (uint16_t)(i * k);
    }
    ck_assert_int_eq(seep_ply_write(path, &cloud, &err), 0);
    ck_assert_int_eq(seep_ply_read(path, &ply, &err), 0);
    ck_assert_mem_eq(value("vertex", "x", SEEP_PLY_F32), x, sizeof x);
    ck_assert_mem_eq(value("vertex", "t", SEEP_PLY_F64), t, sizeof t);
    ck_assert_mem_eq(value("cell", "x", SEEP_PLY_F32), x, sizeof x);
    const struct seep_ply_property *near = seep_ply_element(ply, "cell")->properties;
    ck_assert_mem_eq(near->starts, starts, sizeof starts);
    ck_assert_mem_eq(near->values, items, starts[N] * sizeof *items);
    ck_assert_uint_eq(seep_ply_element(ply, "nothing")->n, 0);
}

TEST(a_cloud_comes_back_bit_for_bit, .to = 3)
{
    write_cloud((enum seep_ply_encoding)_i);
    ck_assert_int_eq(ply->encoding, _i);
}

TEST(a_nan_stays_one)
{
    ck_assert_int_eq(read_text(HEADER("ascii") "element v 3\nproperty float x\nend_header\n"
                                               "nan -nan -inf"),
                     0);
    const float *x = value("v", "x", SEEP_PLY_F32);
    ck_assert(isnan(x[0]) && isnan(x[1]) && x[2] < -FLT_MAX);
}

static const struct {
    const char *text, *reason;
} bad[] = {
    {"", "not a PLY"},
    {"plyx\n", "not a PLY"},
    {"ply", "has no end"},
    {"ply\nend_header\n", "names no format"},
    {"ply\nformat ascii 2.0\nend_header\n", "version"},
    {"ply\nformat binary_middle_endian 1.0\nend_header\n", "encoding"},
    {HEADER("ascii") "element v 1\nproperty float x\n", "has no end"},
    {HEADER("ascii") "property float x\nend_header\n", "before any element"},
    {HEADER("ascii") "element v -1\nproperty float x\nend_header\n", "element"},
    {HEADER("ascii") "element v 1 2\nproperty float x\nend_header\n1", "element"},
    {HEADER("ascii") "element v 1\nproperty half x\nend_header\n1", "property"},
    {HEADER("ascii") "element v 1\nproperty float\nend_header\n1", "property"},
    {HEADER("ascii") "element v 1\nproperty list float int x\nend_header\n1 1", "property"},
    {HEADER("ascii") "element v 1\nproperty list int x\nend_header\n1 1", "property"},
    {HEADER("ascii") "elephant v 1\nend_header\n", "unknown word"},
    {HEADER("ascii") "element v 1\nend_header\n1", "without properties"},
    {HEADER("ascii") "element v 2\nproperty float x\nend_header\n1  \n", "missing"},
    {HEADER("ascii") "element v 1\nproperty float x\nend_header\n1 2", "more values"},
    {HEADER("ascii") "element v 1\nproperty float x\nend_header\n1,5", "does not fit its"},
    {HEADER("ascii") "element v 1\nproperty float x\nend_header\n0x10", "does not fit its"},
    {HEADER("ascii") "element v 1\nproperty float x\nend_header\n1e39", "does not fit its"},
    {HEADER("ascii") "element v 1\nproperty double x\nend_header\n1e309", "does not fit its"},
    {HEADER("ascii") "element v 1\nproperty uchar x\nend_header\n256", "does not fit its"},
    {HEADER("ascii") "element v 1\nproperty uchar x\nend_header\n-1", "does not fit its"},
    {HEADER("ascii") "element v 1\nproperty uint x\nend_header\n4294967296", "does not fit its"},
    {HEADER("ascii") "element v 1\nproperty int x\nend_header\n1.5", "does not fit its"},
    {HEADER("ascii") "element v 1\nproperty list char int x\nend_header\n-1 1", "length"},
    {HEADER("ascii") "element v 1\nproperty list uchar int x\nend_header\n256 1", "length"},
    {HEADER("ascii") "element v 1\nproperty list int int x\nend_header\n2000000000 1", "length"},
    {HEADER("ascii") "element v 99999999999999\nproperty float x\nend_header\n1", "claims"},
    {HEADER("ascii") "element v 99999999999999999999\nproperty float x\nend_header\n", "element"},
    {HEADER("binary_big_endian") "element v 1\nproperty float x\nend_header\n123", "claims"},
    {HEADER("binary_big_endian") "element v 1\nproperty float x\nend_header\n12345", "more bytes"},
    {HEADER("binary_little_endian") "element v 1152921504606846974\nproperty double x\n"
                                    "end_header\n",
     "claims"},
    {HEADER("binary_little_endian") "element v 1\nproperty list uint double x\nend_header\n"
                                    "\xff\xff\xff\xff",
     "length"},
    {HEADER("binary_little_endian") "element v 1\nproperty list char uchar x\nend_header\n"
                                    "\xff"
                                    "abc",
     "length"},
    {HEADER("binary_little_endian") "element v 1\nproperty list uchar uchar x\nproperty int y\n"
                                    "end_header\n\x01"
                                    "abcd",
     "missing"},
};

TEST(a_damaged_file_is_refused_with_its_reason, .to = N(bad))
{
    ck_assert_int_eq(read_text(bad[_i].text), -SEEP_EFORMAT);
    ck_assert_msg(strstr(err.text, bad[_i].reason), "\"%s\" for %s", err.text, bad[_i].text);
    ck_assert_ptr_null(ply);
    ck_assert_uint_le(err.offset, strlen(bad[_i].text));
}

TEST(an_error_lies_where_the_file_is_wrong)
{
    static const char text[] = HEADER("ascii") "element v 2\nproperty int x\nend_header\n1\noops\n";

    ck_assert_int_eq(read_text(text), -SEEP_EFORMAT);
    ck_assert_uint_eq(err.offset, (uint64_t)(strstr(text, "\noops") - text));
}

TEST(a_file_that_is_not_there_is_named)
{
    ck_assert_int_eq(seep_ply_read(path, &ply, &err), -SEEP_EIO);
    ck_assert_str_eq(err.file, path);
    ck_assert_int_eq(seep_ply_read(folder, &ply, NULL), -SEEP_EIO);
}

TEST(what_PLY_cannot_hold_is_not_written)
{
    uint8_t items[200] = {0};
    size_t starts[] = {0, 200};
    struct seep_ply_property list = {.name = "l",
                                     .type = SEEP_PLY_U8,
                                     .is_list = true,
                                     .count_type = SEEP_PLY_I8,
                                     .values = items,
                                     .starts = starts};
    struct seep_ply_element element = {"v", 1, &list, 1};
    struct seep_ply cloud = {SEEP_PLY_ASCII, &element, 1};

    ck_assert_int_eq(seep_ply_write(path, &cloud, &err), -SEEP_EINVAL);
    list.count_type = SEEP_PLY_F32;
    ck_assert_int_eq(seep_ply_write(path, &cloud, &err), -SEEP_EINVAL);
    list.count_type = SEEP_PLY_U8;
    strcpy(list.name, "two words");
    ck_assert_int_eq(seep_ply_write(path, &cloud, &err), -SEEP_EINVAL);
    ck_assert_int_ne(access(path, F_OK), 0);
    strcpy(list.name, "l");
    ck_assert_int_eq(seep_ply_write(path, &cloud, &err), 0);
}

SUITE("ply", .setup = set_up, .teardown = tear_down)
