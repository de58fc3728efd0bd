/* What one process holds, by holder: an object whose removal frees much memory. Each is shown by
 * the path from a variable, with the memory that it retains (who/retained). Many objects of one
 * kind, such as the entries of a list, are one holder. */
#ifndef SEEP_LIBPROF_LOOK_LOOK_HOLDERS_H
#define SEEP_LIBPROF_LOOK_LOOK_HOLDERS_H

#include "libprof/look/look_holder.h"
#include "libprof/look/taken.h"

/* Of memory that was taken and surveyed, once; `keys`: texts of dict keys may be shown. Returns 0
 * or -SEEP_ENOMEM. Allocates; seep_look_holders_fini() in either case. */
SEEP_MUST_CHECK int seep_look_holders_find(struct seep_look_holders *holders,
                                           struct seep_taken *taken, bool keys);
void seep_look_holders_fini(struct seep_look_holders *holders);

#endif
