/* Whether another malloc than glibc's is a process's: a preloaded one, or one that the program
 * brings itself. */
#ifndef SEEP_LIBPROF_LOOK_OTHER_MALLOC_H
#define SEEP_LIBPROF_LOOK_OTHER_MALLOC_H

#include "libprof/who/blocks/memory_window.h"
#include "libprof/who/graph/process_maps.h"

enum { SEEP_MALLOC_NAME = 64 };

/* Names it, such as "jemalloc", or by its file. False, and "": it is glibc's, or none that can be
 * told. Opens files as `pid` sees them. */
bool seep_other_malloc(const struct seep_maps *maps, struct seep_window *window, pid_t pid,
                       char name[SEEP_MALLOC_NAME]);

#endif
