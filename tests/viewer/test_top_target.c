/* From a process to the folder it writes to. */
#include <check.h>

#include "tests/suite.h"
#include "viewer/top/top_target.h"

#include <stdlib.h>
#include <string.h>

static FILE *file_of(const char *bytes, size_t n)
{
    FILE *file = tmpfile();

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, n, file), n);
    rewind(file);
    return file;
}

static const struct {
    const char *maps, *folder; /* NULL: none */
} maps[] = {
    {"55d0-55d1 r--p 00000000 08:01 1   /usr/bin/python3.11\n"
     "7f00-7f01 rw-s 00000000 08:01 2   /data/run one/4711-12.seep\n",
     "/data/run one"},
    {"7f00-7f01 rw-s 00000000 08:01 2   /run.d/job.seepjob\n", "/run.d"},
    {"7f00-7f01 rw-s 00000000 08:01 2   /1-2.seep\n", "/"},
    {"7f00-7f01 rw-s 00000000 08:01 2   /run.d/1-2.seep (deleted)\n", NULL},
    {"7f00-7f01 rw-s 00000000 08:01 2   /usr/lib/libseep.so\n", NULL},
    {"7f00-7f01 rw-p 00000000 00:00 0\n7f00-7f01 rw-p 00000000 00:00 0  [heap].seep\n", NULL},
    {"", NULL},
};

TEST(the_maps_of_a_process_name_its_folder, .to = N(maps))
{
    char folder[PATH_MAX] = "";
    FILE *file = file_of(maps[_i].maps, strlen(maps[_i].maps));

    ck_assert_int_eq(seep_top_folder_of_maps(file, folder), maps[_i].folder != NULL);
    ck_assert_str_eq(folder, maps[_i].folder ? maps[_i].folder : "");
    fclose(file);
}

TEST(a_path_that_is_too_long_is_none)
{
    char *line = malloc(3 * PATH_MAX), folder[PATH_MAX];

    memset(line, 'x', 3 * PATH_MAX);
    line[0] = '/';
    strcpy(line + 3 * PATH_MAX - 8, ".seep\n");
    FILE *file = file_of(line, strlen(line));
    ck_assert(!seep_top_folder_of_maps(file, folder));
    fclose(file);
    free(line);
}

#define ENVIRONMENT(text) text, sizeof text - 1
static const struct {
    const char *bytes;
    size_t n;
    const char *out; /* NULL: none */
} environments[] = {
    {ENVIRONMENT("HOME=/root\0SEEP_OUT=/data/run.d\0X=1\0"), "/data/run.d"},
    {ENVIRONMENT("SEEP_OUT=run.d"), "run.d"}, /* cut short */
    {ENVIRONMENT("X=\xff\0SEEP_OUT=run.d\0"), "run.d"},
    {ENVIRONMENT("XSEEP_OUT=run.d\0SEEP_OUTER=x\0SEEP_OUT=\0"), NULL},
    {ENVIRONMENT(""), NULL},
};

TEST(the_environment_of_a_process_names_its_folder, .to = N(environments))
{
    char out[PATH_MAX] = "";
    FILE *file = file_of(environments[_i].bytes, environments[_i].n);

    ck_assert_int_eq(seep_top_out_of(file, out), environments[_i].out != NULL);
    ck_assert_str_eq(out, environments[_i].out ? environments[_i].out : "");
    fclose(file);
}

TEST(what_is_no_number_is_a_folder)
{
    static const char *const names[] = {"run.d", "12x", "-1", "99999999999", "."};
    struct seep_error err = {0};
    char folder[PATH_MAX];

    for (size_t i = 0; i < N(names); i++) {
        ck_assert_int_eq(seep_top_find(names[i], folder, &err), 0);
        ck_assert_str_eq(folder, names[i]);
    }
}

TEST(a_number_that_no_process_has_is_told)
{
    struct seep_error err = {0};
    char folder[PATH_MAX];

    ck_assert_int_lt(seep_top_find("4294967295", folder, &err), 0);
    ck_assert_str_eq(err.text, "there is no such process");
}

SUITE("top: which job")
