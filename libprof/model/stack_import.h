/* Turns a profile's stack references into stacks of the job's dictionary. */
#ifndef SEEP_LIBPROF_MODEL_STACK_IMPORT_H
#define SEEP_LIBPROF_MODEL_STACK_IMPORT_H

#include "libprof/model/dictionary.h"
#include "libprof/read/profile_read.h"

struct seep_resolver {
    struct seep_dictionary *dict;
};

/* The dictionary's stack for `ref` of `profile` or of its fork chain, which are loaded. Parts that
 * cannot be had become the frame SEEP_PSEUDO_UNKNOWN; ref 0 is SEEP_PSEUDO_BOUND. Rings and stacks
 * deeper than SEEP_MAX_STACK_DEPTH are cut. Remembers what it did in the profiles' memos. */
uint32_t seep_resolve_stack(struct seep_resolver *r, struct seep_profile *profile, uint32_t ref);

/* The same for a frame. */
uint32_t seep_resolve_frame(struct seep_resolver *r, struct seep_profile *profile, uint32_t ref);

#endif
