#include "viewer/watch/idle_cpu.h"

#include "libprof/base/clock.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)

enum { MIN_NS = 100 * 1000 * 1000, LINE_BYTES = 512, ASKED_TIMES = 6, BETWEEN_NS = 500 * 1000 };

/* The lines of single CPUs: "cpu12 user nice system idle iowait …", in clock ticks; before them one
 * of their sum, "cpu  user …". */
bool seep_idle_cpu_read(FILE *stat, const cpu_set_t *cpus, uint64_t *idle_ns)
{
    const long ticks = sysconf(_SC_CLK_TCK);
    char line[LINE_BYTES];
    bool any = false;

    *idle_ns = 0;
    while (ticks > 0 && fgets(line, sizeof line, stat) && strncmp(line, "cpu", 3) == 0) {
        unsigned cpu;
        uint64_t idle, waiting;
        if (line[3] == ' ' ||
            sscanf(line, "cpu%u %*u %*u %*u %" SCNu64 " %" SCNu64, &cpu, &idle, &waiting) != 3 ||
            (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, cpus)))
            continue;
        *idle_ns += (idle + waiting) * (NS_PER_S / (uint64_t)ticks);
        any = true;
    }
    return any;
}

bool seep_idle_cpu_was_there(struct seep_idle_cpu *idle, uint64_t now_ns, uint64_t idle_ns)
{
    const struct seep_idle_cpu before = *idle;
    const uint64_t since = now_ns - before.asked_ns;

    if (before.asked_ns && since < MIN_NS)
        return false;
    *idle = (struct seep_idle_cpu){now_ns, idle_ns};
    return before.asked_ns && idle_ns > before.idle_ns && idle_ns - before.idle_ns >= since / 2;
}

bool seep_idle_cpu_is_there(struct seep_idle_cpu *idle)
{
    FILE *stat = fopen("/proc/stat", "re");
    cpu_set_t ours;
    uint64_t idle_ns;

    if (sched_getaffinity(0, sizeof ours, &ours)) /* there are more than a set has room for */
        memset(&ours, 0xff, sizeof ours);
    const bool is_told = stat && seep_idle_cpu_read(stat, &ours, &idle_ns);
    if (stat)
        fclose(stat);
    return !is_told || seep_idle_cpu_was_there(idle, seep_clock_ns(CLOCK_MONOTONIC), idle_ns);
}

/* "0.51 0.40 0.31 3/84 8984": three averages, tasks that want a CPU of all there are. The one that
 * asks is among the first. */
bool seep_idle_cpu_for_each(FILE *loadavg, long n_cpus)
{
    double load;
    unsigned long running;

    return fscanf(loadavg, "%lf %*f %*f %lu/", &load, &running) == 2 && n_cpus > 0 &&
           running <= (unsigned long)n_cpus + 1 && load < (double)n_cpus + 0.5;
}

bool seep_idle_cpu_for_each_task(void)
{
    const struct timespec between = {0, BETWEEN_NS};
    bool is_so = false;

    for (int i = 0; i < ASKED_TIMES && !is_so; i++) {
        if (i)
            (void)nanosleep(&between, NULL);
        FILE *loadavg = fopen("/proc/loadavg", "re");
        if (!loadavg)
            return false;
        is_so = seep_idle_cpu_for_each(loadavg, sysconf(_SC_NPROCESSORS_ONLN));
        fclose(loadavg);
    }
    return is_so;
}
