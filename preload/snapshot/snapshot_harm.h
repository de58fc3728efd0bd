/* What a fork would do to this process that its owner would notice. */
#ifndef SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_HARM_H
#define SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_HARM_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a copy would be the first process of a namespace of pids that the caller's thread has
 * made for its child; be told to a reader of userfaultfd, who may be the caller; share what a
 * network card writes to; split huge pages, of which there are many among `anonymous_bytes`; or be
 * more than may be committed. Of namespaces and files true as well where they cannot be told. Asks
 * the kernel, which takes some tens of microseconds, or with huge pages around as long as a fork.
 * Allocates nothing; static buffers: one thread at a time. */
bool seep_snapshot_fork_harms(uint64_t anonymous_bytes);

/* The inode of the namespace of pids that this process is in, 0: not known. */
uint32_t seep_snapshot_namespace(void);

/* Whether the kernel (Yama) lets a process be read by its ancestors alone, and by whom it names. */
bool seep_snapshot_is_guarded(void);

#endif
