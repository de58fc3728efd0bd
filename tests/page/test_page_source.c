/* The lines of source in a page: only those that ran, and only of source files. */
#include "libprof/page/page_document.h"
#include "libprof/page/page_parts.h"
#include "libprof/report_read/report_view.h"
#include "tests/page/page_cells.h"
#include "tests/report_fixture.h"

#include <sys/stat.h>

enum { AFTER = 4000000000, BEFORE = 1000 }; /* seconds; files are of now */

static json_t *excerpts_of(const char *cwd, const char *file, int line, double started)
{
    report = json_pack("{s:{s:s, s:f}, s:[{s:{s:s, s:i}}]}", "job", "cwd", cwd, "started_unix_s",
                       started, "findings", "frame", "file", file, "line", line);
    return seep_page_excerpts(report);
}

static char dir[] = "/tmp/seep-page-XXXXXX";

static void write_source(void)
{
    char path[64];

    strcpy(dir + sizeof dir - 7, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/job.py", dir);
    FILE *f = fopen(path, "w");
    for (int i = 1; i <= 10; i++)
        fprintf(f, "line %d\t\033[31m<b>\r\n", i);
    fclose(f);
}

static void remove_source(void)
{
    char command[64];

    snprintf(command, sizeof command, "rm -rf %s", dir);
    ck_assert_int_eq(system(command), 0);
    teardown();
}

static void source_setup(void)
{
    setup();
    write_source();
}

static const struct {
    int line, first, n;
} around[] = {{5, 2, 7}, {1, 1, 4}, {10, 7, 4}};

TEST(a_line_stands_among_its_neighbours, .to = N(around), .setup = source_setup,
     .teardown = remove_source)
{
    json_t *list = excerpts_of(dir, "job.py", around[_i].line, AFTER),
           *one = json_array_get(list, 0);
    char text[64];

    ck_assert_uint_eq(json_array_size(list), 1);
    ck_assert_double_eq(seep_get_number(one, "first"), around[_i].first);
    ck_assert_uint_eq(json_array_size(json_object_get(one, "lines")), (size_t)around[_i].n);
    snprintf(text, sizeof text, "line %d ?[31m<b>", around[_i].first);
    ck_assert_str_eq(json_string_value(json_array_get(json_object_get(one, "lines"), 0)), text);
    json_decref(list);
}

static const struct {
    const char *file;
    int line;
    double started;
} unread[] = {
    {"job.py", 5, BEFORE},      {"job.py", 11, AFTER},   {"job.py", 0, AFTER},
    {"job.py", -3, AFTER},      {"none.py", 5, AFTER},   {".", 5, AFTER},
    {"fifo", 5, AFTER},         {"/dev/zero", 1, AFTER}, {"", 5, AFTER},
    {"job.py", 1 << 30, AFTER}, {"/dev/tty", 1, AFTER},  {"id_rsa", 5, AFTER},
    {"job.py.key", 5, AFTER},
};

TEST(what_may_not_be_what_ran_is_not_shown, .to = N(unread), .setup = source_setup,
     .teardown = remove_source)
{
    char path[96];

    snprintf(path, sizeof path, "%s/fifo", dir);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    snprintf(path, sizeof path, "cd %s && cp job.py id_rsa && cp job.py job.py.key", dir);
    ck_assert_int_eq(system(path), 0);
    json_t *list = excerpts_of(dir, unread[_i].file, unread[_i].line, unread[_i].started);
    ck_assert_uint_eq(json_array_size(list), 0);
    json_decref(list);
}

TEST(a_relative_name_without_a_folder_is_nothing, .setup = source_setup, .teardown = remove_source)
{
    ck_assert_int_eq(chdir(dir), 0);
    json_t *list = excerpts_of("", "job.py", 5, AFTER);
    ck_assert_uint_eq(json_array_size(list), 0);
    json_decref(list);
}

/* A site whose stack has these lines of job.py, and one of a device. */
static json_t *job_of_lines(double started)
{
    return json_pack(
        "{s:{s:s, s:f}, s:[{s:s, s:s, s:[{s:s, s:s, s:i}, {s:s, s:s, s:i}, {s:s, s:s, s:i},"
        " {s:s, s:s, s:i}]}]}",
        "job", "cwd", dir, "started_unix_s", started, "sites", "id", "S1", "space", "host", "stack",
        "function", "last", "file", "job.py", "line", 10, "function", "first", "file", "job.py",
        "line", 1, "function", "behind", "file", "job.py", "line", 11, "function", "device", "file",
        "/dev/tty", "line", 1);
}

static const char *line_of(const json_t *page, const char *function)
{
    const json_t *frames = json_object_get(page, "frames"), *texts = json_object_get(page, "texts");

    for (size_t i = 0; i < json_array_size(json_object_get(frames, "name")); i++) {
        const json_int_t name =
            json_integer_value(json_array_get(json_object_get(frames, "name"), i));
        const json_int_t line =
            json_integer_value(json_array_get(json_object_get(frames, "source"), i));
        if (strcmp(json_string_value(json_array_get(texts, (size_t)name)), function) == 0)
            return line < 0 ? "" : json_string_value(json_array_get(texts, (size_t)line));
    }
    ck_abort_msg("no frame of %s", function);
}

TEST(a_frame_has_the_text_of_its_line, .setup = source_setup, .teardown = remove_source)
{
    report = job_of_lines(AFTER);
    json_t *page = page_document(report, NULL, true);

    ck_assert_str_eq(line_of(page, "first"), "line 1 ?[31m<b>");
    ck_assert_str_eq(line_of(page, "last"), "line 10 ?[31m<b>");
    ck_assert_str_eq(line_of(page, "behind"), "");
    ck_assert_str_eq(line_of(page, "device"), "");
    json_decref(page);
}

TEST(a_line_that_changed_after_either_run_began_is_not_shown, .setup = source_setup,
     .teardown = remove_source)
{
    json_t *base = job_of_lines(BEFORE);

    report = job_of_lines(AFTER);
    json_t *page = compared_document(report, base, NULL, "", true);
    ck_assert_str_eq(line_of(page, "first"), "");
    json_decref(page);
    page = page_document(base, NULL, true);
    ck_assert_str_eq(line_of(page, "first"), "");
    json_decref(page);
    json_decref(base);
}

SUITE("page source", .setup = setup, .teardown = teardown)
