/* Which folders are read for one that was named. */
#include "libprof/format/profile_format.h"
#include "libprof/read/part_folders.h"
#include "tests/profile_builder.h"
#include "tests/suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char base[] = "/tmp/seep-parts-XXXXXX";
static struct seep_part_folders found;

static void set_up(void)
{
    strcpy(base + strlen(base) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(base));
    ck_assert_int_eq(chdir(base), 0);
}

static void tear_down(void)
{
    char command[256];

    seep_part_folders_fini(&found);
    ck_assert_int_eq(chdir("/"), 0);
    snprintf(command, sizeof command, "/bin/rm -rf %s", base);
    ck_assert_int_eq(system(command), 0);
}

static void make(const char *dir)
{
    ck_assert_int_eq(mkdir(dir, 0700), 0);
}

/* A folder with a profile, whose table says whether it is a part. */
static void make_profile(const char *dir, uint32_t is_part)
{
    struct seep_job *job = builder_job(1, 1, 0, 0);
    char path[128];

    (void)mkdir(dir, 0700);
    job->is_part = is_part;
    ck_assert_int_eq(builder_write_job(job, dir), 0);
    free(job);
    snprintf(path, sizeof path, "%s/1-1.seep", dir);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
}

/* What is read for `dir`, as "a b c". */
static const char *parts_of(const char *dir)
{
    static char text[1024];

    ck_assert_int_eq(seep_part_folders_find(&dir, 1, &found), 0);
    text[0] = '\0';
    for (size_t i = 0; i < found.n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "",
                 found.dirs[i]);
    return text;
}

TEST(a_folder_with_a_profile_is_itself)
{
    make_profile("run", 0);
    make_profile("run/other", 0);
    ck_assert_str_eq(parts_of("run"), "run");
}

TEST(its_parts_on_other_machines_come_with_it)
{
    make_profile("run", 0);
    make_profile("run/other", 0);
    make_profile("run/node1", 1);
    ck_assert_str_eq(parts_of("run"), "run run/node1");
}

TEST(a_folder_without_one_stands_for_those_in_it)
{
    make("run");
    make_profile("run/b-0", 0);
    make_profile("run/a-0", 0);
    make("run/empty");
    ck_assert_str_eq(parts_of("run"), "run/a-0 run/b-0");
    seep_part_folders_fini(&found);
    ck_assert_str_eq(parts_of("run/"), "run/a-0 run/b-0");
}

TEST(they_may_lie_one_deeper_and_no_deeper)
{
    make("run");
    make("run/x");
    make_profile("run/x/a-0", 0);
    make("run/y");
    make("run/y/z");
    make_profile("run/y/z/a-0", 0);
    ck_assert_str_eq(parts_of("run"), "run/x/a-0");
}

TEST(without_any_profile_it_stands_for_itself)
{
    make("run");
    make("run/x");
    ck_assert_str_eq(parts_of("run"), "run");
    seep_part_folders_fini(&found);
    ck_assert_str_eq(parts_of("nowhere"), "nowhere");
}

TEST(links_are_not_followed)
{
    make("run");
    make_profile("run/a-0", 0);
    ck_assert_int_eq(symlink("a-0", "run/latest"), 0);
    ck_assert_int_eq(symlink(".", "run/again"), 0);
    ck_assert_str_eq(parts_of("run"), "run/a-0");
}

TEST(a_folder_that_cannot_be_read_is_taken_if_others_are)
{
    if (geteuid() == 0)
        SKIP("root can read any folder");
    make("run");
    make("run/b-0");
    ck_assert_int_eq(chmod("run/b-0", 0), 0);
    ck_assert_str_eq(parts_of("run"), "run");
    seep_part_folders_fini(&found);
    make_profile("run/a-0", 0);
    ck_assert_str_eq(parts_of("run"), "run/a-0 run/b-0");
    ck_assert_int_eq(chmod("run/b-0", 0700), 0);
}

TEST(their_number_is_bounded)
{
    char name[32];

    make("run");
    for (int i = 0; i < 4200; i++) {
        snprintf(name, sizeof name, "run/%d", i);
        make(name);
    }
    make_profile("run/0", 0);
    ck_assert_str_eq(parts_of("run"), "run/0");
    ck_assert(found.more);
}

SUITE("part folders", .setup = set_up, .teardown = tear_down)
