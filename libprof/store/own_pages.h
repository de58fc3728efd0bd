/* Which of a process's memory is seep's own: what seep_os_pages() gave and was not given back. Who
 * looks at resident memory must tell it from the job's, with which the kernel may have joined it.
 *
 * A fixed table without a lock. Ranges that lie below one another, as the kernel mostly gives them,
 * are one entry; when the table is full, further ones are not known. A forked child inherits it.
 * Runtime part. Threads: any. Allocates: nothing. */
#ifndef SEEP_LIBPROF_STORE_OWN_PAGES_H
#define SEEP_LIBPROF_STORE_OWN_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SEEP_OWN_RANGES = 8192 };

struct seep_own_range {
    uintptr_t start, end;
};

void seep_own_add(const void *pages, size_t bytes);
void seep_own_drop(const void *pages, size_t bytes);

/* The next piece of [start, end) that is seep's own, in no order; *at is 0 at first. False: there
 * are no more. */
bool seep_own_next(uint32_t *at, uintptr_t start, uintptr_t end, struct seep_own_range *piece);

#endif
