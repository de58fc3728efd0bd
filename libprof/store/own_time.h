/* Time as a thread knows it: what passes while it runs or waits for something, not what passes
 * while others have its CPU. How fast a loop is is then no matter of how busy the machine is. */
#ifndef SEEP_LIBPROF_STORE_OWN_TIME_H
#define SEEP_LIBPROF_STORE_OWN_TIME_H

#include <stdint.h>

/* Never runs backwards. Where the kernel does not tell who waited for a CPU, all time is its own.
 * Threads: one of a process, always the same. */
uint64_t seep_own_time_ns(void);

/* In a child, whose thread is another one. */
void seep_own_time_after_fork(void);

/* Nanoseconds that /proc/thread-self/schedstat says a thread waited for a CPU; 0: none that can be
 * read. */
uint64_t seep_own_time_waited(const char *schedstat);

#endif
