/* What snapshots say of a line's memory, held against one of the line's sites. */
#ifndef SEEP_LIBPROF_WHO_MERGE_SITE_HOLDERS_H
#define SEEP_LIBPROF_WHO_MERGE_SITE_HOLDERS_H

#include "libprof/model/live_level.h"

#include <jansson.h>

struct seep_site_held {
    bool known;     /* a process of the site's was looked at, while the site was in use */
    uint64_t bytes; /* of the site, at the ends of the step of the snapshot: the larger one */
};

/* `answer`: as seep_line_holders_of() gives it, or NULL; *level is storage that may be used. Blocks
 * that live only within the step are in an answer, not in these bytes. Returns 0 or -SEEP_ENOMEM.
 */
SEEP_MUST_CHECK int seep_site_held_by(const struct seep_model *m, const json_t *answer,
                                      uint32_t site, struct seep_level *level,
                                      struct seep_site_held *held);

#endif
