/* What each process uses of each device, for functions that ask about all processes: capacity, and
 * NVML. It is in the file that STANDIN_SHARED names, else in memory shared by the process and its
 * forked children. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/standin/inside.h"
#include "tests/standin/raw.h"

enum { MAX_PROCESSES = 256 };

struct row {
    int pid;
    int64_t used[STANDIN_MOST_DEVICES];
};

static struct row *rows_now;

static struct row *open_rows(void)
{
    size_t size = MAX_PROCESSES * sizeof(struct row);
    const char *name = getenv("STANDIN_SHARED");
    int fd = name && *name ? open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    struct row *rows;
    if (fd < 0)
        return raw_map(size, PROT_READ | PROT_WRITE, MAP_SHARED);
    rows = ftruncate(fd, (off_t)size)
               ? NULL
               : raw_map_at(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
    close(fd);
    return rows;
}

static struct row *rows(void)
{
    struct row *now = __atomic_load_n(&rows_now, __ATOMIC_ACQUIRE), *none = NULL;
    if (now)
        return now;
    now = open_rows();
    if (!now)
        abort();
    if (__atomic_compare_exchange_n(&rows_now, &none, now, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return now;
    raw_unmap(now, MAX_PROCESSES * sizeof *now);
    return none;
}

static bool is_gone(int pid)
{
    return seep_arch_call6(SYS_kill, pid, 0, 0, 0, 0, 0) == -3; /* ESRCH */
}

/* The calling process's own; it takes that of one that is gone where none is free. */
static struct row *own_row(void)
{
    struct row *all = rows();
    int pid = (int)seep_arch_call6(SYS_getpid, 0, 0, 0, 0, 0, 0);
    for (int i = 0; i < MAX_PROCESSES; i++)
        if (__atomic_load_n(&all[i].pid, __ATOMIC_ACQUIRE) == pid)
            return &all[i];
    for (int i = 0; i < MAX_PROCESSES; i++) {
        int old = __atomic_load_n(&all[i].pid, __ATOMIC_ACQUIRE);
        if ((!old || is_gone(old)) &&
            __atomic_compare_exchange_n(&all[i].pid, &old, pid, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
            memset(all[i].used, 0, sizeof all[i].used);
            return &all[i];
        }
    }
    abort();
}

void standin_use(int device, int64_t bytes)
{
    __atomic_fetch_add(&own_row()->used[device], bytes, __ATOMIC_RELAXED);
}

uint64_t standin_used(int device, int pid)
{
    struct row *all = rows();
    int64_t sum = 0;
    for (int i = 0; i < MAX_PROCESSES; i++) {
        int who = __atomic_load_n(&all[i].pid, __ATOMIC_ACQUIRE);
        if (who && (!pid || who == pid) && !is_gone(who))
            sum += __atomic_load_n(&all[i].used[device], __ATOMIC_RELAXED);
    }
    return sum > 0 ? (uint64_t)sum : 0;
}

int standin_users(int device, int *pids, int room)
{
    struct row *all = rows();
    int n = 0;
    for (int i = 0; i < MAX_PROCESSES; i++) {
        int who = __atomic_load_n(&all[i].pid, __ATOMIC_ACQUIRE);
        if (!who || !__atomic_load_n(&all[i].used[device], __ATOMIC_RELAXED) || is_gone(who))
            continue;
        if (n < room)
            pids[n] = who;
        n++;
    }
    return n;
}
