/* What no root reaches: members of cycles, objects that count a reference too many, and what is
 * lost, each by what it is. */
#ifndef SEEP_LIBPROF_LOOK_LOOK_UNHELD_H
#define SEEP_LIBPROF_LOOK_LOOK_UNHELD_H

#include "libprof/look/look_memories.h"

/* Adds one holder a group that is large: cycles by the type of the member that tells of
 * them, references by what counts them, what is lost by its type or class, or by its size; if not
 * all blocks are known, only cycles. Sets the sums, where the rest is lost, and for each of their
 * nodes the index of its holder. Behind it the reach has more roots; the ways that it had before
 * are the same. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_look_unheld_add(struct seep_look_holders *holders, size_t *capacity,
                                         struct seep_reach *reach,
                                         const struct seep_look_memories *memories,
                                         uint32_t *holder);

#endif
