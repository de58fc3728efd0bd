/* What is known of a program while it starts: its kind, its malloc, its limits, its settings. */
#ifndef SEEP_PRELOAD_LIFE_PROGRAM_FACTS_H
#define SEEP_PRELOAD_LIFE_PROGRAM_FACTS_H

#include <stdbool.h>

#include "libprof/format/profile_format.h"

/* The kind assumed at start: a bystander is a program that starts others, or that the job starts
 * beside its training: a shell, a compiler. Users know them by --helpers. What a process is in the
 * job, a trainer or a helper, is found later, by its steps (libprof/model/stages/model_build.c).
 */
extern bool seep_program_is_bystander;

/* Whether the program itself, not one of its libraries, exports a symbol. */
bool seep_program_exports(const char *name);

bool seep_program_is_python(void);

/* Shells and the like, by the name of the program: they only start others, and their own
 * allocations do not matter. */
bool seep_program_is_starter(const char *name);

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
