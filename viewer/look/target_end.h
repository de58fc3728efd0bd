/* What became of a process that was looked at. */
#ifndef SEEP_VIEWER_LOOK_TARGET_END_H
#define SEEP_VIEWER_LOOK_TARGET_END_H

#include "libprof/base/error.h"
#include "libprof/runtime/program/memory_cgroups.h"
#include "viewer/look/process_stat.h"

/* How it was before. */
struct seep_target {
    struct seep_process_stat stat;
    struct seep_memory_cgroup group; /* that counts whom the kernel kills for its memory; folder "":
                                      * none can be seen */
    uint64_t oom_kills;
};

enum seep_target_end {
    SEEP_TARGET_LIVES,
    SEEP_TARGET_ENDED,  /* it may have ended by itself */
    SEEP_TARGET_KILLED, /* by SIGKILL, or the kernel has killed somebody in its cgroup meanwhile */
};

/* One thread at a time, and not while rooms are read. */
void seep_target_note(struct seep_target *target, pid_t pid);

/* Whether the memory of process `pid` is charged to the cgroup that seep's own is charged to. As
 * seep_target_note(). */
bool seep_target_is_beside(pid_t pid);

/* What became of it since. If it ended, *err says so: that it did `when` ("while it was looked
 * at"), how, if that can be known, and whether seep may be the cause. As seep_target_note(). */
enum seep_target_end seep_target_ended(const struct seep_target *target, const char *when,
                                       struct seep_error *err);

#endif
