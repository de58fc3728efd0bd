/* Whether a recorded process is still the one that has its pid. */
#ifndef SEEP_LIBPROF_READ_PROCESS_ALIVE_H
#define SEEP_LIBPROF_READ_PROCESS_ALIVE_H

#include <stdbool.h>
#include <stdint.h>

/* True when `pid` is alive on this machine (no zombie) and began no later than start_ns of
 * CLOCK_MONOTONIC, with a tolerance of two seconds: pids are reused. Allocates: nothing. */
bool seep_process_is_alive(uint32_t pid, uint64_t start_ns);

/* The same, but also true for one that has ended and was not reaped yet. */
bool seep_process_is_there(uint32_t pid, uint64_t start_ns);

/* How such a process ended, as wait(2) gives it; only for this user's own processes. */
bool seep_process_zombie_status(uint32_t pid, uint64_t start_ns, int *status);

#endif
