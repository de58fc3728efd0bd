/* Arrays that NumPy has saved. */
#include "kernels/formats/npz.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

/* A .npy file: version 1, the dictionary, zeros and counting bytes behind. */
static size_t npy(uint8_t *to, unsigned major, const char *dictionary, size_t n_values)
{
    size_t n = strlen(dictionary), at = 0;

    memcpy(to, "\x93NUMPY", 6);
    to[6] = (uint8_t)major;
    to[7] = 0;
    to[8] = (uint8_t)n;
    to[9] = (uint8_t)(n >> 8);
    at = 10;
    if (major > 1)
        to[at++] = 0, to[at++] = 0;
    memcpy(to + at, dictionary, n);
    at += n;
    for (size_t i = 0; i < n_values; i++)
        to[at + i] = (uint8_t)i;
    return at + n_values;
}

static int parse(unsigned major, const char *dictionary, size_t n_values, struct seep_npy *out,
                 struct seep_error *err)
{
    uint8_t bytes[1024];
    size_t n = npy(bytes, major, dictionary, n_values);
    /* An exact block: the sanitizer sees one byte too many. */
    uint8_t *exact = malloc(n);

    ck_assert_ptr_nonnull(exact);
    memcpy(exact, bytes, n);
    int rc = seep_npy_from_bytes(exact, n, out, err);
    free(exact);
    return rc;
}

static const struct {
    unsigned major;
    const char *dictionary;
    size_t n_values;
    char kind;
    unsigned item_bytes, n_dims;
    size_t shape[4];
} good[] = {
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n", 48, 'f', 4, 2, {3, 4}},
    {2, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n", 48, 'f', 4, 2, {3, 4}},
    {3, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n", 16, 'f', 8, 1, {2}},
    {1, "{'descr': '<i8', 'fortran_order': False, 'shape': (), }", 8, 'i', 8, 0, {0}},
    {1, "{'descr': '|b1', 'fortran_order': False, 'shape': (7,)}", 7, 'b', 1, 1, {7}},
    {1,
     "{\"shape\":(1,2,3,4),\"fortran_order\":False,\"descr\":\"|u1\"}",
     24,
     'u',
     1,
     4,
     {1, 2, 3, 4}},
    {1, "{'descr': '<u2', 'fortran_order': False, 'shape': (5L, 2L), }", 20, 'u', 2, 2, {5, 2}},
    {1, "{'descr': '<f2', 'fortran_order': False, 'shape': (0, 9), }", 0, 'f', 2, 2, {0, 9}},
};

TEST(an_array_has_the_shape_and_type_it_was_saved_with, .to = N(good))
{
    struct seep_npy a;
    struct seep_error err = {.text = ""};
    int rc = parse(good[_i].major, good[_i].dictionary, good[_i].n_values, &a, &err);

    ck_assert_msg(rc == 0, "%s", err.text);
    ck_assert_int_eq(a.kind, good[_i].kind);
    ck_assert_uint_eq(a.item_bytes, good[_i].item_bytes);
    ck_assert_uint_eq(a.n_dims, good[_i].n_dims);
    for (unsigned i = 0; i < a.n_dims; i++)
        ck_assert_uint_eq(a.shape[i], good[_i].shape[i]);
    ck_assert_uint_eq(a.n_items, good[_i].n_values / good[_i].item_bytes);
    for (size_t i = 0; i < good[_i].n_values; i++)
        ck_assert_uint_eq(((const uint8_t *)a.values)[i], i);
    free(a.values);
}

#define REST "'fortran_order': False, 'shape': (2,), }"

static const struct {
    const char *dictionary;
    size_t n_values;
} bad[] = {
    {"", 0},
    {"{}", 0},
    {"{'descr': '<f4', " REST, 7},
    {"{'descr': '<f4', " REST, 9},
    {"{'descr': '>f4', " REST, 8},
    {"{'descr': '|f4', " REST, 8},
    {"{'descr': '<f1', " REST, 2},
    {"{'descr': '<f3', " REST, 6},
    {"{'descr': '<U4', " REST, 32},
    {"{'descr': '|O', " REST, 16},
    {"{'descr': '<M8[ns]', " REST, 16},
    {"{'descr': [('x', '<f4')], " REST, 8},
    {"{'descr': '<f\\x34', " REST, 8},
    {"{'descr': '<f4", 8},
    {"{'descr': '<f4', 'descr': '<f4', " REST, 8},
    {"{'descr': '<f4', 'x': 1, " REST, 8},
    {"{'descr': '<f4' " REST, 8},
    {"{'descr': '<f4', " REST " x", 8},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), ", 8},
    {"{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", 8},
    {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }", 8},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2), }", 8},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': 2, }", 8},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", 8},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2 1), }", 8},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 2), }", 8},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387906,), }", 8},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 8},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 0},
};

