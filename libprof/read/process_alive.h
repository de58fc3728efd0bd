/* Whether a process that was recorded is still the one that has its pid. */
#ifndef SEEP_LIBPROF_READ_PROCESS_ALIVE_H
#define SEEP_LIBPROF_READ_PROCESS_ALIVE_H

#include <stdbool.h>
#include <stdint.h>

/* True when `pid` is alive on this machine (no zombie) and began no later than start_ns of
 * CLOCK_MONOTONIC, with two seconds to spare: pids are used again. Allocates: nothing. */
bool seep_process_is_alive(uint32_t pid, uint64_t start_ns);

/* The same, also of one that has ended and was not reaped yet. */
bool seep_process_is_there(uint32_t pid, uint64_t start_ns);

/* How such a one ended, as wait(2) gives it; of this user's own processes alone. */
bool seep_process_zombie_status(uint32_t pid, uint64_t start_ns, int *status);

#endif
