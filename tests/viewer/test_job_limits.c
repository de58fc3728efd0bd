/* The limits of a cgroup, by a tree of files that looks like one. */
#include "tests/suite.h"
#include "viewer/job_limits.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char mount[32];

static void set_up(void)
{
    strcpy(mount, "/tmp/seep-limits-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(mount));
}

static void tear_down(void)
{
    char command[64];

    snprintf(command, sizeof command, "rm -r %s", mount);
    ck_assert_int_eq(system(command), 0);
}

static void limit(const char *folder, const char *file, const char *text)
{
    char path[256];

    snprintf(path, sizeof path, "%s%s", mount, folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s%s/%s", mount, folder, file);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static const struct {
    const char *root, *path;
    unsigned long long bytes; /* /: 4000, /b: 3000, /b/c: none, /ab: 2000 */
} places[] = {
    {"/", "/", 4000},
    {"/", "/b", 3000},
    {"/", "/b/", 3000},
    {"/", "/b/c", 3000},
    {"/", "/b/c/not-here", 3000},
    {"/", "/ab", 2000},
    {"/a", "/a", 4000},
    {"/a", "/a/b", 3000},
    {"/a/", "/a/b/c", 3000},
    {"/a", "/ab", 0}, /* not below /a: what is mounted does not hold for it */
    {"/a", "/aab", 0},
    {"/a/b", "/a", 0},
    {"/../..", "/", 4000},
    {"/..", "/b", 4000},
};

TEST(the_tightest_limit_along_the_path_holds, .to = N(places))
{
    struct seep_limits limits = {0};
    char folder[64];

    limit("", "memory.max", "4000\n");
    limit("/b", "memory.max", "3000\n");
    limit("/b/c", "memory.max", "max\n");
    limit("/ab", "memory.max", "2000\n");
    seep_limits_add_cgroup(&limits, 2, mount, places[_i].root, places[_i].path);
    ck_assert_uint_eq(limits.cgroup_bytes, places[_i].bytes);
    ck_assert_int_eq(limits.cgroup_version, places[_i].bytes ? 2 : 0);
    snprintf(folder, sizeof folder, "%s%s", mount,
             places[_i].bytes == 3000   ? "/b"
             : places[_i].bytes == 2000 ? "/ab"
                                        : "");
    ck_assert_str_eq(limits.cgroup_path, places[_i].bytes ? folder : "");
}

static const struct {
    const char *text;
    unsigned long long bytes;
} numbers[] = {
    {"9223372036854771712\n", 0}, /* version 1 without a limit, pages of 4 KiB */
    {"9223372036854710272\n", 0}, /* of 64 KiB */
    {"2305843009213693952\n", 0}, /* 2^61 */
    {"1152921504606846976\n", 0}, /* 2^60: as the shim takes it */
    {"1152921504606846975\n", 1152921504606846975},
    {"1073741824\n", 1073741824},
    {"", 0},
    {"what\n", 0},
};

TEST(huge_numbers_are_no_limit, .to = N(numbers))
{
    struct seep_limits limits = {0};

    limit("", "memory.limit_in_bytes", numbers[_i].text);
    seep_limits_add_cgroup(&limits, 1, mount, "/", "/");
    ck_assert_uint_eq(limits.cgroup_bytes, numbers[_i].bytes);
    ck_assert_int_eq(limits.cgroup_version, numbers[_i].bytes ? 1 : 0);
}

/* Version 2 counts those below a group with it; only its own are counted of version 1. */
static const struct {
    int version;
    const char *file, *text, *above;
    unsigned long long kills;
} kills[] = {
    {2, "memory.events", "low 1\nhigh 2\nmax 3\noom 4\noom_kill 5\noom_group_kill 0\n",
     "oom_kill 9\n", 5},
    {2, "memory.events", "oom 4\n", "oom_kill 9\n", 9}, /* an old kernel's below a newer one's */
    {1, "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n", "oom_kill 9\n", 7},
    {1, "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\n", "", 0},
};

TEST(kills_for_lack_of_memory_are_those_of_the_own_group, .to = N(kills))
{
    struct seep_limits limits = {0};

    limit("", kills[_i].file, kills[_i].above);
    limit("/job", kills[_i].file, kills[_i].text);
    seep_limits_add_cgroup(&limits, kills[_i].version, mount, "/", "/job");
    ck_assert_uint_eq(limits.oom_kills, kills[_i].kills);
    ck_assert_uint_eq(seep_limits_oom_kills(&limits), kills[_i].kills);
}

TEST(the_tightest_of_cgroup_and_machine_is_named)
{
    struct seep_limits limits = {.ram_bytes = 5000};
    const char *kind;

    ck_assert_uint_eq(seep_limits_tightest(&limits, &kind), 5000);
    ck_assert_str_eq(kind, "ram");
    limit("", "memory.max", "4000\n");
    seep_limits_add_cgroup(&limits, 2, mount, "/", "/");
    ck_assert_uint_eq(seep_limits_tightest(&limits, &kind), 4000);
    ck_assert_str_eq(kind, "cgroup-v2");
    limits.ram_bytes = 3000;
    ck_assert_uint_eq(seep_limits_tightest(&limits, &kind), 3000);
    ck_assert_str_eq(kind, "ram");
}

SUITE("limits", .setup = set_up, .teardown = tear_down)
