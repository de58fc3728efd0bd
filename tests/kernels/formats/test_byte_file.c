/* Whole files, the cursor over their bytes, names and numbers out of them. */
#include "kernels/formats/byte_file.h"
#include "kernels/formats/text_fields.h"
#include "tests/suite.h"

#include <check.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/seep-bytes-XXXXXX";
static char path[64];
static struct seep_error err;
static uint8_t *bytes;
static size_t n;

static void set_up(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    memset(&err, 0, sizeof err);
    bytes = NULL;
}

static void tear_down(void)
{
    free(bytes);
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0); /* no temporary is left either */
}

static void write_file(const char *text)
{
    struct seep_file_writer w;

    ck_assert_int_eq(seep_file_writer_open(&w, path, &err), 0);
    fputs(text, w.stream);
    ck_assert_int_eq(seep_file_writer_commit(&w, &err), 0);
}

TEST(a_file_is_read_whole_with_a_zero_behind_it)
{
    write_file("four");
    ck_assert_int_eq(seep_file_read(path, 4, &bytes, &n, &err), 0);
    ck_assert_uint_eq(n, 4);
    ck_assert_str_eq((char *)bytes, "four");
}

TEST(a_file_larger_than_its_bound_is_refused)
{
    write_file("four");
    ck_assert_int_eq(seep_file_read(path, 3, &bytes, &n, &err), -SEEP_EFORMAT);
    ck_assert_str_eq(err.file, path);
    /* 1 GiB of nothing. */
    ck_assert_int_eq(truncate(path, (off_t)1 << 30), 0);
    ck_assert_int_eq(seep_file_read(path, 1 << 20, &bytes, &n, NULL), -SEEP_EFORMAT);
}

TEST(what_is_no_regular_file_neither_hangs_nor_reads)
{
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(seep_file_read(path, 100, &bytes, &n, NULL), -SEEP_EIO);
    ck_assert_int_eq(seep_file_read(folder, 100, &bytes, &n, NULL), -SEEP_EIO);
    ck_assert_int_eq(seep_file_read("/dev/zero", 100, &bytes, &n, NULL), -SEEP_EIO);
    ck_assert_int_eq(seep_file_read("/nowhere/x", 100, &bytes, &n, &err), -SEEP_EIO);
    ck_assert_ptr_nonnull(strstr(err.text, "No such file"));
}

TEST(an_old_file_stays_until_the_new_one_is_whole)
{
    struct seep_file_writer w;
    struct stat st;

    umask(027);
    write_file("old");
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0640);
    ck_assert_int_eq(seep_file_writer_open(&w, path, &err), 0);
    fputs("half of the n", w.stream);
    fflush(w.stream);
    seep_file_writer_cancel(&w);
    ck_assert_int_eq(seep_file_read(path, 100, &bytes, &n, &err), 0);
    ck_assert_str_eq((char *)bytes, "old");
}

TEST(a_full_disk_is_an_error_and_leaves_the_old_file)
{
    struct seep_file_writer w;

    write_file("old");
    ck_assert_int_eq(seep_file_writer_open(&w, path, &err), 0);
    ck_assert_ptr_nonnull(freopen("/dev/full", "wb", w.stream));
    fputs("new", w.stream);
    ck_assert_int_eq(seep_file_writer_commit(&w, &err), -SEEP_EIO);
    ck_assert_ptr_nonnull(strstr(err.text, "No space"));
    ck_assert_int_eq(seep_file_read(path, 100, &bytes, &n, NULL), 0);
    ck_assert_str_eq((char *)bytes, "old");
}

TEST(a_writer_into_no_folder_says_so)
{
    struct seep_file_writer w;
    char longer[5000];

    ck_assert_int_eq(seep_file_writer_open(&w, "/nowhere/x", &err), -SEEP_EIO);
    seep_file_writer_cancel(&w);
    memset(longer, 'a', sizeof longer);
    longer[sizeof longer - 1] = 0;
    ck_assert_int_eq(seep_file_writer_open(&w, longer, &err), -SEEP_EINVAL);
    ck_assert_int_eq(seep_file_writer_open(&w, "", &err), -SEEP_EINVAL);
}

TEST(the_cursor_reads_little_endian_and_zeros_past_the_end)
{
    static const uint8_t record[] = {1,    2, 0, 0, 0x80, 3, 0, 0,    0,    0, 0, 0,
                                     0x80, 0, 0, 0, 0,    0, 0, 0xf8, 0x3f, 9, 9, 9};
    struct seep_bytes b = seep_bytes_of(record, sizeof record);

    ck_assert_uint_eq(seep_bytes_u8(&b), 1);
    ck_assert_uint_eq(seep_bytes_u32(&b), 0x80000002);
    ck_assert(seep_bytes_u64(&b) == UINT64_C(0x8000000000000003));
    ck_assert(seep_bytes_f64(&b) == 1.5);
    ck_assert_uint_eq(seep_bytes_offset(&b), 21);
    ck_assert_uint_eq(seep_bytes_left(&b), 3);
    ck_assert_ptr_eq(seep_bytes_take(&b, 0), record + 21);
    ck_assert(!b.short_);
    ck_assert_uint_eq(seep_bytes_u32(&b), 0);
    ck_assert(b.short_);
    ck_assert_uint_eq(seep_bytes_left(&b), 0);
    ck_assert_uint_eq(seep_bytes_u8(&b), 0);
    ck_assert_ptr_null(seep_bytes_take(&b, SIZE_MAX));
    b = seep_bytes_of(NULL, 0);
    ck_assert_uint_eq(seep_bytes_left(&b), 0);
    ck_assert_uint_eq(seep_bytes_u64(&b), 0);
    ck_assert(b.short_);
}

