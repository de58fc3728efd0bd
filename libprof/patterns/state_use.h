/* Whether weights from a file that lie on a device are in use there, or are a left-over copy. */
#ifndef SEEP_LIBPROF_PATTERNS_STATE_USE_H
#define SEEP_LIBPROF_PATTERNS_STATE_USE_H

#include "libprof/code/function_kinds.h"
#include "libprof/signs/case.h"

/* Whether a stack passes through a function of a kind. Pure. */
bool seep_stack_passes(const struct seep_case *c, uint32_t stack, enum seep_function_kind kind);

/* Whether what the case's line has loaded is in use: parameters were made from it (assign=True, a
 * base for adapters); or the job's own code makes temporaries of its size in each step (a penalty
 * that pulls towards it); or a state is copied into a network in later steps, too. Pure. */
bool seep_state_is_used(const struct seep_case *c, struct seep_held loaded);

/* Whether parameters of a network were made from a loaded state. Pure. */
bool seep_state_became_parameters(const struct seep_case *c);

/* Whether an optimizer was given the optimizer state of a file. Pure. */
bool seep_state_has_moments(const struct seep_case *c);

/* How many of the `copies` of the network's size that were loaded an optimizer goes on using: it
 * takes over the tensors of a file. Pure. */
unsigned seep_state_moments(const struct seep_case *c, uint64_t copies);

#endif
