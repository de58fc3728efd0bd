/* The lines of code that made a holder's memory, for a process that runs under seep: its profile
 * knows them for each block of malloc and its kin, not for what Python's allocator of small objects
 * cuts from its pools. */
#ifndef SEEP_LIBPROF_LOOK_LOOK_LINES_H
#define SEEP_LIBPROF_LOOK_LOOK_LINES_H

#include "libprof/look/look_holder.h"
#include "libprof/look/taken.h"
#include "libprof/who/find/line_groups.h"

#include <jansson.h>

/* What one line made of one holder. */
struct seep_look_share {
    uint32_t holder, line;
    uint64_t bytes;
};

struct seep_look_lines {
    bool known; /* false: it does not run under seep, or its profile cannot be read */
    struct seep_site_sums sites;
    struct seep_line_groups groups;
    struct seep_look_share *shares; /* [n] by holder, the largest first */
    size_t n, capacity;
    struct seep_hash_index by_pair;
};

/* Counts them. list[]: the holders; holder[] has for each node of the heap the index of the one
 * that it belongs to, or SEEP_LOOK_NO_HOLDER. What is within a holder is its own, too. Returns 0 or
 * -SEEP_ENOMEM. Allocates; seep_look_lines_fini() in either case. */
SEEP_MUST_CHECK int seep_look_lines_count(struct seep_look_lines *lines,
                                          const struct seep_taken *taken,
                                          const struct seep_heap *heap,
                                          const struct seep_look_holder *list,
                                          const uint32_t *holder);
void seep_look_lines_fini(struct seep_look_lines *lines);

/* [{frame, bytes}] of the holder with that index, of the few lines that made most of it; null where
 * the lines are not known. A new reference, NULL without memory. */
json_t *seep_look_lines_json(const struct seep_look_lines *lines, uint32_t holder);

#endif
