/* Whether a CPU is free for work that may wait. */
#ifndef SEEP_VIEWER_WATCH_IDLE_CPU_H
#define SEEP_VIEWER_WATCH_IDLE_CPU_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* When it was asked last, and how long the CPUs that this process may use had been idle by then.
 * Zero-initialised: it was not asked yet. */
struct seep_idle_cpu {
    uint64_t asked_ns, idle_ns;
};

/* Whether since the last time, at least a tenth of a second ago, these CPUs were idle for at least
 * half as long as one of them could be. The first time, and sooner, nobody knows: false. True where
 * the kernel does not tell. */
bool seep_idle_cpu_is_there(struct seep_idle_cpu *idle);

/* The same at a given time, CLOCK_MONOTONIC, with the idle time of these CPUs until then. */
bool seep_idle_cpu_was_there(struct seep_idle_cpu *idle, uint64_t now_ns, uint64_t idle_ns);

/* How long the CPUs of a set were idle since the system started, from the text of /proc/stat. CPUs
 * beyond the size of a set count. False: it tells of none. */
bool seep_idle_cpu_read(FILE *stat, const cpu_set_t *cpus, uint64_t *idle_ns);

/* Whether each task that wants a CPU has one, besides the one that asks: now, and in the last
 * minute. Asks several times within three milliseconds, as the processes that have just made this
 * one may still run. */
bool seep_idle_cpu_for_each_task(void);

/* The same, for once, of a machine with so many CPUs, by the text of /proc/loadavg. */
bool seep_idle_cpu_for_each(FILE *loadavg, long n_cpus);

#endif
