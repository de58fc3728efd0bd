/* What kind of program this process runs, determined while it starts. */
#ifndef SEEP_PRELOAD_LIFE_PROGRAM_KIND_H
#define SEEP_PRELOAD_LIFE_PROGRAM_KIND_H

#include <stdbool.h>

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

#endif
