/* How much memory is left before a limit, by files that look like /proc and like cgroups. */
#include "libprof/runtime/program/memory_room.h"
#include "tests/cgroup_tree.h"
#include "tests/suite.h"

#include <sys/resource.h>

#define MB UINT64_C(1000000)

static struct seep_memory_room read_room(uint32_t pid)
{
    struct seep_memory_room room;

    seep_memory_room_read(proc_folder(), pid, &room);
    return room;
}

/* A level of version 2 (or 1) that has used so much of its limit. */
static void level(int version, const char *folder, unsigned most, unsigned used)
{
    put_mb(folder, version == 2 ? "memory.max" : "memory.limit_in_bytes", most);
    put_mb(folder, version == 2 ? "memory.current" : "memory.usage_in_bytes", used);
}

static const struct {
    int version;
    const char *lines;
} both[] = {
    {2, "0::/pod/job\n"},
    {1, "11:cpu,cpuacct:/elsewhere\n4:hugetlb,memory:/pod/job\n0::/elsewhere\n"},
};

TEST(the_least_room_counts_and_not_the_lowest_limit, .to = N(both))
{
    const int version = both[_i].version;

    mount_at(version, "/");
    process_is_in("self", both[_i].lines);
    level(version, "/pod/job", 390, 150);
    level(version, "/pod", 400, 350); /* beside the job, another one uses 200 */
    level(version, "/pod/side", 30, 29);
    const struct seep_memory_room room = read_room(0);
    ck_assert_uint_eq(room.left_bytes, 50 * MB);
    ck_assert_uint_eq(room.limit_bytes, 400 * MB);
    ck_assert_int_eq(room.nearest, SEEP_MEMORY_CGROUP);
    ck_assert(!room.group_unseen);
    ck_assert(!room.kills_group);
}

static const struct {
    int version;
    const char *stat;
    unsigned left; /* of 400, of which 300 are used */
} stats[] = {
    {2, "anon 1\nfile 120000000\nshmem 50000000\ninactive_file 40000000\nactive_file 30000000\n",
     170},
    {2, "file_dirty 20000000\nfile_writeback 10000000\ninactive_file 40000000\nactive_file 5\n",
     110},
    {2, "file_dirty 90000000\ninactive_file 40000000\n", 100},
    {1, "inactive_file 7\ntotal_inactive_file 40000000\ntotal_active_file 30000000\n", 170},
    {1, "total_dirty 20000000\ntotal_writeback 10000000\ntotal_inactive_file 40000000\n", 110},
    {1, "", 100},
};

TEST(only_pages_of_files_that_can_be_dropped_at_once_are_left, .to = N(stats))
{
    mount_at(stats[_i].version, "/");
    process_is_in("self", stats[_i].version == 2 ? "0::/job\n" : "4:memory:/job\n");
    level(stats[_i].version, "/job", 400, 300);
    put("cg/job/memory.stat", stats[_i].stat);
    ck_assert_uint_eq(read_room(0).left_bytes / MB, stats[_i].left);
}

TEST(what_the_kernel_throttles_at_is_a_limit)
{
    mount_at(2, "/");
    process_is_in("self", "0::/job\n");
    level(2, "/job", 400, 300);
    put_mb("/job", "memory.high", 320);
    const struct seep_memory_room room = read_room(0);
    ck_assert_uint_eq(room.left_bytes, 20 * MB);
    ck_assert_int_eq(room.nearest, SEEP_MEMORY_CGROUP_HIGH);
    put("cg/job/memory.high", "max\n");
    ck_assert_uint_eq(read_room(0).left_bytes, 100 * MB);
    put_mb("/job", "memory.high", 200);
    ck_assert_uint_eq(read_room(0).left_bytes, 0);
}

TEST(memory_and_swap_together_may_be_the_nearest)
{
    mount_at(1, "/");
    process_is_in("self", "4:memory:/job\n");
    level(1, "/job", 400, 300);
    put_mb("/job", "memory.memsw.limit_in_bytes", 450);
    put_mb("/job", "memory.memsw.usage_in_bytes", 420);
    const struct seep_memory_room room = read_room(0);
    ck_assert_uint_eq(room.left_bytes, 30 * MB);
    ck_assert_int_eq(room.nearest, SEEP_MEMORY_CGROUP_SWAP);
}

TEST(a_group_that_is_killed_as_one_is_noticed_at_every_level)
{
    mount_at(2, "/");
    process_is_in("self", "0::/pod/job\n");
    level(2, "/pod/job", 390, 100);
    put("cg/pod/memory.oom.group", "1\n");
    put("cg/pod/job/memory.oom.group", "0\n");
    ck_assert(read_room(0).kills_group);
    put("cg/pod/memory.oom.group", "0\n");
    ck_assert(!read_room(0).kills_group);
}

/* Room of 60 in /, 50 in /pod, 40 in /pod/job. */
static const struct {
    const char *root, *path; /* that is mounted, and of the process */
    unsigned left;           /* 1000: none is seen */
} views[] = {
    {"/", "/pod/job", 40},
    {"/", "/pod/job/", 40},
    {"/", "/pod", 50},
    {"/", "/", 60},
    {"/", "/gone", 60},
    {"/docker/a", "/docker/a", 60},
    {"/docker/a", "/docker/a/pod/job", 40},
    {"/docker/a", "/docker/ab/pod", 1000},
    {"/docker/a", "/other", 1000},
    {"/", "/../other", 1000}, /* outside of this process's cgroup namespace */
    {"/..", "/../pod", 50},
    {"/..", "/", 60}, /* the namespace begins somewhere below what is mounted */
    {"/..", "/job", 60},
};

