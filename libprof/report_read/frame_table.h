/* The frames of a report, each numbered once. In a report made in memory equal frames are one
 * object, so frames are told apart by address; in one read from a file, each frame is another
 * object. */
#ifndef SEEP_LIBPROF_REPORT_READ_FRAME_TABLE_H
#define SEEP_LIBPROF_REPORT_READ_FRAME_TABLE_H

#include "libprof/base/error.h"
#include "libprof/base/hash_index.h"

#include <jansson.h>

/* All zero: empty. */
struct seep_frames {
    const json_t **list;
    size_t n, capacity;
    struct seep_hash_index index;
};

/* Gives a frame without a number the next one, from 0 on. The report must outlive the table.
 * Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_frames_add(struct seep_frames *frames, const json_t *frame);

/* The index of a frame in `list`; SEEP_HASH_NONE if it was not added. */
uint32_t seep_frames_number(const struct seep_frames *frames, const json_t *frame);

void seep_frames_fini(struct seep_frames *frames);

#endif
