/* Objects that nobody refers to and that count references all the same: somebody took one and never
 * gave it back. Python frees them and what they hold at no time. */
#ifndef SEEP_LIBPROF_WHO_WAYS_REFERENCES_H
#define SEEP_LIBPROF_WHO_WAYS_REFERENCES_H

#include "libprof/who/ways/reach.h"

/* Makes such objects roots of their own, of kind SEEP_ROOT_REFERENCE, and finds what they hold:
 * behind seep_cycles_find(), for members of cycles are none. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_references_find(struct seep_reach *reach);

#endif
