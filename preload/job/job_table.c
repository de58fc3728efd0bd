#include "preload/job/job_table.h"

#include <string.h>

#include "libprof/runtime/store/os.h"

struct seep_job *seep_job_map;
SEEP_LARGE char seep_job_path[SEEP_PATH_BYTES + 32];

uint32_t seep_table_count(void)
{
    uint32_t n = __atomic_load_n(&seep_job_map->n_processes, __ATOMIC_RELAXED);
    return n < SEEP_MAX_PROCESSES ? n : SEEP_MAX_PROCESSES;
}

/* The youngest entry of a pid: after an exec a pid has two, and pids are used again. */
uint32_t seep_table_find(uint32_t pid)
{
    uint32_t hint = __atomic_load_n(&seep_job_map->by_pid[pid % SEEP_PID_HINTS], __ATOMIC_ACQUIRE);
    if (!pid || !hint || hint > SEEP_MAX_PROCESSES)
        return 0;
    if (__atomic_load_n(&seep_job_map->processes[hint - 1].pid, __ATOMIC_ACQUIRE) == pid)
        return hint;
    for (uint32_t i = seep_table_count(); i-- > 0;)
        if (__atomic_load_n(&seep_job_map->processes[i].pid, __ATOMIC_ACQUIRE) == pid)
            return i + 1;
    return 0;
}

/* The same for a process that exists. */
uint32_t seep_table_find_alive(uint32_t pid)
{
    uint32_t index = seep_table_find(pid);
    return index && !seep_job_map->processes[index - 1].has_status ? index : 0;
}

static struct seep_folded *job_line(unsigned i)
{
    return &seep_job_map->folded[i];
}

static bool same_name(const char *a, const char *b)
{
    return strncmp(a, b, sizeof(((struct seep_folded *)0)->name)) == 0;
}

/* The line for a name, counting this process; the last line if there are too many. Two processes
 * that come first at the same time may make two lines of one name. */
static struct seep_folded *count_in(const char *name)
{
    struct seep_folded *line = job_line(0);
    for (unsigned i = 0; i + 1 < SEEP_MAX_FOLDED; line = job_line(++i)) {
        uint64_t none = 0;
        if (__atomic_compare_exchange_n(&line->n, &none, SEEP_FOLDED_NAMING, false,
                                        __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
            memcpy(line->name, name, sizeof(line->name));
            __atomic_store_n(&line->n, 1, __ATOMIC_RELEASE);
            return line;
        }
        if (none < SEEP_FOLDED_NAMING && same_name(line->name, name))
            break;
    }
    __atomic_fetch_add(&line->n, 1, __ATOMIC_RELEASE);
    return line;
}

static void raise_to(uint64_t *most, uint64_t value)
{
    if (value > __atomic_load_n(most, __ATOMIC_RELAXED))
        __atomic_store_n(most, value, __ATOMIC_RELAXED);
}

static void fold(const struct seep_process *p)
{
    struct seep_folded *line = count_in(p->name);
    for (unsigned s = 0; s < SEEP_COUNTED_SPACES; s++) {
        __atomic_fetch_add(&line->counts[s].allocations, p->counts[s].allocations,
                           __ATOMIC_RELAXED);
        __atomic_fetch_add(&line->counts[s].frees, p->counts[s].frees, __ATOMIC_RELAXED);
        __atomic_fetch_add(&line->counts[s].allocated_bytes, p->counts[s].allocated_bytes,
                           __ATOMIC_RELAXED);
        raise_to(&line->counts[s].peak_bytes, p->counts[s].peak_bytes);
    }
    raise_to(&line->rss_peak_bytes, p->rss_peak_bytes);
    __atomic_fetch_add(&seep_job_map->n_folded, 1, __ATOMIC_RELAXED);
}

/* The table is full: the entry of a process that was only counted and has ended is reused. */
static uint32_t take_over(void)
{
    enum { LOOKS = 256, FREED = 2 };
    static uint32_t at;
    for (unsigned i = 0; i < LOOKS; i++) {
        uint32_t index = at++ % SEEP_MAX_PROCESSES, ended = 1;
        struct seep_process *p = &seep_job_map->processes[index];
        if (!(p->flags & SEEP_PROCESS_COUNTED) ||
            !__atomic_compare_exchange_n(&p->has_status, &ended, FREED, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        fold(p);
        return index + 1;
    }
    return 0;
}

/* Whether an entry has disk space: that is reserved piece by piece, each up to the end of a page.
 */
static bool has_disk(uint32_t index)
{
    uint32_t n = __atomic_load_n(&seep_job_map->n_reserved, __ATOMIC_ACQUIRE);
    if (index < n)
        return true;
    int fd = seep_os_open(seep_job_path, O_RDWR | O_NOFOLLOW, 0);
    uint32_t wanted = (index / SEEP_PROCESS_PIECE + 1) * SEEP_PROCESS_PIECE;
    long from = (long)offsetof(struct seep_job, processes[n]);
    long end = (long)seep_os_page_up(offsetof(struct seep_job, processes[wanted]));
    bool ok = fd >= 0 && seep_os_call6(SYS_fallocate, fd, 0, from, end - from, 0, 0) >= 0;
    if (fd >= 0)
        seep_os_close(fd);
    while (ok && n < wanted &&
           !__atomic_compare_exchange_n(&seep_job_map->n_reserved, &n, wanted, false,
                                        __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
        ;
    return ok;
}

/* Index + 1 of an entry for this process, 0: there is none. */
uint32_t seep_table_take(uint32_t own)
{
    /* A process that was only counted goes on with its entry after an exec. */
    if (own && (seep_job_map->processes[own - 1].flags & SEEP_PROCESS_COUNTED))
        return own;
    if (__atomic_load_n(&seep_job_map->n_processes, __ATOMIC_RELAXED) < SEEP_MAX_PROCESSES) {
        uint32_t index = __atomic_fetch_add(&seep_job_map->n_processes, 1, __ATOMIC_RELAXED);
        if (index < SEEP_MAX_PROCESSES)
            return has_disk(index) ? index + 1 : 0;
    }
    uint32_t taken = take_over();
    if (!taken)
        __atomic_fetch_add(&seep_job_map->n_processes, 1, __ATOMIC_RELAXED);
    return taken;
}
