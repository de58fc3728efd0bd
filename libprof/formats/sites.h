/* What formats ask of a report's sites: values, and the frames of their stacks, each of them once.
 */
#ifndef SEEP_LIBPROF_FORMATS_SITES_H
#define SEEP_LIBPROF_FORMATS_SITES_H

#include "libprof/base/hash_index.h"
#include "libprof/formats/formats.h"

#include <stdbool.h>
#include <stdint.h>

extern const char *const seep_measure_names[SEEP_N_MEASURES];

/* A count of an object: 0 where it is none, or negative. */
int64_t seep_count_of(const json_t *object, const char *key);

/* A site's bytes (growth: per step, rounded), never negative. */
int64_t seep_site_value(const json_t *site, enum seep_measure measure);

/* The frames of a report's sites. A report in memory has those that are equal once, so they are
 * told apart by where they are; of one that was read from a file each is another. */
struct seep_frames {
    const json_t **list;
    size_t n, capacity;
    struct seep_hash_index index;
};

/* Returns 0 or -SEEP_ENOMEM; seep_frames_fini() either way. The report must outlive it. */
SEEP_MUST_CHECK int seep_frames_init(struct seep_frames *frames, const json_t *report);
void seep_frames_fini(struct seep_frames *frames);

/* The place in `list` of a frame of some site's stack. */
uint32_t seep_frames_number(const struct seep_frames *frames, const json_t *frame);

/* Whether the compiler put this function into the next frame's. */
bool seep_frame_is_inlined(const json_t *frame);

/* Its function, in a class where that is known: "Trainer.fit", else "libtorch.so+0x12". Allocates
 * the result (free() it); NULL without memory. */
char *seep_frame_function(const json_t *frame);

/* The same with its place: "Trainer.fit (train.py:40)", "at::empty (libtorch.so)". */
char *seep_frame_title(const json_t *frame, const char *cwd);

#endif
