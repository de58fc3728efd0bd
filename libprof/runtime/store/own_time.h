/* Time as a thread experiences it: time that passes while it runs or waits for something, but not
 * while others have its CPU. So the speed of a loop does not depend on how busy the machine is. */
#ifndef SEEP_LIBPROF_RUNTIME_STORE_OWN_TIME_H
#define SEEP_LIBPROF_RUNTIME_STORE_OWN_TIME_H

#include <stdint.h>

/* Never runs backwards. If the kernel does not report waits for a CPU, all time counts. Threads:
 * always the same one of a process. */
uint64_t seep_own_time_ns(void);

/* In a forked child, whose thread is another one. */
void seep_own_time_after_fork(void);

/* The nanoseconds that a thread waited for a CPU, from the text of /proc/thread-self/schedstat; 0
 * if it cannot be read. */
uint64_t seep_own_time_waited(const char *schedstat);

#endif
