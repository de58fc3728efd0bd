/* The frames of a report, numbered, each of them once. A report in memory has those that are equal
 * once, so they are told apart by where they are; of one that was read from a file each is another.
 */
#ifndef SEEP_LIBPROF_REPORT_READ_FRAME_TABLE_H
#define SEEP_LIBPROF_REPORT_READ_FRAME_TABLE_H

#include "libprof/base/error.h"
#include "libprof/base/hash_index.h"

#include <jansson.h>

/* Zero-initialised is empty. */
struct seep_frames {
    const json_t **list;
    size_t n, capacity;
    struct seep_hash_index index;
};

/* Numbers a frame that has no number yet: they follow each other from 0 on. The report must outlive
 * the table. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_frames_add(struct seep_frames *frames, const json_t *frame);

/* The place in `list` of a frame; SEEP_HASH_NONE: it was not added. */
uint32_t seep_frames_number(const struct seep_frames *frames, const json_t *frame);

void seep_frames_fini(struct seep_frames *frames);

#endif