TEST(an_array_that_would_be_misread_is_refused, .to = N(bad))
{
    struct seep_npy a;
    struct seep_error err = {.text = ""};

    ck_assert_msg(parse(1, bad[_i].dictionary, bad[_i].n_values, &a, &err) == -SEEP_EFORMAT,
                  "taken: %s", bad[_i].dictionary);
    ck_assert_str_ne(err.text, "");
}

TEST(an_array_cut_off_anywhere_is_refused)
{
    uint8_t bytes[256];
    size_t n = npy(bytes, 1, good[0].dictionary, good[0].n_values);
    struct seep_npy a;

    for (size_t cut = 0; cut < n; cut++) {
        uint8_t *exact = malloc(cut ? cut : 1);
        memcpy(exact, bytes, cut);
        ck_assert_int_lt(seep_npy_from_bytes(exact, cut, &a, NULL), 0);
        free(exact);
    }
}

TEST(a_version_to_come_is_named)
{
    struct seep_npy a;
    struct seep_error err = {.text = ""};

    ck_assert_int_eq(parse(4, good[0].dictionary, 48, &a, &err), -SEEP_EVERSION);
    ck_assert_ptr_nonnull(strstr(err.text, "4.0"));
}

static char path[64];

static void set_up(void)
{
    strcpy(path, "/tmp/seep-npz-XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void tear_down(void)
{
    unlink(path);
}

/* x, compressed by `method`, and a float of no dimension. */
static void save(const void *x, size_t n_x, int method)
{
    static uint8_t first[200000], second[256];
    char dictionary[128];
    int code;

    snprintf(dictionary, sizeof dictionary,
             "{'descr': '<i4', 'fortran_order': False, 'shape': (%zu,), }", n_x / 4);
    size_t n_first = npy(first, 1, dictionary, 0);
    ck_assert_uint_lt(n_first + n_x, sizeof first);
    memcpy(first + n_first, x, n_x);
    n_first += n_x;
    size_t n_second = npy(second, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", 8);
    zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);
    ck_assert_ptr_nonnull(zip);
    zip_int64_t index =
        zip_file_add(zip, "x.npy", zip_source_buffer(zip, first, n_first, 0), ZIP_FL_ENC_UTF_8);
    ck_assert_int_ge(index, 0);
    ck_assert_int_eq(zip_set_file_compression(zip, (zip_uint64_t)index, method, 0), 0);
    index = zip_file_add(zip, "deep/y.npy", zip_source_buffer(zip, second, n_second, 0), 0);
    ck_assert_int_ge(index, 0);
    ck_assert_int_eq(zip_close(zip), 0);
}

static size_t load(uint8_t **bytes)
{
    FILE *f = fopen(path, "rb");

    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fseek(f, 0, SEEK_END), 0);
    size_t n = (size_t)ftell(f);
    rewind(f);
    *bytes = malloc(n);
    ck_assert_ptr_nonnull(*bytes);
    ck_assert_uint_eq(fread(*bytes, 1, n, f), n);
    fclose(f);
    return n;
}

static const int methods[] = {ZIP_CM_STORE, ZIP_CM_DEFLATE};

TEST(arrays_come_out_of_an_archive_as_they_were_saved, .to = N(methods))
{
    static int32_t x[40000];
    struct seep_npy a, b;
    struct seep_error err = {.text = ""};

    for (int i = 0; i < 40000; i++)
        x[i] = i * i;
    save(x, sizeof x, methods[_i]);
    int rc = seep_npz_read(path, "x", &a, &err);
    ck_assert_msg(rc == 0, "%s", err.text);
    ck_assert_int_eq(a.kind, 'i');
    ck_assert_uint_eq(a.n_items, 40000);
    ck_assert_uint_eq((uintptr_t)a.values % 8, 0);
    ck_assert_mem_eq(a.values, x, sizeof x);
    ck_assert_int_eq(seep_npz_read(path, "deep/y", &b, NULL), 0);
    ck_assert_uint_eq(b.n_dims, 0);
    ck_assert_uint_eq(b.n_items, 1);
    free(a.values);
    free(b.values);
}

/* libzip's own reads, too: the one with this number fails, none where it is negative. */
static long failing_read = -1;

__attribute__((visibility("default"))) size_t fread(void *to, size_t size, size_t n, FILE *f)
{
    if (failing_read >= 0 && failing_read-- == 0) {
        fputc(0, f); /* into a stream to read from: its error flag is set */
        errno = EIO;
        return 0;
    }
    return (fread_unlocked)(to, size, n, f);
}

TEST(a_disk_that_fails_is_not_called_a_damaged_archive, .to = N(methods))
{
    static uint32_t x[40000];
    long n_failed = 0;
    int rc;

    for (uint32_t i = 0; i < 40000; i++)
        x[i] = i * 2654435761;
    save(x, sizeof x, methods[_i]);
    do {
        struct seep_npy a = {.values = NULL};
        struct seep_error err = {.text = ""};
        failing_read = n_failed;
        rc = seep_npz_read(path, "x", &a, &err);
        bool failed = failing_read < 0;
        failing_read = -1;
        free(a.values);
        ck_assert_msg(rc == (failed ? -SEEP_EIO : 0), "read %ld: %d, %s", n_failed, rc, err.text);
        n_failed++;
    } while (rc);
    /* The archive's end and directory, and the array's own bytes. */
    ck_assert_int_gt(n_failed, 3);
}

TEST(a_missing_array_or_file_is_named)
{
    static int32_t x[4];
    struct seep_npy a;
    struct seep_error err = {.text = ""};

    save(x, sizeof x, ZIP_CM_STORE);
    ck_assert_int_eq(seep_npz_read(path, "z", &a, &err), -SEEP_ENODATA);
    ck_assert_str_eq(err.text, "no array \"z\"");
    ck_assert_str_eq(err.file, path);
    ck_assert_int_eq(seep_npz_read("/nonexistent/a.npz", "x", &a, NULL), -SEEP_EIO);
    ck_assert_int_eq(seep_npz_read("/tmp", "x", &a, NULL), -SEEP_EIO);
    ck_assert_int_eq(truncate(path, 40), 0);
    ck_assert_int_eq(seep_npz_read(path, "x", &a, NULL), -SEEP_EFORMAT);
    ck_assert_int_eq(truncate(path, 0), 0);
    ck_assert_int_lt(seep_npz_read(path, "x", &a, NULL), 0);
}

TEST(a_bit_that_tipped_over_is_noticed)
{
    int32_t x[50];
    struct seep_npy a;
    uint8_t *bytes;
    bool found = false;

    for (int i = 0; i < 50; i++)
        x[i] = 0x5eeb0000 + i;
    save(x, sizeof x, ZIP_CM_STORE);
    size_t n = load(&bytes);
    for (size_t i = 0; i + sizeof x < n; i++) {
        if (memcmp(bytes + i, x, sizeof x))
            continue;
        bytes[i + 100] ^= 4;
        found = true;
    }
    ck_assert(found);
    ck_assert_int_eq(seep_npz_from_bytes(bytes, n, "x", &a, NULL), -SEEP_EFORMAT);
    free(bytes);
}

TEST(damaged_archives_give_an_array_or_an_error, .to = N(methods))
{
    int32_t x[50] = {0};
    struct seep_npy a;
    uint8_t *bytes;

    save(x, sizeof x, methods[_i]);
    size_t n = load(&bytes);
    for (size_t i = 0; i < n; i++) {
        bytes[i] ^= 0xff;
        if (!seep_npz_from_bytes(bytes, n, "x", &a, NULL))
            free(a.values);
        bytes[i] ^= 0xff;
        ck_assert_int_lt(seep_npz_from_bytes(bytes, i, "x", &a, NULL), 0);
    }
    free(bytes);
}

TEST(an_archive_that_claims_gigabytes_takes_no_memory)
{
    int32_t x[50] = {0};
    struct seep_npy a;
    struct seep_error err = {.text = ""};
    uint8_t *bytes;

    save(x, sizeof x, ZIP_CM_DEFLATE);
    size_t n = load(&bytes);
    /* Unpacked sizes: at 22 in the local header, at 24 in the directory's. */
    for (size_t i = 0; i + 30 < n; i++) {
        if (!memcmp(bytes + i, "PK\3\4", 4))
            memcpy(bytes + i + 22, "\0\0\0\x80", 4);
        else if (!memcmp(bytes + i, "PK\1\2", 4))
            memcpy(bytes + i + 24, "\0\0\0\x80", 4);
    }
    ck_assert_int_eq(seep_npz_from_bytes(bytes, n, "x", &a, &err), -SEEP_EFORMAT);
    ck_assert_str_eq(err.text, "an array of 2147483648 bytes is too large");
    free(bytes);
}

static void read_real(const char *file, const char *name, struct seep_npy *a)
{
    char real[512];
    struct seep_error err = {.text = ""};

    snprintf(real, sizeof real, "%s/%s.npz", getenv("SEEP_DATA"), file);
    int rc = seep_npz_read(real, name, a, &err);
    ck_assert_msg(rc == 0, "%s: %s: %s", err.file, name, err.text);
}

/* What NumPy itself says of the two files, where SEEP_DATA says that they are. */
static const struct {
    const char *file, *name, *type;
    size_t n_items;
    double sum;
} real_arrays[] = {
    {"garden", "means3d", "f4", 416298, 39562.265138240029},
    {"garden", "colors", "u1", 416298, 37411494},
    {"garden", "viewmats", "f4", 48, 6.1918969262624159},
    {"garden", "Ks", "f4", 27, 4492.2205810546875},
    {"garden", "height", "i8", 1, 420},
    {"garden", "width", "i8", 1, 648},
    {"lidar-pc", "pc", "f4", 594390, 598113.15300523606},
};

static double value_of(const struct seep_npy *a, size_t i)
{
    switch (a->kind == 'f' ? -(int)a->item_bytes : (int)a->item_bytes) {
    case -4:
        return (double)((const float *)a->values)[i];
    case 1:
        return ((const uint8_t *)a->values)[i];
    case 8:
        return (double)((const int64_t *)a->values)[i];
    default:
        return NAN;
    }
}

TEST(the_real_arrays_are_read_as_numpy_reads_them, .to = N(real_arrays),
     .left_out = !getenv("SEEP_DATA"))
{
    struct seep_npy a;
    double sum = 0, size = 0;

    read_real(real_arrays[_i].file, real_arrays[_i].name, &a);
    ck_assert_int_eq(a.kind, real_arrays[_i].type[0]);
    ck_assert_uint_eq(a.item_bytes, (unsigned)(real_arrays[_i].type[1] - '0'));
    ck_assert_uint_eq(a.n_items, real_arrays[_i].n_items);
    for (size_t i = 0; i < a.n_items; i++) {
        sum += value_of(&a, i);
        size += fabs(value_of(&a, i));
    }
    ck_assert_double_eq_tol(sum, real_arrays[_i].sum, 1e-9 * size);
    free(a.values);
}

SUITE("npz", .setup = set_up, .teardown = tear_down)
