/* A job that is about to forbid itself system calls. */
#ifndef SEEP_PRELOAD_SANDBOX_H
#define SEEP_PRELOAD_SANDBOX_H

#include <stdbool.h>

/* A filter is about to be installed in this process; `strict`: one that knows four calls. Called
 * outside the guard. */
void seep_sandbox_before(bool strict);

#endif
