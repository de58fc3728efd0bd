/* Waiting: a process that was started with SEEP_WAIT=1 records nothing until `seep wake` asks for
 * it (libprof/format/wake_format.h). */
#ifndef SEEP_PRELOAD_LIFE_WAITING_H
#define SEEP_PRELOAD_LIFE_WAITING_H

#include <stdbool.h>

#include "libprof/format/profile_format.h"

/* Whether the environment that the program began with says so. */
bool seep_waiting_is_asked(char *const *environment);

/* Looks for the file, if the last look is old enough. Returns the folder for the profile, or NULL:
 * not yet. Only one thread is told. */
const char *seep_waiting_look(void);

/* The environment that the program began with, as if it had not waited and had been given the
 * folder. NULL: no memory. */
char *const *seep_waiting_environment(char *const *environment);

#endif
