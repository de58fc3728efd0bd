/* The limits of a cgroup, by a tree of files that looks like one. */
#include "tests/cgroup_tree.h"
#include "tests/suite.h"
#include "viewer/job_limits.h"

static void put_in(const char *folder, const char *file, const char *text)
{
    char name[256];

    snprintf(name, sizeof name, "cg%s/%s", folder, file);
    put(name, text);
}

static void read_limits(struct seep_limits *limits, int version, const char *path)
{
    char lines[128];

    mount_at(version, "/");
    snprintf(lines, sizeof lines, version == 2 ? "0::%s\n" : "4:memory:%s\n", path);
    process_is_in("self", lines);
    seep_limits_read(proc_folder(), limits);
}

static const struct {
    const char *path, *folder;
    unsigned long long bytes;
} places[] = {
    {"/", "", 4000},
    {"/b", "/b", 3000},
    {"/b/c", "/b", 3000},
    {"/ab", "/ab", 2000},
};

TEST(the_tightest_limit_along_the_path_holds, .to = N(places))
{
    struct seep_limits limits;
    char folder[64];

    put_in("", "memory.max", "4000\n");
    put_in("/b", "memory.max", "3000\n");
    put_in("/b/c", "memory.max", "max\n");
    put_in("/ab", "memory.max", "2000\n");
    read_limits(&limits, 2, places[_i].path);
    ck_assert_uint_eq(limits.cgroup_bytes, places[_i].bytes);
    ck_assert_int_eq(limits.cgroup_version, 2);
    snprintf(folder, sizeof folder, "%s/cg%s", top, places[_i].folder);
    ck_assert_str_eq(limits.cgroup_path, folder);
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
    struct seep_limits limits;

    put_in("", "memory.limit_in_bytes", numbers[_i].text);
    read_limits(&limits, 1, "/");
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
    struct seep_limits limits;

    put_in("", kills[_i].file, kills[_i].above);
    put_in("/job", kills[_i].file, kills[_i].text);
    read_limits(&limits, kills[_i].version, "/job");
    ck_assert_uint_eq(limits.oom_kills, kills[_i].kills);
    ck_assert_uint_eq(seep_limits_oom_kills(&limits), kills[_i].kills);
}

TEST(the_tightest_of_cgroup_and_machine_is_named)
{
    struct seep_limits limits = {.ram_bytes = 5000};
    const char *kind;

    ck_assert_uint_eq(seep_limits_tightest(&limits, &kind), 5000);
    ck_assert_str_eq(kind, "ram");
    put_in("", "memory.max", "4000\n");
    read_limits(&limits, 2, "/");
    limits.ram_bytes = 5000;
    ck_assert_uint_eq(seep_limits_tightest(&limits, &kind), 4000);
    ck_assert_str_eq(kind, "cgroup-v2");
    limits.ram_bytes = 3000;
    ck_assert_uint_eq(seep_limits_tightest(&limits, &kind), 3000);
    ck_assert_str_eq(kind, "ram");
}

SUITE("limits", .setup = set_up, .teardown = tear_down)