static const struct {
    const char *name;
    bool safe;
} names[] = {
    {"a.jpg", true},   {"a/b c.jpg", true}, {"./train/r_0", true}, {"a..b", true},
    {"..a/b..", true}, {"...", true},       {"", false},           {"..", false},
    {"../a", false},   {"a/..", false},     {"a/../b", false},     {"/a", false},
    {"a\nb", false},   {"a\x7f", false},    {" a", false},         {"a ", false},
};

TEST(a_name_cannot_lead_out_of_its_folder, .to = N(names))
{
    ck_assert_msg(seep_name_is_safe(names[_i].name) == names[_i].safe, "\"%s\"", names[_i].name);
}

TEST(a_name_that_no_path_can_hold_is_not_safe)
{
    char name[4097];

    memset(name, 'a', 4096);
    name[4096] = 0;
    ck_assert(!seep_name_is_safe(name));
    name[4095] = 0;
    ck_assert(seep_name_is_safe(name));
}

TEST(lines_end_as_on_unix_and_on_windows)
{
    static const char text[] = "a\r\n\nb c\n\rd";
    static const char *const wanted[] = {"a", "", "b c", "\rd"};
    struct seep_bytes b = seep_bytes_of(text, strlen(text)), line;

    for (size_t i = 0; i < 4; i++) {
        ck_assert(seep_text_line(&b, &line));
        ck_assert_uint_eq(seep_bytes_left(&line), strlen(wanted[i]));
        ck_assert(!memcmp(line.at, wanted[i], strlen(wanted[i])));
    }
    ck_assert_uint_eq(seep_bytes_offset(&line), 8);
    ck_assert(!seep_text_line(&b, &line));
}

static const struct {
    const char *text;
    bool real, integer, natural;
} numbers[] = {
    {"0", true, true, true},
    {"-0", true, true, false},
    {"+7", true, true, true},
    {"9223372036854775807", true, true, true},
    {"9223372036854775808", true, false, true},
    {"-9223372036854775808", true, true, false},
    {"18446744073709551616", true, false, false},
    {"1.5", true, false, false},
    {"-1e-400", true, false, false},
    {"1e309", false, false, false},
    {"-inf", true, false, false},
    {"nan", true, false, false},
    {"nan(1)", false, false, false},
    {"0x1p3", false, false, false},
    {"1,5", false, false, false},
    {"1.5x", false, false, false},
    {"", false, false, false},
    {"-", false, false, false},
    {"--1", false, false, false},
    {" 1", false, false, false},
};

TEST(a_field_is_a_number_or_it_is_not, .to = N(numbers))
{
    struct seep_field field = {numbers[_i].text, strlen(numbers[_i].text)};
    double real;
    int64_t integer;
    uint64_t natural;

    ck_assert_int_eq(seep_field_f64(&field, &real), numbers[_i].real);
    ck_assert_int_eq(seep_field_i64(&field, &integer), numbers[_i].integer);
    ck_assert_int_eq(seep_field_u64(&field, &natural), numbers[_i].natural);
}

TEST(a_number_with_a_zero_byte_or_without_end_is_none)
{
    char digits[200];
    struct seep_field field = {"1\0002", 3};
    double real;

    ck_assert(!seep_field_f64(&field, &real));
    memset(digits, '1', sizeof digits);
    field = (struct seep_field){digits, sizeof digits};
    ck_assert(!seep_field_f64(&field, &real));
}

/* A locale that writes a comma, made here: few machines have one installed. */
static void use_commas(void)
{
    char command[256];

    snprintf(command, sizeof command,
             "LC_ALL=C localedef --no-archive -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>&1", folder);
    ck_assert_msg(system(command) == 0, "no \"%s\": the package \"locales\" has de_DE", command);
    ck_assert_int_eq(setenv("LOCPATH", folder, 1), 0);
    ck_assert_ptr_nonnull(setlocale(LC_ALL, "de_DE.UTF-8"));
    ck_assert_str_eq(localeconv()->decimal_point, ",");
}

static void unuse_commas(void)
{
    char command[64];

    setlocale(LC_ALL, "C");
    snprintf(command, sizeof command, "rm -r %s/de_DE.UTF-8", folder);
    ck_assert_int_eq(system(command), 0);
}

TEST(a_double_printed_comes_back_bit_for_bit)
{
    static const double values[] = {1.0 / 3, DBL_MAX, -DBL_TRUE_MIN, INFINITY, -0.0, 1e23};
    char *text;
    size_t length;
    double value;
    FILE *out = open_memstream(&text, &length);

    ck_assert_ptr_nonnull(out);
    use_commas();
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        seep_text_print(out, values[i], 17);
        putc(' ', out);
    }
    fclose(out);
    struct seep_bytes b = seep_bytes_of(text, length);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct seep_field field;
        ck_assert(seep_text_field(&b, &field) && seep_field_f64(&field, &value));
        ck_assert_mem_eq(&value, &values[i], sizeof value);
    }
    ck_assert_ptr_null(strchr(text, ','));
    free(text);
    unuse_commas();
}

SUITE("byte_file", .setup = set_up, .teardown = tear_down)
