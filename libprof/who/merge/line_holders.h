/* What snapshots say about who holds the memory of each line, by line of a model's code. */
#ifndef SEEP_LIBPROF_WHO_MERGE_LINE_HOLDERS_H
#define SEEP_LIBPROF_WHO_MERGE_LINE_HOLDERS_H

#include "libprof/code/code.h"
#include "libprof/who/merge/holders_merge.h"

struct seep_line_holders {
    json_t **of_line; /* by the frame that stands for a line; NULL if no snapshot saw it */
    size_t n;
    json_t *lost; /* answers that differ from those of `holders`, since what grew is lost */
    const struct seep_small_rise *small; /* who got more of Python's small objects; NULL: nobody */
    uint32_t small_table; /* the frame of the line that enlarged its table of entries; 0: not
                           * known */
};

/* If a line has several frames, the answer with most bytes is the line's. `holders` outlives
 * *lines. Returns 0 or -SEEP_ENOMEM. Allocates: *lines; free with seep_line_holders_fini(), also
 * after an error. */
SEEP_MUST_CHECK int seep_line_holders_init(struct seep_line_holders *lines,
                                           const struct seep_holders *holders,
                                           const struct seep_code *code);
void seep_line_holders_fini(struct seep_line_holders *lines);

/* The answer for a frame's line in a space, as report.json has it: borrowed; NULL if no snapshot
 * saw it, and in spaces that snapshots do not see. `lines` may be all zero. */
json_t *seep_line_holders_of(const struct seep_line_holders *lines, const struct seep_code *code,
                             uint16_t space, uint32_t frame);

#endif
