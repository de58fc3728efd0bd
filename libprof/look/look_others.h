/* What is held, but by nobody who is listed, by type: it may be most of what a program with large
 * libraries has. */
#ifndef SEEP_LIBPROF_LOOK_LOOK_OTHERS_H
#define SEEP_LIBPROF_LOOK_LOOK_OTHERS_H

#include "libprof/look/look_holder.h"
#include "libprof/who/retained/dominators.h"
#include "libprof/who/ways/reach.h"

/* Fills holders->others, the type with most bytes first. `of_node` is that of the retainers; blocks
 * of C's count with the object that they are freed with. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_look_others_find(struct seep_look_holders *holders,
                                          struct seep_reach *reach,
                                          const struct seep_dominators *dominators,
                                          const uint32_t *of_node);

#endif
