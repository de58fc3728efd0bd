/* Which pages of a process are private: touched, and different from a file's. */
#ifndef SEEP_LIBPROF_WHO_PROCESS_PAGE_STATES_H
#define SEEP_LIBPROF_WHO_PROCESS_PAGE_STATES_H

#include "libprof/base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { SEEP_PAGE_STATES = 1 << 15 };

struct seep_page_states {
    int fd;              /* of /proc/PID/pagemap; −1: not available, so all pages are taken */
    uint64_t page_bytes; /* of the machine */
    uint64_t most_pages; /* how many more may be looked at: reserved space may be huge */
    uint64_t entries[SEEP_PAGE_STATES];
};

void seep_page_states_init(struct seep_page_states *states, pid_t pid);
void seep_page_states_fini(struct seep_page_states *states);

/* Calls take() with each run of private pages in [start, end), which are addresses of the
 * machine's pages, by address; with `files_too` also with pages that it has from a file. Stops when
 * take() returns anything but 0, and returns that. */
typedef int seep_page_run_taker(void *arg, uint64_t start, uint64_t end);
SEEP_MUST_CHECK int seep_page_states_each(struct seep_page_states *states, uint64_t start,
                                          uint64_t end, bool files_too, seep_page_run_taker *take,
                                          void *arg);

#endif
