/* One look at a process: how it is made to stand still, or copied, and for how long. */
#ifndef SEEP_VIEWER_LOOK_TAKE_LOOK_H
#define SEEP_VIEWER_LOOK_TAKE_LOOK_H

#include "libprof/look/core_file.h"
#include "viewer/look/look_choice.h"

/* Looks at a core file. As seep_take_look(). */
SEEP_MUST_CHECK int seep_take_core_look(struct seep_core_file *core,
                                        struct seep_look_moment *moment, struct seep_error *err);

/* Looks at it, and lets it go before anything is thought about. Returns 0, or a negative SEEP_E…
 * with *err. *moment is to be freed with its course. */
SEEP_MUST_CHECK int seep_take_look(pid_t pid, enum seep_look_way way,
                                   struct seep_look_moment *moment, struct seep_error *err);

#endif
