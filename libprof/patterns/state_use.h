/* Whether weights of a file that lie on a device are in use there, and are no copy that was left
 * over. */
#ifndef SEEP_LIBPROF_PATTERNS_STATE_USE_H
#define SEEP_LIBPROF_PATTERNS_STATE_USE_H

#include "libprof/code/function_kinds.h"
#include "libprof/signs/case.h"

/* Whether a stack passes a function of a kind. Pure. */
bool seep_stack_passes(const struct seep_case *c, uint32_t stack, enum seep_function_kind kind);

/* Whether what the case's line has loaded is in use: parameters were made of it (assign=True, a
 * base for adapters); or the job's own code makes temporaries of its size in each step (a penalty
 * that pulls towards it); or a state is copied into a network in later steps, too. Pure. */
bool seep_state_is_used(const struct seep_case *c, struct seep_held loaded);

/* Whether parameters of a network were made of a state that was loaded. Pure. */
bool seep_state_became_parameters(const struct seep_case *c);

/* Whether an optimizer was given the state that a file has of one. Pure. */
bool seep_state_has_moments(const struct seep_case *c);

/* How many of the `copies` of the network's size that were loaded an optimizer goes on with: it
 * takes the tensors of a file for its own. Pure. */
unsigned seep_state_moments(const struct seep_case *c, uint64_t copies);

#endif
