/* What a profile says of the process at its start, a file each. */
#ifndef SEEP_PRELOAD_LIFE_START_PARTS_H
#define SEEP_PRELOAD_LIFE_START_PARTS_H

#include "libprof/format/profile_format.h"

/* Path of the object whose malloc stands before this library's, so that what it hands out is never
 * seen: the program itself, or a library that was preloaded before. "" where there is none. Walks
 * the loader's list without a lock, so it may be called only while the program starts (in a
 * constructor). */
void seep_allocators_first(char *path, size_t capacity);

/* Fills the limit_ fields: RLIMIT_AS, RLIMIT_DATA, the tightest cgroup (v2, else v1) from the
 * process's own up, RAM. 0: there is none, or it cannot be read. */
void seep_process_limits_read(struct seep_header *header);

/* The settings of PyTorch's GPU allocator: bits of enum seep_allocator_settings, from the current
 * environment. */
uint32_t seep_torch_settings(void);

/* Those of one list of settings, "key:value,key:value". */
uint32_t seep_torch_settings_in(const char *list);

#endif
