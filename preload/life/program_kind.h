/* What kind of program this process runs. Asked while it starts. */
#ifndef SEEP_PRELOAD_LIFE_PROGRAM_KIND_H
#define SEEP_PRELOAD_LIFE_PROGRAM_KIND_H

#include <stdbool.h>

/* What it was taken for as it started: a bystander is one that others are started by, or that the
 * job starts beside its training: a shell, a compiler. Users know them by --helpers. What a process
 * is in the job, a trainer or a helper, is found later, by its steps
 * (libprof/model/process_role.h). */
extern bool seep_program_is_bystander;

/* Whether the program itself, not one of its libraries, exports a symbol. */
bool seep_program_exports(const char *name);

bool seep_program_is_python(void);

/* Shells and their like, by the name of the program: they only start others, and what they allocate
 * is of no interest by itself. */
bool seep_program_is_starter(const char *name);

#endif
