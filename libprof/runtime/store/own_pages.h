/* Which of a process's memory is seep's own: memory that seep_os_pages() gave and that was not
 * given back. The kernel may have joined it with the job's, so code that looks at resident memory
 * must distinguish them.
 *
 * A fixed table without a lock. Adjacent ranges, each below the last as the kernel usually gives
 * them, share one entry; when the table is full, further ranges stay unknown. A forked child
 * inherits it. Runtime part. Threads: any. Allocates: nothing. */
#ifndef SEEP_LIBPROF_RUNTIME_STORE_OWN_PAGES_H
#define SEEP_LIBPROF_RUNTIME_STORE_OWN_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SEEP_OWN_RANGES = 8192 };

struct seep_own_range {
    uintptr_t start, end;
};

void seep_own_add(const void *pages, size_t bytes);
void seep_own_drop(const void *pages, size_t bytes);

/* The table itself, for code that reads this process from outside: entries with `start` 0 or 1 are
 * not in use, and those from *n_used on never were. */
const struct seep_own_range *seep_own_table(const uint32_t **n_used);

/* The next piece of [start, end) that is seep's own, in no particular order; *at is 0 at first.
 * False: there are no more. */
bool seep_own_next(uint32_t *at, uintptr_t start, uintptr_t end, struct seep_own_range *piece);

#endif