TEST(limits_are_found_through_what_is_mounted, .to = N(views))
{
    char lines[128];

    mount_at(2, views[_i].root);
    snprintf(lines, sizeof lines, "0::%s\n", views[_i].path);
    process_is_in("42", lines);
    level(2, "", 100, 40);
    level(2, "/pod", 100, 50);
    level(2, "/pod/job", 100, 60);
    put("other/memory.max", "0\n");
    put("other/memory.current", "0\n");
    const struct seep_memory_room room = read_room(42);
    const bool seen = views[_i].left != 1000;
    ck_assert_uint_eq(room.left_bytes, seen ? views[_i].left * MB : SEEP_MEMORY_NO_NUMBER);
    ck_assert(room.group_unseen == !seen);
}

TEST(the_room_of_another_process_is_that_of_its_own_groups)
{
    mount_at(2, "/");
    process_is_in("self", "0::/a\n");
    process_is_in("4294967295", "0::/b\n");
    level(2, "/a", 100, 10);
    level(2, "/b", 100, 80);
    ck_assert_uint_eq(read_room(0).left_bytes, 90 * MB);
    ck_assert_uint_eq(read_room(UINT32_MAX).left_bytes, 20 * MB);
    ck_assert(read_room(7).group_unseen);
}

TEST(a_folder_with_a_blank_and_a_long_line_before_it_are_read)
{
    char text[20000];
    int n = snprintf(text, sizeof text, "29 24 0:25 / /var/lib/");

    memset(text + n, 'x', 15000);
    snprintf(text + n + 15000, sizeof text - (size_t)n - 15000,
             " rw - overlay overlay rw\n30 24 0:26 / %s/c\\040g rw - cgroup2 cgroup rw\n", top);
    put("proc/self/mountinfo", text);
    process_is_in("self", "0::/job\n");
    put("c g/job/memory.max", "5000000\n");
    put("c g/job/memory.current", "1000000\n");
    ck_assert_uint_eq(read_room(0).left_bytes, 4 * MB);
}

static const struct {
    const char *mode, *meminfo;
    enum seep_memory_limit nearest;
    uint64_t left;
} machines[] = {
    {"0\n", "MemTotal: 1000 kB\nMemAvailable: 500 kB\nCommitLimit: 400 kB\nCommitted_AS: 300 kB\n",
     SEEP_MEMORY_RAM, 500 * 1024},
    {"2\n", "MemTotal: 1000 kB\nMemAvailable: 500 kB\nCommitLimit: 400 kB\nCommitted_AS: 300 kB\n",
     SEEP_MEMORY_COMMIT, 100 * 1024},
    {"2\n", "MemTotal: 1000 kB\nMemAvailable: 500 kB\nCommitLimit: 400 kB\nCommitted_AS: 500 kB\n",
     SEEP_MEMORY_COMMIT, 0},
    {"", "", SEEP_MEMORY_NO_LIMIT, SEEP_MEMORY_NO_NUMBER},
};

TEST(the_machine_has_limits_too, .to = N(machines))
{
    put("proc/sys/vm/overcommit_memory", machines[_i].mode);
    put("proc/meminfo", machines[_i].meminfo);
    const struct seep_memory_room room = read_room(42);
    ck_assert_int_eq(room.nearest, machines[_i].nearest);
    ck_assert_uint_eq(room.left_bytes, machines[_i].left);
}

static const struct {
    int resource;
    enum seep_memory_limit nearest;
} own[] = {{RLIMIT_AS, SEEP_MEMORY_ADDRESS_SPACE}, {RLIMIT_DATA, SEEP_MEMORY_DATA}};

TEST(limits_of_this_process_count_for_itself_alone, .to = N(own))
{
    const struct rlimit limit = {UINT64_C(1) << 46, UINT64_C(1) << 46}; /* sanitizers map 20 TB */

    ck_assert_int_eq(setrlimit((__rlimit_resource_t)own[_i].resource, &limit), 0);
    const struct seep_memory_room room = read_room(0);
    ck_assert_int_eq(room.nearest, own[_i].nearest);
    ck_assert_uint_eq(room.limit_bytes, limit.rlim_cur);
    ck_assert_uint_lt(room.left_bytes, limit.rlim_cur);
    ck_assert_uint_gt(room.left_bytes, 0);
    ck_assert_uint_eq(read_room(42).left_bytes, SEEP_MEMORY_NO_NUMBER);
}

TEST(what_fits_leaves_something_to_the_job)
{
    const uint64_t mib = UINT64_C(1) << 20;
    struct seep_memory_room room = {.left_bytes = 90 * mib};

    ck_assert(seep_memory_room_fits(&room, 80 * mib));
    ck_assert(!seep_memory_room_fits(&room, 80 * mib + 1));
    room.left_bytes = 10 * mib;
    ck_assert_uint_eq(seep_memory_room_most(&room), 2 * mib);
    room.left_bytes = 5 * mib;
    ck_assert(!seep_memory_room_fits(&room, 1));
    room = (struct seep_memory_room){.left_bytes = 90 * mib, .kills_group = true};
    ck_assert(!seep_memory_room_fits(&room, 59 * mib));
    ck_assert(seep_memory_room_fits(&room, 58 * mib));
    room.left_bytes = SEEP_MEMORY_NO_NUMBER;
    ck_assert(seep_memory_room_fits(&room, UINT64_MAX - 1));
}

TEST(each_limit_has_a_name)
{
    for (int i = SEEP_MEMORY_RAM; i <= SEEP_MEMORY_DATA; i++)
        ck_assert_int_eq(strncmp(seep_memory_limit_text((enum seep_memory_limit)i), "the ", 4), 0);
}

SUITE("memory_room", .setup = set_up, .teardown = tear_down)
