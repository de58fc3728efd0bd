#include "libprof/runtime/program/memory_room.h"

#include <string.h>
#include <sys/resource.h>

#include "libprof/runtime/store/address_space.h"
#include "libprof/runtime/store/os.h"

#define MIB (UINT64_C(1) << 20)

static void take_left(struct seep_memory_room *room, enum seep_memory_limit limit,
                      uint64_t limit_bytes, uint64_t left_bytes)
{
    if (left_bytes >= room->left_bytes)
        return;
    room->left_bytes = left_bytes;
    room->nearest = limit;
    room->limit_bytes = limit_bytes;
}

static void take_limit(struct seep_memory_room *room, enum seep_memory_limit limit,
                       uint64_t limit_bytes, uint64_t used_bytes)
{
    if (limit_bytes != SEEP_MEMORY_NO_NUMBER)
        take_left(room, limit, limit_bytes,
                  limit_bytes > used_bytes ? limit_bytes - used_bytes : 0);
}

/* ---- cgroups --------------------------------------------------------------------------------- */

/* Pages of files that the kernel can drop at once. Shared memory is in none of these lists. */
static uint64_t droppable_bytes(const struct seep_memory_cgroup *group)
{
    const char *stat = seep_memory_cgroup_text(group, "memory.stat");
    const bool v2 = group->version == 2;
    const uint64_t files =
        seep_memory_number_after(stat, v2 ? "inactive_file " : "total_inactive_file ") +
        seep_memory_number_after(stat, v2 ? "active_file " : "total_active_file ");
    const uint64_t unwritten =
        seep_memory_number_after(stat, v2 ? "file_dirty " : "total_dirty ") +
        seep_memory_number_after(stat, v2 ? "file_writeback " : "total_writeback ");

    return files > unwritten ? files - unwritten : 0;
}

static uint64_t used_bytes(const struct seep_memory_cgroup *group, const char *file,
                           uint64_t droppable)
{
    const uint64_t used = seep_memory_cgroup_number(group, file);

    return used == SEEP_MEMORY_NO_NUMBER || used < droppable ? 0 : used - droppable;
}

/* What is killed with a process is the uppermost cgroup below the limit that says so. */
static void look_at_group(const struct seep_memory_cgroup *group, void *room_given)
{
    struct seep_memory_room *room = room_given;
    const uint64_t droppable = droppable_bytes(group);

    if (group->version == 2) {
        const uint64_t used = used_bytes(group, "memory.current", droppable);
        take_limit(room, SEEP_MEMORY_CGROUP, seep_memory_cgroup_number(group, "memory.max"), used);
        take_limit(room, SEEP_MEMORY_CGROUP_HIGH, seep_memory_cgroup_number(group, "memory.high"),
                   used);
        room->kills_group =
            room->kills_group || seep_memory_cgroup_number(group, "memory.oom.group") == 1;
        return;
    }
    take_limit(room, SEEP_MEMORY_CGROUP, seep_memory_cgroup_number(group, "memory.limit_in_bytes"),
               used_bytes(group, "memory.usage_in_bytes", droppable));
    take_limit(room, SEEP_MEMORY_CGROUP_SWAP,
               seep_memory_cgroup_number(group, "memory.memsw.limit_in_bytes"),
               used_bytes(group, "memory.memsw.usage_in_bytes", droppable));
}

/* ---- the machine, and the process itself ----------------------------------------------------- */

static void look_at_machine(const char *proc, struct seep_memory_room *room)
{
    enum { STRICT = 2 }; /* vm.overcommit_memory */
    const bool strict = seep_memory_number_after(
                            seep_memory_proc_text(proc, "sys/vm/overcommit_memory"), "") == STRICT;
    const char *text = seep_memory_proc_text(proc, "meminfo");
    const uint64_t available = seep_memory_number_after(text, "MemAvailable:") * 1024;

    if (available)
        take_left(room, SEEP_MEMORY_RAM, seep_memory_number_after(text, "MemTotal:") * 1024,
                  available);
    if (strict)
        take_limit(room, SEEP_MEMORY_COMMIT, seep_memory_number_after(text, "CommitLimit:") * 1024,
                   seep_memory_number_after(text, "Committed_AS:") * 1024);
}

static void look_at_self(struct seep_memory_room *room)
{
    const uint64_t addresses = seep_address_space_limit(RLIMIT_AS),
                   data = seep_address_space_limit(RLIMIT_DATA);
    struct seep_address_space space;

    seep_address_space_read(&space);
    if (addresses)
        take_limit(room, SEEP_MEMORY_ADDRESS_SPACE, addresses, space.bytes);
    if (data)
        take_limit(room, SEEP_MEMORY_DATA, data, space.data_bytes);
}

void seep_memory_room_read(const char *proc, uint32_t pid, struct seep_memory_room *room)
{
    *room = (struct seep_memory_room){.left_bytes = SEEP_MEMORY_NO_NUMBER};
    look_at_machine(proc, room);
    if (!pid)
        look_at_self(room);
    room->group_unseen = !seep_memory_cgroups_visit(proc, pid, look_at_group, room);
}

/* ---- what fits ------------------------------------------------------------------------------- */

uint64_t seep_memory_room_most(const struct seep_memory_room *room)
{
    const uint64_t least_margin = (room->kills_group ? 32 : 8) * MIB,
                   parts = room->kills_group ? 2 : 8;

    if (room->left_bytes == SEEP_MEMORY_NO_NUMBER)
        return SEEP_MEMORY_NO_NUMBER;
    const uint64_t by_share = room->left_bytes / (parts + 1) * parts,
                   by_least = room->left_bytes > least_margin ? room->left_bytes - least_margin : 0;
    return by_share < by_least ? by_share : by_least;
}

bool seep_memory_room_fits(const struct seep_memory_room *room, uint64_t bytes)
{
    return bytes <= seep_memory_room_most(room);
}

bool seep_memory_volunteer(void)
{
    const int fd = seep_os_open("/proc/self/oom_score_adj", O_WRONLY, 0);

    if (fd < 0)
        return false;
    const bool said = seep_os_call3(SYS_write, fd, (long)"1000", 4) == 4;
    seep_os_close(fd);
    return said;
}

const char *seep_memory_limit_text(enum seep_memory_limit limit)
{
    static const char *const texts[] = {
        [SEEP_MEMORY_NO_LIMIT] = "",
        [SEEP_MEMORY_RAM] = "the machine's memory",
        [SEEP_MEMORY_COMMIT] = "the machine's commit limit (vm.overcommit_memory=2)",
        [SEEP_MEMORY_CGROUP] = "the cgroup's memory limit",
        [SEEP_MEMORY_CGROUP_HIGH] = "the cgroup's memory.high",
        [SEEP_MEMORY_CGROUP_SWAP] = "the cgroup's limit of memory and swap",
        [SEEP_MEMORY_ADDRESS_SPACE] = "the limit of the address space (ulimit -v)",
        [SEEP_MEMORY_DATA] = "the limit of data (ulimit -d)",
    };

    return texts[limit];
}
