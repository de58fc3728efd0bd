/* Compares what snapshots say of a line's memory with one of the line's sites. */
#ifndef SEEP_LIBPROF_WHO_MERGE_SITE_HOLDERS_H
#define SEEP_LIBPROF_WHO_MERGE_SITE_HOLDERS_H

#include "libprof/model/live_level.h"

#include <jansson.h>

struct seep_site_held {
    bool known;     /* a snapshot was taken of one of the site's processes while the site was in
                     * use */
    uint64_t bytes; /* of the site, at the start or the end of the snapshot's step: the larger
                     * one */
};

/* `answer`: as seep_line_holders_of() gives it, or NULL; *level is scratch storage. Blocks that
 * live only within the step are in an answer, but not in these bytes. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_site_held_by(const struct seep_model *m, const json_t *answer,
                                      uint32_t site, struct seep_level *level,
                                      struct seep_site_held *held);

/* Whether what a library's own data holds of the line may be other memory than these sites': what
 * nothing explains has room for them. Else as above. */
SEEP_MUST_CHECK int seep_held_may_be_of_others(const struct seep_model *m, const json_t *answer,
                                               const uint32_t *sites, size_t n,
                                               struct seep_level *level, bool *may);

#endif
