/* What formats need of a report's sites: their values, and the frames of their stacks, each
 * once. */
#ifndef SEEP_LIBPROF_EXPORT_SITES_H
#define SEEP_LIBPROF_EXPORT_SITES_H

#include "libprof/export/export_formats.h"
#include "libprof/report_read/frame_table.h"

#include <stdbool.h>
#include <stdint.h>

extern const char *const seep_measure_names[SEEP_N_MEASURES];

/* A count of an object: 0 if missing or negative. */
int64_t seep_count_of(const json_t *object, const char *key);

/* A site's bytes (growth: per step, rounded), never negative. */
int64_t seep_site_value(const json_t *site, enum seep_measure measure);

/* Whether it is of tensors. They lie inside memory that a driver gave: whoever adds up sites must
 * add these separately, or their bytes count twice. */
bool seep_site_is_of_tensors(const json_t *site);

/* Numbers the frames of all stacks, into *frames, and tells whether any site is of tensors. Returns
 * 0 or -SEEP_ENOMEM; call seep_frames_fini() in either case. */
SEEP_MUST_CHECK int seep_frames_of_sites(struct seep_json_stream *sites, struct seep_frames *frames,
                                         bool *has_tensors);

/* Whether the compiler inlined this function into the next frame's. */
bool seep_frame_is_inlined(const json_t *frame);

/* Its function with its place: "Trainer.fit (train.py:40)", "at::empty (libtorch.so)". Allocates
 * the result (free() it); NULL without memory. */
char *seep_frame_title(const json_t *frame, const char *cwd);

#endif
