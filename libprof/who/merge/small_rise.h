/* Which holder got more of Python's small objects from snapshot to snapshot, of all processes. */
#ifndef SEEP_LIBPROF_WHO_MERGE_SMALL_RISE_H
#define SEEP_LIBPROF_WHO_MERGE_SMALL_RISE_H

#include "libprof/who/merge/holders_folder.h"

#include <jansson.h>

/* All zeros if none did. */
struct seep_small_rise {
    json_t *answer; /* as for a line: what docs/report.schema.json calls finding_holders */
    char *table;    /* the key of the line that enlarged its table of entries; "": not known */
    uint32_t pid;   /* the process in which it rose most, */
    uint32_t from_step, to_step; /* between these snapshots of it; the same: there was only one */
    uint64_t bytes;              /* and by how much; of one snapshot: all that it holds */
    double pace;                 /* entries a step, or small objects, if it has no length */
};

/* A holder must have more bytes in each snapshot than in the one before, and a container more
 * entries. With one snapshot it must have most of all small objects. Returns 0 or -SEEP_ENOMEM.
 * Allocates: *rise; free with seep_small_rise_fini(), also after an error. */
SEEP_MUST_CHECK int seep_small_rise_find(const struct seep_holders_files *files,
                                         struct seep_small_rise *rise);
void seep_small_rise_fini(struct seep_small_rise *rise);

#endif
