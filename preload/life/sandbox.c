#include "preload/life/sandbox.h"

#include <stdint.h>
#include <string.h>

#include "libprof/record/arena.h"
#include "preload/job/job.h"
#include "preload/record/thread.h"

/* A line of /proc/self/status: what stands behind `key`, up to the line's end. */
static const char *find(const char *status, const char *key)
{
    const char *at = strstr(status, key);
    if (!at)
        return "";
    at += strlen(key);
    return at + strspn(at, " \t");
}

static uint32_t number(const char *text)
{
    uint32_t n = 0;
    while (*text >= '0' && *text <= '9')
        n = n * 10 + (uint32_t)(*text++ - '0');
    return n;
}

/* What runs under a filter was started by a process that has installed it, or by one of those: the
 * environment tells (environment.c). /proc is asked only then, for it takes a while. */
bool seep_sandbox_permits(bool told)
{
    static SEEP_LARGE char status[2048];
    char name[16];
    if (!told || seep_os_read_file("/proc/self/status", status, sizeof(status)) <= 0)
        return true;
    const char *comm = find(status, "Name:");
    size_t n_name = strcspn(comm, "\n");
    n_name = n_name < sizeof(name) ? n_name : sizeof(name) - 1;
    memcpy(name, comm, n_name);
    name[n_name] = '\0';
    seep_os_sandboxed = true;
    seep_job_note_sandboxed(number(find(status, "\nPid:")), number(find(status, "\nPPid:")), name);
    return false;
}

void seep_sandbox_before(bool strict)
{
    if (!seep_enter())
        return;
    if (seep_os_lock(&seep_arena.lock)) {
        seep_arena_stock_up();
        seep_os_unlock(&seep_arena.lock);
    }
    seep_job_trouble(SEEP_TROUBLE_SANDBOX, 0);
    if (strict)
        __atomic_store_n(seep_activity, SEEP_OFF, __ATOMIC_RELEASE);
    __atomic_store_n(&seep_os_sandboxed, true, __ATOMIC_RELEASE);
    seep_leave();
}
