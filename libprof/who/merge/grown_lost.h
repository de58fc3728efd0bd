/* What grew decides who is asked for it: a line may keep a table for good and lose all that it
 * makes later. */
#ifndef SEEP_LIBPROF_WHO_MERGE_GROWN_LOST_H
#define SEEP_LIBPROF_WHO_MERGE_GROWN_LOST_H

#include "libprof/code/code.h"

#include <jansson.h>

/* Of an answer that names a holder though nobody holds most of the line's memory: if what the line
 * had at the end of step 1 cannot be half of what is lost since, a new answer that says so, else
 * *lost is NULL. `line`: the frame that stands for it. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_grown_lost(const struct seep_code *code, uint32_t line,
                                    const json_t *answer, json_t **lost);

#endif
