#include "viewer/look/target_end.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static uint64_t oom_kills_of(const struct seep_memory_cgroup *group)
{
    return seep_memory_number_after(seep_memory_cgroup_text(group, group->version == 2
                                                                       ? "memory.events"
                                                                       : "memory.oom_control"),
                                    "oom_kill ");
}

/* The lowest that counts them: the process's own, or the first above it that can be seen. */
static void take_counting(const struct seep_memory_cgroup *group, void *target)
{
    struct seep_target *t = target;
    const char *file = group->version == 2 ? "memory.events" : "memory.oom_control";

    if (t->group.folder[0] || !strstr(seep_memory_cgroup_text(group, file), "oom_kill "))
        return;
    t->group = *group;
    t->oom_kills = oom_kills_of(group);
}

void seep_target_note(struct seep_target *t, pid_t pid)
{
    *t = (struct seep_target){0};
    if (!seep_process_stat(pid, &t->stat))
        t->stat.state = 'X';
    (void)seep_memory_cgroups_visit("/proc", (uint32_t)pid, take_counting, t);
}

/* The lowest, which is visited first. */
static void take_first(const struct seep_memory_cgroup *group, void *to)
{
    char *folder = to;

    if (!folder[0])
        strcpy(folder, group->folder);
}

bool seep_target_is_beside(pid_t pid)
{
    char own[SEEP_MEMORY_CGROUP_BYTES] = "", its[SEEP_MEMORY_CGROUP_BYTES] = "";

    return seep_memory_cgroups_visit("/proc", 0, take_first, own) &&
           seep_memory_cgroups_visit("/proc", (uint32_t)pid, take_first, its) &&
           strcmp(own, its) == 0;
}

/* ", killed by signal 9": where nobody has asked for its status yet. */
static void put_status(int status, char *text, size_t capacity)
{
    if (WIFSIGNALED(status))
        snprintf(text, capacity, ", killed by signal %d", WTERMSIG(status));
    else
        snprintf(text, capacity, ", with status %d", WEXITSTATUS(status));
}

enum seep_target_end seep_target_ended(const struct seep_target *t, const char *when,
                                       struct seep_error *err)
{
    struct seep_process_stat now;
    const bool there = seep_process_stat(t->stat.pid, &now) && now.started == t->stat.started;
    char how[64] = "";

    if (there && !seep_process_is_over(&now))
        return SEEP_TARGET_LIVES;
    const uint64_t kills = oom_kills_of(&t->group);
    const bool rose = kills > t->oom_kills;
    if (there)
        put_status(now.status, how, sizeof how);
    *err = (struct seep_error){0};
    (void)!seep_error_set(err, SEEP_EIO, "", 0, "process %d ended %s%s%s", (int)t->stat.pid, when,
                          how,
                          rose ? ": the kernel has killed for lack of memory in its cgroup "
                                 "meanwhile, and this look may "
                                 "have caused it"
                               : "");
    return rose || (there && WIFSIGNALED(now.status) && WTERMSIG(now.status) == SIGKILL)
               ? SEEP_TARGET_KILLED
               : SEEP_TARGET_ENDED;
}
