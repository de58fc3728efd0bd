/* Effects of a fork on this process that its owner would notice. */
#ifndef SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_HARM_H
#define SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_HARM_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a copy would do harm: become the first process of a pid namespace that the caller's
 * thread has created for its children; be reported to a reader of userfaultfd, which may be the
 * caller; share memory that a network card writes to; split huge pages, if many of the
 * `anonymous_bytes` are in such; or exceed the commit limit. Also true if namespaces or files
 * cannot be inspected. Asks the kernel, which takes some tens of microseconds, or with huge pages
 * about as long as a fork. Allocates nothing; static buffers: one thread at a time. */
bool seep_snapshot_fork_harms(uint64_t anonymous_bytes);

/* Pages with contents of their own that no other process shares: those of a copy that it, or the
 * process that it was made of, has written to since. 0 if unknown. The kernel walks all pages. */
uint64_t seep_snapshot_own_pages(void);

/* The inode of this process's pid namespace; 0 if unknown. */
uint32_t seep_snapshot_namespace(void);

/* Whether the kernel (Yama) lets not even its ancestors read a process. */
bool seep_snapshot_is_guarded(void);

#endif
