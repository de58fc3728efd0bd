/* Which libraries the processes of a folder had loaded, by the profiles' own tables. */
#ifndef SEEP_LIBPROF_READ_LOADED_MODULES_H
#define SEEP_LIBPROF_READ_LOADED_MODULES_H

#include <stdbool.h>

/* Whether a process whose profile lies in `dir` had code of one of these libraries in a recorded
 * stack. `libraries`: file names up to ".so", a NULL behind the last. Profiles that cannot be read
 * have none. Untrusted files are safe. */
bool seep_loaded_any(const char *dir, const char *const *libraries);

#endif
