#include "preload/life/start_parts.h"

#include <sys/resource.h>

#include "libprof/runtime/program/memory_cgroups.h"
#include "libprof/runtime/store/address_space.h"

static void add_group(const struct seep_memory_cgroup *group, void *header_given)
{
    struct seep_header *header = header_given;
    const uint64_t bytes = seep_memory_cgroup_limit(group);
    if (!bytes || (header->limit_cgroup_bytes && bytes >= header->limit_cgroup_bytes))
        return;
    header->limit_cgroup_bytes = bytes;
    header->limit_cgroup_version = (uint32_t)group->version;
}

void seep_process_limits_read(struct seep_header *header)
{
    header->limit_address_bytes = seep_address_space_limit(RLIMIT_AS);
    header->limit_data_bytes = seep_address_space_limit(RLIMIT_DATA);
    (void)seep_memory_cgroups_visit("/proc", 0, add_group, header);
    header->limit_ram_bytes =
        seep_memory_number_after(seep_memory_proc_text("/proc", "meminfo"), "MemTotal:") * 1024;
}
